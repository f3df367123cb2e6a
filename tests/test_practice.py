"""`attend check` finds the learner's modules, tries them by what the kit has, and says what is missing."""

import sys
import types
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from autograder.course import Course, load_course
from autograder.practice import check, contract_sentence, learner_folder, tried_in_public
from autograder.report import ExerciseResult, Report
from autograder.submission import SubmissionError

COURSE = """
name = "small"
title = "Small"
languages = ["en"]
feedback = "full"

[[exercises]]
name = "softmax"
title = "Softmax"
points = 20
functions = ["softmax"]
libraries = ["numpy"]

[[exercises]]
name = "causal_mask"
title = "Causal mask"
points = 15
functions = ["causal_mask"]
libraries = ["numpy"]
"""


@pytest.fixture
def course(tmp_path: Path) -> Course:
    """Give a course as learners have it: no suites, no solutions."""
    (tmp_path / "course").mkdir()
    (tmp_path / "course" / "course.toml").write_text(COURSE)
    return load_course(tmp_path / "course")


@pytest.fixture
def hidden(course: Course) -> Callable[..., Course]:
    """Give an instructor's copy, in which these exercises have a hidden suite."""

    def add(*names: str) -> Course:
        for name in names:
            for path in (course.suite_of(course.exercise(name)), course.solution_of(course.exercise(name))):
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text("")
        return course

    return add


@pytest.fixture
def graded(monkeypatch: pytest.MonkeyPatch) -> list[tuple[list[str], list[str], bool]]:
    """Stand in for the grader, which gives full points to what is handed in, and list what it was asked."""
    asked = []

    def grade(submission, course, *, trust=False, starter=None):
        names = [exercise.name for exercise in course.exercises]
        asked.append((names, list(submission.modules), trust))
        exercises = [
            ExerciseResult(
                name, 1, int(name in submission.modules), "" if name in submission.modules else "not handed in"
            )
            for name in names
        ]
        return Report(submission=submission.id, status=status[0], reason="no jail here", points=1, exercises=exercises)

    status = ["graded"]
    module = types.ModuleType("autograder.grade")
    module.grade = grade
    module.GradingError = type("GradingError", (Exception,), {})
    module.status = status
    monkeypatch.setitem(sys.modules, "autograder.grade", module)
    return asked


def modules(folder: Path, *names: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / f"{name}.py").write_text("")
    return folder


# Where the modules are


def test_the_folder_that_was_named_is_taken_even_where_it_is_empty(tmp_path, course):
    assert learner_folder(modules(tmp_path / "mine"), course) == tmp_path / "mine"


def test_a_folder_that_was_named_and_does_not_exist_is_an_error(tmp_path, course):
    with pytest.raises(SubmissionError, match=r"nowhere: there is no such folder; --in names the folder"):
        learner_folder(tmp_path / "nowhere", course)


def test_without_a_name_it_is_the_first_of_here_exercises_and_the_courses_own_that_has_a_module(
    tmp_path, course, monkeypatch
):
    here = modules(tmp_path / "here")
    monkeypatch.chdir(here)
    with pytest.raises(SubmissionError, match=r"no exercise module here \(softmax.py, causal_mask.py\); .* --in$"):
        learner_folder(None, course)
    modules(course.paths.exercises, "softmax")
    assert learner_folder(None, course) == course.paths.exercises
    modules(here / "exercises", "causal_mask")
    assert learner_folder(None, course) == here / "exercises"
    modules(here, "softmax")
    assert learner_folder(None, course) == here


# What they are tried by


def test_hidden_suites_are_used_where_the_kit_has_them_without_insisting_on_the_jail(tmp_path, hidden, graded):
    course = hidden("softmax", "causal_mask")
    results = check(modules(tmp_path / "mine", "softmax", "causal_mask"), course.exercises, course)
    assert graded == [(["softmax", "causal_mask"], ["softmax", "causal_mask"], True)]
    assert [(result.name, result.earned) for result in results] == [("softmax", 1), ("causal_mask", 1)]


def test_only_the_exercises_asked_for_are_graded(tmp_path, hidden, graded):
    course = hidden("softmax", "causal_mask")
    check(modules(tmp_path / "mine", "softmax", "causal_mask"), [course.exercise("causal_mask")], course)
    assert graded == [(["causal_mask"], ["causal_mask"], True)]


def test_public_tests_are_used_where_there_is_no_hidden_suite_and_the_order_is_kept(tmp_path, hidden, graded):
    course = hidden("causal_mask")
    mine = modules(tmp_path / "mine", "softmax", "causal_mask")
    (mine / "public_tests").mkdir()
    (mine / "public_tests" / "test_softmax.py").write_text("def test_it_is_there(): import softmax\n")
    results = check(mine, course.exercises, course)
    assert [result.name for result in results] == ["softmax", "causal_mask"]
    assert [made.title for made in results[0].checks] == ["it is there"]
    assert graded == [(["causal_mask"], ["causal_mask"], True)]


def test_a_suite_without_its_solution_cannot_grade(tmp_path, hidden, graded):
    course = hidden("softmax")
    course.solution_of(course.exercise("softmax")).unlink()
    check(modules(tmp_path / "mine", "softmax"), [course.exercise("softmax")], course)
    assert graded == []


def test_a_module_that_is_missing_is_said_with_the_folder(tmp_path, hidden, graded):
    course = hidden("softmax")
    mine = modules(tmp_path / "mine")
    assert [result.reason for result in check(mine, course.exercises, course)] == [
        f"there is no softmax.py in {mine}",
        f"there is no causal_mask.py in {mine}",
    ]


def test_no_public_tests_either_is_said_with_the_file(tmp_path, course):
    mine = modules(tmp_path / "mine", "softmax")
    result = check(mine, [course.exercise("softmax")], course)[0]
    assert result.reason == f"there is no {mine / 'public_tests' / 'test_softmax.py'} to try it with"
    assert not result.passed


def test_a_call_that_may_not_be_used_is_told_without_the_hidden_suite_too(tmp_path, course):
    mine = modules(tmp_path / "mine", "softmax")
    modules(mine / "public_tests", "test_softmax")
    (mine / "softmax.py").write_text("import torch\n\ndef softmax(scores):\n    return torch.softmax(scores, -1)\n")
    exercise = msgspec.structs.replace(course.exercise("softmax"), banned=("torch.*softmax*",))
    result = tried_in_public(mine, exercise, course)
    assert result.reason == "this exercise may not use torch.softmax (line 4: return torch.softmax(scores, -1))"
    assert (result.line, result.passed) == (4, False)
    assert result.code.startswith("import torch")


def test_what_cannot_be_parsed_is_left_to_the_public_tests(tmp_path, course):
    mine = modules(tmp_path / "mine", "softmax")
    (mine / "public_tests").mkdir()
    (mine / "public_tests" / "test_softmax.py").write_text("def test_it_is_there(): import softmax\n")
    (mine / "softmax.py").write_text("import torch.softmax as\n")
    exercise = msgspec.structs.replace(course.exercise("softmax"), banned=("torch.*softmax*",))
    result = tried_in_public(mine, exercise, course)
    assert "SyntaxError" in f"{result.reason}{[check.message for check in result.checks]}"


def test_a_module_that_cannot_be_read_is_said_in_a_line(tmp_path, course, monkeypatch):
    mine = modules(tmp_path / "mine", "softmax")
    modules(mine / "public_tests", "test_softmax")

    def refuse(path):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "read_bytes", refuse)
    result = check(mine, [course.exercise("softmax")], course)[0]
    assert result.reason == f"{mine / 'softmax.py'} cannot be read: Permission denied"


def test_a_failure_of_ours_is_an_error_and_no_zero(tmp_path, hidden, graded):
    course = hidden("softmax")
    grader = sys.modules["autograder.grade"]
    grader.status[0] = "not_graded"
    with pytest.raises(grader.GradingError, match="no jail here"):
        check(modules(tmp_path / "mine", "softmax"), [course.exercise("softmax")], course)


# What the contract says


def test_a_hint_is_the_sentence_of_the_contract_that_it_points_at(course):
    folder = course.paths.exercises / "contract"
    folder.mkdir(parents=True)
    (folder / "softmax.en.toml").write_text('shift = "A constant changes nothing."\n')
    assert contract_sentence("softmax.shift", course) == "The contract says: A constant changes nothing."
    assert contract_sentence("softmax.other", course) == ""
    assert contract_sentence("attention.shift", course) == ""
    assert contract_sentence("", course) == ""


def test_a_hint_is_quoted_in_the_language_that_is_asked_for(course):
    folder = course.paths.exercises / "contract"
    folder.mkdir(parents=True)
    (folder / "softmax.en.toml").write_text('shift = "A constant changes nothing."\ntop = "Ties are equal."\n')
    (folder / "softmax.zh.toml").write_text('shift = "加上常数，结果不变。"\n', encoding="utf-8")
    assert contract_sentence("softmax.shift", course, "zh") == "题目规定：加上常数，结果不变。"
    assert contract_sentence("softmax.shift", course, language="en") == "The contract says: A constant changes nothing."
    assert contract_sentence("softmax.top", course, "zh") == ""
