"""Public tests, with pytest and the libraries loaded where forking is safe."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from autograder.course import Course, Exercise
from autograder.practice import tried_in_public
from autograder.public_runners import Fresh, Runner, Stopped
from autograder.report import ExerciseResult
from autograder.warm.kept import Cancelled


class PublicTests:
    """The public tests of a folder, by pytest."""

    def __init__(self, folder: Path, course: Course, runner: Runner) -> None:
        self._folder = folder
        self._course = course
        self._runner = runner

    def check(self, exercise: Exercise, source: bytes | None) -> ExerciseResult:
        """Run the tests on what lies in the folder; a run that died with its process is tried anew, once."""
        del source
        try:
            return tried_in_public(self._folder, exercise, self._course, self._runner)
        except Stopped:
            raise Cancelled from None
        except OSError:
            return tried_in_public(self._folder, exercise, self._course, Fresh())

    def warm(self, exercise: Exercise, goes_on: Callable[[], bool]) -> bool:
        """Nothing is left to prepare for one exercise."""
        return True

    def cancel(self) -> None:
        """Stop pytest."""
        self._runner.stop()
