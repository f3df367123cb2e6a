"""What the trials say about a suite."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from autograder.course import Course, Exercise
from autograder.diagnosis import KnownAnswers
from autograder.faults.family import Family, Faults
from autograder.session import CheckFacts
from autograder.verify.trials import Kind, Tried, label

# The share of mistakes that the diagnosis has to name.
SINGLES_NAMED = 0.95
PAIRS_NAMED = 0.80
# A ban is enforced for the whole exercise, and not by a check.
BAN = "not_allowed"


class Share(msgspec.Struct):
    """So many of so many, and the names of the others."""

    count: int
    of: int
    missing: list[str] = []

    @property
    def ratio(self) -> float:
        """The share as a number; of nothing it is everything."""
        return self.count / self.of if self.of else 1.0


class Verdict(msgspec.Struct):
    """What was found out about the suite of one exercise. `problems` are what has to be mended, one line each."""

    exercise: str
    faults: Share
    pairs: Share
    variants: Share
    trivial: Share
    named_faults: Share
    named_pairs: Share
    killed_by: dict[str, list[str]]
    killed_alone: dict[str, list[str]]
    stays: dict[str, str]
    unchecked: list[str]
    points: float
    points_of_checks: float
    slowest_diagnosis: float
    problems: list[str] = []

    @property
    def idle(self) -> list[str]:
        """The checks that catch nothing alone, and do not say why they stay."""
        return [name for name, alone in self.killed_alone.items() if not alone and name not in self.stays]

    @property
    def holds(self) -> bool:
        """Whether nothing has to be mended."""
        return not self.problems


def verdict_on(
    course: Course, exercise: Exercise, family: Family | None, checks: Sequence[CheckFacts], tried: Sequence[Tried]
) -> Verdict:
    """Put together what the trials of an exercise say."""
    by_kind = {kind: [one for one in tried if one.kind == kind] for kind in _KINDS}
    harmless = _harmless(family)
    singles = by_kind["fault"]
    right = [*by_kind["solution"], *by_kind["variant"]]
    verdict = Verdict(
        exercise=exercise.name,
        faults=_share(singles, lambda one: one.failed_something),
        pairs=_share(by_kind["pair"], lambda one: one.failed_something != (frozenset(one.faults) in harmless)),
        variants=_share(right, lambda one: not one.failed_something and _equal(one.earned, exercise.points)),
        trivial=_share(by_kind["trivial"], lambda one: one.earned == 0),
        named_faults=_share(singles, lambda one: _is_named(one, family)),
        named_pairs=_share([one for one in by_kind["pair"] if one.to_be_named], lambda one: _is_named(one, family)),
        killed_by=_killed(checks, singles, alone=False),
        killed_alone=_killed(checks, singles, alone=True),
        stays={check.name: check.stays for check in checks if check.stays},
        unchecked=_unchecked(course, exercise, checks),
        points=exercise.points,
        points_of_checks=sum(check.points for check in checks),
        slowest_diagnosis=max((one.diagnosis_seconds for one in tried), default=0.0),
    )
    troubles = [f"{one.name} could not be graded: {one.trouble}" for one in tried if one.trouble]
    verdict.problems = [*troubles, *_problems(verdict, family), *_wrong_declarations(family)]
    return verdict


_KINDS: tuple[Kind, ...] = ("solution", "variant", "trivial", "fault", "pair")


def _problems(verdict: Verdict, family: Family | None) -> Iterator[str]:
    if family is None:
        yield "there is no family of faults to try the suite with"
    yield from _each("survives", [*verdict.faults.missing, *verdict.pairs.missing])
    yield from _each("is right, but loses points", verdict.variants.missing)
    yield from _each("does nothing right, but earns points", verdict.trivial.missing)
    yield from _each("catches nothing alone; give it a fault, or a mark that says why it stays", verdict.idle)
    yield from _each("stays for a reason, but catches something alone; take the mark off", _busy(verdict))
    yield from _each("is promised, but no check is about it", verdict.unchecked)
    if not _equal(verdict.points, verdict.points_of_checks):
        yield f"the checks make {verdict.points_of_checks:g} points, the exercise {verdict.points:g}"
    if verdict.named_faults.ratio < SINGLES_NAMED:
        yield from _each("is not named", verdict.named_faults.missing)
    if verdict.named_pairs.ratio < PAIRS_NAMED:
        yield from _each("is not named", verdict.named_pairs.missing)


def _each(what: str, names: Iterable[str]) -> Iterator[str]:
    return (f"{name}: {what}" for name in names)


def _busy(verdict: Verdict) -> list[str]:
    return [name for name, alone in verdict.killed_alone.items() if alone and name in verdict.stays]


def _share(tried: Sequence[Tried], is_so: Any) -> Share:
    missing = [one.name for one in tried if not one.trouble and not is_so(one)]
    return Share(sum(not one.trouble for one in tried) - len(missing), len(tried), missing)


def _equal(one: float, other: float) -> bool:
    return math.isclose(one, other, abs_tol=1e-9)


def _killed(checks: Sequence[CheckFacts], singles: Sequence[Tried], *, alone: bool) -> dict[str, list[str]]:
    """Give for each check the faults that fail it, or fail nothing else."""
    counted = [(one.name, set(one.failed)) for one in singles]
    return {
        check.name: [name for name, failed in counted if check.name in failed and not (alone and len(failed) > 1)]
        for check in checks
    }


def _unchecked(course: Course, exercise: Exercise, checks: Sequence[CheckFacts]) -> list[str]:
    path = course.contract_of(exercise)
    if not path.is_file():
        return []
    sentences = tomllib.loads(path.read_text(encoding="utf-8"))
    promised = {key for check in checks for key in check.promises}
    return [key for key in sentences if key not in promised and key != BAN]


def _is_named(one: Tried, family: Family | None) -> bool:
    assert family is not None
    named, made = set(one.diagnosis), frozenset(map(family.fault, one.faults))
    return any(named == {fault.name for fault in faults} for faults in _equals(made, family))


def _equals(made: Faults, family: Family) -> list[Faults]:
    """Give a set of faults, and those that are declared to be the same as it."""
    forward = [same.those for same in family.same if same.these == made]
    return [made, *forward, *(same.these for same in family.same if same.those == made)]


def _harmless(family: Family | None) -> set[frozenset[str]]:
    """Give the sets of faults that are declared to undo each other."""
    same = family.same if family else ()
    return {frozenset(fault.name for fault in one.these) for one in same if not one.those}


def _wrong_declarations(family: Family | None) -> Iterator[str]:
    """Give what was declared to be the same, but is told apart by a probe."""
    if family is None:
        return
    known = KnownAnswers(family)
    for same in family.same:
        these, those = (label(fault.name for fault in faults) or "no fault" for faults in (same.these, same.those))
        for position, probe in enumerate(family.probes):
            if known.number(position, same.these) != known.number(position, same.those):
                yield f"{these} is declared to be the same as {those}, but the probe “{probe.name}” tells them apart"
                break
