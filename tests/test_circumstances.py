"""A report tells who handed in, when, and whether that was late."""

from datetime import datetime
from pathlib import Path

import pytest

from autograder.circumstances import with_circumstances
from autograder.course import Course, Exercise
from autograder.report import Report
from autograder.submission import Refused, Submission

DUE = "2026-03-01T23:59:00+01:00"
MODULES = {"softmax": b"", "mask": b""}


def course(due: str | None, of_softmax: str | None = None) -> Course:
    exercises = [
        Exercise(name=name, title=name, points=1, functions=("f",), libraries=("numpy",), due=moment(date))
        for name, date in (("softmax", of_softmax), ("mask", None))
    ]
    return Course(
        root=Path("."),
        name="c",
        title="C",
        languages=("en",),
        feedback="full",
        exercises=tuple(exercises),
        due=moment(due),
    )


def moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def handed_in(at: str | None, modules: dict[str, bytes] = MODULES, **more: object) -> Submission:
    return Submission("ada", modules, handed_in=moment(at), **more)


def told(submission: Submission | Refused, of: Course) -> Report:
    return with_circumstances(Report(submission="ada", status="graded", points=2, earned=1), submission, of)


def test_the_moment_the_name_and_the_notes_are_those_of_the_download():
    report = told(handed_in(DUE, learner_name="Ada Byron", notes=("the newest of 2 attempts",)), course(None))
    assert (report.handed_in, report.learner_name, report.notes) == (DUE, "Ada Byron", ["the newest of 2 attempts"])
    assert (report.earned, report.status) == (1, "graded")


def test_of_what_could_not_be_read_only_the_name_is_known():
    report = told(Refused("ada", "no zip", "Ada Byron"), course(DUE))
    assert (report.learner_name, report.handed_in, report.late) == ("Ada Byron", None, None)


@pytest.mark.parametrize(
    ("submission", "late"),
    [
        (handed_in("2026-03-01T23:59:00+01:00"), False),
        (handed_in("2026-03-01T22:59:01+00:00"), True),
        (handed_in("2026-03-01T12:00:00+00:00", late=True), True),
        (handed_in("2026-03-02T12:00:00+00:00", late=False), True),
        (handed_in(None), None),
        (handed_in(None, late=True), True),
    ],
)
def test_late_is_what_came_after_the_date_or_is_late_to_the_platform(submission, late):
    assert told(submission, course(DUE)).late is late


def test_where_no_date_is_set_nothing_is_called_late_or_in_time():
    assert told(handed_in(DUE), course(None)).late is None


def test_an_exercise_with_a_date_of_its_own_counts_where_it_was_handed_in():
    dates = course("2026-03-08T12:00:00+00:00", "2026-03-01T12:00:00+00:00")
    assert told(handed_in("2026-03-02T00:00:00+00:00"), dates).late is True
    assert told(handed_in("2026-03-02T00:00:00+00:00", {"mask": b""}), dates).late is False


def test_a_date_that_moved_is_told_in_a_report_that_was_there():
    late = told(handed_in("2026-03-02T00:00:00+00:00"), course(DUE))
    assert (
        with_circumstances(late, handed_in("2026-03-02T00:00:00+00:00"), course("2026-03-08T12:00:00Z")).late is False
    )
