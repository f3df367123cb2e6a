"""What a suite may use: marks for its checks, comparisons, examples, and the fixtures `learner`, `reference` and `rng`.

A suite is an ordinary pytest file, `test_<exercise>.py`. Its checks call the learner's functions through the `learner`
fixture, which crosses into the learner's process, and compare with `reference`, the solution module in this one.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any, Protocol

import numpy as np
import pytest

from autograder.compare import Difference, SuiteMistake, assert_close, assert_equal
from autograder.counterexample import cut
from autograder.examples import Examples
from autograder.language import Phrase, recognised, said_by, say
from autograder.sandbox.learner import Learner, LearnerException, UnfitResult

__all__ = [
    "DESK", "SERVED", "SERVINGS", "Desk", "Difference", "Examples", "SuiteMistake", "assert_close", "assert_equal",
    "assert_no_runtime_warning", "assert_unshared", "assert_untouched", "exercise_of", "hint", "insist", "points",
    "promise", "raises", "said_by", "say", "seen_in", "served_with", "stays",
]  # fmt: skip

# What the learner's process calls an array that has no name of its own.
UNNAMED = (say("an earlier result"), say("argument {position}"))
MOST_NAMED = 8

MARKERS = {
    "points": "points(n): what the check is worth",
    "promise": "promise(*keys): the sentences of the contract that the check tests",
    "hint": "hint(id): the hint to show when it fails",
    "seen_in": "seen_in(*reports): public bug reports that the check comes from",
    "stays": "stays(why): why the check is kept although no known fault is caught by it alone",
}


class Desk(Protocol):
    """Where the learner and the reference of an exercise are found during a session."""

    def learner(self, exercise: str) -> Learner:
        """The learner's module in its process."""

    def reference(self, exercise: str) -> ModuleType:
        """The solution module."""


DESK = pytest.StashKey[Desk]()
# Set where a grading run lays desk after desk, so that a plain pytest run need not lay its own.
SERVED = pytest.StashKey[bool]()


def points(worth: float) -> pytest.MarkDecorator:
    """Say what a check is worth."""
    return pytest.mark.points(float(worth))


def promise(*keys: str) -> pytest.MarkDecorator:
    """Name the sentences of the contract that a check tests."""
    return pytest.mark.promise(*keys)


def hint(identifier: str) -> pytest.MarkDecorator:
    """Name the hint to show when a check fails: "<exercise>.<idea>"."""
    return pytest.mark.hint(identifier)


def seen_in(*reports: str) -> pytest.MarkDecorator:
    """Name the public bug reports that a check comes from: "owner/repo#number"."""
    return pytest.mark.seen_in(*reports)


def stays(why: str) -> pytest.MarkDecorator:
    """Say why a check is kept although no known fault is caught by it alone."""
    return pytest.mark.stays(why)


def assert_untouched(learner: Learner) -> None:
    """The last call must have left its arguments as they were."""
    if learner.last.modified:
        raise Difference(say("the call changed its argument {names}", names=_listed(learner.last.modified)))


def assert_unshared(learner: Learner) -> None:
    """The result of the last call must share no memory with its arguments or with an earlier result."""
    if learner.last.shared:
        raise Difference(say("the result shares memory with {names}", names=_listed(learner.last.shared)))


def assert_no_runtime_warning(learner: Learner) -> None:
    """The last call must not have warned of what its arithmetic made."""
    found = [message for category, message in learner.last.warnings if category == "RuntimeWarning"]
    if found:
        raise Difference(say("the call caused a RuntimeWarning: {message}", message=found[0]))


def insist(holds: object, said: Phrase | str) -> None:
    """Let the check fail with a sentence for the learner unless something holds.

    Where an `assert` has a message it can only be read in English; what is said with `say` is translated.
    """
    if not holds:
        raise Difference(said)


def _listed(names: Sequence[str]) -> str | Phrase:
    """Give names as a list in which each of them holds: "x, y and z"."""
    # A process that lies may name any number of them.
    *others, last = (recognised(cut(name), UNNAMED) for name in names[:MOST_NAMED])
    return say("{first} and {last}", first=_enumerated(others), last=last) if others else last


def _enumerated(names: Sequence[str | Phrase]) -> str | Phrase:
    """Give names one after the other."""
    *others, last = names
    return say("{name}, {next}", name=_enumerated(others), next=last) if others else last


class raises:  # noqa: N801  (reads like pytest.raises)
    """The learner's code in this block must raise `kind`, with a message that names one of `naming`."""

    def __init__(self, kind: type[Exception], *, naming: Sequence[str]) -> None:
        self._kind = kind
        self._naming = naming

    def __enter__(self) -> None:
        """Begin the block."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> bool:
        """Judge what was raised."""
        wanted = self._kind.__name__
        if error is None or isinstance(error, UnfitResult):
            raise Difference(say("a {wanted} should be raised, but a value came back", wanted=wanted))
        if not isinstance(error, LearnerException):
            return False
        if error.name in ("NotImplementedError", "NotDefined"):
            # Not written yet: that says more than what should have been raised.
            return False
        said_there = cut(str(error))
        if not isinstance(error, self._kind):
            facts = {"wanted": wanted, "name": error.name, "message": said_there}
            raise Difference(say("a {wanted} should be raised, not {name}: {message}", **facts))
        if not any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", str(error)) for name in self._naming):
            said = say(
                "the message of the {wanted} should name {names}; it says: {message}",
                wanted=wanted,
                names=self._named(),
                message=said_there,
            )
            raise Difference(said)
        return True

    def _named(self) -> str | Phrase:
        *others, last = self._naming
        return say("{first} or {last}", first=_enumerated(others), last=last) if others else last


def exercise_of(path: Path) -> str:
    """Give the exercise that a suite file is about."""
    return path.stem.removeprefix("test_")


@pytest.fixture
def learner(request: pytest.FixtureRequest) -> Learner:
    """Give the learner's module, in its own process."""
    return request.config.stash[DESK].learner(exercise_of(request.path))


@pytest.fixture
def reference(request: pytest.FixtureRequest) -> ModuleType:
    """Give the solution module."""
    return request.config.stash[DESK].reference(exercise_of(request.path))


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """Give random numbers that are the same in every run and differ from check to check."""
    return _numbers_of(request.function)


def _numbers_of(check: Callable[..., object]) -> np.random.Generator:
    return np.random.default_rng(zlib.crc32(check.__name__.encode()))


# What the fixtures give, without pytest: of a desk, an exercise and the check itself.
SERVINGS: dict[str, Callable[[Desk, str, Callable[..., object]], Any]] = {
    "learner": lambda desk, exercise, _: desk.learner(exercise),
    "reference": lambda desk, exercise, _: desk.reference(exercise),
    "rng": lambda _, __, check: _numbers_of(check),
}


def served_with(item: pytest.Item) -> tuple[str, ...] | None:
    """Name the fixtures of a check that takes none but these; None where pytest has to do more than call it.

    To set up and take down such a check by pytest's own steps takes longer than most of them run.
    """
    if type(item) is not pytest.Function or item.cls is not None or hasattr(item, "callspec"):
        return None
    if any(item.get_closest_marker(name) for name in ("skip", "skipif", "xfail", "usefixtures")):
        return None
    definitions, arguments = item._fixtureinfo.name2fixturedefs, item._fixtureinfo.argnames
    for name in {*item.fixturenames, *arguments} - ({"request"} - {*arguments}):
        if name not in SERVINGS or [found.func.__module__ for found in definitions.get(name, ())] != [__name__]:
            return None
    return arguments


def pytest_configure(config: pytest.Config) -> None:
    """Make the marks known."""
    for line in MARKERS.values():
        config.addinivalue_line("markers", line)


def mark_of(item: pytest.Item, name: str, default: Any) -> Any:
    """Give the first argument of an item's mark, or the default."""
    marker = item.get_closest_marker(name)
    return marker.args[0] if marker and marker.args else default
