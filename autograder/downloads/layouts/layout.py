"""What each layout tells: how it is recognised, and which files in it belong to which learner."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from autograder.downloads.modules import HandIn
from autograder.downloads.nodes import Node


@dataclass(frozen=True)
class Grouped:
    """The learners that a layout finds, the names of what belongs to none, and what it has to say of them together."""

    hand_ins: list[HandIn] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    said: str = ""


@dataclass(frozen=True)
class Layout:
    """One way in which the submissions of a class lie in a folder.

    `title` and `times` complete the sentences "read as ..." and "hand-in times are ..."; `shape` says what to expect
    where it is asked for and not there. `recognises` and `group` get the folder and the names of the exercises, `group`
    also what the instructor chose where a folder holds more than one assignment, or "". `chooses` says what that is.
    """

    name: str
    title: str
    shape: str
    times: str
    recognises: Callable[[Node, Sequence[str]], bool]
    group: Callable[[Node, Sequence[str], str], Grouped]
    chooses: str = ""


def most(matching: int, all: int) -> bool:
    """Say whether more than half match: what one learner names or holds must not decide for the class."""
    return matching * 2 > all
