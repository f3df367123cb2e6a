"""Making checks ready: hidden suites where this copy of the course has them, public tests for the rest."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from autograder.course import Course, Exercise
from autograder.practice import is_hidden
from autograder.public_runners import Forked, Fresh, Runner
from autograder.report import ExerciseResult
from autograder.sandbox.jail import can_fork
from autograder.warm.kept import Kept
from autograder.warm.public import PublicTests


def with_kept_checks(
    folder: Path, exercises: tuple[Exercise, ...], course: Course, body: Callable[[Kept], None]
) -> None:
    """Make the checks of these exercises ready and run `body`; what was started is ended afterwards.

    Raises GradingError where the suites cannot be run.
    """
    hidden = tuple(exercise for exercise in exercises if is_hidden(exercise, course))
    public = [exercise for exercise in exercises if exercise not in hidden]
    libraries = tuple(dict.fromkeys(name for exercise in public for name in exercise.libraries))
    runner: Runner = Forked(libraries) if public and can_fork() else Fresh()
    in_public = PublicTests(folder, course, runner)
    try:
        if not hidden:
            body(in_public)
            return
        # An installed copy without suites has nothing to grade with either.
        from autograder.warm.suites import with_hidden_checks

        of_these = msgspec.structs.replace(course, exercises=hidden)
        names = frozenset(exercise.name for exercise in hidden)
        with_hidden_checks(folder, of_these, lambda kept: body(Both(kept, names, in_public)))
    finally:
        runner.close()


class Both:
    """Hidden checks where the copy of the course has them, public tests for the rest."""

    def __init__(self, hidden: Kept, names: frozenset[str], public: Kept) -> None:
        self._hidden = hidden
        self._names = names
        self._public = public

    def check(self, exercise: Exercise, source: bytes | None) -> ExerciseResult:
        """Check a module by the strictest checks there are."""
        return self._of(exercise).check(exercise, source)

    def warm(self, exercise: Exercise, goes_on: Callable[[], bool]) -> bool:
        """Prepare a check."""
        return self._of(exercise).warm(exercise, goes_on)

    def cancel(self) -> None:
        """Cancel whichever is under way."""
        self._hidden.cancel()
        self._public.cancel()

    def _of(self, exercise: Exercise) -> Kept:
        return self._hidden if exercise.name in self._names else self._public
