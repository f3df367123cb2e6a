"""Trials held: modules graded by the real grader, several at once, and the verdict on each suite.

Exceptions:
    VerifyError   the trials cannot be held, and why
"""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

import msgspec

from autograder.course import Course, Exercise
from autograder.crew import Crew
from autograder.desk import SubmissionDesk
from autograder.faults.family import Family
from autograder.faults.shelf import Families, FamilyError
from autograder.grade import Grader, running_grader
from autograder.report import CheckResult, Outcome
from autograder.sandbox.learner import LearnerEnded
from autograder.session import Checks
from autograder.submission import Submission
from autograder.verify.trials import Pair, PairTrial, Trial, Tried, first_trials, label, pair_trials
from autograder.verify.verdict import Verdict, verdict_on

Progress = Callable[[int, int], None]


class VerifyError(Exception):
    """The trials cannot be held: one line that says why and what to do."""


def verify(
    course: Course,
    exercises: Sequence[Exercise],
    *,
    jobs: int,
    progress: Progress,
    all_named: bool = False,
    trust: bool = False,
) -> list[Verdict]:
    """Try the suites of these exercises, and call `progress` with the trials held and known of so far.

    Every pair of faults has to fail; with `all_named` every one has to be named too, otherwise a part of them.

    Raises:
        VerifyError: when a family, or a file that a trial is made from, cannot be read.
        GradingError: when nothing can be graded here.

    """
    try:
        families = {exercise.name: Families(course).of(exercise.name) for exercise in exercises}
    except FamilyError as error:
        raise VerifyError(str(error)) from error
    verdicts: list[Verdict] = []

    def hold(grader: Grader, checks: Checks) -> None:
        court = Court(course, grader, checks, jobs=jobs, progress=progress)
        tried = court.hear(exercises, families, all_named=all_named)
        verdicts.extend(
            verdict_on(course, exercise, families[exercise.name], checks.described(exercise.name), tried[exercise.name])
            for exercise in exercises
        )

    chosen = msgspec.structs.replace(course, exercises=tuple(exercises))
    _insist_on_files(chosen)
    running_grader(chosen, hold, trust=trust)
    return verdicts


def _insist_on_files(course: Course) -> None:
    for exercise in course.exercises:
        for path in (course.solution_of(exercise), course.stub_of(exercise), course.suite_of(exercise)):
            if not path.is_file():
                raise VerifyError(f"{path} is not there: put it back, or take {exercise.name} out of the course")
            _insist_that_it_reads(path, ast.parse)
        contract = course.contract_of(exercise)
        if contract.is_file():
            _insist_that_it_reads(contract, tomllib.loads)


def _insist_that_it_reads(path: Path, read: Callable[[str], object]) -> None:
    try:
        read(path.read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError) as error:
        raise VerifyError(f"{path} cannot be read: {error}; mend it") from None


class Court:
    """Holds trials inside a session of the suites."""

    def __init__(self, course: Course, grader: Grader, checks: Checks, *, jobs: int, progress: Progress) -> None:
        self._course = course
        self._checks = checks
        grader.expect_many(checks)
        self._grader = grader.lent()
        self._progress = progress
        self._crew: Crew[Trial | PairTrial, list[Tried]] = Crew(self._try, jobs=jobs, lost=_lost)
        self._known_of = 0
        self._held = 0

    def hear(
        self, exercises: Sequence[Exercise], families: dict[str, Family | None], *, all_named: bool
    ) -> dict[str, list[Tried]]:
        """Hold every trial: first those that are graded to the end, then the pairs, which build on them."""
        tried: dict[str, list[Tried]] = {exercise.name: [] for exercise in exercises}
        try:
            first = [first_trials(self._course, exercise, families[exercise.name]) for exercise in exercises]
            trials = [trial for each in first for trial in each]
        except OSError as error:
            raise VerifyError(f"{error.filename}: {error.strerror}; put the file back") from None
        known = [family for family in families.values() if family is not None]
        self._known_of = len(trials) + sum(len(family.pairs()) for family in known)
        self._hold(trials, tried)
        killers = {family.exercise: _killers(tried[family.exercise]) for family in known}
        pairs = [pair_trials(family, killers[family.exercise], all_named=all_named) for family in known]
        self._hold([trial for each in pairs for trial in each], tried)
        return tried

    def _hold(self, trials: Sequence[Trial | PairTrial], tried: dict[str, list[Tried]]) -> None:
        with closing(self._crew.work_off(trials)) as each:
            for results in each:
                tried[results[0].exercise] += results
                self._held += len(results)
                self._progress(self._held, self._known_of)

    def _try(self, trial: Trial | PairTrial) -> list[Tried]:
        submission = Submission("trial", {trial.exercise: trial.source})
        if isinstance(trial, PairTrial):
            return list(self._try_pairs(trial, submission))
        with self._grader.desk_for(submission) as desk:
            return [self._try_whole(trial, submission, desk)]

    def _try_pairs(self, trial: PairTrial, submission: Submission) -> Iterator[Tried]:
        waiting = list(trial.pairs)
        while waiting:
            with self._grader.desk_for(submission) as desk:
                learner = desk.learner(trial.exercise)
                # One that ran out of time before would not be run at all, and so seem to fail.
                while waiting and not (learner.time_outs or learner.out_of_time):
                    yield self._try_pair(waiting.pop(0), trial.exercise, desk)

    def _try_whole(self, trial: Trial, submission: Submission, desk: SubmissionDesk) -> Tried:
        tried = Tried(trial.exercise, trial.kind, trial.name, trial.faults)
        exercise = self._course.exercise(trial.exercise)
        try:
            result = self._grader.grade_exercise(exercise, submission, desk, self._checks)
        except Exception as error:
            tried.trouble = f"{type(error).__name__}: {error}"
            return tried
        tried.earned, tried.reason = result.earned, result.reason
        tried.failed = _failed(result.checks)
        tried.diagnosis = [diagnosis.fault for diagnosis in result.diagnosis]
        tried.diagnosis_seconds = self._grader.diagnostician.own_seconds
        return tried

    def _try_pair(self, pair: Pair, exercise: str, desk: SubmissionDesk) -> Tried:
        """Run the checks until one fails, then name the mistakes, in a process that has made other pairs before."""
        tried = Tried(exercise, "pair", label(pair.faults), pair.faults, to_be_named=pair.to_be_named)
        learner = desk.learner(exercise)
        diagnostician = self._grader.diagnostician
        try:
            learner._choose(list(pair.faults))
            tried.failed = _failed(_until_failure(self._checks.run_each(exercise, desk, pair.first)))
            if pair.to_be_named:
                # A check may have ended the process, and a new one makes no fault until it is told to.
                learner._choose(list(pair.faults))
                tried.diagnosis = [diagnosis.fault for diagnosis in diagnostician.explain(exercise, learner)]
                tried.diagnosis_seconds = diagnostician.own_seconds
        except (Exception, LearnerEnded) as error:
            tried.trouble = f"{type(error).__name__}: {error}"
        return tried


def _failed(results: Iterable[CheckResult]) -> list[str]:
    return [check.name for check in results if check.outcome is not Outcome.PASSED]


def _until_failure(results: Iterator[CheckResult]) -> Iterator[CheckResult]:
    for result in results:
        yield result
        if result.outcome is not Outcome.PASSED:
            return


def _killers(tried: Iterable[Tried]) -> dict[str, list[str]]:
    """Give for each fault the checks that it fails alone."""
    return {one.name: one.failed for one in tried if one.kind == "fault"}


def _lost(trial: Trial | PairTrial) -> list[Tried]:
    why = "the process that graded it died, twice"
    if isinstance(trial, Trial):
        return [Tried(trial.exercise, trial.kind, trial.name, trial.faults, trouble=why)]
    return [Tried(trial.exercise, "pair", label(pair.faults), pair.faults, trouble=why) for pair in trial.pairs]
