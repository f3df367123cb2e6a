"""`attend solution`: the solution of an exercise and the learner's own code, to be shown beside each other.

Exceptions:
    SolutionError   one line that says why there is nothing to show
"""

from __future__ import annotations

from pathlib import Path

from autograder.course import Course, Exercise
from autograder.language import say
from autograder.release import without_markers


class SolutionError(Exception):
    """There is no solution here, or it cannot be read."""


def require_solution(exercise: Exercise, course: Course) -> Path:
    """Give the file of a solution; SolutionError where this copy of the course has none."""
    file = course.solution_of(exercise)
    if not file.is_file():
        raise SolutionError(
            say(
                "there is no solution of {exercise} in this copy of the course; try attend hint", exercise=exercise.name
            )
        )
    return file


def solution_text(exercise: Exercise, course: Course) -> str:
    """Give the solution as one reads it. Raises SolutionError."""
    return without_markers(_text_of(require_solution(exercise, course)))


def own_text(exercise: Exercise, folder: Path) -> str:
    """Give what the learner has written, or "" where there is no module. Raises SolutionError."""
    module = folder / f"{exercise.name}.py"
    return _text_of(module) if module.is_file() else ""


def _text_of(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8-sig", errors="backslashreplace")
    except OSError as error:
        raise SolutionError(
            say("{file}: cannot be read ({why}); make it readable", file=file, why=error.strerror)
        ) from None
