"""Which mistake explains what was seen: the smallest set of known faults that answers every probe as the learner does.

A learner's function is asked a few short questions, and a family's implementation is asked the same with one fault in
it, then with two. Where nothing answers alike, or several different things do, nothing is said.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import msgspec

from autograder.counterexample import cut, show, show_call
from autograder.course import Course
from autograder.faults.answers import Answer, alike, answer_to
from autograder.faults.family import NONE, Family, Fault, Faults
from autograder.faults.rehearsal import Rehearsal
from autograder.faults.shelf import Families
from autograder.figures import Draughtsman, differ
from autograder.report import Diagnosis, Figure
from autograder.sandbox.learner import Budget, LastCall, Learner, LearnerEnded

# What the probes may take of an exercise, besides the learner's own limits.
SECONDS = 5.0
# In bytes. No probe asks for as much, and all answers are held at once.
LARGEST_ANSWER = 1 << 20
NOT_WRITTEN = ("NotImplementedError", "NotDefined")


class Diagnostician:
    """Explains failures; what the families answer is computed once and kept."""

    def __init__(self, course: Course) -> None:
        self._course = course
        # Processor time that the last explanation took, without the learner's calls and what is computed once a run.
        self.own_seconds = 0.0
        self._families = Families(course)
        self._known: dict[str, KnownAnswers] = {}

    def prepare(self, exercises: Iterable[str]) -> None:
        """Read the families of these exercises. Raises FamilyError."""
        for exercise in exercises:
            self._families.of(exercise)

    def rehearse(self, exercise: str, goes_on: Callable[[], bool]) -> bool:
        """Compute ahead what the family of an exercise answers, for as long as `goes_on`; gives whether all is known.

        Raises FamilyError.
        """
        family = self._families.of(exercise)
        if family is None:
            return True
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self._known_to(exercise, family).complete(goes_on)

    def explain(self, exercise: str, learner: Learner) -> list[Diagnosis]:
        """Name the faults that the learner's module shows, the one seen on the smallest probe first; or none.

        Nothing is asked of a module that ran out of time: it would only do so again.
        """
        family = self._families.of(exercise)
        if family is None or learner.time_outs or learner.out_of_time:
            return []
        with learner.on_another_budget(Budget(SECONDS, "the diagnosis")), warnings.catch_warnings():
            # Of what a learner's values do to our own arithmetic nobody wants to be warned.
            warnings.simplefilter("ignore")
            learner.begin("the diagnosis")
            seen = Seen.of(family, learner)
            return self._explained(exercise, family, seen) if seen else []

    def _explained(self, exercise: str, family: Family, seen: Seen) -> list[Diagnosis]:
        known = self._known_to(exercise, family)
        known.complete()
        started, asked = time.process_time(), known.seconds
        comparison = Comparison(known, seen, Draughtsman(self._course.exercise(exercise), self._course))
        found = [comparison.describe(fault) for fault in comparison.faults()]
        self.own_seconds = time.process_time() - started - (known.seconds - asked)
        return found

    def _known_to(self, exercise: str, family: Family) -> KnownAnswers:
        if exercise not in self._known:
            self._known[exercise] = KnownAnswers(family)
        return self._known[exercise]


class Seen:
    """What a learner's module answered to the probes, and the call that each of them ended with."""

    def __init__(self, answers: Sequence[Answer], calls: Sequence[LastCall | None]) -> None:
        self.answers = answers
        self.calls = calls

    @classmethod
    def of(cls, family: Family, learner: Learner) -> Seen | None:
        """Ask every probe; None where the process ended, something is not written yet, or an answer is huge."""
        answers: list[Answer] = []
        calls: list[LastCall | None] = []
        for probe in family.probes:
            learner.last_call = None
            try:
                answer = answer_to(probe, learner)
            except LearnerEnded:
                return None
            if answer.raised in NOT_WRITTEN or _size(answer.value) > LARGEST_ANSWER:
                return None
            answers.append(answer)
            calls.append(_without_huge_result(learner.last_call))
        return cls(answers, calls)


class KnownAnswers:
    """What a family answers to its probes. Answers that are alike have the same number; the right one has 0."""

    def __init__(self, family: Family) -> None:
        self.family = family
        self.seconds = 0.0
        self.distinct: list[list[Answer]] = [[] for _ in family.probes]
        # What the last call of each probe comes to where it is right.
        self.right_results: dict[int, Answer] = {}
        self._modules: dict[Faults, Rehearsal] = {}
        self._numbers: dict[tuple[int, Faults], int] = {}
        self._wrong: dict[Fault, frozenset[int]] = {}
        self._pairs: list[tuple[Faults, frozenset[int]]] | None = None
        # The right answers first, which have the number 0.
        everything = ((place, faults) for faults in (NONE, *family.singles()) for place in range(len(family.probes)))
        self._left = iter(everything)

    def complete(self, goes_on: Callable[[], bool] = lambda: True) -> bool:
        """Ask what every fault alone answers, as far as that is not known yet and for as long as `goes_on`."""
        while goes_on():
            if (asked := next(self._left, None)) is None:
                return True
            self.number(*asked)
        return False

    def number(self, position: int, faults: Faults) -> int:
        """Give the number of what the family answers to a probe with these faults in it."""
        if (position, faults) not in self._numbers:
            self._numbers[position, faults] = self._asked(position, faults)
        return self._numbers[position, faults]

    def pairs(self) -> list[tuple[Faults, frozenset[int]]]:
        """Give each pair, with the probes that one of its faults answers wrongly alone."""
        if self._pairs is None:
            started, asked = time.process_time(), self.seconds
            self._pairs = [
                (faults, frozenset().union(*(self.wrong(fault) for fault in faults))) for faults in self.family.pairs()
            ]
            self.seconds = asked + time.process_time() - started
        return self._pairs

    def wrong(self, fault: Fault) -> frozenset[int]:
        """Give the probes that a fault alone answers wrongly."""
        if fault not in self._wrong:
            alone = frozenset([fault])
            positions = range(len(self.family.probes))
            self._wrong[fault] = frozenset(position for position in positions if self.number(position, alone) != 0)
        return self._wrong[fault]

    def _asked(self, position: int, faults: Faults) -> int:
        started = time.process_time()
        if faults not in self._modules:
            self._modules[faults] = Rehearsal(self.family, faults)
        module = self._modules[faults]
        answer = answer_to(self.family.probes[position], module)
        if faults == NONE:
            self.right_results[position] = Answer(module.last_result, module.last_raised)
        known = self.distinct[position]
        number = next((number for number, other in enumerate(known) if alike(answer, other)), len(known))
        if number == len(known):
            known.append(answer)
        self.seconds += time.process_time() - started
        return number


class Comparison:
    """A learner's answers beside those of a family."""

    def __init__(self, known: KnownAnswers, seen: Seen, draughtsman: Draughtsman) -> None:
        self._known = known
        self._draughtsman = draughtsman
        self._seen = seen
        self._verdicts: dict[tuple[int, int], bool] = {}
        self._wrong = [position for position in range(len(seen.answers)) if not self._is_answered(position, NONE)]
        self._wrong_places = frozenset(self._wrong)

    def faults(self) -> list[Fault]:
        """Give the smallest set of faults that answers like this, the one that shows first in front."""
        if not self._wrong:
            return []
        for candidates in self._candidates():
            matching = [faults for faults in candidates if self._explains(faults)]
            if matching:
                # What all of them have in common is certain; where that is nothing, to name one would be a guess.
                certain = frozenset.intersection(*matching)
                return sorted(certain, key=lambda fault: (self._first_shown(fault), fault.name))
        return []

    def _candidates(self) -> Iterator[Iterable[Faults]]:
        """Give the faults alone, then the pairs, first those that are likely: few of the others have to be tried."""
        yield self._known.family.singles()
        likely = {faults for faults, expected in self._known.pairs() if self._is_likely(faults, expected)}
        yield likely
        yield [faults for faults, _ in self._known.pairs() if faults not in likely]

    def _is_likely(self, faults: Faults, expected: frozenset[int]) -> bool:
        """Tell whether a pair goes wrong where the learner did, each fault in its own way where the other is right."""
        if expected != self._wrong_places:
            return False
        one, other = faults
        return self._shows_alone(one, other) and self._shows_alone(other, one)

    def _shows_alone(self, fault: Fault, other: Fault) -> bool:
        places = self._known.wrong(fault) - self._known.wrong(other)
        alone = frozenset([fault])
        return all(self._is_answered(place, alone) for place in places)

    def describe(self, fault: Fault) -> Diagnosis:
        """Put a fault into the words of a report."""
        position = self._first_shown(fault)
        call, answer = self._seen.calls[position], self._seen.answers[position]
        right = self._known.distinct[position][0]
        result = self._known.right_results[position]
        shown = _shown(call, answer, right, result)
        figures = self._figures(call, answer, right, result.value)
        beside = self._draughtsman.call_beside(call, figures) if figures else ""
        return Diagnosis(fault.name, {"en": fault.en, "zh": fault.zh}, shown, figures, beside)

    def _figures(self, call: LastCall | None, answer: Answer, right: Answer, result: Any) -> list[Figure]:
        """Draw what the last call returned, or where that was right what the probe made of several calls."""
        if call is None:
            return []
        if answer.raised or any(differ(*pair) for pair in _paired(call.result, result)):
            return self._draughtsman.of_results(call, result)
        return self._draughtsman.of_answers(call, _paired(answer.value, right.value))

    def _explains(self, faults: Faults) -> bool:
        # What was answered wrongly first: it tells most of them apart.
        positions = [*self._wrong, *range(len(self._seen.answers))]
        return all(self._is_answered(position, faults) for position in positions)

    def _is_answered(self, position: int, faults: Faults) -> bool:
        number = self._known.number(position, faults)
        if (position, number) not in self._verdicts:
            answer = self._known.distinct[position][number]
            self._verdicts[position, number] = alike(self._seen.answers[position], answer)
        return self._verdicts[position, number]

    def _first_shown(self, fault: Fault) -> int:
        """Give the first probe that was answered wrongly, and would be with this fault alone."""
        return next((place for place in self._wrong if place in self._known.wrong(fault)), self._wrong[0])


def _size(value: Any) -> int:
    if isinstance(value, list | tuple):
        return sum(map(_size, value))
    return int(getattr(value, "nbytes", 0))


def _without_huge_result(call: LastCall | None) -> LastCall | None:
    if call is None or _size(call.result) <= LARGEST_ANSWER:
        return call
    return msgspec.structs.replace(call, result=None)


def _shown(call: LastCall | None, answer: Answer, right: Answer, result: Answer) -> str:
    """Show a call, what came of it, and what would be right, where that can be read at a glance.

    `result` is what the last call should have come to. A list is what a probe has made of several calls, or of what a
    call left behind: where it is no part of what came back, it does not stand behind an arrow.
    """
    if call is None:
        return ""
    written = show_call(call.function, call.arguments, call.keywords)
    for found, wanted, sign in _told(call, answer, right, result):
        if found and wanted and found != wanted:
            return cut(f"{written}{sign} {found} ≠ {wanted}")
    return written


def _told(call: LastCall, answer: Answer, right: Answer, result: Answer) -> Iterator[tuple[str, str, str]]:
    """Yield what might show the difference, the plainest first: what came back, what is right, a sign in between."""
    returned = [answer.value, right.value]
    if answer.raised or right.raised or not any(isinstance(value, list | tuple | bool) for value in returned):
        yield answer.raised or show(answer.value), right.raised or show(right.value), " →"
        yield _dtype_of(answer.value), _dtype_of(right.value), " →"
        return
    if call.result is not None and result.raised:
        yield show(call.result), result.raised, " →"
    for place, (found, wanted) in enumerate(_paired(call.result, result.value)):
        if wanted is not None and differ(found, wanted):
            part = f"[{place}]" if isinstance(result.value, list | tuple) else ""
            yield show(found), show(wanted), f"{part} →"
            yield _dtype_of(found), _dtype_of(wanted), f"{part} →"
    yield show(answer.value), show(right.value), ":"


def _paired(found: Any, right: Any) -> list[tuple[Any, Any]]:
    """Put the parts of two results beside each other, or the results themselves where they have no such parts."""
    if isinstance(found, list | tuple) and isinstance(right, list | tuple) and len(found) == len(right):
        return list(zip(found, right, strict=True))
    return [(found, right)]


def _dtype_of(value: Any) -> str:
    return str(getattr(value, "dtype", ""))
