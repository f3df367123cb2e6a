"""Who handed in, when, and whether that was late: what a report says beside the marks, and no mark depends on."""

from __future__ import annotations

import msgspec

from autograder.course import Course
from autograder.report import Report
from autograder.submission import Refused, Submission


def with_circumstances(report: Report, submission: Submission | Refused, course: Course) -> Report:
    """Give the report with what the download tells of its submission; also one that was made before a date moved."""
    if isinstance(submission, Refused):
        return msgspec.structs.replace(report, learner_name=submission.learner_name)
    return msgspec.structs.replace(
        report,
        learner_name=submission.learner_name,
        handed_in=submission.handed_in.isoformat() if submission.handed_in else None,
        late=_lateness(submission, course),
        notes=list(submission.notes),
    )


def _lateness(submission: Submission, course: Course) -> bool | None:
    """Say whether the platform calls it late, or something in it came after the date that the course sets."""
    if submission.late or submission.handed_in is None:
        return submission.late
    due = [course.due_of(exercise) for exercise in course.exercises if exercise.name in submission.modules]
    dates = [date for date in due if date is not None]
    return any(submission.handed_in > date for date in dates) if dates else submission.late
