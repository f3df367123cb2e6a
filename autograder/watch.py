"""`attend check --watch`: whatever is saved is checked again, and single keys ask for the rest.

Saves and keys come from threads of their own into one queue; checks are run one after the other in the main thread. A
check whose module is saved again is cancelled, so that what is shown always belongs to one version of the file.

Exceptions:
    WatchError   one line that says why the folder cannot be watched
"""

from __future__ import annotations

import hashlib
import queue
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder.course import Course, Exercise
from autograder.hints import HintError, next_hint, read_hints
from autograder.keys import keys
from autograder.language import said_by, say
from autograder.outputs.watch import WatchView
from autograder.progress import digests_of, read_progress, record_check
from autograder.release import ReleaseError
from autograder.report import ExerciseResult, ReportError
from autograder.reset import ResetError, reset
from autograder.saves import Saves, dependents
from autograder.warm.kept import Cancelled, Kept
from autograder.warm.ready import with_kept_checks

# How often the folder is looked at besides, since some file systems tell nothing.
LOOK_SECONDS = 0.5
# A file that is renamed over another is not there for a moment.
GONE_SECONDS = 0.15
# What a check and its diagnosis take longest for is prepared when nothing was asked for that long.
IDLE_SECONDS = 0.5


class WatchError(Exception):
    """The folder cannot be watched."""


@dataclass(frozen=True)
class Saved:
    """Modules that were written, renamed or deleted."""

    names: frozenset[str]


@dataclass(frozen=True)
class Pressed:
    """A key."""

    key: str


@dataclass(frozen=True)
class Failed:
    """The system tells nothing about the folder."""

    error: Exception


Event = Saved | Pressed | Failed


def watch(folder: Path, exercises: Sequence[Exercise], course: Course, view: WatchView) -> None:
    """Check what is saved in `folder` until somebody quits. Raises WatchError, GradingError."""
    view.begin(folder, exercises)
    with_kept_checks(folder, tuple(exercises), course, lambda kept: Watch(folder, exercises, course, view, kept).run())


class Watch:
    """One sitting: the exercise that it is about, and what the modules were when they were last checked."""

    def __init__(
        self, folder: Path, exercises: Sequence[Exercise], course: Course, view: WatchView, kept: Kept
    ) -> None:
        self._folder = folder
        self._exercises = {exercise.name: exercise for exercise in exercises}
        self._course = course
        self._view = view
        self._kept = kept
        self._events: queue.Queue[Event] = queue.Queue()
        self._checked: dict[str, str] = {}
        self._under_way: frozenset[str] = frozenset()
        self._current = self._first_to_do()
        self._cold = [self._current, *(name for name in self._exercises if name != self._current)]
        self._answer: Callable[[], None] | None = None
        self._going_on = True

    def run(self) -> None:
        """Check the first exercise that is not done, then whatever is saved, until somebody quits."""
        with Saves(self._folder, self._exercises, self._saved, self._failed), keys(self._pressed) as has_keys:
            self._view.has_keys = has_keys
            self._check([self._current])
            while self._going_on:
                self._handle(self._next_event())

    def _saved(self, names: frozenset[str]) -> None:
        self._events.put(Saved(names))
        if names & self._under_way:
            self._kept.cancel()

    def _pressed(self, key: str) -> None:
        self._events.put(Pressed(key))
        if key == "q" and self._under_way:
            self._kept.cancel()

    def _failed(self, error: Exception) -> None:
        self._events.put(Failed(error))

    def _next_event(self) -> Event:
        """Wait for an event; meanwhile prepare checks, and look for saves that nobody told of."""
        while True:
            try:
                # Never without an end: on Windows Ctrl-C is heard only then.
                return self._events.get(timeout=IDLE_SECONDS if self._cold else LOOK_SECONDS)
            except queue.Empty:
                if self._cold:
                    if self._kept.warm(self._exercises[self._cold[0]], self._events.empty):
                        del self._cold[0]
                elif changed := self._changed(self._checked):
                    return Saved(frozenset(changed))

    def _handle(self, event: Event) -> None:
        match event:
            case Saved(names):
                self._recheck(names)
            case Pressed(key):
                self._obey(key)
            case Failed(error):
                raise WatchError(say("{folder} cannot be watched ({why})", folder=self._folder, why=str(error)))

    def _recheck(self, names: Iterable[str]) -> None:
        changed = self._changed(names)
        if not changed:
            return
        self._answer = None
        sources = {name: _read(self._folder / f"{name}.py") or b"" for name in self._exercises}
        self._check(changed + [name for name in dependents(changed, sources) if name not in changed])
        self._current = changed[0]

    def _changed(self, names: Iterable[str]) -> list[str]:
        """Give those modules that are not what was checked last; one that has just gone may only be on its way."""
        digests = digests_of(self._folder, list(names))
        if any(not digest and self._checked.get(name) for name, digest in digests.items()):
            time.sleep(GONE_SECONDS)
            digests = digests_of(self._folder, list(names))
        return [name for name, digest in digests.items() if digest != self._checked.get(name)]

    def _check(self, names: Sequence[str]) -> None:
        """Check exercises one after the other, and stop where a newer save makes that pointless."""
        results = []
        for name in names:
            try:
                results.append(self._checked_now(self._exercises[name]))
            except Cancelled:
                return
        self._view.summary(results)
        self._view.menu()

    def _checked_now(self, exercise: Exercise) -> ExerciseResult:
        source = _read(self._folder / f"{exercise.name}.py")
        digest = "" if source is None else hashlib.sha256(source).hexdigest()
        self._under_way = frozenset([exercise.name])
        started = time.monotonic()
        try:
            result = self._kept.check(exercise, source)
        finally:
            self._under_way = frozenset()
        self._checked[exercise.name] = digest
        self._current = exercise.name
        self._view.checked(result, time.monotonic() - started)
        self._view.tell(record_check(self._folder, [result], {exercise.name: digest}))
        return result

    def _obey(self, key: str) -> None:
        if self._answer is not None:
            answer, self._answer = self._answer, None
            if key in "yY":
                answer()
            else:
                self._view.tell([say("nothing was changed")])
            self._view.menu()
            return
        commands = {
            "h": self._hint,
            "n": self._next,
            "l": self._list,
            "a": lambda: self._check(list(self._exercises)),
            "r": self._ask_to_reset,
            "q": self._quit,
        }
        commands.get(key.lower(), self._view.menu)()

    def _hint(self) -> None:
        exercise = self._exercises[self._current]
        try:
            hints = read_hints(exercise, self._course, self._view.reader.language)
            shown = next_hint(exercise.name, hints, self._folder)
        except HintError as error:
            self._view.tell([said_by(error)])
        else:
            self._view.hint(shown)
        self._view.menu()

    def _next(self) -> None:
        """Go on to the next exercise that is not done, those behind the current one first."""
        names = list(self._exercises)
        place = names.index(self._current) + 1
        ahead = [name for name in [*names[place:], *names[:place]] if name in self._to_do()]
        if ahead:
            self._check(ahead[:1])
        else:
            self._view.tell([say("everything is done")])
            self._view.menu()

    def _list(self) -> None:
        self._view.overview(self._course, self._folder)
        self._view.menu()

    def _ask_to_reset(self) -> None:
        self._answer = self._reset
        self._view.ask(say("put the stub of {exercise} back, and keep what you have written beside it? (y/n)",
                           exercise=self._current))  # fmt: skip

    def _reset(self) -> None:
        try:
            put = reset(self._exercises[self._current], self._folder, self._course)
        except (ResetError, ReleaseError, ReportError) as error:
            self._view.tell([said_by(error)])
            return
        if put.kept:
            self._view.tell([say("{file} is what you had written", file=put.kept)])
        self._view.tell([say("{file} is the stub", file=put.stub)])

    def _quit(self) -> None:
        self._going_on = False

    def _first_to_do(self) -> str:
        return next(iter(self._to_do()), next(iter(self._exercises)))

    def _to_do(self) -> list[str]:
        """Give the exercises that are not done, the bonus last."""
        marks = read_progress(self._folder)[0].marks
        ordered = sorted(self._exercises.values(), key=lambda exercise: exercise.bonus)
        return [each.name for each in ordered if each.name not in marks or not marks[each.name].done]


def _read(module: Path) -> bytes | None:
    try:
        return module.read_bytes()
    except OSError:
        return None
