"""Reports to fill a gradebook from, and what it holds afterwards."""

from collections.abc import Iterator

from nbgrader.api import Base, Gradebook, SubmittedAssignment

from autograder.report import CheckResult, Diagnosis, ExerciseResult, Outcome, Report

SHIFT = Diagnosis("no_shift", {"en": "The largest score is not subtracted.", "zh": "没有先减去最大值。"})


def check(name: str, points: float, *, passed: bool = True, message: str = "") -> CheckResult:
    outcome = Outcome.PASSED if passed else Outcome.FAILED
    shown = "" if passed else "softmax([800.])"
    return CheckResult(name, f"title of {name}", outcome, points, points * passed, message, counterexample=shown)


def result(name: str, *checks: CheckResult, diagnosis: list[Diagnosis] | None = None) -> ExerciseResult:
    points, earned = sum(check.points for check in checks), sum(check.earned for check in checks)
    return ExerciseResult(name, points, earned, diagnosis=diagnosis or [], checks=list(checks))


def report_of(id: str, *exercises: ExerciseResult, **more: object) -> Report:
    return Report(submission=id, status="graded", points=5, exercises=list(exercises), **more)


def right(id: str, **more: object) -> Report:
    """Give the report of a submission with all points."""
    softmax = result("softmax", check("test_sum", 1), check("test_shift[800]", 2), check("test_shape", 0))
    return report_of(id, softmax, result("mask", check("test_future", 2)), **more)


def wrong(id: str, **more: object) -> Report:
    """Give the report of a submission that does not subtract the largest score, and has the mask right."""
    failed = check("test_shift[800]", 2, passed=False, message="nan instead of 1.0")
    softmax = result("softmax", check("test_sum", 1), failed, check("test_shape", 0, passed=False), diagnosis=[SHIFT])
    return report_of(id, softmax, result("mask", check("test_future", 2)), **more)


def not_graded(id: str) -> Report:
    return Report(submission=id, status="not_graded", reason="the grader ran out of disk", points=5)


def rows_at(url: str) -> dict[str, list[tuple]]:
    with Gradebook(url, course_id="by-hand") as gradebook:
        tables = Base.metadata.sorted_tables
        return {table.name: sorted(map(tuple, gradebook.db.execute(table.select())), key=repr) for table in tables}


def marks_at(url: str) -> list[tuple]:
    """Give every mark with the names of what it is for, which are the same in every gradebook of the same reports."""
    with Gradebook(url, course_id="by-hand") as gradebook:
        return sorted(
            (mark for each in gradebook.assignment_submissions("by-hand") for mark in _marks_of(each)), key=repr
        )


def _marks_of(submission: SubmittedAssignment) -> Iterator[tuple]:
    for notebook in submission.notebooks:
        comments = {comment.name: comment.comment for comment in notebook.comments}
        for grade in notebook.grades:
            place = (submission.student.id, submission.timestamp, notebook.name, grade.name)
            scores = (grade.auto_score, grade.score, grade.max_score, grade.needs_manual_grade)
            yield (*place, *scores, comments[grade.name])
