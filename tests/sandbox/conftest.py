"""One fork server for the whole run of tests; learners are closed as each test ends."""

import pytest

from autograder.sandbox.jail import readable_paths
from autograder.sandbox.learner import Budget, Learner, Limits, Module
from autograder.sandbox.starting import ForkServer


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
