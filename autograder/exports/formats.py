"""`--to NAME`: which module makes which form. It is imported when its form is asked for."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path

from autograder.exports import ExportError
from autograder.exports.order import Exported, Order
from autograder.report import Report, alphabetical, reports_in

FORMATS = {
    "canvas": "autograder.exports.canvas",
    "moodle": "autograder.exports.moodle",
    "gradescope": "autograder.exports.gradescope",
    "nbgrader": "autograder.exports.nbgrader",
    "junit": "autograder.exports.junit",
    "csv": "autograder.exports.table",
    "jsonl": "autograder.exports.jsonl",
}
# What fills a sheet of the platform's own.
WITH_TEMPLATE = ("canvas", "moodle")
WITHOUT_BONUS = ("junit", "csv", "jsonl")


def export(name: str, order: Order) -> Exported:
    """Make the form `name` of what was ordered.

    Raises:
        ExportError: when there is no such form, or it cannot be made.
        ReportError: when a file cannot be written.

    """
    _insist_on_fitting(name, order)
    make: Callable[[Order], Exported] = importlib.import_module(FORMATS[name]).export
    made = make(order)
    if order.not_graded:
        made.said.append(f"Not graded, so without a mark: {', '.join(order.not_graded)}")
        made.complete = False
    return made


def all_reports(grades: Path) -> list[Report]:
    """Read the reports of a class, in the order of a class list. ReportError where one cannot be read."""
    reports = list(reports_in(grades / "reports"))
    if not reports:
        raise ExportError(
            f"{grades / 'reports'}: there is no report in it; grade first, or name the folder of the marks"
        )
    return sorted(reports, key=lambda report: alphabetical(report.submission))


def _insist_on_fitting(name: str, order: Order) -> None:
    if name not in FORMATS:
        raise ExportError(f"--to {name}: there is no such form; ask for one of {', '.join(FORMATS)}")
    for option, given in (("--template", order.template), ("--column", order.column), ("--scaled", order.scaled)):
        if given and name not in WITH_TEMPLATE:
            raise ExportError(f"{option} is for {' and '.join(WITH_TEMPLATE)}; leave it out with --to {name}")
    if order.with_bonus and name in WITHOUT_BONUS:
        raise ExportError(f"--with-bonus: --to {name} keeps the bonus apart; leave it out")
    if order.template and order.destination and _is_same(order.template, order.destination):
        raise ExportError(f"--out {order.destination} is the template itself, which stays as it is; name another file")


def _is_same(one: Path, other: Path) -> bool:
    return one.resolve() == other.resolve()
