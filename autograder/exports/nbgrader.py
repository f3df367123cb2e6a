"""nbgrader: the table that `nbgrader export` writes, for scripts that read it. `attend gradebook` fills the gradebook.

Facts, from `nbgrader/plugins/export.py` of jupyter/nbgrader (CsvExportPlugin): the columns are assignment, duedate,
timestamp, student_id, last_name, first_name, email, raw_score, late_submission_penalty, score, max_score; times are in
UTC without saying so. nbgrader gives who handed nothing in a score of 0.0; here who was not graded has none.
"""

from __future__ import annotations

import csv
import io
from datetime import datetime

from autograder.exports.marks import exactly, mark_of, written
from autograder.exports.moments import in_utc
from autograder.exports.order import Exported, Order
from autograder.gradebook.texts import first_and_last
from autograder.outputs.csv import inert
from autograder.report import Report, write_whole
from autograder.roster import Learner, recogniser

COLUMNS = (
    "assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email", "raw_score",
    "late_submission_penalty", "score", "max_score",
)  # fmt: skip


def export(order: Order) -> Exported:
    """Write the table, the learners of the roster with their names and addresses."""
    recognised = recogniser(order.roster)
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for report in order.reports:
        learner = recognised(report.submission, report.learner_name) or Learner("", report.learner_name)
        writer.writerow(_row(report, learner, order))
    place = order.place("nbgrader.csv")
    write_whole(place, text.getvalue().encode("utf-8", "backslashreplace"))
    return Exported([place])


def _row(report: Report, learner: Learner, order: Order) -> list[str]:
    first, last = first_and_last(learner.name)
    who = [inert(text) for text in (report.submission, last, first, learner.email)]
    mark = mark_of(report, with_bonus=order.with_bonus)
    marks = ["", "", ""] if mark is None else [written(mark), "0", written(mark)]
    times = [_written(in_utc(moment)) for moment in (order.course.last_due, report.handed_in)]
    return [order.course.name, *times, *who, *marks, written(exactly(report.points))]


def _written(moment: datetime | None) -> str:
    return str(moment.replace(tzinfo=None)) if moment else ""
