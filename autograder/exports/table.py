"""A table for statistics: one row for each check of each submission, UTF-8, comma-separated, for instructors only.

Columns: submission, learner, status, handed_in, late (yes, no or empty), exercise, bonus (yes or no), exercise_points,
exercise_earned, check, title, outcome, points, earned, seconds, diagnosis (names of faults, separated by spaces),
message, reason. An exercise without checks has one row, and so has a submission that was not graded,
with no numbers in it.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from autograder.exports.order import Exported, Order
from autograder.outputs.csv import inert
from autograder.outputs.text import number
from autograder.report import CheckResult, ExerciseResult, Report, write_whole

COLUMNS = (
    "submission", "learner", "status", "handed_in", "late", "exercise", "bonus", "exercise_points", "exercise_earned",
    "check", "title", "outcome", "points", "earned", "seconds", "diagnosis", "message", "reason",
)  # fmt: skip
YES_OR_NO = {None: "", True: "yes", False: "no"}


def export(order: Order) -> Exported:
    """Write the table."""
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, COLUMNS, restval="", lineterminator="\n")
    writer.writeheader()
    for report in order.reports:
        writer.writerows(_rows(report))
    place = order.place("checks.csv")
    write_whole(place, text.getvalue().encode("utf-8", "backslashreplace"))
    return Exported([place])


def _rows(report: Report) -> Iterator[dict[str, str]]:
    about = {
        "submission": inert(report.submission),
        "learner": inert(report.learner_name),
        "status": report.status,
        "handed_in": report.handed_in or "",
        "late": YES_OR_NO[report.late],
    }
    if not report.graded:
        yield about | {"reason": inert(report.reason)}
    for result in report.exercises if report.graded else ():
        of_exercise = about | _of_exercise(result)
        yield from (of_exercise | _of_check(check) for check in result.checks)
        if not result.checks:
            yield of_exercise


def _of_exercise(result: ExerciseResult) -> dict[str, str]:
    return {
        "exercise": result.name,
        "bonus": YES_OR_NO[result.bonus],
        "exercise_points": number(result.points),
        "exercise_earned": number(result.earned),
        "diagnosis": inert(" ".join(diagnosis.fault for diagnosis in result.diagnosis)),
        "reason": inert(result.reason),
    }


def _of_check(check: CheckResult) -> dict[str, str]:
    return {
        "check": inert(check.name),
        "title": inert(check.title),
        "outcome": check.outcome,
        "points": number(check.points),
        "earned": number(check.earned),
        "seconds": f"{check.seconds:.4f}",
        "message": inert(check.message),
    }
