"""The course at a glance: what there is to do, how much of it is done, and what to do next."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from autograder.course import DIFFICULTIES, Course, Exercise
from autograder.outputs.text import number, visible
from autograder.progress import Mark, Progress

CHANGED = "*"


def show_overview(
    console: Console, course: Course, progress: Progress, folder: Path, digests: Mapping[str, str]
) -> None:
    """Print the exercises with points, marks, difficulty and minutes, and below them how far one is and what is next.

    `folder` holds the learner's modules, and `digests` tell which of them have changed since they were checked.
    """
    console.print(Text(visible(course.title), style="bold"))
    console.print()
    console.print(_table(course, progress.marks, digests))
    console.print()
    if any(_is_changed(exercise, progress.marks, digests) for exercise in course.exercises):
        console.print(Text(f"{CHANGED} changed since its last check", style="dim"))
    for line in _summary(course, progress.marks):
        console.print(Text(line, style="bold"))
    for line in _next_steps(course, progress.marks, folder):
        console.print(Text(line), soft_wrap=True)


def _table(course: Course, marks: Mapping[str, Mark], digests: Mapping[str, str]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 2, 0, 0))
    table.add_column("exercise")
    table.add_column("points", justify="right")
    table.add_column("so far", justify="right")
    with_difficulty = any(exercise.difficulty for exercise in course.exercises)
    with_minutes = any(exercise.minutes for exercise in course.exercises)
    if with_difficulty:
        table.add_column("difficulty")
    if with_minutes:
        table.add_column("minutes", justify="right")
    for exercise in course.exercises:
        changed = _is_changed(exercise, marks, digests)
        row: list[str | Text] = [exercise.name, _worth(exercise), _so_far(marks.get(exercise.name), changed=changed)]
        row += [DIFFICULTIES.get(exercise.difficulty or 0, "")] if with_difficulty else []
        row += [str(exercise.minutes or "")] if with_minutes else []
        table.add_row(*row)
    return table


def _worth(exercise: Exercise) -> str:
    return f"{'bonus ' if exercise.bonus else ''}{number(exercise.points)}"


def _so_far(mark: Mark | None, *, changed: bool) -> Text:
    """Give the points of the last check, or of public tests, which carry none, how many passed."""
    if mark is None:
        return Text("- ", style="dim")
    said = number(mark.earned) if mark.points else f"{mark.passed} of {mark.checks} tests"
    style = "green" if mark.done else "yellow" if mark.passed else "red"
    # The column stays level, whether a mark stands behind the number or not.
    return Text(said + (CHANGED if changed else " "), style=style)


def _is_changed(exercise: Exercise, marks: Mapping[str, Mark], digests: Mapping[str, str]) -> bool:
    mark = marks.get(exercise.name)
    return mark is not None and mark.digest != digests.get(exercise.name, "")


def _summary(course: Course, marks: Mapping[str, Mark]) -> list[str]:
    """Say how many exercises are done, the bonus apart, and what they earned where points were given."""
    core, bonus = _of(course, bonus=False), _of(course, bonus=True)
    counts = [
        _counted(group, what, marks) for group, what in ((core, "exercises"), (bonus, "bonus exercises")) if group
    ]
    points = f"{number(_earned(core, marks))} of {number(course.points)} points so far"
    more = f", {number(_earned(bonus, marks))} for a bonus" if bonus else ""
    return [", ".join(counts), *([points + more] if any(mark.points for mark in marks.values()) else [])]


def _counted(exercises: Sequence[Exercise], what: str, marks: Mapping[str, Mark]) -> str:
    return f"{sum(_is_done(exercise, marks) for exercise in exercises)} of {len(exercises)} {what} done"


def _of(course: Course, *, bonus: bool) -> list[Exercise]:
    return [exercise for exercise in course.exercises if exercise.bonus is bonus]


def _is_done(exercise: Exercise, marks: Mapping[str, Mark]) -> bool:
    return exercise.name in marks and marks[exercise.name].done


def _earned(exercises: Iterable[Exercise], marks: Mapping[str, Mark]) -> float:
    return sum(marks[exercise.name].earned for exercise in exercises if exercise.name in marks)


def _next_steps(course: Course, marks: Mapping[str, Mark], folder: Path) -> list[str]:
    """Say what to read, write and type for the first exercise that is not done, the bonus exercises last."""
    ordered = [*_of(course, bonus=False), *_of(course, bonus=True)]
    exercise = next((each for each in ordered if not _is_done(each, marks)), None)
    if exercise is None:
        return ["Everything is done."]
    name = exercise.name
    instructions = course.instructions_of(exercise)
    return [
        f"Next: {name}{f', about {exercise.minutes} minutes' if exercise.minutes else ''}",
        *([f"  read         {_shown(instructions)}"] if instructions.is_file() else []),
        f"  write        {_shown(folder / f'{name}.py')}",
        f"  try          attend check {name}",
        *([f"  when stuck   attend hint {name}"] if course.hints_of(exercise, course.languages[0]).is_file() else []),
    ]


def _shown(path: Path) -> str:
    """Give a path as one would type it here."""
    here = Path.cwd()
    return visible(os.path.relpath(path, here) if path.is_relative_to(here) else str(path))
