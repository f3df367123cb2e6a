"""A class at once: each report is kept as soon as it is there, the table of marks follows at the end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from autograder.circumstances import with_circumstances
from autograder.course import Course
from autograder.fingerprint import Fingerprint
from autograder.lock import held
from autograder.outputs.csv import write_csv
from autograder.report import Outcome, Report, ReportError, from_json, report_name, to_json, write_report, write_whole
from autograder.roster import Attendance, Learner, attendance
from autograder.sandbox import jail
from autograder.submission import Found, Refused, Submission

ORDINARY = (Outcome.PASSED, Outcome.FAILED)

Handed = Sequence[Submission | Refused]
Receive = Callable[[Report], None]
Graders = Callable[[Handed, Course, Receive, bool], None]


@dataclass
class Batch:
    """What became of a class: its reports, where they lie, and whether the work was stopped before the end.

    `known` is how many of the reports were there before. Those in memory hold only what the tables need.
    """

    found: Found
    out: Path
    reports: list[Report] = field(default_factory=list)
    stopped: bool = False
    known: int = 0
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
    def others(self) -> list[str]:
        """The files of reports, from earlier runs, of submissions that are not in this class."""
        own = {report_name(submission.id) for submission in self.found.submissions}
        return sorted(path.name for path in self.reports_folder.glob("*.json") if path.name not in own)

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
    jobs: int = 1,
    scheduler: str = "",
    again: bool = False,
) -> Batch:
    """Grade every submission found into the folder `out`, `jobs` at once, and call `advance` after each.

    With the address of a Dask `scheduler` its workers grade, to the same reports, and `jobs` has no meaning.

    What has a report in `out` already, made from the same files by the same course and kit, is not graded again,
    unless `again` is true. Who is on the `roster` and handed nothing in has a row in the table of marks, too.

    Ctrl-C ends it early with what is there. ReportError before anything is graded when `out` cannot be written, or
    another run is writing there; GradingError or ClusterError when nothing, or no more, can be graded.
    """
    batch = Batch(found, out, roster=roster)
    with held(out):
        _require_writable(batch.reports_folder)
        graders = _graders(jobs, scheduler, len(found.submissions))
        _grade_what_is_left(batch, course, again=again, trust=trust, graders=graders, advance=advance)
    return batch


def _graders(jobs: int, scheduler: str, of_class: int) -> Graders:
    """Give what grades submissions here or on a cluster; it is imported when there is something to grade."""

    def here(submissions: Handed, course: Course, receive: Receive, trust: bool) -> None:
        from autograder.grade import grade_all

        at_once = min(jobs, len(submissions))
        grade_all(submissions, course, receive=receive, trust=trust, jobs=at_once, apart=True, of_class=of_class)

    def there(submissions: Handed, course: Course, receive: Receive, trust: bool) -> None:
        from autograder.cluster.client import grade_on_cluster

        grade_on_cluster(submissions, course, receive=receive, trust=trust, scheduler=scheduler, of_class=of_class)

    return there if scheduler else here


def _grade_what_is_left(
    batch: Batch, course: Course, *, again: bool, trust: bool, graders: Graders, advance: Callable[[], None]
) -> None:
    def keep(report: Report) -> None:
        batch.reports.append(_lightened(report))
        advance()

    in_hand: list[Report] = []

    def receive(report: Report) -> None:
        in_hand[:] = [report]
        write_report(report, batch.reports_folder)
        keep(report)
        in_hand.clear()

    try:
        left = batch.found.submissions if again else _left(batch, course, keep, trust=trust)
        if left:
            graders(left, course, receive, trust)
    except KeyboardInterrupt:
        batch.stopped = True
        # It may come when a report has just been written.
        counted = {report.submission for report in batch.reports}
        batch.reports += [_lightened(one) for one in in_hand if one.submission not in counted and _is_there(batch, one)]
    finally:
        if batch.reports:
            missing = batch.attendance.missing if batch.attendance else ()
            write_csv(batch.reports, [exercise.name for exercise in course.exercises], batch.marks, missing)


def _is_there(batch: Batch, report: Report) -> bool:
    path = batch.reports_folder / report_name(report.submission)
    return path.exists() and path.read_bytes() == to_json(report)


def _left(batch: Batch, course: Course, keep: Callable[[Report], None], *, trust: bool) -> list[Submission | Refused]:
    """Give the submissions without a report that is still good; the others' reports are kept as they are."""
    left: list[Submission | Refused] = []
    fingerprint = Fingerprint(course)
    for submission in batch.found.submissions:
        report = _known_report(batch.reports_folder / report_name(submission.id), submission.id, trust=trust)
        if isinstance(submission, Refused) or report is None or report.fingerprint != fingerprint.of(submission):
            left.append(submission)
        else:
            batch.known += 1
            keep(_up_to_date(report, submission, course, batch.reports_folder))
    return left


def _up_to_date(report: Report, submission: Submission, course: Course, folder: Path) -> Report:
    """Give a kept report with what may have changed without its mark: when it was handed in, and what was due."""
    current = with_circumstances(report, submission, course)
    if current != report:
        write_report(current, folder)
    return current


def _known_report(path: Path, id: str, *, trust: bool) -> Report | None:
    """Give the report of a submission that is there; none made without the whole jail counts, unless `trust`."""
    try:
        report = from_json(path.read_bytes())
    except (OSError, ReportError):
        return None
    isolated = trust or not report.isolation or set(report.isolation) == set(jail.LAYERS)
    return report if report.graded and report.submission == id and isolated else None


def _lightened(report: Report) -> Report:
    """Give a report with no more than the tables need: a class of thousands stays in memory until its end."""
    return msgspec.structs.replace(
        report,
        exercises=[
            msgspec.structs.replace(
                exercise,
                diagnosis=[],
                checks=[check for check in exercise.checks if check.outcome not in ORDINARY],
                code="",
            )
            for exercise in report.exercises
        ],
    )


def _require_writable(folder: Path) -> None:
    """Find out before the work, not after it."""
    probe = folder / ".writable"
    write_whole(probe, b"")
    probe.unlink()
