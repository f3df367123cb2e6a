"""What `attend check --watch` prints: each check as `attend check` does, a line above it, and the keys below."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console
from rich.rule import Rule
from rich.text import Text

from autograder.course import Course, Exercise
from autograder.hints import Shown
from autograder.language import Phrase, Reader, say
from autograder.outputs.hints import show_hints
from autograder.outputs.overview import show_overview
from autograder.outputs.terminal import show_done, show_exercise
from autograder.outputs.text import visible
from autograder.outputs.wrapping import wrapped
from autograder.progress import digests_of, read_progress
from autograder.report import ExerciseResult

KEYS: Sequence[tuple[str, Phrase]] = (
    ("h", say("hint")), ("n", say("next")), ("l", say("list")), ("a", say("all")), ("r", say("reset")),
    ("q", say("quit")),
)  # fmt: skip


class WatchView:
    """Prints one sitting for its learner; `has_keys` is set where there is a keyboard to press them on."""

    def __init__(self, console: Console, course: Course, reader: Reader, sentence_of: Callable[[str], str]) -> None:
        self.reader = reader
        self.has_keys = False
        self._console = console
        self._course = course
        self._sentence_of = sentence_of

    def begin(self, folder: Path, exercises: Sequence[Exercise]) -> None:
        """Say what is watched, while everything is made ready."""
        names = ", ".join(exercise.name for exercise in exercises)
        self.tell([say("watching {folder}: {exercises}", folder=folder, exercises=names)])

    def checked(self, result: ExerciseResult, seconds: float) -> None:
        """Print a check that was run, and how long it took."""
        took = self.reader.read(say("{seconds} s", seconds=f"{seconds:.2f}"))
        title = f"{time.strftime('%H:%M:%S')}  {took}"
        ascii_only = self._console.options.ascii_only
        self._console.print(Rule(title, align="left", style="dim", characters="-" if ascii_only else "─"))
        show_exercise(self._console, result, self._course.feedback, self._sentence_of, self.reader, only_failed=True)

    def summary(self, results: Sequence[ExerciseResult]) -> None:
        """Say how many of several exercises are done, and of one that is, how to go on."""
        if len(results) > 1:
            show_done(self._console, results, self.reader)
        elif self.has_keys and all(result.passed for result in results):
            self.tell([say("{exercise} is done; n goes on to the next one", exercise=results[0].name)])

    def menu(self) -> None:
        """Name the keys."""
        if self.has_keys:
            line = Text()
            for key, what in KEYS:
                line.append(f"{key} ", style="bold").append(f"{self.reader.read(what)}   ", style="dim")
            line.rstrip()
            self._console.print(line, soft_wrap=True)

    def hint(self, shown: Shown) -> None:
        """Print a hint."""
        show_hints(self._console, shown, self.reader.language, again=False)
        self.tell(shown.said)

    def overview(self, course: Course, folder: Path) -> None:
        """Print the course at a glance."""
        progress, said = read_progress(folder)
        digests = digests_of(folder, [exercise.name for exercise in course.exercises])
        show_overview(self._console, course, progress, folder, digests, self.reader.language)
        self.tell([said] if said else [])

    def ask(self, question: Phrase) -> None:
        """Print a question that the next key answers."""
        for line in wrapped(visible(self.reader.read(question)), self._console.width):
            self._console.print(Text(line, style="bold"))

    def tell(self, lines: Sequence[Phrase | str]) -> None:
        """Print lines that are no result."""
        for line in lines:
            self._console.print(Text(visible(self.reader.read(line))), soft_wrap=True)
