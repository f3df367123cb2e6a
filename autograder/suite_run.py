"""`pytest autograder/suites [--submission=DIR]`: the suites as a plain pytest run, through the same worker and wire."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.checks import DESK, SERVED
from autograder.course import find_course, libraries_of, load_course
from autograder.desk import References, SubmissionDesk
from autograder.sandbox.starting import starter_for
from autograder.submission import read_submission

OPTION = "--submission"


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    """Let a folder be named; without one the solutions are graded."""
    parser.addoption(OPTION, type=Path, help="folder or .zip to grade (default: the reference solutions)")
    config = pluginmanager.get_plugin("pytestconfig")
    if config is not None and OPTION in config.invocation_params.args:
        # Before it knows the option, pytest takes DIR for a folder of tests, whose conftest.py it would run.
        raise pytest.UsageError(f"write {OPTION}=DIR, in one word")


def pytest_sessionstart(session: pytest.Session) -> None:
    """Open the submission, unless a grading run has already laid one on the desk."""
    config = session.config
    if config.stash.get(SERVED, False):
        return
    course = load_course(find_course(_folder_of_suites(config)))
    path = config.getoption(OPTION) or course.paths.solutions
    submission = read_submission(path, course.wanted)
    starter = starter_for(libraries_of(course.exercises))
    config.add_cleanup(starter.close)
    desk = SubmissionDesk(submission, course, starter, References(course), trust=False)
    config.add_cleanup(desk.close)
    config.stash[DESK] = desk


def _folder_of_suites(config: pytest.Config) -> Path:
    """Give the folder of what pytest was told to run: the course is the one that it belongs to."""
    path = config.invocation_params.dir / config.args[0].partition("::")[0]
    return path if path.is_dir() else path.parent
