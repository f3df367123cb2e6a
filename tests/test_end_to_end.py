"""The class of the demo through the real grader: every style that is right gets full marks, every mistake costs."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from autograder.course import load_course
from autograder.grade import grade_all
from autograder.progress import Progress, write_progress
from autograder.report import Outcome, Report
from autograder.submission import find_submissions

ROOT = Path(__file__).resolve().parents[1]
COURSE = load_course(ROOT)
NAMES = [exercise.name for exercise in COURSE.exercises]
BONUS = {exercise.name for exercise in COURSE.exercises if exercise.bonus}


@pytest.fixture(scope="module")
def reports() -> dict[str, Report]:
    """Grade the class once, with a deadline that the endless loop does not make everyone wait for."""
    course = msgspec.structs.replace(COURSE, limits=msgspec.structs.replace(COURSE.limits, call_seconds=3.0))
    found = find_submissions(ROOT / "tests" / "data" / "class", NAMES)
    graded: dict[str, Report] = {}
    grade_all(found.submissions, course, receive=lambda report: graded.setdefault(report.submission, report))
    return graded


def failed(reports: dict[str, Report], id: str, exercise: str) -> set[str]:
    result = next(result for result in reports[id].exercises if result.name == exercise)
    return {check.title for check in result.checks if check.outcome is not Outcome.PASSED}


def earned(reports: dict[str, Report], id: str) -> dict[str, float]:
    return {result.name: result.earned for result in reports[id].exercises}


def reasons(reports: dict[str, Report], id: str) -> dict[str, str]:
    return {result.name: result.reason for result in reports[id].exercises if result.reason}


def test_everyone_is_graded(reports):
    assert len(reports) == 16
    assert {report.status for report in reports.values()} == {"graded"}


@pytest.mark.parametrize(
    ("id", "bonus"), [("amara-okafor", {}), ("李雷", {}), ("zoë-müller", {"by_hand": 5, "ablation": 10})]
)
def test_each_of_three_styles_that_are_right_gets_every_point_and_a_bonus_for_what_is_handed_in_of_it(
    reports, id, bonus
):
    report = reports[id]
    assert (report.points, report.core_earned, report.bonus_earned) == (100, 100, sum(bonus.values()))
    assert earned(reports, id).items() >= bonus.items()
    assert reasons(reports, id) == dict.fromkeys(BONUS - bonus.keys(), "not handed in")
    assert {result.name for result in report.exercises if not result.passed} == BONUS - bonus.keys()


@pytest.mark.parametrize(
    ("id", "exercise", "title"),
    [
        ("tomás-herrera", "softmax", "scores just above the overflow of the exponential stay finite"),
        ("priya-raghunathan", "causal_mask", "one new query reads every key in the cache"),
        ("björn_lindqvist", "padding_mask", "a key is readable when both masks allow it"),
        ("田中さくら", "attention", "scores are divided by the root of the key width"),
        ("Ольга Смирнова", "attention", "a fully masked row has neither weights nor output"),
        ("Kwame Mensah", "attention", "each query shares its weight among the keys"),
        ("fatima-zahra-el-idrissi", "multi_head", "splitting gives each head its slice of the features"),
        ("दीपिका-शर्मा", "attention", "true means that the query may read the key"),
        ("Kwame Mensah", "by_hand", "every size may be one and may equal or differ from the others"),
        ("chidi-eze", "multi_head", "the weights are returned as they are before dropout"),
    ],
)
def test_each_typical_mistake_fails_the_check_that_is_about_it(reports, id, exercise, title):
    assert title in failed(reports, id, exercise)


def test_a_mistake_in_attention_does_not_cost_multi_head_too(reports):
    assert failed(reports, "田中さくら", "multi_head") == set()


def test_a_loop_that_never_ends_costs_its_exercise_and_no_other(reports):
    result = next(result for result in reports["jonas-weber"].exercises if result.name == "padding_mask")
    assert Outcome.TIMED_OUT in {check.outcome for check in result.checks}
    assert earned(reports, "jonas-weber")["causal_mask"] == 15


def test_cheating_earns_nothing(reports):
    assert earned(reports, "max.power") == dict.fromkeys(NAMES, 0)
    assert "scaled_dot_product_attention" in reasons(reports, "max.power")["attention"]
    assert "line 14" in reasons(reports, "max.power")["attention"]
    assert "MultiheadAttention" in reasons(reports, "max.power")["multi_head"]
    assert reports["max.power"].extra_files == ["conftest.py"]


def test_what_could_not_be_loaded_or_was_not_handed_in_says_so(reports):
    said = reasons(reports, "nguyễn-văn-an")
    assert "SyntaxError: expected ':' (line 5" in said["softmax"]
    assert said["padding_mask"] == "not handed in; padding_mask (1).py would have to be named padding_mask.py"
    assert "No module named 'softmax'" in said["attention"]
    assert said["multi_head"] == "not handed in"
    assert earned(reports, "nguyễn-văn-an")["causal_mask"] == 15


def test_an_empty_folder_earns_nothing_and_is_graded(reports):
    assert reasons(reports, "s2190044") == dict.fromkeys(NAMES, "not handed in")
    assert reports["s2190044"].earned == 0


def attend(*arguments: str, after: str = "pass") -> subprocess.CompletedProcess[str]:
    program = f"import sys; from autograder.cli import run; status = run(sys.argv[1:]); {after}; sys.exit(status)"
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"},
        check=False,
    )


@pytest.fixture
def remembered(tmp_path: Path) -> Path:
    """Give a folder in which something was checked before, so that nothing is said about remembering it."""
    write_progress(tmp_path, Progress())
    return tmp_path


def test_checking_softmax_alone_loads_no_torch(remembered):
    shutil.copy(ROOT / "solutions" / "softmax.py", remembered)
    arguments = ("check", "softmax", "--in", str(remembered), "--course", str(ROOT))
    ran = attend(*arguments, after="print('torch' in sys.modules)")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.splitlines()[0].endswith(", 20 of 20 points")
    assert ran.stdout.splitlines()[-1] == "False"


def test_the_untouched_stubs_are_told_apart_from_mistakes(remembered):
    for name in ("causal_mask", "padding_mask"):
        shutil.copy(ROOT / "exercises" / f"{name}.py", remembered)
    ran = attend("check", "causal_mask", "padding_mask", "--in", str(remembered), "--course", str(ROOT))
    assert (ran.returncode, ran.stderr) == (1, "")
    assert ran.stdout.splitlines()[1] == "  not written yet"
    assert ran.stdout.splitlines()[-1] == "0 of 2 exercises done; next: causal_mask"
