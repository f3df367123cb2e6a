"""What is put before the suite of an exercise: the solution, right variants, answers that do nothing, and mistakes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

import msgspec

from autograder.course import Course, Exercise
from autograder.faults.family import Family, Faults
from autograder.faults.mutant import source_of, source_of_all
from autograder.verify.trivial import trivial_sources

Kind = Literal["solution", "variant", "trivial", "fault", "pair"]

PAIRS_AT_A_TIME = 24
# So many pairs of a family at least, where it has them.
PAIRS_NAMED = 100


class Trial(msgspec.Struct, frozen=True):
    """One module to be graded to the end."""

    exercise: str
    kind: Kind
    name: str
    source: bytes
    faults: tuple[str, ...] = ()


class Pair(msgspec.Struct, frozen=True):
    """Two faults to be made together, the checks that each of them fails alone, and whether both are to be named."""

    faults: tuple[str, ...]
    first: tuple[str, ...]
    to_be_named: bool


class PairTrial(msgspec.Struct, frozen=True):
    """A module that can make any faults of its family, and the pairs that it is to make, one after the other."""

    exercise: str
    source: bytes
    pairs: tuple[Pair, ...]


class Tried(msgspec.Struct):
    """What became of a trial: points, the checks that failed, the faults named, and what naming them took."""

    exercise: str
    kind: Kind
    name: str
    faults: tuple[str, ...] = ()
    earned: float = 0.0
    reason: str = ""
    failed: list[str] = []
    diagnosis: list[str] = []
    diagnosis_seconds: float = 0.0
    trouble: str = ""
    to_be_named: bool = True

    @property
    def failed_something(self) -> bool:
        """Whether the suite saw that something is wrong with it."""
        return bool(self.failed or self.reason)


def first_trials(course: Course, exercise: Exercise, family: Family | None) -> Iterator[Trial]:
    """Give what is graded to the end: everything but the pairs."""
    solution = course.solution_of(exercise).read_text(encoding="utf-8")
    yield Trial(exercise.name, "solution", "the solution", solution.encode())
    for path in course.variants_of(exercise):
        yield Trial(exercise.name, "variant", path.stem, path.read_bytes())
    yield from _trivial(course, exercise, solution)
    if family is not None:
        yield _mutant(family, frozenset(), kind="variant", name="the family without a fault")
        for faults in family.singles():
            yield _mutant(family, faults, kind="fault")


def pair_trials(family: Family, killers: dict[str, list[str]], *, all_named: bool) -> Iterator[PairTrial]:
    """Give the pairs, some at a time: a process for each of them would take most of the time.

    Naming takes ten times as long as failing, so unless `all_named` only pairs at even distances are to be named.
    """
    source = source_of_all(family)
    every = 1 if all_named else max(1, len(family.pairs()) // PAIRS_NAMED)
    pairs = [_pair(faults, killers, place % every == 0) for place, faults in enumerate(family.pairs())]
    for start in range(0, len(pairs), PAIRS_AT_A_TIME):
        yield PairTrial(family.exercise, source, tuple(pairs[start : start + PAIRS_AT_A_TIME]))


def label(faults: Iterable[str]) -> str:
    """Give the name of a set of faults."""
    return " + ".join(sorted(faults))


def _trivial(course: Course, exercise: Exercise, solution: str) -> Iterator[Trial]:
    stub = course.stub_of(exercise).read_text(encoding="utf-8")
    for name, source in trivial_sources(exercise, solution, stub).items():
        yield Trial(exercise.name, "trivial", name, source)


def _pair(faults: Faults, killers: dict[str, list[str]], to_be_named: bool) -> Pair:
    names = tuple(sorted(fault.name for fault in faults))
    return Pair(names, tuple(name for fault in names for name in killers.get(fault, [])[:1]), to_be_named)


def _mutant(family: Family, faults: Faults, *, kind: Kind, name: str = "") -> Trial:
    names = tuple(sorted(fault.name for fault in faults))
    return Trial(family.exercise, kind, name or label(names), source_of(family, faults), names)
