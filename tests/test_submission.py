"""Submissions are read from folders and archives that nobody vouches for."""

import io
import os
import stat
import struct
import subprocess
import sys
import unicodedata
import zipfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autograder.downloads import disk, nodes
from autograder.submission import Found, Refused, Submission, SubmissionError, find_submissions, read_submission

EXERCISES = ("softmax", "causal_mask", "attention")


def in_english(problems):
    return {exercise: str(problem) for exercise, problem in problems.items()}


def write(folder: Path, *names: str, text: str = "x = 1\n") -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def zipped(path: Path, entries: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    return path


def zipped_entry(path: Path, name: str, mode: int = stat.S_IFREG | 0o644, data: bytes = b"x = 1\n") -> Path:
    """Write an archive whose one entry has exactly this name, whatever zipfile thinks of it."""
    entry = zipfile.ZipInfo("placeholder")
    entry.filename = name
    entry.external_attr = mode << 16
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(entry, data)
    return path


def ids(found: Found) -> list[str]:
    return [submission.id for submission in found.submissions]


# Folders


def test_modules_are_taken_by_their_file_name(tmp_path):
    write(tmp_path / "amara", "softmax.py", text="def softmax(): ...\n")
    submission = read_submission(tmp_path / "amara", EXERCISES)
    assert submission == Submission("amara", {"softmax": b"def softmax(): ...\n"}, (), {})


def test_modules_may_lie_in_any_subfolder(tmp_path):
    write(tmp_path / "amara", "week 1/softmax.py", "week 2/deep/er/causal_mask.py")
    assert set(read_submission(tmp_path / "amara", EXERCISES).modules) == {"softmax", "causal_mask"}


def test_other_files_are_named_with_the_folder_they_lie_in(tmp_path):
    write(tmp_path / "amara", "softmax.py", "notes.txt", "data/values.csv")
    assert read_submission(tmp_path / "amara", EXERCISES).extra == ("data/values.csv", "notes.txt")


def test_of_many_other_files_only_the_first_are_named(tmp_path):
    write(tmp_path / "amara", *(f"picture{n:03}.png" for n in range(50)))
    extra = read_submission(tmp_path / "amara", EXERCISES).extra
    assert extra[0] == "picture000.png"
    assert extra[20:] == ("and 30 more",)


@pytest.mark.parametrize("folder", ["__MACOSX", "__pycache__", ".ipynb_checkpoints", "venv/lib/site-packages"])
def test_what_programs_leave_behind_is_passed_over(tmp_path, folder):
    write(tmp_path / "amara", "softmax.py", f"{folder}/softmax.py", ".DS_Store", "._softmax.py")
    submission = read_submission(tmp_path / "amara", EXERCISES)
    assert list(submission.modules) == ["softmax"]
    assert submission.extra == ()


def test_two_candidates_for_a_module_are_a_problem_that_names_both(tmp_path):
    write(tmp_path / "amara", "old/softmax.py", "new/softmax.py", "causal_mask.py")
    submission = read_submission(tmp_path / "amara", EXERCISES)
    assert list(submission.modules) == ["causal_mask"]
    assert in_english(submission.problems) == {
        "softmax": "found more than once: new/softmax.py and old/softmax.py; keep one of them"
    }


@pytest.mark.parametrize("name", ["Softmax.py", "softmax (1).py", "softmax-1.py", "softmax.py.txt", "softmax copy.py"])
def test_a_module_that_a_program_renamed_is_pointed_at(tmp_path, name):
    write(tmp_path / "amara", name)
    submission = read_submission(tmp_path / "amara", EXERCISES)
    assert in_english(submission.problems) == {"softmax": f"not handed in; {name} would have to be named softmax.py"}
    assert submission.extra == (name,)


@pytest.mark.parametrize("name", ["test_softmax.py", "softmax_test.py", "mysoftmax.py", "softmax.md"])
def test_a_file_that_only_sounds_like_a_module_is_not(tmp_path, name):
    write(tmp_path / "amara", name)
    assert read_submission(tmp_path / "amara", EXERCISES).problems == {}


def test_an_empty_folder_is_a_submission_without_modules(tmp_path):
    (tmp_path / "amara").mkdir()
    assert read_submission(tmp_path / "amara", EXERCISES) == Submission("amara", {})


def test_a_link_to_the_reference_solution_earns_nothing(tmp_path):
    solution = write(tmp_path, "solutions/softmax.py") / "solutions" / "softmax.py"
    (tmp_path / "amara").mkdir()
    (tmp_path / "amara" / "softmax.py").symlink_to(solution)
    submission = read_submission(tmp_path / "amara", EXERCISES)
    assert submission.modules == {}
    assert in_english(submission.problems) == {"softmax": "softmax.py is a link, and links are not followed"}


def test_a_link_to_a_folder_of_solutions_is_not_followed(tmp_path):
    write(tmp_path, "solutions/softmax.py")
    (tmp_path / "amara").mkdir()
    (tmp_path / "amara" / "code").symlink_to(tmp_path / "solutions")
    submission = read_submission(tmp_path / "amara", EXERCISES)
    assert submission.modules == {}
    assert submission.extra == ("code",)


def test_a_link_that_leads_back_to_its_own_folder_ends(tmp_path):
    write(tmp_path / "amara", "softmax.py")
    (tmp_path / "amara" / "again").symlink_to(tmp_path / "amara")
    assert list(read_submission(tmp_path / "amara", EXERCISES).modules) == ["softmax"]


def test_a_link_put_in_place_of_the_file_at_the_last_moment_is_not_followed(tmp_path, monkeypatch):
    secret = write(tmp_path, "secret.py") / "secret.py"
    write(tmp_path / "amara", "softmax.py")
    judged = disk.require_ordinary

    def swap(mode: int) -> None:
        judged(mode)
        path = tmp_path / "amara" / "softmax.py"
        path.unlink(missing_ok=True)
        path.symlink_to(secret)

    monkeypatch.setattr(disk, "require_ordinary", swap)
    submission = read_submission(tmp_path / "amara", EXERCISES)
    assert submission.modules == {}
    assert str(submission.problems["softmax"]).startswith("softmax.py cannot be read: ")


def test_a_pipe_is_told_apart_without_waiting_for_it(tmp_path):
    (tmp_path / "amara").mkdir()
    os.mkfifo(tmp_path / "amara" / "softmax.py")
    os.mkfifo(tmp_path / "amara" / "other")
    submission = read_submission(tmp_path / "amara", EXERCISES)
    assert in_english(submission.problems) == {"softmax": "softmax.py is not an ordinary file"}
    assert submission.extra == ("other",)


def test_a_folder_named_like_a_module_is_a_problem(tmp_path):
    (tmp_path / "amara" / "softmax.py").mkdir(parents=True)
    submission = read_submission(tmp_path / "amara", EXERCISES)
    assert in_english(submission.problems) == {"softmax": "softmax.py is not an ordinary file"}


def test_a_module_of_one_mebibyte_is_read_and_a_larger_one_is_a_problem(tmp_path):
    write(tmp_path / "amara", "softmax.py", text="#" * 1024 * 1024)
    write(tmp_path / "amara", "causal_mask.py", text="#" * (1024 * 1024 + 1))
    submission = read_submission(tmp_path / "amara", EXERCISES)
    assert len(submission.modules["softmax"]) == 1024 * 1024
    assert in_english(submission.problems) == {"causal_mask": "causal_mask.py is larger than 1 MiB"}


def test_a_file_that_may_not_be_read_is_a_problem_with_its_reason(tmp_path, monkeypatch):
    write(tmp_path / "amara", "softmax.py", "causal_mask.py")
    opened = os.open

    def refuse(path, flags, *rest, **options):
        if str(path).endswith("softmax.py"):
            raise PermissionError(13, "Permission denied", path)
        return opened(path, flags, *rest, **options)

    monkeypatch.setattr(os, "open", refuse)
    submission = read_submission(tmp_path / "amara", EXERCISES)
    assert list(submission.modules) == ["causal_mask"]
    assert in_english(submission.problems) == {"softmax": "softmax.py cannot be read: Permission denied"}


def test_a_submission_of_too_many_files_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(nodes, "MOST_FILES", 10)
    write(tmp_path / "amara", *(f"{n}.txt" for n in range(11)))
    with pytest.raises(SubmissionError, match="amara holds more than 10 files; hand in the modules alone"):
        read_submission(tmp_path / "amara", EXERCISES)


def test_a_submission_nested_too_deeply_is_refused(tmp_path):
    (tmp_path / "amara" / "/".join(["d"] * 40)).mkdir(parents=True)
    with pytest.raises(SubmissionError, match="lies more than 32 folders deep"):
        read_submission(tmp_path / "amara", EXERCISES)


# Archives


def test_an_archive_is_read_like_a_folder(tmp_path):
    path = zipped(
        tmp_path / "amara.zip",
        {"hw/softmax.py": b"a = 1", "hw/notes.txt": b"", "__MACOSX/hw/._softmax.py": b"\0", "hw/.DS_Store": b"\0"},
    )
    assert read_submission(path, EXERCISES) == Submission("amara", {"softmax": b"a = 1"}, ("hw/notes.txt",))


def test_two_candidates_in_an_archive_are_a_problem_that_names_both(tmp_path):
    path = zipped(tmp_path / "amara.zip", {"a/softmax.py": b"", "b/softmax.py": b""})
    problems = in_english(read_submission(path, EXERCISES).problems)
    assert problems == {"softmax": "found more than once: a/softmax.py and b/softmax.py; keep one of them"}


def test_nothing_of_an_archive_is_written_to_the_disk(tmp_path, monkeypatch):
    path = zipped(tmp_path / "amara.zip", {"softmax.py": b"a = 1"})
    monkeypatch.chdir(tmp_path)
    read_submission(path, EXERCISES)
    assert os.listdir(tmp_path) == ["amara.zip"]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("../softmax.py", "holds a name with '..'"),
        ("a/../../softmax.py", "holds a name with '..'"),
        ("..\\softmax.py", "holds a name with '..'"),
        ("/etc/softmax.py", "holds an absolute path"),
        ("\\\\host\\softmax.py", "holds an absolute path"),
        ("C:/softmax.py", "holds an absolute path"),
        ("c:softmax.py", "holds an absolute path"),
        ("a\\softmax.py", "holds a name with a backslash"),
        ("softmax.py\0.txt", "holds a name with a backslash or a null"),
    ],
)
def test_an_archive_with_a_name_that_leads_elsewhere_is_refused_whole(tmp_path, name, reason):
    path = zipped_entry(tmp_path / "amara.zip", name)
    with pytest.raises(SubmissionError) as refusal:
        read_submission(path, EXERCISES)
    assert str(refusal.value).startswith(f"amara.zip {reason}")
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR, stat.S_IFSOCK])
def test_an_archive_with_a_link_or_a_device_is_refused_whole(tmp_path, kind):
    path = zipped_entry(tmp_path / "amara.zip", "softmax.py", mode=kind | 0o777, data=b"../solutions/softmax.py")
    with pytest.raises(SubmissionError, match=r"amara.zip holds a link or special file \('softmax.py'\)"):
        read_submission(path, EXERCISES)


def test_an_encrypted_archive_is_refused(tmp_path):
    path = zipped(tmp_path / "amara.zip", {"softmax.py": b"a = 1"})
    data = bytearray(path.read_bytes())
    data[6] |= 1  # the flag in the local header, then the one in the directory
    data[data.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(data)
    with pytest.raises(SubmissionError, match=r"amara.zip holds an encrypted file \('softmax.py'\)"):
        read_submission(path, EXERCISES)


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_methods_that_unpack_without_a_limit_are_refused(tmp_path, method):
    path = zipped(tmp_path / "amara.zip", {"softmax.py": b"a = 1"}, method)
    with pytest.raises(SubmissionError, match="packed by another method than deflate"):
        read_submission(path, EXERCISES)


@pytest.mark.parametrize("data", [b"", b"Rar!\x1a\x07\x00", b"PK\x03\x04" + b"\0" * 40, b"\0" * 1000])
def test_what_is_no_archive_is_refused(tmp_path, data):
    (tmp_path / "amara.zip").write_bytes(data)
    with pytest.raises(SubmissionError, match=r"^amara.zip is not a whole zip archive \(.*\); zip the modules again$"):
        read_submission(tmp_path / "amara.zip", EXERCISES)


def test_an_archive_cut_off_in_the_middle_is_refused(tmp_path):
    path = zipped(tmp_path / "amara.zip", {"softmax.py": os.urandom(1000)})
    path.write_bytes(path.read_bytes()[:600])
    with pytest.raises(SubmissionError, match="not a whole zip archive"):
        read_submission(path, EXERCISES)


def test_an_archive_with_damaged_contents_is_refused(tmp_path):
    path = zipped(tmp_path / "amara.zip", {"softmax.py": b"a = 1 # " + os.urandom(50)}, zipfile.ZIP_STORED)
    data = bytearray(path.read_bytes())
    data[45] ^= 0xFF
    path.write_bytes(data)
    with pytest.raises(SubmissionError, match=r"amara.zip is broken at softmax.py \(.*\); zip the modules again"):
        read_submission(path, EXERCISES)


def test_an_archive_that_would_unpack_to_very_much_is_refused_without_unpacking(tmp_path):
    path = zipped(tmp_path / "amara.zip", {"softmax.py": b"a = 1", "zeros.bin": b"\0" * (65 * 1024 * 1024)})
    with pytest.raises(SubmissionError, match=r"amara.zip would unpack to more than 64 MiB"):
        read_submission(path, EXERCISES)


def test_an_archive_packed_suspiciously_well_is_refused(tmp_path):
    path = zipped(tmp_path / "amara.zip", {"softmax.py": b"a = 1", "zeros.bin": b"\0" * (8 * 1024 * 1024)})
    with pytest.raises(SubmissionError, match=r"amara.zip would unpack to more than 100 times its size"):
        read_submission(path, EXERCISES)


def test_a_module_that_unpacks_to_more_than_its_header_says_is_refused(tmp_path):
    path = zipped(tmp_path / "amara.zip", {"softmax.py": b"\n" * (4 * 1024 * 1024)})
    data = bytearray(path.read_bytes())
    lie = struct.pack("<L", 100)
    data[22:26] = lie
    directory = data.index(b"PK\x01\x02")
    data[directory + 24 : directory + 28] = lie
    path.write_bytes(data)
    with pytest.raises(SubmissionError, match=r"amara.zip is broken at softmax.py"):
        read_submission(path, EXERCISES)


def test_a_module_larger_than_the_limit_is_a_problem_of_its_exercise(tmp_path):
    entries = {"softmax.py": os.urandom(1024 * 1024 + 1), "causal_mask.py": b"a = 1"}
    submission = read_submission(zipped(tmp_path / "amara.zip", entries), EXERCISES)
    assert in_english(submission.problems) == {"softmax": "softmax.py is larger than 1 MiB"}
    assert list(submission.modules) == ["causal_mask"]


def test_an_archive_of_too_many_files_is_refused_before_its_directory_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(nodes, "MOST_FILES", 10)
    path = zipped(tmp_path / "amara.zip", {f"{n}.txt": b"" for n in range(11)})
    monkeypatch.setattr(zipfile, "ZipFile", None)
    with pytest.raises(SubmissionError, match=r"amara.zip holds more than 10 files; zip the modules alone"):
        read_submission(path, EXERCISES)


def test_an_archive_larger_than_the_limit_is_refused(tmp_path):
    with open(tmp_path / "amara.zip", "wb") as file:
        file.truncate(17 * 1024 * 1024)
    with pytest.raises(SubmissionError, match=r"amara.zip is larger than 16 MiB; zip the modules alone"):
        read_submission(tmp_path / "amara.zip", EXERCISES)


def test_an_archive_within_an_archive_is_never_opened(tmp_path):
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as archive:
        archive.writestr("softmax.py", b"a = 1")
    path = zipped(tmp_path / "amara.zip", {"work.zip": inner.getvalue()})
    with pytest.raises(SubmissionError, match=r"amara.zip holds another archive \(work.zip\), which is not opened"):
        read_submission(path, EXERCISES)


def test_an_archive_beside_the_modules_is_only_named(tmp_path):
    path = zipped(tmp_path / "amara.zip", {"softmax.py": b"a = 1", "old.zip": b"PK"})
    assert read_submission(path, EXERCISES).extra == ("old.zip",)


def test_names_in_utf_8_are_read_whether_or_not_the_archive_says_so(tmp_path):
    path = zipped(tmp_path / "amara.zip", {"作业/softmax.py": b"a = 1", "作业/说明.txt": b""})
    data = bytearray(path.read_bytes())
    for signature, offset in ((b"PK\x03\x04", 7), (b"PK\x01\x02", 9)):
        start = -1
        while (start := data.find(signature, start + 1)) >= 0:
            data[start + offset] &= ~0x08
    path.write_bytes(data)
    assert read_submission(path, EXERCISES).extra == ("作业/说明.txt",)


def test_names_in_another_encoding_do_not_keep_the_modules_from_being_found(tmp_path):
    path = zipped(tmp_path / "amara.zip", {"AAAA/softmax.py": b"a = 1"})
    path.write_bytes(path.read_bytes().replace(b"AAAA", "作业".encode("gbk")))
    assert read_submission(path, EXERCISES).modules == {"softmax": b"a = 1"}


def test_names_that_claim_to_be_utf_8_and_are_not_are_refused(tmp_path):
    path = zipped(tmp_path / "amara.zip", {"作/softmax.py": b"a = 1"})
    path.write_bytes(path.read_bytes().replace("作".encode(), b"\xff\xfe\xfd"))
    with pytest.raises(SubmissionError, match=r"amara.zip holds a file name that is not UTF-8"):
        read_submission(path, EXERCISES)


@settings(max_examples=200, deadline=None, database=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes=st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 255)), min_size=1, max_size=8))
def test_a_damaged_archive_is_read_or_refused_but_never_ends_the_program(tmp_path, changes):
    path = zipped(tmp_path / "amara.zip", {"hw/softmax.py": b"a = 1\n" * 20, "causal_mask.py": b"", "n.txt": b"n"})
    data = bytearray(path.read_bytes())
    for position, byte in changes:
        data[position % len(data)] = byte
    path.write_bytes(data)
    found = find_submissions(path, EXERCISES).submissions
    assert len(found) == 1
    assert isinstance(found[0], Submission | Refused)


# The class


def test_a_class_is_one_folder_or_archive_for_each_submission(tmp_path):
    write(tmp_path, "zoë/softmax.py", "Amara/softmax.py")
    zipped(tmp_path / "li.zip", {"softmax.py": b"a = 1"})
    (tmp_path / "ravi").mkdir()
    found = find_submissions(tmp_path, EXERCISES)
    assert ids(found) == ["Amara", "li", "ravi", "zoë"]
    assert found.ignored == []


def test_hidden_and_loose_files_are_named_as_ignored(tmp_path):
    write(tmp_path, "amara/softmax.py", "roster.csv", ".git/HEAD", "__MACOSX/x", "late.rar")
    assert find_submissions(tmp_path, EXERCISES).ignored == [".git", "__MACOSX", "late.rar", "roster.csv"]


def test_a_folder_with_a_module_at_its_top_is_one_submission(tmp_path):
    write(tmp_path / "amara", "softmax.py", "data/values.csv")
    assert ids(find_submissions(tmp_path / "amara", EXERCISES)) == ["amara"]


def test_an_archive_is_one_submission(tmp_path):
    path = zipped(tmp_path / "amara.ZIP", {"softmax.py": b"a = 1"})
    assert find_submissions(path, EXERCISES).submissions == [Submission("amara", {"softmax": b"a = 1"})]


def test_the_current_folder_has_the_name_it_has(tmp_path, monkeypatch):
    monkeypatch.chdir(write(tmp_path / "amara", "softmax.py"))
    assert ids(find_submissions(Path("."), EXERCISES)) == ["amara"]
    monkeypatch.chdir(write(tmp_path / "amara" / "data", "values.csv"))
    assert ids(find_submissions(Path(".."), EXERCISES)) == ["amara"]


def test_a_submission_that_cannot_be_read_is_refused_and_the_others_are_not(tmp_path):
    write(tmp_path, "amara/softmax.py")
    (tmp_path / "broken.zip").write_bytes(b"no archive")
    amara, broken = find_submissions(tmp_path, EXERCISES).submissions
    assert isinstance(amara, Submission)
    assert isinstance(broken, Refused)
    assert broken.id == "broken"
    assert broken.reason.startswith("broken.zip is not a whole zip archive")


def test_two_submissions_with_one_id_are_refused_and_both_named(tmp_path):
    write(tmp_path, "amara/softmax.py")
    zipped(tmp_path / "amara.zip", {"softmax.py": b"a = 1"})
    reason = "amara/ and amara.zip stand for the same submission; keep one of them"
    assert find_submissions(tmp_path, EXERCISES).submissions == [Refused("amara", reason)]


def test_ids_that_differ_only_in_capitals_are_refused_since_their_reports_could_overwrite_each_other(tmp_path):
    write(tmp_path, "Amara/softmax.py")
    zipped(tmp_path / "amara.zip", {"softmax.py": b"a = 1"})
    reason = "Amara/ and amara.zip stand for the same submission; keep one of them"
    assert find_submissions(tmp_path, EXERCISES).submissions == [Refused("Amara", reason), Refused("amara", reason)]


def test_a_link_among_the_submissions_is_refused(tmp_path):
    write(tmp_path, "solutions/softmax.py", "class/amara/softmax.py")
    (tmp_path / "class" / "mallory").symlink_to(tmp_path / "solutions")
    zipped(tmp_path / "other.zip", {"softmax.py": b"a = 1"})
    (tmp_path / "class" / "oscar.zip").symlink_to(tmp_path / "other.zip")
    _, mallory, oscar = find_submissions(tmp_path / "class", EXERCISES).submissions
    assert mallory == Refused("mallory", "mallory is a link, and links are not followed")
    assert oscar == Refused("oscar", "oscar.zip is a link, and links are not followed")


def test_the_path_itself_may_be_a_link_since_the_instructor_gave_it(tmp_path):
    write(tmp_path, "class/amara/softmax.py")
    (tmp_path / "shortcut").symlink_to(tmp_path / "class")
    assert ids(find_submissions(tmp_path / "shortcut", EXERCISES)) == ["amara"]


def test_the_folder_that_reports_go_to_is_no_submission(tmp_path):
    write(tmp_path, "amara/softmax.py", "grades/reports/amara.json")
    found = find_submissions(tmp_path, EXERCISES, leave_out=[tmp_path / "grades"])
    assert ids(found) == ["amara"]
    assert found.ignored == ["grades"]


@pytest.mark.parametrize("id", ["李雷", "नेहा शर्मा", "Ольга Смирнова", "صديق", "o'brien; --", "n" * 200, "a.b.c", "-rf"])
def test_ids_are_the_names_of_folders_in_any_script(tmp_path, id):
    write(tmp_path / id, "softmax.py")
    assert ids(find_submissions(tmp_path, EXERCISES)) == [id]


def test_an_id_reads_the_same_however_the_file_system_composes_its_letters(tmp_path):
    write(tmp_path / unicodedata.normalize("NFD", "zoë"), "softmax.py")
    assert ids(find_submissions(tmp_path, EXERCISES)) == [unicodedata.normalize("NFC", "zoë")]


def test_a_name_that_is_not_utf_8_becomes_an_id_that_can_be_stored(tmp_path):
    folder = os.fsencode(tmp_path) + b"/zo\xeb"
    os.mkdir(folder)
    with open(folder + b"/caf\xe9.txt", "wb"):
        pass
    submission = find_submissions(tmp_path, EXERCISES).submissions[0]
    assert submission == Submission("zo\\xeb", {}, ("caf\\xe9.txt",))


@pytest.mark.parametrize("name", ["nothing", "empty", "notes.txt", "hidden"])
def test_a_path_with_nothing_to_grade_is_an_error_that_says_what_was_expected(tmp_path, name):
    write(tmp_path, "notes.txt", "hidden/.git/HEAD")
    (tmp_path / "empty").mkdir()
    with pytest.raises(SubmissionError) as error:
        find_submissions(tmp_path / name, EXERCISES)
    assert str(error.value).startswith(f"{tmp_path / name}: ")
    assert str(error.value).endswith(
        "expected one folder or .zip for each submission, "
        "or a single submission (softmax.py, causal_mask.py, attention.py)"
    )


def test_a_learner_s_copy_of_the_kit_reads_submissions_without_a_reader_for_yaml():
    program = "import sys; sys.modules['yaml'] = None; import autograder.submission, autograder.practice"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
