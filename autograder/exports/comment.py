"""What became of a submission in a few lines for its learner, for platforms that show no page."""

from __future__ import annotations

from collections.abc import Iterator

from autograder.course import Course
from autograder.language import Phrase, Reader, say
from autograder.outputs.text import number, visible
from autograder.policy import allowed_report
from autograder.report import Diagnosis, ExerciseResult, Report


def comment_lines(report: Report, course: Course) -> Iterator[str]:
    """Yield the lines in the course's first language; they say no more than its feedback policy allows.

    The first begins with the title of the course, by which a comment of ours is known again.
    """
    reader = course.reader(course.languages[0])
    yield f"{title_of(course)}: {reader.read(_total(report))}"
    if report.late:
        yield reader.read(say("Handed in late"))
    for result in allowed_report(report, course.feedback).exercises:
        if not result.left_out:
            yield from _lines(result, reader)


def title_of(course: Course) -> str:
    """Give the title of a course in its first language."""
    return course.titles.get(course.languages[0], course.title)


def _total(report: Report) -> Phrase:
    core, points = number(report.core_earned), number(report.points)
    if any(result.bonus and not result.left_out for result in report.exercises):
        bonus = number(report.bonus_earned)
        return say("{earned} of {points} points, and {bonus} for a bonus", earned=core, points=points, bonus=bonus)
    return say("{earned} of {points} points", earned=core, points=points)


def _lines(result: ExerciseResult, reader: Reader) -> Iterator[str]:
    earned, points = number(result.earned), number(result.points)
    said = say("{exercise}: {earned} of {points} points", exercise=result.name, earned=earned, points=points)
    yield reader.read(said)
    if result.reason:
        yield visible(reader.read(result.reason_phrase or result.reason))
    for diagnosis in result.diagnosis:
        yield visible(explanation_of(diagnosis, reader.language))


def explanation_of(diagnosis: Diagnosis, language: str) -> str:
    """Give the words for a mistake in a language, else in one that they are there in."""
    texts = diagnosis.explanation
    return texts.get(language) or next(iter(texts.values()), diagnosis.fault)
