"""`attend new`: what it writes works already and says itself what is missing; what is there is never touched."""

import json
import shutil
import tomllib
from pathlib import Path

import pytest

from autograder import new
from autograder.cli import run
from autograder.course import load_course
from autograder.public_tests import run_public_tests
from autograder.release import stub_text
from autograder.report import Outcome

ROOT = Path(__file__).resolve().parents[1]
COURSE = """\
name = "small" # a name
title = "Small"
languages = ["en"]
feedback = "full"

[paths]
exercises = "handed out"
solutions = "answers"
suites = "hidden"
faults = "mistakes"
variants = "styles"
"""
ENTRY = """
[[exercises]]
name = "layer_norm"
title = "Layer norm"
points = 2
functions = ["layer_norm"]
libraries = ["numpy"]
"""
OWN = [
    "answers/layer_norm.py",
    "hidden/test_layer_norm.py",
    "mistakes/layer_norm.py",
    "styles/layer_norm/added_to_itself.py",
    "handed out/contract/layer_norm.en.toml",
    "handed out/instructions/layer_norm.md",
    "handed out/public_tests/test_layer_norm.py",
    "handed out/layer_norm.py",
]
SHARED = ["hidden/conftest.py", "handed out/pytest.ini"]


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A course without an exercise."""
    (tmp_path / "course.toml").write_text(COURSE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def begun(small: Path, capfd: pytest.CaptureFixture[str]) -> Path:
    """The course with an exercise that has just been begun."""
    assert run(["new", "layer_norm"]) == 0
    capfd.readouterr()
    return small


def files_in(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def refusal(capfd, folder: Path, name: str = "layer_norm") -> str:
    """Give the one line with which a name is refused; nothing may be written."""
    before = files_in(folder)
    assert run(["new", name, "--course", str(folder)]) == 2
    printed = capfd.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("attend: ")
    assert printed.err.count("\n") == 1
    assert files_in(folder) == before
    return printed.err.removeprefix("attend: ").rstrip("\n")


# What is written


def test_every_file_is_written_in_the_folder_that_the_course_names_for_it(small, capfd):
    assert run(["new", "layer_norm"]) == 0
    written = [small / name for name in [*OWN, *SHARED, "course.toml"]]
    assert capfd.readouterr().out.splitlines() == [str(path) for path in written]
    assert sorted(files_in(small)) == sorted([*OWN, *SHARED, "course.toml"])


def test_the_entry_follows_what_the_course_says_already(begun):
    assert (begun / "course.toml").read_text() == COURSE + ENTRY
    assert [exercise.name for exercise in load_course(begun).exercises] == ["layer_norm"]


def test_no_file_speaks_of_the_exercise_that_it_was_copied_from(begun):
    texts = {name: text.decode() for name, text in files_in(begun).items()}
    assert [name for name, text in texts.items() if "exercise_name" in text or "Exercise name" in text] == []
    assert texts["handed out/instructions/layer_norm.md"].startswith("# Layer norm (NumPy, 2 points)\n")


def test_a_second_exercise_leaves_the_first_as_it_is(begun):
    before = files_in(begun)
    assert run(["new", "rms_norm"]) == 0
    after = files_in(begun)
    assert before.items() - after.items() == {("course.toml", (COURSE + ENTRY).encode())}
    assert after["course.toml"].decode() == COURSE + ENTRY + ENTRY.replace("layer", "rms").replace("Layer", "Rms")


@pytest.mark.parametrize(
    ("before", "added"),
    [
        (COURSE.rstrip("\n"), "\n" + ENTRY),
        (COURSE + "# the end", "\n" + ENTRY),
        (COURSE.replace("\n", "\r\n"), ENTRY.replace("\n", "\r\n")),
        ("\ufeff" + COURSE, ENTRY),
    ],
    ids=["no line end", "a comment at the end", "Windows' line ends", "a byte order mark"],
)
def test_the_text_of_the_course_is_only_added_to(small, before, added):
    (small / "course.toml").write_bytes(before.encode())
    assert run(["new", "layer_norm"]) == 0
    assert (small / "course.toml").read_bytes().decode() == before + added
    assert load_course(small).exercise("layer_norm").points == 2


def test_the_course_of_this_repository_can_have_one_more(small):
    shutil.copy(ROOT / "course.toml", small / "course.toml")
    assert run(["new", "layer_norm", "--course", "course.toml"]) == 0
    assert (small / "autograder" / "suites" / "test_layer_norm.py").is_file()
    assert load_course(small).exercises == (*load_course(ROOT).exercises, load_course(small).exercise("layer_norm"))


def test_what_exercises_share_is_kept_where_it_is(small):
    for name in SHARED:
        (small / name).parent.mkdir()
        (small / name).write_text("# mine\n")
    assert run(["new", "layer_norm"]) == 0
    assert [(small / name).read_text() for name in SHARED] == ["# mine\n", "# mine\n"]


# What is written works


def test_the_stub_is_what_release_makes_of_the_solution(begun):
    before = files_in(begun)
    assert before["handed out/layer_norm.py"].decode() == stub_text(before["answers/layer_norm.py"].decode())
    assert "raise NotImplementedError" in before["handed out/layer_norm.py"].decode()
    assert run(["release", "--stubs"]) == 0
    assert files_in(begun) == before


def test_check_gives_the_solution_every_point_and_the_stub_nothing(begun, capfd):
    assert run(["check", "--in", "answers"]) == 0
    assert "layer_norm  1 of 1 checks passed, 2 of 2 points" in capfd.readouterr().out
    assert run(["check", "--in", "handed out"]) == 1
    assert "layer_norm  0 of 1 checks passed, 0 of 2 points\n  not written yet" in capfd.readouterr().out


def test_the_public_test_fails_for_the_stub_and_passes_for_the_solution(begun):
    outcomes = []
    for source in ("handed out", "answers"):
        (begun / "handed out" / "layer_norm.py").write_bytes((begun / source / "layer_norm.py").read_bytes())
        (check,) = run_public_tests(begun / "handed out", "layer_norm", 60.0).checks
        outcomes.append(check.outcome)
    assert outcomes == [Outcome.FAILED, Outcome.PASSED]


def test_a_class_can_be_graded_and_the_one_mistake_is_named(begun):
    (begun / "class" / "ada").mkdir(parents=True)
    solution = (begun / "answers" / "layer_norm.py").read_text()
    (begun / "class" / "ada" / "layer_norm.py").write_text(solution.replace("return 2 * x", "return x * x"))
    assert run(["grade", "class", "--course", ".", "--trust"]) == 0
    report = json.loads(Path("grades", "reports", "ada.json").read_text())
    assert report["earned"] == 0
    (diagnosis,) = report["exercises"][0]["diagnosis"]
    assert (diagnosis["fault"], diagnosis["counterexample"]) == ("squared", "layer_norm([3.]) → [9.] ≠ [6.]")


def test_verify_says_which_sentence_has_no_check_yet_and_nothing_else(begun, capfd):
    arguments = ["verify", "--course", ".", "--jobs", "1", "--trust"]
    assert run(arguments) == 1
    *_, problem, last = [line.rstrip() for line in capfd.readouterr().out.splitlines()]
    assert problem == "  dtype: is promised, but no check is about it"
    assert last == "to be mended: layer_norm"
    suite = begun / "hidden" / "test_layer_norm.py"
    suite.write_text(suite.read_text().replace('"doubled")', '"doubled", "dtype")', 1))
    assert run(arguments) == 0
    assert capfd.readouterr().out.splitlines()[-1].rstrip() == "every suite holds"


def test_the_instructions_say_every_sentence_of_the_contract(begun):
    contract = load_course(begun).contract_of(load_course(begun).exercise("layer_norm"))
    sentences = tomllib.loads(contract.read_text())
    assert list(sentences) == ["names", "doubled", "dtype"]
    instructions = (begun / "handed out" / "instructions" / "layer_norm.md").read_text()
    assert [sentence for sentence in sentences.values() if f"- {sentence}\n" not in instructions] == []


# What is refused


@pytest.mark.parametrize("name", OWN)
def test_a_file_that_is_there_is_named_and_nothing_is_written(small, capfd, name):
    (small / name).parent.mkdir(parents=True)
    (small / name).write_text("mine\n")
    assert refusal(capfd, small) == f"{small / name} is there already; choose another name, or move it away"


def test_a_link_that_leads_nowhere_is_there_too(small, capfd):
    (small / "answers").mkdir()
    (small / OWN[0]).symlink_to("nowhere")
    assert refusal(capfd, small) == f"{small / OWN[0]} is there already; choose another name, or move it away"
    assert not (small / "answers" / "nowhere").exists()


def test_an_exercise_that_is_there_is_named_and_nothing_is_written(begun, capfd):
    said = refusal(capfd, begun)
    assert said == f"{begun / 'course.toml'}: exercises.layer_norm is there already; choose another name"


@pytest.mark.parametrize("name", ["2nd_norm", "layer-norm", "layer norm", "class", "../norm", ""])
def test_a_name_that_is_no_identifier_is_refused(small, capfd, name):
    assert refusal(capfd, small, name) == f"{name!r} is no Python name; use letters, digits and '_'"


@pytest.mark.parametrize("name", ["numpy", "torch", "json"])
def test_the_name_of_a_library_is_refused(small, capfd, name):
    said = refusal(capfd, small, name)
    assert said == f"{name!r} is the name of a library, which a module of that name would hide; choose another"


def test_exercises_in_one_list_cannot_be_added_to(small, capfd):
    one = '{ name = "a", title = "A", points = 1, functions = ["a"], libraries = ["numpy"] }'
    (small / "course.toml").write_text(f"exercises = [{one}]\n{COURSE}")
    assert refusal(capfd, small) == (
        f"{small / 'course.toml'}: exercises: no table can be added; write each as a table of its own, [[exercises]]"
    )


def test_a_course_that_cannot_be_read_is_refused_for_its_own_reason(small, capfd):
    (small / "course.toml").write_text(COURSE.replace('title = "Small"\n', ""))
    assert refusal(capfd, small) == f"{small / 'course.toml'}: title: missing; add it"


def test_where_a_file_cannot_be_written_none_stays(small, capfd):
    (small / "handed out").write_text("a file where the folder should be\n")
    said = refusal(capfd, small)
    assert said.startswith(f"{small / 'handed out' / 'contract' / 'layer_norm.en.toml'}: cannot be written (")
    assert said.endswith("); make its folder writable")


def test_a_kit_without_what_is_copied_says_so(small, capfd, monkeypatch):
    monkeypatch.setattr(new, "SKELETON", small / "nowhere")
    assert refusal(capfd, small) == (
        f"{small / 'nowhere' / 'course.toml'} is not there: what is copied comes with the course's repository only"
    )
