"""The list of a class, so that a learner who handed nothing in has a row too.

Exceptions:
    RosterError     a file that is no roster; one line that names the row and the column
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder.submission import Refused, Submission

COLUMNS = ("id", "name", "email")
DELIMITERS = ",;\t"
LARGEST_ROSTER = 16 << 20


class RosterError(Exception):
    """A roster that cannot be read: one line naming the file, the row and the column, and what to do."""


@dataclass(frozen=True)
class Learner:
    """One row of a roster; name and email are "" where the roster has none."""

    id: str
    name: str = ""
    email: str = ""


@dataclass(frozen=True)
class Attendance:
    """Who of a roster handed nothing in, and the ids of submissions that belong to nobody on it."""

    missing: tuple[Learner, ...] = ()
    unknown: tuple[str, ...] = ()


def read_roster(path: Path) -> list[Learner]:
    """Read a CSV file with the columns id, name and email, of which name and email may be left out.

    UTF-8 with or without a byte order mark; separated by commas, semicolons or tabs; the names of columns in any order
    and case, others beside them. RosterError names the row, counted as a spreadsheet does, and the column.
    """
    rows = _rows(path)
    header = next(rows, (0, []))[1]
    places = _places(path, header)
    learners: dict[str, tuple[int, Learner]] = {}
    for number, cells in rows:
        learner = _learner(path, number, cells, header, places)
        before = learners.setdefault(_key(learner.id), (number, learner))
        if before[0] != number:
            raise RosterError(f"{path}, row {number}, column id: {learner.id} is already in row {before[0]}")
    if not learners:
        raise RosterError(f"{path}: there is no learner in it; expected a row for each below the row of names")
    return [learner for _, learner in learners.values()]


def attendance(roster: Sequence[Learner], found: Iterable[Submission | Refused]) -> Attendance:
    """Compare a roster with what was found: by id, else by email, else by a name that only one learner has.

    Capitals do not count. Names also match as Canvas writes them, "okaforamara" for Amara Okafor.
    """
    recognised = recogniser(roster)
    present, unknown = set(), []
    for submission in found:
        if learner := recognised(submission.id, submission.learner_name):
            present.add(learner.id)
        else:
            unknown.append(submission.id)
    return Attendance(tuple(learner for learner in roster if learner.id not in present), tuple(unknown))


def recogniser(roster: Sequence[Learner]) -> Callable[[str, str], Learner | None]:
    """Give a function that finds the learner for the id and the name of a submission, as `attendance` does."""
    by_key = _by_key(roster)
    return lambda id, name: by_key.get(_key(id)) or by_key.get(_squeezed(name))


def _by_key(roster: Sequence[Learner]) -> dict[str, Learner]:
    """Give the learner for every id, email and unambiguous name; an id counts before any of the others."""
    names: dict[str, Learner | None] = {}
    for learner in roster:
        for name in set(_spellings(learner.name)):
            names[name] = None if name in names else learner
    keys = {name: learner for name, learner in names.items() if learner is not None}
    keys |= {_key(learner.email): learner for learner in roster if learner.email}
    return keys | {_key(learner.id): learner for learner in roster}


def _spellings(name: str) -> Iterator[str]:
    """Give a name without spaces, beginning with each of its words, since platforms put the last one first."""
    words = re.findall(r"\w+", name)
    for start in range(len(words)):
        yield _squeezed("".join(words[start:] + words[:start]))


def _squeezed(name: str) -> str:
    """Give the letters and digits of a name behind a mark, so that no id is taken for a name."""
    return "name:" + _key("".join(re.findall(r"\w+", name))) if name else ""


def _key(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold()


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield each row that is not empty, with its number."""
    text = _text(path)
    first_line = text.partition("\n")[0]
    delimiter = max(DELIMITERS, key=first_line.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    number = 0
    try:
        for number, cells in enumerate(reader, 1):
            if any(cell.strip() for cell in cells):
                yield number, [cell.strip() for cell in cells]
    except csv.Error as error:
        raise RosterError(f"{path}, row {number + 1}: not CSV: {error}") from None


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST_ROSTER + 1)
    except OSError as error:
        raise RosterError(f"{path}: cannot be read: {error.strerror}") from None
    if len(data) > LARGEST_ROSTER:
        raise RosterError(f"{path}: larger than {LARGEST_ROSTER >> 20} MiB, which no roster is")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        row = data.count(b"\n", 0, error.start) + 1
        raise RosterError(f"{path}, row {row}: byte {data[error.start]:#x} is not UTF-8; save it as UTF-8") from None


def _places(path: Path, header: Sequence[str]) -> dict[str, int]:
    """Give the place of each known column; RosterError where there is no id, or one column twice."""
    names = [name.casefold() for name in header]
    for name in COLUMNS:
        if names.count(name) > 1:
            raise RosterError(f"{path}, row 1: the column {name} is there twice; keep one of them")
    if "id" not in names:
        there = ", ".join(filter(None, header)) or "nothing"
        raise RosterError(f"{path}, row 1: there is no column id; expected id, name, email, and found {there}")
    return {name: names.index(name) for name in COLUMNS if name in names}


def _learner(path: Path, number: int, cells: Sequence[str], header: Sequence[str], places: dict[str, int]) -> Learner:
    if len(cells) > len(header) and any(cells[len(header) :]):
        raise RosterError(
            f"{path}, row {number}: {len(cells)} cells under {len(header)} columns; put quotes around one that holds "
            "the separator"
        )
    facts = {name: cells[place] if place < len(cells) else "" for name, place in places.items()}
    if not facts["id"]:
        raise RosterError(f"{path}, row {number}, column id: it is empty; every learner needs an id")
    return Learner(**facts)
