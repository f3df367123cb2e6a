"""Learners whose processes have lost what they may not use before they were there."""

import pytest

from autograder.sandbox.starting import ForkServer
from autograder.sandbox.wire import Speciality


@pytest.fixture(scope="session")
def closing_server():
    server = ForkServer(("numpy", "torch"))
    yield server
    server.close()


@pytest.fixture
def closed_learner_of(learner_of, closing_server):
    """Give a function like `learner_of`, for learners from a fork server that was prepared for what is banned."""

    def open_learner(source, *, starter=closing_server, banned=(), stand_ins=None, **options):
        starter.prepare([Speciality(banned, bool(stand_ins))])
        return learner_of(source, starter=starter, banned=banned, stand_ins=stand_ins or {}, **options)

    return open_learner
