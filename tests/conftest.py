"""One fork server for the whole run of tests, learners that are closed as each test ends, and a course of one exercise.

The course, `tests/data/double`, has all that a real one has: a solution, a suite, a fault family, a right variant.
"""

import os
import shutil
from pathlib import Path

import pytest

from autograder.course import load_course
from autograder.sandbox.jail import readable_paths
from autograder.sandbox.learner import Budget, Learner, Limits, Module
from autograder.sandbox.starting import ForkServer

from .gradebook.postgresql import BINARIES

DOUBLE = Path(__file__).parent / "data" / "double"

# What the tests read on a screen is in English, whatever language whoever runs them speaks.
os.environ["LC_ALL"] = "C.UTF-8"

collect_ignore = ["data"]


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Run the whole on all cores; of a few files one process is done before a second is ready."""
    whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS
    if whole and config.option.numprocesses is None and not hasattr(config, "workerinput"):
        config.option.numprocesses = "auto"
        config.option.dist = "worksteal"


def pytest_report_header() -> str:
    return f"PostgreSQL: {BINARIES or 'not installed, so its tests are left out'}"


@pytest.fixture(scope="session")
def fork_server():
    server = ForkServer(("numpy", "torch"))
    yield server
    server.close()


@pytest.fixture
def limits():
    """Give limits with which a test that waits for one is over soon."""
    return Limits(call_seconds=5.0, cpu_seconds=20, memory=256 << 20, output=1000, value=8 << 20)


@pytest.fixture
def learner_of(fork_server, limits):
    """Give a function that puts source text into a learner's process."""
    opened = []

    def open_learner(source, *, starter=fork_server, limits=limits, budget=None, trust=False, **module):
        learner = Learner(
            starter,
            Module("exercise", source.encode() if isinstance(source, str) else source, **module),
            limits=limits,
            readable=readable_paths(),
            budget=budget or Budget(60.0, "exercise"),
            trust=trust,
        )
        opened.append(learner)
        return learner

    yield open_learner
    for learner in opened:
        learner.close()


@pytest.fixture
def small_course(tmp_path):
    """Give a function that copies the small course, puts texts in the place of its own in some files, and loads it."""

    def make(changes=None, files=None):
        root = shutil.copytree(DOUBLE, tmp_path / "course", dirs_exist_ok=True)
        for name, replaced in (changes or {}).items():
            text = (root / name).read_text(encoding="utf-8")
            for old, new in replaced.items():
                assert text.count(old) == 1, f"{old!r} is in {name} {text.count(old)} times"
                text = text.replace(old, new)
            (root / name).write_text(text, encoding="utf-8")
        for name, text in (files or {}).items():
            (root / name).write_text(text, encoding="utf-8")
        return load_course(root)

    return make
