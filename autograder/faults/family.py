"""What a fault family is made of.

A family is one readable implementation of an exercise. Its functions and classes take a keyword `faults`, a set of
`Fault`s, and each of them is a switch at the line where that mistake bites; with an empty set the answer is right.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

Faults = frozenset["Fault"]
NONE: Faults = frozenset()


@dataclass(frozen=True, eq=False)
class Fault:
    """One mistake that people make: what the code does, and which idea to look at again, in English and Chinese.

    `place` names the decision that it gets wrong. Of two faults in one place only one can be made at a time.
    `seen_in` are public reports of it, "owner/repo#number" or an address.
    """

    name: str
    place: str
    en: str
    zh: str
    seen_in: tuple[str, ...] = ()


@dataclass(frozen=True)
class Same:
    """Two sets of faults that no input tells apart, and why; the second is empty where the faults undo each other."""

    these: Faults
    those: Faults
    why: str


@dataclass(frozen=True)
class Probe:
    """A question short enough to read, put to a module as a suite would; its answer is whatever `ask` returns.

    What is asked must not depend on chance. Exceptions are answers too, by the name of their type.
    """

    name: str
    ask: Callable[[Any], Any]


@dataclass(frozen=True, eq=False)
class Family:
    """The faults of an exercise, the functions and classes that switch them, and the probes that tell them apart."""

    exercise: str
    definitions: Mapping[str, Callable[..., Any]]
    faults: tuple[Fault, ...]
    probes: tuple[Probe, ...]
    same: tuple[Same, ...] = ()
    _by_name: dict[str, Fault] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_by_name", {fault.name: fault for fault in self.faults})
        if len(self._by_name) != len(self.faults):
            raise ValueError(f"{self.exercise}: two faults have the same name")

    def fault(self, name: str) -> Fault:
        """Give the fault of that name; KeyError where there is none."""
        return self._by_name[name]

    def switched(self, faults: Iterable[Fault]) -> dict[str, Callable[..., Any]]:
        """Give the functions and classes with these faults in them, ready to be called as the exercise says."""
        chosen = frozenset(faults)
        return {name: functools.partial(made, faults=chosen) for name, made in self.definitions.items()}

    def singles(self) -> list[Faults]:
        """Give each fault alone."""
        return [frozenset([fault]) for fault in self.faults]

    def pairs(self) -> list[Faults]:
        """Give every two faults that can be made together."""
        return [frozenset(two) for two in combinations(self.faults, 2) if two[0].place != two[1].place]
