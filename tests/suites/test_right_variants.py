"""Right answers in many styles, each through the real grader: the suites may not hold a style against anyone."""

import ast
from itertools import zip_longest
from pathlib import Path

import pytest

from autograder.course import load_course
from autograder.grade import grade_all
from autograder.report import ExerciseResult, Outcome, Report
from autograder.submission import Submission

ROOT = Path(__file__).resolve().parents[2]
EXERCISES = tuple(exercise.name for exercise in load_course(ROOT).exercises)
VARIANTS = {name: sorted((ROOT / "tests" / "variants" / name).glob("*.py")) for name in EXERCISES}
FILES = [path for paths in VARIANTS.values() for path in paths]

every_variant = pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")


def rows() -> list[list[Path]]:
    """Put the first variants of all exercises together, then the second ones: few submissions take less time."""
    return [[path for path in row if path] for row in zip_longest(*VARIANTS.values())]


@pytest.fixture(scope="module")
def results() -> dict[Path, ExerciseResult]:
    """Grade all variants in one run."""
    submissions = [
        Submission(str(number), {path.parent.name: path.read_bytes() for path in row})
        for number, row in enumerate(rows())
    ]
    reports: list[Report] = []
    grade_all(submissions, load_course(ROOT), receive=reports.append)
    assert not [report.reason for report in reports if report.status != "graded"]
    return {
        path: result
        for row, report in zip(rows(), reports, strict=True)
        for result in report.exercises
        for path in row
        if path.parent.name == result.name
    }


@every_variant
def test_a_right_variant_earns_every_point(results, path):
    result = results[path]
    failed = [f"{check.title}: {check.message}" for check in result.checks if check.outcome is not Outcome.PASSED]
    assert not result.reason
    assert not failed, "\n".join(failed)
    assert result.earned == result.points


@every_variant
def test_a_variant_opens_with_one_line_that_says_what_is_different_about_it(path):
    described = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    assert described is not None
    assert described.count("\n") == 0


@pytest.mark.parametrize("exercise", EXERCISES)
def test_an_exercise_has_at_least_eight_variants(exercise):
    assert len(VARIANTS[exercise]) >= 8
