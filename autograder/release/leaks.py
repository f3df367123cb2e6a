"""The leak check: whatever a bundle holds is compared with whatever the course keeps from its learners.

Every file is read as tokens in which comments, layout and chosen names make no difference (`shingles`), and so is what
is packed in archives and written in JSON. A hidden passage is found again as a run of tokens that stands in a file too.

How long a run has to be was measured on what learners of this course rightfully get:

    solutions, right variants   24 tokens, some two lines; by chance up to 18 agree with a file of the bundle
    hidden checks, mistakes     32 tokens; the public tests share up to 23 (tensors of the same size) with them

and 5 of them must be telling: keywords, numbers, operators, names of libraries. Without that, 38 tokens of calls that
pass their arguments on look like any others. Of a passage that is shorter, all but 2 tokens have to be there. What is
shorter than 10 tokens (`return x * 2`), or has fewer telling ones, stands in too many texts to be called a leak, and is
not looked for; nor is code that does the same in other words, which no comparison of texts can find.

Exceptions:
    LeakError   one line that names the file of the bundle and what it gives away
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from autograder.release.hidden import Passage, names_of_libraries
from autograder.release.shingles import (
    WINDOW,
    Token,
    Window,
    is_telling,
    outline_of,
    outlines,
    readings,
    tokens_of,
    windows,
)
from autograder.release.stubs import ReleaseError

SOLUTION = 24
HIDDEN = 32
TELLING = 5
SPARE = 2
SHORTEST = 10
# Archives in archives in archives are nothing that learners are given.
DEEPEST = 3


class LeakError(ReleaseError):
    """A bundle would give away what the course keeps hidden."""


@dataclass(frozen=True)
class Leak:
    """A hidden passage that stands in a file, from a line of it on: 0 where its lines are not those of the file."""

    file: str
    line: int
    passage: Passage

    def __str__(self) -> str:
        where = f"{self.file}, line {self.line}" if self.line else self.file
        return f"{where}: gives away {self.passage.what}; take it out, nothing was written"


class LeakCheck:
    """Hidden passages, ready to be looked for in any number of files."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self._literal = names_of_libraries(passages)
        self._trails = [trail for passage in passages for trail in self._trails_of(passage)]
        self._owners: dict[Window, list[int]] = {}
        for number, trail in enumerate(self._trails):
            for window in set(trail.windows):
                self._owners.setdefault(window, []).append(number)
        self._outlines = frozenset(map(outline_of, self._owners))

    def insist(self, files: Mapping[str, bytes]) -> None:
        """Raise LeakError for the first file, by name, that gives something away."""
        for name in sorted(files):
            for leak in self.leaks_in(name, files[name]):
                raise LeakError(str(leak))

    def leaks_in(self, name: str, content: bytes) -> Iterator[Leak]:
        """Yield the passages that stand in a file, or in what is packed in it, each once."""
        for inner, texts in _texts_in(name, content, DEEPEST):
            seen: set[Passage] = set()
            for text, has_lines in texts:
                for leak in self._leaks_in_text(inner, text, has_lines):
                    if leak.passage not in seen:
                        seen.add(leak.passage)
                        yield leak

    def _leaks_in_text(self, name: str, text: str, has_lines: bool) -> Iterator[Leak]:
        for tokens in readings(text):
            places = self._known_windows_of(tokens)
            for number in sorted({number for window in places for number in self._owners[window]}):
                trail = self._trails[number]
                if (start := trail.found_in(places)) is not None:
                    yield Leak(name, places[trail.windows[start]] if has_lines else 0, trail.passage)

    def _known_windows_of(self, tokens: Sequence[Token]) -> dict[Window, int]:
        """Give the windows of a text that some passage has too, with the line on which each begins first."""
        places: dict[Window, int] = {}
        for start, outline in enumerate(outlines(tokens, self._literal)):
            if outline in self._outlines:
                (window,) = windows(tokens[start : start + WINDOW], self._literal)
                if window in self._owners:
                    places.setdefault(window, tokens[start].line)
        return places

    def _trails_of(self, passage: Passage) -> Iterator[_Trail]:
        for strings_whole in (True, False):
            tokens = tokens_of(passage.text, strings_whole=strings_whole)
            telling = [is_telling(token.text, self._literal) for token in tokens]
            if len(tokens) >= SHORTEST and sum(telling) >= TELLING:
                yield _Trail(passage, tuple(windows(tokens, self._literal)), tuple(telling))


@dataclass(frozen=True)
class _Trail:
    """The windows of a passage in their order, and which of its tokens are telling."""

    passage: Passage
    windows: tuple[Window, ...]
    telling: tuple[bool, ...]

    def found_in(self, places: Mapping[Window, int]) -> int | None:
        """Give the first window of a run that is long and telling enough, if all of its windows are among `places`."""
        needed = min(SOLUTION if self.passage.solves else HIDDEN, len(self.telling) - SPARE)
        start = 0
        for index, window in enumerate((*self.windows, None)):
            if window in places:
                continue
            end = index + WINDOW - 1
            if index > start and end - start >= needed and sum(self.telling[start:end]) >= TELLING:
                return start
            start = index + 1
        return None


def _texts_in(name: str, content: bytes, depth: int) -> Iterator[tuple[str, list[tuple[str, bool]]]]:
    """Yield each file, those in archives too, with the texts to read in it and whether their lines are its own."""
    if not depth or not zipfile.is_zipfile(io.BytesIO(content)):
        yield name, list(_texts_of(_decoded(content)))
        return
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for member in archive.infolist():
            if not member.is_dir():
                yield from _texts_in(f"{name}/{member.filename}", archive.read(member), depth - 1)


def _texts_of(text: str) -> Iterator[tuple[str, bool]]:
    yield text, True
    if strings := "\n".join(_strings_in_json(text)):
        yield strings, False
    if "\\n" in text or '\\"' in text:
        # As in a string that a program or TOML holds on one line.
        yield text.replace("\\n", "\n").replace("\\t", " ").replace('\\"', '"').replace("\\'", "'"), False


def _decoded(content: bytes) -> str:
    encoding = "utf-16" if content.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    return content.decode(encoding, "replace").replace("\r\n", "\n").replace("\r", "\n")


def _strings_in_json(text: str) -> Iterator[str]:
    """Yield the strings of a JSON document, lists of them (as the cells of a notebook are) in one piece."""
    if text.lstrip()[:1] not in ("{", "["):
        return
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return
    pending = [document]
    while pending:
        value = pending.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            pending += value.values()
        elif isinstance(value, list) and all(isinstance(item, str) for item in value):
            yield _as_one(value)
        elif isinstance(value, list):
            pending += value


def _as_one(lines: Iterable[str]) -> str:
    """Join the lines of a cell, which end with a line end in notebooks and without one elsewhere."""
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)
