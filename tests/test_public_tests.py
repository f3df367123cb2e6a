"""Public tests run as learners run them, and their results read like checks."""

from pathlib import Path

import pytest

from autograder.public_tests import has_public_tests, run_public_tests
from autograder.report import ExerciseResult, Outcome

TESTS = """
import pytest
from softmax import softmax

def test_one_weight_is_one():
    assert softmax([3]) == [1]

@pytest.mark.parametrize("n", [2])
def test_equal_scores_share(n):
    assert softmax([0] * n) == [1 / n] * n
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "public_tests").mkdir()
    (tmp_path / "public_tests" / "test_softmax.py").write_text(TESTS)
    (tmp_path / "pytest.ini").write_text("[pytest]\npythonpath = .\n")
    return tmp_path


def tried(folder: Path, module: str, seconds: float = 60) -> ExerciseResult:
    (folder / "softmax.py").write_text(module)
    return run_public_tests(folder, "softmax", seconds)


def test_each_test_is_a_check_with_its_title_and_without_points(folder):
    result = tried(folder, "def softmax(x): return [1 / len(x)] * len(x)\n")
    assert [(check.title, check.outcome) for check in result.checks] == [
        ("one weight is one", Outcome.PASSED),
        ("equal scores share[2]", Outcome.PASSED),
    ]
    assert (result.points, result.earned, result.passed) == (0, 0, True)


def test_a_failed_test_has_the_message_of_its_assertion(folder):
    result = tried(folder, "def softmax(x): return [1] * len(x)\n")
    assert [check.outcome for check in result.checks] == [Outcome.PASSED, Outcome.FAILED]
    assert "assert [1, 1] == [0.5, 0.5]" in result.checks[1].message
    assert not result.passed


def test_a_function_that_raises_fails_its_tests(folder):
    result = tried(folder, "def softmax(x): raise NotImplementedError\n")
    assert [check.message for check in result.checks] == ["NotImplementedError"] * 2


@pytest.mark.parametrize(
    ("module", "reason"),
    [
        ("def softmax(x)\n", "SyntaxError: expected ':'"),
        ("import nothing_like_it\n", "ModuleNotFoundError: No module named 'nothing_like_it'"),
        ("x = 1\n", "ImportError: cannot import name 'softmax'"),
    ],
)
def test_a_module_that_cannot_be_imported_says_why(folder, module, reason):
    result = tried(folder, module)
    assert result.checks == []
    assert reason in result.reason


def test_an_error_of_syntax_points_at_its_place_and_leaves_the_folders_out(folder):
    result = tried(folder, "def softmax(x):\n    return [1 / len(x)] * (len(x)\n")
    assert result.reason == (
        "Python cannot import softmax.py:\n"
        '  File "softmax.py", line 2\n'
        "    return [1 / len(x)] * (len(x)\n"
        "                          ^\n"
        "SyntaxError: '(' was never closed"
    )
    assert result.reason_phrase.in_("zh").startswith("Python 无法导入 softmax.py：\n")


def test_a_loop_that_never_ends_is_stopped(folder):
    result = tried(folder, "def softmax(x):\n    while True: pass\n", seconds=2)
    assert result.reason == "stopped after 2 s: is there a loop that never ends?"


def test_a_module_that_ends_the_program_has_not_passed(folder):
    result = tried(folder, "import os\ndef softmax(x): os._exit(0)\n")
    assert result.reason == "pytest ended with status 0 and no results: does the module end the program?"
    assert not result.passed


def test_the_folder_is_left_as_it_was(folder):
    tried(folder, "def softmax(x): return [1]\n")
    assert not list(folder.rglob(".pytest_cache"))
    assert not list(folder.glob("*.xml"))


def test_whether_there_are_public_tests_is_asked_of_the_folder(folder):
    assert has_public_tests(folder, "softmax")
    assert not has_public_tests(folder, "attention")


def test_the_line_of_the_module_that_raised_is_kept_also_where_colours_are_forced(folder, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    result = tried(folder, "def softmax(x):\n    return [1 / len(x)] * len(x) if len(x) > 1 else x.nothing\n")
    assert [check.line for check in result.checks] == [2, 0]
    result = tried(folder, "import math\n\nmath.nothing\n")
    assert result.line == 3
    assert result.reason == (
        "Python cannot import softmax.py:\n"
        "AttributeError: module 'math' has no attribute 'nothing', on line 3 of softmax.py: math.nothing"
    )
    assert tried(folder, "x = 1\ny = (\n").line == 2
