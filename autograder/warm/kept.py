"""What can be asked of checks that are kept ready. Sources are read again for every check.

Exceptions:
    Cancelled   a check that nobody waits for any more; it has no result
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from autograder.course import Exercise
from autograder.report import ExerciseResult


class Cancelled(Exception):
    """The check was cancelled."""


class Kept(Protocol):
    """Checks of some exercises, ready to be run."""

    def check(self, exercise: Exercise, source: bytes | None) -> ExerciseResult:
        """Check a module as it was read; None where there is none. Raises Cancelled."""

    def warm(self, exercise: Exercise, goes_on: Callable[[], bool]) -> bool:
        """Prepare what a check of this exercise takes longest for, while `goes_on`; gives whether it is all there."""

    def cancel(self) -> None:
        """Have the check under way raise Cancelled; called from another thread."""
