"""nbgrader's gradebook, filled from reports. Only `fill` and what it stands on import nbgrader.

Exceptions:
    GradebookError  a gradebook that cannot be filled: one line that says which, why, and what to do
"""

from __future__ import annotations

from importlib.util import find_spec


class GradebookError(Exception):
    """A gradebook that cannot be filled: one line that names it (never its password) and says what to do."""


def nbgrader_is_there() -> bool:
    """Say whether there is an nbgrader to keep a gradebook with; learners' installations have none."""
    return find_spec("nbgrader") is not None
