"""Feedback on one exercise in a notebook: HTML where it can be shown, and the words of the terminal everywhere else."""

from __future__ import annotations

import io
from collections.abc import Sequence

from rich.console import Console

from autograder.course import Course
from autograder.language import Phrase, Reader
from autograder.outputs.html.exercise import ExerciseViews
from autograder.outputs.html.rendering import DARK_NOTEBOOK, render, stylesheet
from autograder.outputs.terminal import show_exercise
from autograder.outputs.text import visible
from autograder.practice import contract_sentence
from autograder.report import ExerciseResult

TEXT_WIDTH = 100


class Feedback:
    """What became of an exercise, with `said` before it: what was checked, and what is worth knowing about that."""

    def __init__(self, result: ExerciseResult, course: Course, language: str, said: Sequence[Phrase]) -> None:
        self.result = result
        self._course = course
        self._language = language
        self._reader = course.reader(language)
        self._said = [visible(self._reader.read(phrase)) for phrase in said]

    def __repr__(self) -> str:
        """Say it as the terminal does."""
        console = Console(
            file=io.StringIO(), width=TEXT_WIDTH, highlight=False, force_terminal=False, force_jupyter=False
        )
        show_exercise(
            console,
            self.result,
            self._course.feedback,
            lambda hint: contract_sentence(hint, self._course, self._language),
            self._reader,
        )
        assert isinstance(console.file, io.StringIO)
        return "\n".join([*self._said, console.file.getvalue().rstrip()])

    def _repr_html_(self) -> str:
        views = ExerciseViews(self._course, self._language)
        return _fragment(self._language, said=self._said, exercise=views.view(self.result), words=views.words)


class Trouble:
    """One line that says why there is no feedback."""

    def __init__(self, said: Phrase | str, language: str) -> None:
        self.line = f"attend: {visible(Reader(language).read(said))}"
        self._language = language

    def __repr__(self) -> str:
        """Give the line."""
        return self.line

    def _repr_html_(self) -> str:
        return _fragment(self._language, said=[self.line], exercise=None, words=None)


def _fragment(language: str, **facts: object) -> str:
    return render("notebook.html.j2", language=language, stylesheet=stylesheet(DARK_NOTEBOOK), **facts)
