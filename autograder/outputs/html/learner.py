"""The page of one learner: what became of a submission, in each language of the course."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from markupsafe import Markup

from autograder.course import Course
from autograder.language import Phrase, say
from autograder.outputs.html.exercise import ExerciseView, ExerciseViews, Words
from autograder.outputs.html.rendering import macro, render_page
from autograder.outputs.text import number, visible
from autograder.report import Report


@dataclass(frozen=True)
class Edition:
    """The page in one language."""

    language: str
    words: Words
    course: str
    learner: str
    total: str
    reason: str
    facts: Sequence[str]
    exercises: Sequence[ExerciseView]
    fragments: Sequence[Markup]


class LearnerPages:
    """Makes the pages of a class, each in all the `languages`, of which the first is shown first."""

    def __init__(self, course: Course, languages: Sequence[str]) -> None:
        self._course = course
        self._views = {language: ExerciseViews(course, language) for language in languages}
        self._of_everybody: dict[ExerciseView, Markup] = {}

    def page(self, report: Report, source: str = "") -> str:
        """Give the page of a report as HTML; `source` is kept in it, to tell what it was made from."""
        editions = [self._edition(report, language, views) for language, views in self._views.items()]
        title = f"{visible(report.learner_name or report.submission)} · {self._course.title}"
        return render_page(
            "learner.html.j2", title=title, language=editions[0].language, editions=editions, source=source
        )

    def _edition(self, report: Report, language: str, views: ExerciseViews) -> Edition:
        # Not having handed in a bonus exercise is nothing to tell.
        told = [result for result in report.exercises if not result.left_out and report.graded]
        exercises = [views.view(result, anchored=True) for result in told]
        return Edition(
            language=language,
            words=views.words,
            course=self._course.titles.get(language, self._course.title),
            learner=visible(_who(report)),
            total=views.say(_total(report)),
            reason="" if report.graded else visible(views.say(report.reason_phrase or report.reason)),
            facts=[*([views.say(_handed_in(report))] if report.handed_in else []), *map(visible, report.notes)],
            exercises=exercises,
            fragments=[self._fragment(exercise, views.words) for exercise in exercises],
        )

    def _fragment(self, exercise: ExerciseView, words: Words) -> Markup:
        """Give the markup of an exercise; where all of it passed it is made once, for all learners of a class."""
        if not exercise.all_passed:
            return _exercise_fragment(exercise, words)
        if exercise not in self._of_everybody:
            self._of_everybody[exercise] = _exercise_fragment(exercise, words)
        return self._of_everybody[exercise]


def _exercise_fragment(exercise: ExerciseView, words: Words) -> Markup:
    return macro("exercise.html.j2", "exercise_fragment", exercise, words)


def _who(report: Report) -> str:
    return f"{report.learner_name} ({report.submission})" if report.learner_name else report.submission


def _total(report: Report) -> Phrase:
    earned, points = number(report.core_earned), number(report.points)
    if any(result.bonus and not result.left_out for result in report.exercises):
        bonus = number(report.bonus_earned)
        return say("{earned} of {points} points, and {bonus} for a bonus", earned=earned, points=points, bonus=bonus)
    return say("{earned} of {points} points", earned=earned, points=points)


def _handed_in(report: Report) -> Phrase:
    when = moment(report.handed_in or "")
    if report.late:
        return say("Handed in late, {moment}", moment=when)
    return say("Handed in {moment}", moment=when)


def moment(text: str) -> str:
    """Give a moment as people read it, its offset from UTC kept."""
    try:
        return f"{datetime.fromisoformat(text):%Y-%m-%d %H:%M %z}"
    except ValueError:
        return visible(text)
