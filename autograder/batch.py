"""A class at once: each report is kept as soon as it is there, the table of marks follows at the end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from autograder.course import Course
from autograder.outputs.csv import write_csv
from autograder.report import Report, write_report, write_whole
from autograder.roster import Attendance, Learner, attendance
from autograder.submission import Found


@dataclass
class Batch:
    """What became of a class: its reports, where they lie, and whether the work was stopped before the end."""

    found: Found
    out: Path
    reports: list[Report] = field(default_factory=list)
    stopped: bool = False
    roster: Sequence[Learner] | None = None

    @property
    def reports_folder(self) -> Path:
        """Where each submission's report lies."""
        return self.out / "reports"

    @property
    def marks(self) -> Path:
        """The table of marks."""
        return self.out / "grades.csv"

    @property
    def attendance(self) -> Attendance | None:
        """Who is missing and who is unknown, or None where there is no roster."""
        return None if self.roster is None else attendance(self.roster, self.found.submissions)

    @property
    def exit_status(self) -> int:
        """0 when all were graded, 3 when something could not be, 130 when the work was stopped."""
        if self.stopped:
            return 130
        return 0 if all(report.graded for report in self.reports) else 3


def grade_class(
    found: Found,
    course: Course,
    out: Path,
    *,
    trust: bool,
    advance: Callable[[], None] = lambda: None,
    roster: Sequence[Learner] | None = None,
) -> Batch:
    """Grade every submission found into the folder `out`, and call `advance` after each.

    Who is on the `roster` and handed nothing in has a row in the table of marks, too.

    Ctrl-C ends it early with what is there. ReportError before anything is graded when `out` cannot be written.
    """
    from autograder.grade import grade_all

    batch = Batch(found, out, roster=roster)
    _require_writable(batch.reports_folder)

    def receive(report: Report) -> None:
        write_report(report, batch.reports_folder)
        batch.reports.append(report)
        advance()

    try:
        grade_all(found.submissions, course, receive=receive, trust=trust)
    except KeyboardInterrupt:
        batch.stopped = True
    finally:
        if batch.reports:
            missing = batch.attendance.missing if batch.attendance else ()
            write_csv(batch.reports, [exercise.name for exercise in course.exercises], batch.marks, missing)
    return batch


def _require_writable(folder: Path) -> None:
    """Find out before the work, not after it."""
    probe = folder / ".writable"
    write_whole(probe, b"")
    probe.unlink()
