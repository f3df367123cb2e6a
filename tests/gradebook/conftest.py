"""A course of two exercises, and a place for its gradebook."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest

from autograder.course import Course, Exercise
from autograder.gradebook.fill import file_url

from .postgresql import BINARIES
from .support import rows_at

collect_ignore = [] if BINARIES else ["test_postgresql.py"]


def exercise(name: str, points: float) -> Exercise:
    return Exercise(name=name, title=name, points=points, functions=(name,), libraries=("numpy",))


@pytest.fixture
def course() -> Course:
    return Course(
        root=Path("."),
        name="by-hand",
        title="By hand",
        languages=("en", "zh"),
        feedback="full",
        exercises=(exercise("softmax", 3), exercise("mask", 2)),
        due=datetime.fromisoformat("2026-03-01T23:59:00+01:00"),
    )


@pytest.fixture
def url(tmp_path: Path) -> str:
    return file_url(tmp_path / "gradebook.db")


@pytest.fixture
def rows(url: str) -> Callable[[], dict[str, list[tuple]]]:
    """Give a function that reads every row of every table, ids included."""
    return lambda: rows_at(url)
