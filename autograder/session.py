"""One pytest session for many submissions: the suites are collected once, and their checks run again for each.

pytest offers `pytest_runtestloop` for this. Two things are its own: `Item._initrequest`, which readies an item to run
once more, and `SetupState.teardown_exact`, which ends a module's set-up.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

from autograder import checks
from autograder.checks import DESK, SERVED, SERVINGS, Desk, SuiteMistake, exercise_of, mark_of, served_with
from autograder.counterexample import cut, show_call
from autograder.figures import Draw
from autograder.language import Phrase, as_phrase, recognised, said_by, say
from autograder.remembered import Remembered
from autograder.report import CheckResult, Outcome
from autograder.sandbox.learner import (
    Learner,
    LearnerEnded,
    LearnerException,
    OutOfMemory,
    SandboxError,
    TimedOut,
    UnfitResult,
    at_line,
)

MAX_TIME_OUTS = 2
NOT_OURS = ("PYTEST_", "HYPOTHESIS_")
# "unraisableexception" walks five times through all objects at the end, which with torch takes as long as a suite.
UNUSED_PLUGINS = (
    "cacheprovider", "terminal", "faulthandler", "logging", "doctest", "unittest", "junitxml", "unraisableexception",
)  # fmt: skip
# What the learner's process says of a file that is no text.
UNREADABLE = (
    say("byte {byte} is not UTF-8; save the file as UTF-8"),
    say("a null character; save the file as UTF-8"),
)
_FAILURE = pytest.StashKey[BaseException | None]()
_SERVED_WITH = pytest.StashKey[tuple[str, ...] | None]()
_REMEMBERED = pytest.StashKey[Remembered]()
_MARKED = pytest.StashKey["_Marked"]()


class SessionError(Exception):
    """The suites could not be collected, or a check failed for a reason that is ours."""


@dataclass(frozen=True)
class CheckFacts:
    """A check as its marks describe it; `stays` says why it is kept although no known fault needs it."""

    name: str
    points: float
    promises: tuple[str, ...]
    stays: str


@dataclass(frozen=True)
class _Marked:
    """What is asked of an item for every submission, looked up once."""

    exercise: str
    name: str
    points: float
    hint: str


class Checks:
    """The collected checks of a course, which can be run any number of times."""

    def __init__(self, session: pytest.Session) -> None:
        self._config = session.config
        self._setup_state = session._setupstate
        # Whether each check has been passed by a right module first, so that all others are asked alike.
        self.asks_at_once = False
        self._items: dict[str, list[pytest.Item]] = {}
        for item in session.items:
            marked = _marked(item)
            self._items.setdefault(marked.exercise, []).append(item)
            item.stash[_MARKED] = marked
            item.stash[_SERVED_WITH] = served_with(item)
            item.stash[_REMEMBERED] = Remembered()

    def run(self, exercise: str, desk: Desk, draw: Draw | None = None) -> list[CheckResult]:
        """Run the checks of an exercise against what the desk serves; `draw` makes the figures of those that fail."""
        return list(self.run_each(exercise, desk, draw=draw))

    def run_each(
        self, exercise: str, desk: Desk, first: Sequence[str] = (), draw: Draw | None = None
    ) -> Iterator[CheckResult]:
        """Run the checks of an exercise one after the other, those named in `first` before the rest."""
        self._config.stash[DESK] = desk
        items = sorted(self._items.get(exercise, []), key=lambda item: item.stash[_MARKED].name not in first)
        # A sibling as the next item keeps pytest from setting the module up again for each check.
        siblings = [*items[1:], *items[:1]] if len(items) != 1 else [None]
        try:
            for item, sibling in zip(items, siblings, strict=True):
                yield _run(item, sibling, desk, draw, at_once=self.asks_at_once)
        finally:
            self._setup_state.teardown_exact(None)

    def described(self, exercise: str) -> list[CheckFacts]:
        """Give what the marks of an exercise's checks say."""
        return [_facts(item) for item in self._items.get(exercise, [])]

    def unrun(self, exercise: str, outcome: Outcome, said: Phrase | str) -> list[CheckResult]:
        """Give the checks of an exercise as lost, for a reason that they share."""
        return [_result(item, outcome, said) for item in self._items.get(exercise, [])]


def with_checks(suites: Sequence[Path], body: Callable[[Checks], None]) -> None:
    """Collect the suites and run `body` inside their session.

    Raises:
        SessionError: when a suite cannot be collected.

    """
    plugin = _Loop(body)
    arguments = [*map(str, suites), "-s", *(f"-pno:{plugin}" for plugin in UNUSED_PLUGINS)]
    # Neither a configuration file of the folder the command is run in nor the environment may have a say.
    arguments += ["-c", os.devnull, f"--rootdir={suites[0].parent}", "--import-mode=importlib"]
    with _environment_of_our_own(), tempfile.TemporaryDirectory() as storage:
        # Hypothesis would leave a folder where the command is run, which is the learner's.
        os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = storage
        status = pytest.main(arguments, plugins=[plugin, checks])
    _forget(suites)
    if plugin.error is not None:
        raise plugin.error
    if status == pytest.ExitCode.INTERRUPTED and not plugin.trouble:
        raise KeyboardInterrupt
    if not plugin.ran:
        raise SessionError(f"the suites cannot be collected (pytest status {int(status)}): {cut(plugin.trouble)}")


def _forget(suites: Sequence[Path]) -> None:
    """Let the next run import the suites anew: pytest takes a module of that name that is there already."""
    files = {str(path) for path in suites}
    for name, module in list(sys.modules.items()):
        if getattr(module, "__file__", None) in files:
            del sys.modules[name]


class _Loop:
    """Stands in for pytest's own loop over the items."""

    def __init__(self, body: Callable[[Checks], None]) -> None:
        self._body = body
        self.error: BaseException | None = None
        self.ran = False
        self.trouble = ""

    def pytest_configure(self, config: pytest.Config) -> None:
        config.stash[SERVED] = True
        # Failures are told in the words of `explain`; pytest would spend most of the time on tracebacks for nobody.
        config.option.tbstyle = "no"

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            *_, last = ["it fails", *report.longreprtext.strip().splitlines()]
            self.trouble = self.trouble or f"{report.nodeid}: {last.removeprefix('E').strip()}"

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        if session.testsfailed:
            return True
        self.ran = True
        try:
            self._body(Checks(session))
        except BaseException as error:
            self.error = error
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[Any]) -> None:
        if call.excinfo is not None:
            item.stash[_FAILURE] = item.stash.get(_FAILURE, None) or call.excinfo.value
            if call.when != "call":
                raise SessionError(f"{item.name}: {call.when} failed: {call.excinfo.value}") from call.excinfo.value


@contextmanager
def _environment_of_our_own() -> Iterator[None]:
    saved = {name: os.environ.pop(name) for name in list(os.environ) if name.startswith(NOT_OURS)}
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    try:
        yield
    finally:
        for name in [name for name in os.environ if name.startswith(NOT_OURS)]:
            del os.environ[name]
        os.environ.update(saved)


def _run(
    item: pytest.Item, sibling: pytest.Item | None, desk: Desk, draw: Draw | None, *, at_once: bool
) -> CheckResult:
    marked = item.stash[_MARKED]
    learner = desk.learner(marked.exercise)
    if learner.out_of_time:
        return _result(item, Outcome.TIMED_OUT, say("not run: {why}", why=learner.out_of_time))
    if learner.time_outs >= MAX_TIME_OUTS:
        return _result(item, Outcome.TIMED_OUT, say("not run: two checks before it ran out of time"))
    learner.begin(marked.name)
    spent = learner.seconds
    failure = _failure_of(item, sibling, desk, learner, at_once=at_once)
    seconds = round(learner.seconds - spent, 4)
    if failure is None:
        return _result(item, Outcome.PASSED, earned=marked.points, seconds=seconds)
    while isinstance(failure, BaseExceptionGroup):
        failure = failure.exceptions[0]
    if isinstance(failure, SandboxError | SuiteMistake):
        raise failure
    said, shown = explain(failure, learner), _last_call(learner)
    result = _result(item, outcome_of(failure), said, counterexample=shown, seconds=seconds)
    if draw:
        result.figures, result.call = draw(learner.last_call, failure)
    result.line = raising_line(failure)
    return result


def _failure_of(
    item: pytest.Item, sibling: pytest.Item | None, desk: Desk, learner: Learner, *, at_once: bool
) -> BaseException | None:
    """Run a check and give what it raised, through pytest's own steps where it asks for more than our fixtures."""
    names = item.stash[_SERVED_WITH]
    if names is not None:
        return _raised_by_one_like_others(item, names, desk, learner, at_once=at_once)
    item.stash[_FAILURE] = None
    item._initrequest()  # type: ignore[attr-defined]
    runtestprotocol(item, log=False, nextitem=sibling)
    return item.stash.get(_FAILURE, None)


def _raised_by_one_like_others(
    item: pytest.Item, names: Sequence[str], desk: Desk, learner: Learner, *, at_once: bool
) -> BaseException | None:
    """Run a check that depends on nothing but answers, unless the same answers have let it pass before."""
    remembered = item.stash[_REMEMBERED]
    if remembered.passes(learner, at_once=at_once):
        learner.forget()
        return None
    failure = _raised_by(item, names, desk)
    learner.give_back()
    if failure is None and not learner.violations:
        remembered.learn(learner.transcript)
    return failure


def _raised_by(item: Any, names: Sequence[str], desk: Desk) -> BaseException | None:
    try:
        served = {name: SERVINGS[name](desk, item.stash[_MARKED].exercise, item.function) for name in names}
    except Exception as error:
        raise SessionError(f"{item.name}: setup failed: {error}") from error
    try:
        item.function(**served)
    except (KeyboardInterrupt, pytest.exit.Exception):
        raise
    except BaseException as error:
        return error
    return None


def outcome_of(failure: BaseException) -> Outcome:
    """Tell how a check that raised has ended."""
    if isinstance(failure, TimedOut):
        return Outcome.TIMED_OUT
    if isinstance(failure, OutOfMemory):
        return Outcome.OUT_OF_MEMORY
    return Outcome.CRASHED if isinstance(failure, LearnerEnded) else Outcome.FAILED


def raising_line(failure: BaseException) -> int:
    """Give the learner's own line where an exception came from, or 0."""
    return failure.frames[-1].line if isinstance(failure, LearnerException) and failure.frames else 0


def explain(failure: BaseException, learner: Learner) -> Phrase | str:
    """Say what went wrong in words for the learner; an assertion of a suite is told as it is written there."""
    if isinstance(failure, LearnerException):
        return raised(failure)
    if isinstance(failure, AssertionError | LearnerEnded | UnfitResult):
        said = said_by(failure)
        if isinstance(said, Phrase):
            return said
        return cut(said.partition("\nassert ")[0]) or say("the check does not hold")
    function = learner.last_call.function if learner.last_call else say("the module")
    error = cut(f"{type(failure).__name__}: {failure}")
    return say("what {function} returned cannot be used: {error}", function=function, error=error)


def raised(error: LearnerException) -> Phrase | str:
    """Say what the learner's code raised, and on which of their lines."""
    if error.name == "NotImplementedError":
        return say("not written yet (NotImplementedError)")
    if error.name == "NotDefined":
        return recognised(cut(str(error)), (say("{file} does not define {name}"),))
    said = _as_python_says(error)
    said = at_line(said, error.frames[-1], error.source) if error.frames else said
    return _with_what_is_different_here(said, error)


def _as_python_says(error: LearnerException) -> Phrase | str:
    """Give an exception's name and message; the learner's own words stay, those of the process are translated."""
    message = recognised(cut(str(error)), UNREADABLE) if error.name == "SyntaxError" else str(error)
    if isinstance(message, Phrase):
        return say("{error}: {message}", error=error.name, message=message)
    return cut(f"{error.name}: {message}" if message else error.name)


def _with_what_is_different_here(said: Phrase | str, error: LearnerException) -> Phrase | str:
    """Explain an error that a learner does not see on their own machine."""
    if isinstance(error, ModuleNotFoundError) or "relative import" in str(error):
        return say("{said}; a module is graded by itself, without the files beside it", said=said)
    if isinstance(error, OSError) and error.frames:
        return say("{said}; code that is graded can neither write files nor read any but Python's libraries", said=said)
    return said


def _last_call(learner: Learner) -> str:
    call = learner.last_call
    return show_call(call.function, call.arguments, call.keywords) if call else ""


def _marked(item: pytest.Item) -> _Marked:
    points, hint = mark_of(item, "points", 0.0), mark_of(item, "hint", "")
    return _Marked(exercise_of(item.path), item.name.partition("[")[0], points, hint)


def _facts(item: pytest.Item) -> CheckFacts:
    promised, marked = item.get_closest_marker("promise"), item.stash[_MARKED]
    return CheckFacts(
        name=marked.name,
        points=marked.points,
        promises=promised.args if promised else (),
        stays=mark_of(item, "stays", ""),
    )


def _result(
    item: pytest.Item,
    outcome: Outcome,
    said: Phrase | str = "",
    *,
    earned: float = 0.0,
    counterexample: str = "",
    seconds: float = 0.0,
) -> CheckResult:
    marked = item.stash[_MARKED]
    return CheckResult(
        name=marked.name,
        title=marked.name.removeprefix("test_").replace("_", " "),
        outcome=outcome,
        points=marked.points,
        earned=earned,
        message=cut(str(said)),
        phrase=as_phrase(said),
        hint=marked.hint,
        counterexample=counterexample,
        seconds=seconds,
    )
