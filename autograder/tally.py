"""A class counted from its reports, one at a time: marks, checks, mistakes, and who is missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from autograder.language import Phrase
from autograder.report import NOT_HANDED_IN, CheckResult, ExerciseResult, Outcome, Report, alphabetical
from autograder.roster import Learner

Status = Literal["graded", "not_graded", "missing"]


@dataclass(frozen=True)
class Row:
    """One learner: `marks` by exercise, `lost` the exercises that earned nothing for a reason, with the reason.

    `earned` counts the core exercises, of `points`. Who is "missing" is on the roster and handed nothing in.
    """

    id: str
    name: str
    status: Status
    reason: Phrase | str = ""
    points: float = 0.0
    earned: float = 0.0
    bonus: float = 0.0
    marks: dict[str, float] = field(default_factory=dict)
    lost: dict[str, Phrase | str] = field(default_factory=dict)
    n_mistakes: int = 0
    handed_in: str = ""
    late: bool = False
    seconds: float = 0.0


@dataclass
class CheckTally:
    """How one check ended for the class; `done` is over those whose module could be tried."""

    title: str
    points: float
    outcomes: Counter[Outcome] = field(default_factory=Counter)

    @property
    def done(self) -> int:
        """How many it was run for."""
        return self.outcomes.total()

    @property
    def share_passed(self) -> float:
        """The part of these that passed, from 0 to 1."""
        return self.outcomes[Outcome.PASSED] / self.done if self.done else 0.0


@dataclass
class ExerciseTally:
    """One exercise in the class: its checks by name, and the ids of those who lost it whole, by reason.

    `earned` has the points of everyone who handed it in; the checks are counted for those who wrote something.
    """

    name: str
    points: float
    bonus: bool
    checks: dict[str, CheckTally] = field(default_factory=dict)
    lost: dict[str, Loss] = field(default_factory=dict)
    earned: list[float] = field(default_factory=list)
    n_not_handed_in: int = 0
    n_unwritten: int = 0
    n_full: int = 0


@dataclass
class Loss:
    """A reason for which modules earned nothing, and whose."""

    said: Phrase | str
    ids: list[str] = field(default_factory=list)


@dataclass
class Mistake:
    """A diagnosis: the fault, its words in each language, and the ids of those who made it."""

    exercise: str
    fault: str
    explanation: dict[str, str]
    ids: list[str] = field(default_factory=list)


class Tally:
    """What is known of a class; reports are added one by one, and need not stay in memory.

    `unknown` are the ids of nobody on the roster, `unreadable` says why of the files that hold no report.
    """

    def __init__(self) -> None:
        self.rows: dict[str, Row] = {}
        self.exercises: dict[str, ExerciseTally] = {}
        self.unknown: list[str] = []
        self.unreadable: dict[str, Phrase | str] = {}
        self._mistakes: dict[tuple[str, str], Mistake] = {}

    def add(self, report: Report) -> None:
        """Count a report."""
        self.rows[report.submission] = _row(report)
        for result in report.exercises if report.graded else ():
            self._add_exercise(report.submission, result)

    def call_the_roll(self, roster: Sequence[Learner], recognised: Callable[[str, str], Learner | None]) -> None:
        """Add who is on the roster and handed nothing in, take names from it, and keep the ids it does not know."""
        present = set()
        for row in list(self.rows.values()):
            if learner := recognised(row.id, row.name):
                present.add(learner.id)
                self.rows[row.id] = row if row.name else replace(row, name=learner.name)
            else:
                self.unknown.append(row.id)
        for learner in roster:
            if learner.id not in present:
                self.rows[learner.id] = Row(learner.id, learner.name, "missing")

    @property
    def mistakes(self) -> list[Mistake]:
        """The mistakes, those of most learners first."""
        return sorted(self._mistakes.values(), key=lambda mistake: -len(mistake.ids))

    def sorted_rows(self) -> list[Row]:
        """Give the learners as a class list does, by name and else by id."""
        return sorted(self.rows.values(), key=lambda row: alphabetical(row.name or row.id))

    def of(self, *statuses: Status) -> list[Row]:
        """Give the learners of these statuses, in the order of the class list."""
        return [row for row in self.sorted_rows() if row.status in statuses]

    def _add_exercise(self, id: str, result: ExerciseResult) -> None:
        tally = self.exercises.setdefault(result.name, ExerciseTally(result.name, result.points, result.bonus))
        if result.reason == str(NOT_HANDED_IN):
            tally.n_not_handed_in += 1
            return
        tally.earned.append(result.earned)
        tally.n_full += result.passed
        if result.reason:
            tally.lost.setdefault(result.reason, Loss(result.reason_phrase or result.reason)).ids.append(id)
            return
        if result.checks and all(check.is_stub for check in result.checks):
            tally.n_unwritten += 1
            return
        _add_checks(tally, result.checks)
        for diagnosis in result.diagnosis:
            key = result.name, diagnosis.fault
            mistake = self._mistakes.setdefault(key, Mistake(*key, diagnosis.explanation))
            mistake.ids.append(id)


def _add_checks(tally: ExerciseTally, checks: Iterable[CheckResult]) -> None:
    for check in checks:
        tally.checks.setdefault(check.name, CheckTally(check.title, check.points)).outcomes[check.outcome] += 1


def _row(report: Report) -> Row:
    if not report.graded:
        reason = report.reason_phrase or report.reason
        return Row(report.submission, report.learner_name, "not_graded", reason, report.points, late=bool(report.late))
    lost = {
        result.name: result.reason_phrase or result.reason
        for result in report.exercises
        if result.reason and not result.left_out
    }
    return Row(
        id=report.submission,
        name=report.learner_name,
        status="graded",
        points=report.points,
        earned=report.core_earned,
        bonus=report.bonus_earned,
        marks={result.name: result.earned for result in report.exercises if not result.left_out},
        lost=lost,
        n_mistakes=sum(len(result.diagnosis) for result in report.exercises if not result.reason),
        handed_in=report.handed_in or "",
        late=bool(report.late),
        seconds=report.seconds,
    )
