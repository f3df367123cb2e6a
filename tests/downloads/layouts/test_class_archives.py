"""The archive of a class: what is wrong with one learner's part costs no other learner, and nothing is trusted."""

import io
import stat
import zipfile

import pytest

from autograder.downloads import archives, nodes
from autograder.submission import Refused, Submission, SubmissionError, find_submissions


def packed(path, entries, method=zipfile.ZIP_DEFLATED):
    """Write an archive whose entries have exactly these names, whatever zipfile thinks of them."""
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, data in entries.items():
            entry = zipfile.ZipInfo("placeholder", (2026, 3, 2, 12, 0, 0))
            entry.filename = name
            entry.compress_type = method
            link = isinstance(data, str)
            entry.external_attr = ((stat.S_IFLNK if link else stat.S_IFREG) | 0o644) << 16
            archive.writestr(entry, data)
    return path


def archive_of(entries):
    data = io.BytesIO()
    packed(data, entries)
    return data.getvalue()


def by_id(path, exercises, layout=""):
    return {each.id: each for each in find_submissions(path, exercises, layout=layout).submissions}


CLASS = {"amara/softmax.py": b"a = 1", "bea/hw/softmax.py": b"b = 1"}


@pytest.mark.parametrize("under", ["", "class/", "./"])
def test_folders_in_an_archive_are_learners(tmp_path, exercises, under):
    path = packed(tmp_path / "class.zip", {under + name: data for name, data in CLASS.items()})
    found = find_submissions(path, exercises)
    assert found.layout == "folders"
    assert found.submissions == [
        Submission("amara", {"softmax": b"a = 1"}),
        Submission("bea", {"softmax": b"b = 1"}),
    ]


def test_archives_in_an_archive_are_learners(tmp_path, exercises):
    inner = {f"{name}.zip": archive_of({"hw/softmax.py": name.encode()}) for name in ("amara", "李雷")}
    found = by_id(packed(tmp_path / "class.zip", inner), exercises)
    assert {id: each.modules for id, each in found.items()} == {
        "amara": {"softmax": b"amara"},
        "李雷": {"softmax": "李雷".encode()},
    }


def test_an_archive_with_each_module_once_is_one_submission(tmp_path, exercises):
    path = packed(tmp_path / "amara.zip", {"week 1/softmax.py": b"a = 1", "week 2/attention.py": b"b = 1"})
    found = find_submissions(path, exercises)
    assert (found.layout, [each.id for each in found.submissions]) == ("single", ["amara"])


def test_one_submission_that_looks_like_a_class_can_be_forced_to_be_one(tmp_path, exercises):
    path = packed(tmp_path / "amara.zip", {"old/softmax.py": b"a = 1", "new/softmax.py": b"b = 1"})
    assert list(by_id(path, exercises)) == ["new", "old"]
    amara = by_id(path, exercises, "single")["amara"]
    assert str(amara.problems["softmax"]) == "found more than once: old/softmax.py and new/softmax.py; keep one of them"


def test_a_class_of_one_can_be_forced_to_be_one(tmp_path, exercises):
    path = packed(tmp_path / "class.zip", {"amara/softmax.py": b"a = 1"})
    assert list(by_id(path, exercises, "folders")) == ["amara"]


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("mallory/../amara/softmax.py", b"", "a name with '..'"),
        ("mallory/x\\softmax.py", b"", "a name with a backslash or a null"),
        ("mallory/softmax.py", "../../solutions/softmax.py", "a link or special file"),
        ("mallory/" + "d/" * 60 + "softmax.py", b"", "a file more than 32 folders deep"),
    ],
)
def test_an_entry_that_must_not_be_there_costs_only_its_learner(tmp_path, exercises, name, data, reason):
    found = by_id(packed(tmp_path / "class.zip", {**CLASS, name: data}), exercises)
    assert [id for id, each in found.items() if isinstance(each, Submission)] == ["amara", "bea"]
    assert isinstance(found["mallory"], Refused)
    assert reason in found["mallory"].reason or "more than 32 folders deep" in found["mallory"].reason


@pytest.mark.parametrize("name", ["../softmax.py", "/etc/softmax.py", "C:/softmax.py", "..\\softmax.py"])
def test_an_entry_that_lies_in_no_learner_s_folder_refuses_the_archive(tmp_path, exercises, name):
    path = packed(tmp_path / "class.zip", {**CLASS, name: b""})
    with pytest.raises(SubmissionError, match=r"class.zip: it holds .*; download or zip it again"):
        find_submissions(path, exercises)


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_methods_that_unpack_without_a_limit_are_refused(tmp_path, exercises, method):
    found = by_id(packed(tmp_path / "class.zip", CLASS, method), exercises)
    assert all("packed by another method than deflate" in each.reason for each in found.values())


def test_a_learner_whose_part_would_unpack_to_very_much_is_refused_alone(tmp_path, exercises):
    path = packed(tmp_path / "class.zip", {**CLASS, "mallory/zeros.bin": b"\0" * (65 * 1024 * 1024)})
    found = by_id(path, exercises)
    assert found["mallory"] == Refused("mallory", "mallory would unpack to more than 64 MiB; hand in the modules alone")
    assert found["amara"].modules == {"softmax": b"a = 1"}


def test_a_bomb_in_a_learner_s_archive_is_refused_alone(tmp_path, exercises):
    bomb = archive_of({"softmax.py": b"a = 1", "zeros.bin": b"\0" * (8 * 1024 * 1024)})
    inner = {"amara.zip": archive_of({"softmax.py": b"a = 1"}), "mallory.zip": bomb}
    found = by_id(packed(tmp_path / "class.zip", inner), exercises)
    reason = "mallory.zip would unpack to more than 100 times its size; zip the modules alone"
    assert found["mallory"] == Refused("mallory", reason)
    assert found["amara"].modules == {"softmax": b"a = 1"}


def test_archives_are_opened_one_deep_and_no_deeper(tmp_path, exercises):
    deeper = archive_of({"work.zip": archive_of({"softmax.py": b"a = 1"})})
    inner = {"amara.zip": archive_of({"softmax.py": b"a = 1"}), "mallory.zip": deeper}
    found = by_id(packed(tmp_path / "class.zip", inner), exercises)
    assert found["mallory"].reason == (
        "mallory.zip holds another archive (work.zip), which is not opened; zip the modules alone"
    )


def test_a_learner_with_too_many_files_is_refused_alone(tmp_path, exercises, monkeypatch):
    monkeypatch.setattr(nodes, "MOST_FILES", 10)
    path = packed(tmp_path / "class.zip", {**CLASS, **{f"mallory/{n}.txt": b"" for n in range(11)}})
    found = by_id(path, exercises)
    assert found["mallory"] == Refused("mallory", "mallory holds more than 10 files; hand in the modules alone")
    assert isinstance(found["amara"], Submission)


@pytest.mark.parametrize("limit", ["MOST_CLASS_FILES", "LARGEST_CLASS_ARCHIVE"])
def test_an_archive_beyond_what_a_class_needs_is_refused_before_its_directory_is_read(
    tmp_path, exercises, monkeypatch, limit
):
    path = packed(tmp_path / "class.zip", CLASS)
    monkeypatch.setattr(archives, limit, 1)
    monkeypatch.setattr(zipfile, "ZipFile", None)
    with pytest.raises(SubmissionError, match=r"class.zip (holds more than 1 files|is larger than 0 MiB)"):
        find_submissions(path, exercises, layout="folders")


def test_ids_that_differ_only_in_capitals_are_refused(tmp_path, exercises):
    path = packed(tmp_path / "class.zip", {"amara/softmax.py": b"", "Amara/softmax.py": b""})
    reason = "Amara/ and amara/ stand for the same submission; keep one of them"
    assert find_submissions(path, exercises).submissions == [Refused("Amara", reason), Refused("amara", reason)]


def test_a_file_that_is_there_twice_is_a_problem(tmp_path, exercises):
    with zipfile.ZipFile(tmp_path / "class.zip", "w") as archive:
        archive.writestr("amara/softmax.py", "a = 1")
        archive.writestr("bea/softmax.py", "b = 1")
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("amara/softmax.py", "c = 1")
    amara = by_id(tmp_path / "class.zip", exercises)["amara"]
    assert str(amara.problems["softmax"]) == "found more than once: softmax.py and softmax.py; keep one of them"


def test_damage_in_one_learner_s_file_costs_only_that_learner(tmp_path, exercises):
    path = packed(tmp_path / "class.zip", CLASS, zipfile.ZIP_STORED)
    path.write_bytes(path.read_bytes().replace(b"b = 1", b"b = 2"))
    found = by_id(path, exercises)
    assert found["amara"].modules == {"softmax": b"a = 1"}
    assert isinstance(found["bea"], Refused)
    assert "softmax.py" in found["bea"].reason


def test_nothing_of_the_archive_is_written_to_the_disk(tmp_path, exercises, monkeypatch):
    path = packed(tmp_path / "class.zip", CLASS)
    monkeypatch.chdir(tmp_path)
    find_submissions(path, exercises)
    assert [entry.name for entry in tmp_path.iterdir()] == ["class.zip"]
