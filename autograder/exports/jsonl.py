"""JSON lines: each report, as it stands in reports/, on a line of its own; for instructors only."""

from __future__ import annotations

from autograder.exports.order import Exported, Order
from autograder.report import on_one_line, write_whole


def export(order: Order) -> Exported:
    """Write one line for each report."""
    place = order.place("reports.jsonl")
    write_whole(place, b"".join(on_one_line(report) + b"\n" for report in order.reports))
    return Exported([place])
