"""grade(submission, course) -> Report: the shortest way through the house.

Exceptions:
    GradingError   nothing can be graded here, and why
"""

from __future__ import annotations

import copy
import gc
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress

from autograder.checks import SuiteMistake
from autograder.circumstances import with_circumstances
from autograder.counterexample import cut
from autograder.course import Course, Exercise, libraries_of
from autograder.crew import Crew
from autograder.desk import References, SubmissionDesk, hidden_paths
from autograder.diagnosis import Diagnostician
from autograder.faults.shelf import FamilyError
from autograder.figures import Draughtsman
from autograder.fingerprint import Fingerprint
from autograder.language import Phrase, as_phrase, said_by, say
from autograder.notebooks.places import file_of
from autograder.own_code import with_code
from autograder.report import NOT_HANDED_IN, ExerciseResult, Outcome, Report
from autograder.sandbox import jail
from autograder.sandbox.learner import JailMissing, Learner, LearnerEnded, LearnerException, SandboxError, at_line
from autograder.sandbox.starting import Borrowed, Starter, starter_for
from autograder.sandbox.violation import Violation
from autograder.sandbox.wire import Frame, Speciality
from autograder.session import Checks, SessionError, outcome_of, raised, raising_line, with_checks
from autograder.submission import Refused, Submission, SubmissionError, read_submission

# Of a forbidden call: it stands in every check of its exercise, and a process that lies may name anything.
LONGEST_NAME = 200
LONGEST_LINE = 400
# To prepare for submissions takes as long as it saves on a few.
MANY = 8
DIED_TWICE = say("the process that graded it died, twice; tell the kit's authors")


class GradingError(Exception):
    """Nothing can be graded: one line that says why and what to do."""


def grade(submission: Submission, course: Course, *, trust: bool = False, starter: Starter | None = None) -> Report:
    """Grade one submission. Raises GradingError where no submission could be.

    `starter` is where learners' processes come from, if it was started already; it is closed at the end.
    """
    reports: list[Report] = []
    grade_all([submission], course, receive=reports.append, trust=trust, starter=starter)
    return reports[0]


def grade_all(
    submissions: Iterable[Submission | Refused],
    course: Course,
    *,
    receive: Callable[[Report], None],
    trust: bool = False,
    jobs: int = 1,
    apart: bool = False,
    starter: Starter | None = None,
    of_class: int = 0,
) -> None:
    """Grade submissions and hand over each report as it is ready.

    With several `jobs`, that many are graded at once by forks of this process, and reports come in any order; with
    `apart` there is a fork for one job too, so that a death while grading costs one submission and not the run.
    With `trust`, learner code also runs where layers of the jail are missing; the reports name those that held.
    `of_class` is how many there are in all where these are what is left of a class: they are asked as the others were.

    Raises:
        GradingError: when the jail is incomplete, or the hidden files lie where learner code can read them.

    """

    def body(grader: Grader, checks: Checks) -> None:
        if are_many(submissions, of_class):
            grader.expect_many(checks)
        hands = grader.lent() if jobs > 1 or apart else grader
        # What is there now stays to the end: to look through all of it for what can be freed takes long, again and
        # again, in this process and in each of its forks.
        gc.collect()
        gc.freeze()
        crew = Crew(lambda one: hands.grade(one, checks), jobs=jobs, lost=grader.lost, apart=apart)
        # Closed at once where `receive` is interrupted: otherwise the hands would go on until they are done.
        try:
            with closing(crew.work_off(submissions)) as reports:
                for report in reports:
                    receive(report)
        finally:
            gc.unfreeze()

    running_grader(course, body, trust=trust, starter=starter)


def are_many(submissions: Iterable[object], of_class: int) -> bool:
    """Tell whether it is worth while to let the solutions pass first: in a large class, or one of unknown size."""
    return not isinstance(submissions, Sequence) or max(of_class, len(submissions)) >= MANY


def running_grader(
    course: Course, body: Callable[[Grader, Checks], None], *, trust: bool, starter: Starter | None = None
) -> None:
    """Collect the suites, start what learners' processes come from, and run `body`. Raises GradingError."""
    insist_on_hidden_files(course)
    suites = [course.suite_of(exercise) for exercise in course.exercises]
    try:
        with Grader(course, trust=trust, starter=starter) as grader:
            with_checks(suites, lambda checks: body(grader, checks))
    except JailMissing as missing:
        raise GradingError(incomplete(missing)) from None
    except (SandboxError, SessionError) as error:
        raise GradingError(str(error)) from error


class Grader:
    """What the submissions of one run share: the fork server, the references, the course's fingerprint."""

    def __init__(self, course: Course, *, trust: bool, starter: Starter | None = None) -> None:
        self._course = course
        self._trust = trust
        self._references = References(course)
        self.diagnostician = Diagnostician(course)
        self._insist_on_families()
        self._fingerprint = Fingerprint(course)
        self._libraries = libraries_of(course.exercises)
        self._starter: Starter = starter or starter_for(self._libraries)

    def __enter__(self) -> Grader:
        """Begin a run."""
        return self

    def __exit__(self, *_: object) -> None:
        """End every process of the run."""
        self._starter.close()

    def _insist_on_families(self) -> None:
        """Read every family before the work: one that is broken must not cost those who fail a check."""
        try:
            self.diagnostician.prepare(exercise.name for exercise in self._course.exercises)
        except FamilyError as error:
            raise GradingError(f"{error}; mend it, or take the file away") from error

    def lent(self) -> Grader:
        """Give a grader for forks of this process: all is loaded, and the fork server stays this one's to end."""
        for exercise in self._course.exercises:
            self._references.load(exercise.name)
        lent = copy.copy(self)
        lent._starter = Borrowed(self._starter)
        return lent

    def expect_many(self, checks: Checks) -> None:
        """Prepare for many processes of each exercise, and let the solutions pass each check before anyone else.

        All are asked in the same way then, wherever they come among the others.
        """
        course = self._course
        self._starter.prepare(Speciality(one.banned, bool(one.stand_ins), one.libraries) for one in course.exercises)
        # What fails here fails for each submission too, and is told there.
        with suppress(SandboxError, SessionError, SuiteMistake, SubmissionError):
            self._let_pass(read_submission(course.paths.solutions, course.wanted), checks)
        checks.asks_at_once = True

    def _let_pass(self, solutions: Submission, checks: Checks) -> None:
        with self.desk_for(solutions) as desk:
            for exercise in self._course.exercises:
                if exercise.name in solutions.modules:
                    checks.run(exercise.name, desk)

    def renew(self) -> None:
        """Start what learners' processes come from anew, after it failed."""
        self._starter.close()
        self._starter = starter_for(self._libraries)

    def warm(self, exercise: str, goes_on: Callable[[], bool]) -> bool:
        """Load and compute ahead what a check of this exercise may need, for as long as `goes_on`.

        Gives whether all of it is there.
        """
        self._references.load(exercise)
        return self.diagnostician.rehearse(exercise, goes_on)

    def lost(self, submission: Submission | Refused) -> Report:
        """Give the report of a submission that was the death of its grader, twice."""
        return not_graded(submission, self._course, DIED_TWICE)

    def grade(self, submission: Submission | Refused, checks: Checks) -> Report:
        """Grade one submission; a failure of ours is tried once more, then told, and never becomes a zero."""
        return with_circumstances(self._marks(submission, checks), submission, self._course)

    def _marks(self, submission: Submission | Refused, checks: Checks) -> Report:
        if isinstance(submission, Refused):
            return not_graded(submission, self._course, submission.reason_phrase or submission.reason)
        try:
            return self._attempt(submission, checks)
        except JailMissing:
            raise
        except SandboxError:
            self._starter.close()
        except Exception as error:
            return not_graded(submission, self._course, say("the grader failed: {error}", error=_named(error)))
        try:
            self._starter = starter_for(self._libraries)
            return self._attempt(submission, checks)
        except Exception as error:
            return not_graded(submission, self._course, say("the grader failed twice: {error}", error=_named(error)))

    def _attempt(self, submission: Submission, checks: Checks) -> Report:
        started = time.perf_counter()
        with self.desk_for(submission) as desk:
            results = [
                with_code(self.grade_exercise(exercise, submission, desk, checks), submission.modules)
                for exercise in self._course.exercises
            ]
        return Report(
            submission=submission.id,
            status="graded",
            fingerprint=self._fingerprint.of(submission),
            isolation=list(desk.layers),
            points=self._course.points,
            earned=sum(result.earned for result in results),
            seconds=round(time.perf_counter() - started, 3),
            exercises=results,
            extra_files=list(submission.extra),
        )

    @contextmanager
    def desk_for(self, submission: Submission) -> Iterator[SubmissionDesk]:
        """Lay a submission's modules on a desk, and end their processes afterwards."""
        desk = SubmissionDesk(submission, self._course, self._starter, self._references, trust=self._trust)
        try:
            yield desk
        finally:
            desk.close()

    def grade_exercise(
        self, exercise: Exercise, submission: Submission, desk: SubmissionDesk, checks: Checks
    ) -> ExerciseResult:
        """Grade one exercise of a submission."""
        if exercise.name not in submission.modules:
            reason = submission.problems.get(exercise.name, NOT_HANDED_IN)
            return _lost(exercise, checks, Outcome.FAILED, reason)
        learner = desk.learner(exercise.name)
        source = submission.modules[exercise.name]
        if lost := _not_loaded(exercise, learner, checks, source):
            return lost
        results = checks.run(exercise.name, desk, Draughtsman(exercise, self._course).draw)
        failed = any(result.outcome is not Outcome.PASSED for result in results)
        diagnosis = self.diagnostician.explain(exercise.name, learner) if failed else []
        learner.close()
        if learner.violations:
            violations = learner.violations
            return _lost(exercise, checks, Outcome.FAILED, forbidden(violations, source), violations[0].line)
        earned = sum(result.earned for result in results)
        return ExerciseResult(
            exercise.name, exercise.points, earned, diagnosis=diagnosis, checks=results, bonus=exercise.bonus
        )


def not_graded(submission: Submission | Refused, course: Course, said: Phrase | str) -> Report:
    """Give the report of a submission that has no marks, not even zero, and why."""
    phrase = as_phrase(said)
    report = Report(
        submission=submission.id,
        status="not_graded",
        reason=str(phrase or said),
        reason_phrase=phrase,
        points=course.points,
    )
    return with_circumstances(report, submission, course)


def _not_loaded(exercise: Exercise, learner: Learner, checks: Checks, source: bytes) -> ExerciseResult | None:
    """Load a module, and give the result of an exercise where that fails."""
    file = file_of(source, exercise.name)
    try:
        learner.load()
    except LearnerException as error:
        why = say("{file} cannot be loaded: {why}", file=file, why=raised(error))
        reason = forbidden(learner.violations, source) if learner.violations else why
        line = learner.violations[0].line if learner.violations else raising_line(error)
        return _lost(exercise, checks, Outcome.FAILED, reason, line)
    except LearnerEnded as ended:
        why = say("while {file} was loaded: {why}", file=file, why=said_by(ended))
        return _lost(exercise, checks, outcome_of(ended), why)
    if learner.violations:
        return _lost(
            exercise, checks, Outcome.FAILED, forbidden(learner.violations, source), learner.violations[0].line
        )
    return None


def _lost(exercise: Exercise, checks: Checks, outcome: Outcome, said: Phrase | str, line: int = 0) -> ExerciseResult:
    lost = checks.unrun(exercise.name, outcome, said)
    result = ExerciseResult(exercise.name, exercise.points, 0.0, checks=lost, bonus=exercise.bonus, line=line)
    result.lose(said)
    return result


def forbidden(violations: Sequence[Violation], source: bytes) -> Phrase:
    """Say which call an exercise may not use, and where the module has it."""
    first = violations[0]
    name = cut(first.name, LONGEST_NAME)
    if first.name == "threading" and not first.line:
        return say("this exercise may not use {name} (in a thread)", name=name)
    said = say("this exercise may not use {name}", name=name)
    if not first.line:
        return said
    return at_line(said, Frame(first.line, "", cut(first.text, LONGEST_LINE)), source)


def _named(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def insist_on_hidden_files(course: Course) -> None:
    """Refuse a course without what grading needs, or where learner code may read it. Raises GradingError."""
    for path in hidden_paths(course):
        if not path.exists():
            raise GradingError(f"{path} is not there: grading needs the instructor's copy of the course")
    exposed = jail.first_readable(hidden_paths(course), jail.readable_paths())
    if exposed is not None:
        raise GradingError(f"{exposed} lies where learner code may read it, among Python's libraries; move the course")


def incomplete(missing: JailMissing) -> str:
    """Say that layers of the jail are missing, and what to do."""
    return f"the jail is not complete on this machine ({missing}); --trust grades without what is missing"
