"""What a learner has done so far: a small file beside the modules, made from the last checks and never believed.

It only reminds: a missing or broken one is begun anew, and one that cannot be written costs nothing but the memory.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from autograder.language import Phrase, said_by, say
from autograder.report import ExerciseResult, Outcome, ReportError, write_whole

FILE_NAME = ".attend.json"
SCHEMA: Literal[1] = 1

Count = Annotated[int, msgspec.Meta(ge=0)]


class Mark(msgspec.Struct, kw_only=True):
    """How an exercise came out of its last check: points, checks by number, and the digest of what was checked.

    `points` is 0 where only public tests were run, which carry none.
    """

    earned: float
    points: float
    passed: Count
    checks: Count
    done: bool
    digest: str


class Progress(msgspec.Struct):
    """The last mark of each exercise, and how many of its hints were seen."""

    schema: Literal[1] = SCHEMA
    marks: dict[str, Mark] = {}
    hints_seen: dict[str, Count] = {}


def read_progress(folder: Path) -> tuple[Progress, Phrase | None]:
    """Give the progress kept in a learner's folder, and one line to say where the file had to be begun anew."""
    path = folder / FILE_NAME
    try:
        return msgspec.json.decode(path.read_bytes(), type=Progress), None
    except FileNotFoundError:
        return Progress(), None
    except OSError as error:
        return Progress(), say("{file} cannot be read ({why}); it is begun anew", file=path, why=error.strerror)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return Progress(), say("{file} is not what this program writes; it is begun anew", file=path)


def write_progress(folder: Path, progress: Progress) -> Phrase | None:
    """Keep the progress in a learner's folder; gives one line to say where the file is new or cannot be written."""
    path = folder / FILE_NAME
    new = not path.exists()
    try:
        write_whole(path, msgspec.json.format(msgspec.json.encode(progress), indent=2) + b"\n")
    except ReportError as error:
        return say("{why}; what you have done so far is not remembered", why=said_by(error))
    return say("{file} remembers from now on what you have done", file=path) if new else None


def digests_of(folder: Path, exercises: Sequence[str]) -> dict[str, str]:
    """Give the digest of each exercise's module as it is now, by name; "" where there is none."""
    return {name: _digest_of(folder / f"{name}.py") for name in exercises}


def record_check(folder: Path, results: Sequence[ExerciseResult], digests: dict[str, str]) -> list[Phrase]:
    """Keep what a check found, with the digests from before it; gives the lines to say.

    Where public tests could not be run at all nothing was found, and the last mark stays.
    """
    progress, said = read_progress(folder)
    for result in results:
        if result.points or result.checks:
            progress.marks[result.name] = _mark_of(result, digests.get(result.name, ""))
    return [line for line in (said, write_progress(folder, progress)) if line]


def _mark_of(result: ExerciseResult, digest: str) -> Mark:
    return Mark(
        earned=result.earned,
        points=result.points,
        passed=sum(check.outcome is Outcome.PASSED for check in result.checks),
        checks=len(result.checks),
        done=result.passed,
        digest=digest,
    )


def _digest_of(module: Path) -> str:
    try:
        return hashlib.sha256(module.read_bytes()).hexdigest()
    except OSError:
        return ""
