"""The hidden suites, kept ready: collected once, with the solutions, the fault families and the fork server loaded."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from autograder.course import Course, Exercise
from autograder.grade import Grader, running_grader
from autograder.practice import missing
from autograder.report import ExerciseResult
from autograder.sandbox.learner import Interrupted, Learner, SandboxError
from autograder.session import Checks
from autograder.submission import Submission
from autograder.warm.kept import Cancelled


def with_hidden_checks(folder: Path, course: Course, body: Callable[[HiddenChecks], None]) -> None:
    """Collect the suites of a course and run `body`; raises GradingError where they cannot be run.

    It is the learner's own code on the learner's own machine: the jail is not insisted on.
    """
    running_grader(course, lambda grader, checks: body(HiddenChecks(folder, grader, checks)), trust=True)


class HiddenChecks:
    """The hidden suites, collected, with the fork server beside them."""

    def __init__(self, folder: Path, grader: Grader, checks: Checks) -> None:
        self._folder = folder
        self._grader = grader
        self._checks = checks
        self._learner: Learner | None = None

    def check(self, exercise: Exercise, source: bytes | None) -> ExerciseResult:
        """Check a module in a process of its own; where the sandbox fails it is started anew, once."""
        if source is None:
            result = ExerciseResult(exercise.name, exercise.points, 0.0, bonus=exercise.bonus)
            result.lose(missing(self._folder, exercise.name))
            return result
        try:
            return self._attempt(exercise, source)
        except SandboxError:
            self._grader.renew()
            return self._attempt(exercise, source)

    def warm(self, exercise: Exercise, goes_on: Callable[[], bool]) -> bool:
        """Load the solution, and ask the fault family what it answers."""
        return self._grader.warm(exercise.name, goes_on)

    def cancel(self) -> None:
        """End the learner's process."""
        if (learner := self._learner) is not None:
            learner.interrupt()

    def _attempt(self, exercise: Exercise, source: bytes) -> ExerciseResult:
        submission = Submission(self._folder.name, {exercise.name: source})
        with self._grader.desk_for(submission) as desk:
            learner = self._learner = desk.learner(exercise.name)
            try:
                result = self._grader.grade_exercise(exercise, submission, desk, self._checks)
            except Interrupted:
                raise Cancelled from None
            finally:
                self._learner = None
        if learner.interrupted:
            # What came of the calls after that is no answer.
            raise Cancelled
        return result
