"""The course's own fault families, each asked its probes once, and its solutions, all on one thread."""

from pathlib import Path

import pytest

from autograder.course import load_course
from autograder.desk import References
from autograder.diagnosis import KnownAnswers
from autograder.faults.shelf import Families

COURSE = load_course(Path(__file__).resolve().parents[2])


@pytest.fixture(scope="session")
def course():
    return COURSE


@pytest.fixture(scope="session")
def solutions():
    """Give the solution modules; loading one makes torch compute on one thread, as in a learner's process."""
    return References(COURSE)


@pytest.fixture(scope="session")
def families(solutions):
    for exercise in COURSE.exercises:
        solutions.load(exercise.name)
    return Families(COURSE)


@pytest.fixture(scope="session")
def known_answers(families):
    """Give a function from an exercise to what its family answers with one fault, computed once for all tests."""
    known = {}

    def of(exercise):
        if exercise not in known:
            known[exercise] = KnownAnswers(families.of(exercise))
        return known[exercise]

    return of
