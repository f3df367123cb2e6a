"""The course at a glance: what there is to do, how much of it is done, and what to do next."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from autograder.course import DIFFICULTIES, Course, Exercise
from autograder.language import SOURCE, Phrase, say
from autograder.outputs.text import n_done, number, visible
from autograder.progress import Mark, Progress

CHANGED = "*"
GAP = 3
STEPS = READ, WRITE, TRY, WHEN_STUCK = say("read"), say("write"), say("try"), say("when stuck")


def show_overview(
    console: Console,
    course: Course,
    progress: Progress,
    folder: Path,
    digests: Mapping[str, str],
    language: str = SOURCE,
) -> None:
    """Print the exercises with points, marks, difficulty and minutes, and below them how far one is and what is next.

    `folder` holds the learner's modules, and `digests` tell which of them have changed since they were checked.
    """
    console.print(Text(visible(course.titles.get(language, course.title)), style="bold"))
    console.print()
    console.print(_table(course, progress.marks, digests, language))
    console.print()
    if any(_is_changed(exercise, progress.marks, digests) for exercise in course.exercises):
        said = say("{sign} changed since its last check", sign=CHANGED)
        console.print(Text(said.in_(language), style="dim"))
    for said in _summary(course, progress.marks):
        console.print(Text(said.in_(language), style="bold"))
    for line in _next_steps(course, progress.marks, folder, language):
        console.print(Text(line), soft_wrap=True)


def _table(course: Course, marks: Mapping[str, Mark], digests: Mapping[str, str], language: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 2, 0, 0))
    with_title = any(language in exercise.titles for exercise in course.exercises)
    with_difficulty = any(exercise.difficulty for exercise in course.exercises)
    with_minutes = any(exercise.minutes for exercise in course.exercises)
    table.add_column(say("exercise").in_(language))
    if with_title:
        table.add_column(say("title").in_(language))
    table.add_column(say("points").in_(language), justify="right")
    table.add_column(say("so far").in_(language), justify="right")
    if with_difficulty:
        table.add_column(say("difficulty").in_(language))
    if with_minutes:
        table.add_column(say("minutes").in_(language), justify="right")
    for exercise in course.exercises:
        changed = _is_changed(exercise, marks, digests)
        row: list[str | Text] = [exercise.name]
        row += [Text(visible(exercise.titles.get(language, "")))] if with_title else []
        row += [_worth(exercise, language), _so_far(marks.get(exercise.name), language, changed=changed)]
        row += [_difficulty(exercise, language)] if with_difficulty else []
        row += [str(exercise.minutes or "")] if with_minutes else []
        table.add_row(*row)
    return table


def _difficulty(exercise: Exercise, language: str) -> str:
    return DIFFICULTIES[exercise.difficulty].in_(language) if exercise.difficulty else ""


def _worth(exercise: Exercise, language: str) -> str:
    points = number(exercise.points)
    return say("bonus {points}", points=points).in_(language) if exercise.bonus else points


def _so_far(mark: Mark | None, language: str, *, changed: bool) -> Text:
    """Give the points of the last check, or of public tests, which carry none, how many passed."""
    if mark is None:
        return Text("- ", style="dim")
    tests = say("{passed} of {count} tests", passed=mark.passed, count=mark.checks)
    said = number(mark.earned) if mark.points else tests.in_(language)
    style = "green" if mark.done else "yellow" if mark.passed else "red"
    # The column stays level, whether a mark stands behind the number or not.
    return Text(said + (CHANGED if changed else " "), style=style)


def _is_changed(exercise: Exercise, marks: Mapping[str, Mark], digests: Mapping[str, str]) -> bool:
    mark = marks.get(exercise.name)
    return mark is not None and mark.digest != digests.get(exercise.name, "")


def _summary(course: Course, marks: Mapping[str, Mark]) -> list[Phrase]:
    """Say how many exercises are done, the bonus apart, and what they earned where points were given."""
    core, bonus = _of(course, bonus=False), _of(course, bonus=True)
    lines = [n_done(_n_done(core, marks), len(core), _n_done(bonus, marks), len(bonus))]
    if not any(mark.points for mark in marks.values()):
        return lines
    earned = say(
        "{earned} of {points} points so far", earned=number(_earned(core, marks)), points=number(course.points)
    )
    if bonus:
        earned = say("{earned}, {more} for a bonus", earned=earned, more=number(_earned(bonus, marks)))
    return [*lines, earned]


def _n_done(exercises: Sequence[Exercise], marks: Mapping[str, Mark]) -> int:
    return sum(_is_done(exercise, marks) for exercise in exercises)


def _of(course: Course, *, bonus: bool) -> list[Exercise]:
    return [exercise for exercise in course.exercises if exercise.bonus is bonus]


def _is_done(exercise: Exercise, marks: Mapping[str, Mark]) -> bool:
    return exercise.name in marks and marks[exercise.name].done


def _earned(exercises: Iterable[Exercise], marks: Mapping[str, Mark]) -> float:
    return sum(marks[exercise.name].earned for exercise in exercises if exercise.name in marks)


def _next_steps(course: Course, marks: Mapping[str, Mark], folder: Path, language: str) -> list[str]:
    """Say what to read, write and type for the first exercise that is not done, the bonus exercises last."""
    ordered = [*_of(course, bonus=False), *_of(course, bonus=True)]
    exercise = next((each for each in ordered if not _is_done(each, marks)), None)
    if exercise is None:
        return [say("Everything is done.").in_(language)]
    width = max(cell_len(step.in_(language)) for step in STEPS)
    steps = ((step.in_(language), what) for step, what in _steps(course, exercise, folder, language))
    lines = [f"  {step}{' ' * (width - cell_len(step) + GAP)}{what}" for step, what in steps]
    return [_next(exercise).in_(language), *lines]


def _steps(course: Course, exercise: Exercise, folder: Path, language: str) -> Iterator[tuple[Phrase, str]]:
    if (instructions := _instructions(course, exercise, language)).is_file():
        yield READ, _shown(instructions)
    yield WRITE, _shown(folder / f"{exercise.name}.py")
    yield TRY, f"attend check {exercise.name}"
    if course.hints_of(exercise, language).is_file():
        yield WHEN_STUCK, f"attend hint {exercise.name}"


def _next(exercise: Exercise) -> Phrase:
    if not exercise.minutes:
        return say("Next: {exercise}", exercise=exercise.name)
    return say("Next: {exercise}, about {minutes} minutes", exercise=exercise.name, minutes=exercise.minutes)


def _instructions(course: Course, exercise: Exercise, language: str) -> Path:
    """Give what to read, in English where it is not there in the language."""
    file = course.instructions_of(exercise, language)
    return file if file.is_file() else course.instructions_of(exercise)


def _shown(path: Path) -> str:
    """Give a path as one would type it here."""
    here = Path.cwd()
    return visible(os.path.relpath(path, here) if path.is_relative_to(here) else str(path))
