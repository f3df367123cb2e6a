"""The marks of a class as a table for spreadsheets: one row per submission."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path

from autograder.outputs.text import attributed, number, visible
from autograder.report import Report, alphabetical, write_whole
from autograder.roster import Learner

# What makes a spreadsheet take a cell for a formula, also in the full width that East Asian editions accept.
FORMULA_STARTS = tuple("=+-@＝＋－＠")

NOTHING_HANDED_IN = "not_handed_in"


def write_csv(reports: Iterable[Report], exercises: Sequence[str], path: Path, missing: Iterable[Learner] = ()) -> Path:
    """Write the marks, sorted by submission, as UTF-8; ReportError where `path` cannot be written.

    Columns: submission, status, points (of the core exercises), earned (core), bonus, each exercise, reason, handed_in,
    late ("yes", "no", or empty where that cannot be said). A submission that was not graded has empty marks: a zero
    would be one. So have those who are `missing`, whose status is "not_handed_in".
    """
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["submission", "status", "points", "earned", "bonus", *exercises, "reason", "handed_in", "late"])
    rows = [(report.submission, _row(report, exercises)) for report in reports]
    rows += [(learner.id, _row_of_missing(learner, exercises)) for learner in missing]
    writer.writerows(row for _, row in sorted(rows, key=lambda pair: alphabetical(pair[0])))
    write_whole(path, text.getvalue().encode())
    return path


def _row(report: Report, exercises: Sequence[str]) -> list[str]:
    marks = [""] * (3 + len(exercises))
    if report.graded:
        earned = {exercise.name: number(exercise.earned) for exercise in report.exercises}
        totals = [number(report.points), number(report.core_earned), number(report.bonus_earned)]
        marks = totals + [earned.get(exercise, "") for exercise in exercises]
    late = {None: "", True: "yes", False: "no"}[report.late]
    return [inert(report.submission), report.status, *marks, inert(_reason(report)), report.handed_in or "", late]


def _row_of_missing(learner: Learner, exercises: Sequence[str]) -> list[str]:
    return [inert(learner.id), NOTHING_HANDED_IN, *[""] * (3 + len(exercises)), "nothing was handed in", "", ""]


def _reason(report: Report) -> str:
    if report.reason:
        return report.reason
    lost = [exercise for exercise in report.exercises if exercise.reason and not exercise.left_out]
    return "; ".join(attributed(exercise.reason, [exercise.name]) for exercise in lost)


def inert(text: str) -> str:
    """Give text as a spreadsheet shows it: with an apostrophe in front where it would be run as a formula."""
    shown = visible(text)
    return f"'{shown}" if shown.lstrip().startswith(FORMULA_STARTS) else shown
