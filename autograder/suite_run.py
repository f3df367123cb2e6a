"""`pytest autograder/suites [--submission DIR]`: the suites as a plain pytest run, through the same worker and wire."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.checks import DESK, SERVED
from autograder.course import find_course, load_course
from autograder.desk import References, SubmissionDesk
from autograder.sandbox.starting import starter_for
from autograder.submission import read_submission


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let a folder be named; without one the solutions are graded."""
    parser.addoption("--submission", type=Path, help="folder or .zip to grade (default: the reference solutions)")


def pytest_sessionstart(session: pytest.Session) -> None:
    """Open the submission, unless a grading run has already laid one on the desk."""
    config = session.config
    if config.stash.get(SERVED, False):
        return
    course = load_course(find_course(Path(__file__).parent))
    path = config.getoption("--submission") or course.paths.solutions
    submission = read_submission(path, [exercise.name for exercise in course.exercises])
    libraries = tuple(dict.fromkeys(name for exercise in course.exercises for name in exercise.libraries))
    starter = starter_for(libraries)
    config.add_cleanup(starter.close)
    desk = SubmissionDesk(submission, course, starter, References(course), trust=False)
    config.add_cleanup(desk.close)
    config.stash[DESK] = desk
