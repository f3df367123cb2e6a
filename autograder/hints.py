"""Hints in stages: each exercise has a few, from a first idea on, and they are shown one at a time.

Exceptions:
    HintError   one line that names the file or the language, and says what to do
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from autograder.course import LANGUAGES, Course, Exercise
from autograder.language import Phrase, say
from autograder.progress import read_progress, write_progress


class HintError(Exception):
    """There are no hints for an exercise, or none that can be read."""


class _Stages(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a file of hints holds."""

    hints: tuple[str, ...]


@dataclass(frozen=True)
class Shown:
    """The hints to show now, with their numbers from 1, how many there are, and the lines to say about the state."""

    exercise: str
    hints: Sequence[tuple[int, str]]
    seen: int
    total: int
    said: Sequence[Phrase] = ()


def read_hints(exercise: Exercise, course: Course, language: str = "") -> tuple[str, ...]:
    """Give the hints of an exercise, first to last, in `language` or else the first language of the course.

    Raises HintError.
    """
    if language and language not in LANGUAGES:
        raise HintError(
            say(
                "there are no hints in {language}; the languages are: {languages}",
                language=repr(language),
                languages=", ".join(LANGUAGES),
            )
        )
    file = course.hints_of(exercise, language or course.languages[0])
    try:
        hints = msgspec.toml.decode(file.read_bytes().decode("utf-8-sig"), type=_Stages).hints
    except FileNotFoundError:
        raise HintError(_missing(exercise, course, file)) from None
    except OSError as error:
        raise HintError(
            say("{file}: cannot be read ({why}); make it readable", file=file, why=error.strerror)
        ) from None
    except ValueError as error:
        raise HintError(
            say("{file}: {error}; it must hold a list of texts named `hints`", file=file, error=error)
        ) from None
    if not hints:
        raise HintError(say("{file}: hints: empty; write at least one", file=file))
    return hints


def next_hint(exercise: str, hints: Sequence[str], folder: Path) -> Shown:
    """Give the first hint that the learner whose folder this is has not seen, and remember it as seen.

    There is none to show once all were seen.
    """
    progress, said = read_progress(folder)
    seen = min(progress.hints_seen.get(exercise, 0), len(hints))
    if seen == len(hints):
        return Shown(exercise, [], seen, len(hints), _lines(said))
    progress.hints_seen[exercise] = seen + 1
    new = write_progress(folder, progress)
    return Shown(exercise, [(seen + 1, hints[seen])], seen + 1, len(hints), _lines(said, new))


def seen_hints(exercise: str, hints: Sequence[str], folder: Path) -> Shown:
    """Give the hints that were seen already, again."""
    progress, said = read_progress(folder)
    seen = min(progress.hints_seen.get(exercise, 0), len(hints))
    return Shown(exercise, list(enumerate(hints[:seen], 1)), seen, len(hints), _lines(said))


def _missing(exercise: Exercise, course: Course, file: Path) -> Phrase:
    """Say that there are no hints, and name a language in which there are some."""
    missing = say("there are no hints for {exercise}: {file} is not there", exercise=exercise.name, file=file)
    there = [language for language in LANGUAGES if course.hints_of(exercise, language).is_file()]
    return (
        say("{missing}; there are hints with --lang {language}", missing=missing, language=there[0])
        if there
        else missing
    )


def _lines(*said: Phrase | None) -> list[Phrase]:
    return [line for line in said if line]
