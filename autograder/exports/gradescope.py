"""Gradescope: what an autograder says of a submission, `results.json`, one for each learner.

Facts, from "Autograder Specifications" of Gradescope's documentation (`docs/specs.md` of the repository
gradescope/autograder_samples):

- `score` at the top counts before the scores of `tests`; one of them has to be there. `execution_time` is in seconds.
- Of a test: `score`, `max_score`, `name`, `number`, `output`, `visibility`, and `status`, passed or failed.
- `visibility` is `visible`, `hidden`, `after_due_date` or `after_published`. What is printed on standard output is
  shown to instructors only, unless `stdout_visibility` says otherwise.

A result without any score is none: Gradescope says that the autograder failed, and gives no mark. So are submissions
told that could not be graded. What learners see is what the feedback policy of the course leaves of a report: no test
needs to be hidden from them besides, and Gradescope shows no total to whom it hides a test.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from autograder.course import Course
from autograder.exports.comment import explanation_of
from autograder.exports.marks import exactly, mark_of
from autograder.exports.order import Exported, Order
from autograder.language import Reader, say
from autograder.outputs.text import number, visible, visible_lines
from autograder.policy import allowed
from autograder.practice import contract_sentence
from autograder.report import CheckResult, ExerciseResult, Outcome, Report, indented, report_name, write_whole

LONGEST_OUTPUT = 20_000


def export(order: Order) -> Exported:
    """Write `<submission>/results.json` for each report."""
    folder = order.place("gradescope")
    files = []
    for report in order.reports:
        results = results_of(report, order.course, with_bonus=order.with_bonus)
        files.append(folder / report_name(report.submission).removesuffix(".json") / "results.json")
        write_whole(files[-1], indented(results))
    return Exported(files, [], complete=True)


def results_of(report: Report, course: Course, *, with_bonus: bool, more: Sequence[str] = ()) -> dict[str, Any]:
    """Give the content of results.json; `more` are lines about the whole submission."""
    reader = course.reader(course.languages[0])
    results: dict[str, Any] = {
        "output": _text(_about(report, reader, with_bonus=with_bonus), more),
        "output_format": "text",
        "execution_time": round(report.seconds),
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "extra_data": {"submission": report.submission, "isolation": report.isolation, "late": report.late},
    }
    mark = mark_of(report, with_bonus=with_bonus)
    if mark is None:
        return results
    told = [result for result in report.exercises if not result.left_out]
    tests = [
        {"number": f"{first}.{second}"} | test
        for first, result in enumerate(told, 1)
        for second, test in enumerate(_tests(result, course, reader, with_bonus=with_bonus), 1)
    ]
    return results | {"score": float(mark), "tests": tests}


def without_a_mark(said: Sequence[str]) -> dict[str, Any]:
    """Give the content of results.json where nothing could be graded, and no score must look like one."""
    return {"output": _text(said), "output_format": "text", "visibility": "visible", "stdout_visibility": "hidden"}


def _about(report: Report, reader: Reader, *, with_bonus: bool) -> Iterator[str]:
    """Say of the whole submission what no test says."""
    if not report.graded:
        yield reader.read(say("This submission was not graded, and has no mark:"))
        yield reader.read(report.reason_phrase or report.reason)
        return
    if report.late:
        yield reader.read(say("Handed in late"))
    if report.bonus_earned and not with_bonus:
        earned = number(report.bonus_earned)
        yield reader.read(say("{earned} bonus points, which the score does not count", earned=earned))


def _tests(result: ExerciseResult, course: Course, reader: Reader, *, with_bonus: bool) -> Iterator[dict[str, Any]]:
    """Give a test for each check, or one for all where nothing may be told of single ones."""
    shown = allowed(result, course.feedback)
    counts = with_bonus or not result.bonus
    told = [check for check in shown.checks if check.title or check.name]
    if result.reason or not told:
        yield _whole(result, reader, counts=counts)
        return
    explained = [explanation_of(diagnosis, reader.language) for diagnosis in shown.diagnosis]
    for check in told:
        failed = check.outcome is not Outcome.PASSED
        # The mistake is told once, with the first check that it fails.
        said, explained = (explained, []) if failed else ([], explained)
        output = _text(said, _of_check(check, course, reader)) if failed else ""
        name = visible(f"{result.name}: {reader.title(check.title) or check.name}")
        yield _test(name, not failed, output, check.earned, check.points, counts=counts, bonus=result.bonus)


def _whole(result: ExerciseResult, reader: Reader, *, counts: bool) -> dict[str, Any]:
    passed = sum(check.outcome is Outcome.PASSED for check in result.checks)
    checks = say("{passed} of {count} checks passed", passed=passed, count=len(result.checks))
    said = [reader.read(result.reason_phrase or result.reason)] if result.reason else [reader.read(checks)]
    done = result.passed
    return _test(result.name, done, _text(said), result.earned, result.points, counts=counts, bonus=result.bonus)


def _of_check(check: CheckResult, course: Course, reader: Reader) -> Iterator[str]:
    yield check.counterexample
    yield reader.read(check.phrase or check.message)
    yield contract_sentence(check.hint, course, reader.language) if check.hint else ""


def _test(
    name: str, passed: bool, output: str, earned: float, points: float, *, counts: bool, bonus: bool
) -> dict[str, Any]:
    """Give one test; a bonus that counts comes on top of a maximum of 0, and one that does not has no score."""
    scores = {"score": float(exactly(earned)), "max_score": 0.0 if bonus else float(exactly(points))} if counts else {}
    status = "passed" if passed else "failed"
    return {"name": name, "status": status, "output": output, "output_format": "text", "visibility": "visible"} | scores


def _text(*parts: Iterable[str]) -> str:
    """Give texts as lines in which nothing acts, and of very many only the first."""
    lines = [line for part in parts for text in part if text for line in visible_lines(text)]
    return "\n".join(lines)[:LONGEST_OUTPUT]
