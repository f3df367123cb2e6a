"""The learners' pages of feedback in a zip that Moodle hands on: "Upload multiple feedback files in a zip"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from autograder.exports.matching import Row
from autograder.exports.order import Order
from autograder.outputs.text import visible
from autograder.release.writing import packed
from autograder.report import Report, report_name, write_whole

# Where the pages of a class are, below the folder of its marks.
PAGES = "feedback"
FILE = "feedback.html"
# An underscore ends the name for Moodle; the others are not for names of files everywhere.
NOT_IN_A_NAME = re.compile(r'[_/\\:*?"<>|]')


def feedback_zip(pairs: Sequence[tuple[Row, Report]], order: Order, place: Path) -> tuple[list[Path], list[str]]:
    """Write the pages of those learners who were graded; give the zip, and what is to be said of it.

    There is no zip where there are no pages.
    """
    pages = [(row, _page(report, order)) for row, report in pairs if report.graded and row.ids[0]]
    files = {f"{folder_name(row)}/{FILE}": page.read_bytes() for row, page in pages if page.is_file()}
    without = [row.name for row, page in pages if not page.is_file()]
    said = []
    if without:
        where = f"of {'; '.join(without)}" if files else f"in {order.grades / PAGES}"
        said.append(f"There is no page of feedback {where}; `attend pages` makes them, then export again")
    if not files:
        return [], said
    write_whole(place, packed(files))
    return [place], said


def folder_name(row: Row) -> str:
    """Give the folder of a learner as Moodle names it."""
    name = NOT_IN_A_NAME.sub(" ", visible(row.name)).strip(" .~") or "Participant"
    return f"{name}_{row.ids[0]}_assignsubmission_file_"


def _page(report: Report, order: Order) -> Path:
    return order.grades / PAGES / f"{report_name(report.submission).removesuffix('.json')}.html"
