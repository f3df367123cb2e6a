"""Submissions whose code is more alike than stubs and exercises make it; for a person to look at, no part of any mark.

Code is compared as copydetect's fingerprints: names, strings, comments, blanks and line ends do not count, and neither
does the order of functions. A fingerprint stands for `LENGTH` characters of what is left. Those of the stubs do not
count, nor those that two of the course's own right answers have (where the copy has them), nor those that more than
`common_from` others have too: what many write is what the exercise asks for.

Two modules are alike that share at least `LEAST` of the remaining fingerprints, and `LEAST_SHARE` of the shorter one's;
two submissions also with `LEAST_IN_ALL` and `LEAST_SHARE_IN_ALL` over all modules together. Right answers that were
written independently stay below both, copies with other names, order and layout above one of them; what the figures
were taken from is in tests/test_similar.py. A `causal_mask` of three lines is too short to say anything by itself.
Where more than so many handed in one and the same module of `LEAST_SAME` fingerprints, they are named together.

Exceptions:
    SimilarError    code cannot be compared here
"""

from __future__ import annotations

import functools
import io
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from autograder.course import Course
from autograder.language import say
from autograder.report import alphabetical
from autograder.submission import Submission

if TYPE_CHECKING:
    from copydetect import CodeFingerprint

Hashes = NDArray[np.int64]
NOTHING: Hashes = np.array([], dtype=np.int64)

LENGTH = 25
LEAST, LEAST_SHARE = 120, 0.5
LEAST_IN_ALL, LEAST_SHARE_IN_ALL = 250, 0.3
# What so many others have too is common, in a large class this part of it.
COMMON, COMMON_SHARE = 10, 0.05
# Nobody writes so much in the same way by chance, and so many not at all.
LEAST_SAME = 200
# A person looks at the most alike first, and at no more than this in one go.
MOST_PAIRS = 200
# No module of the course has a tenth of this; what lies beyond it is not compared.
MOST_CODE = 50_000


class SimilarError(Exception):
    """Code cannot be compared: one line that says what to install or to give."""


@dataclass(frozen=True)
class Fragment:
    """A module of a learner, and its lines, counted from 1, that are like the other one's."""

    code: str
    lines: frozenset[int]


@dataclass(frozen=True)
class AlikeModules:
    """The two modules of one exercise; `share` is the part of the shorter one that is alike, `shared` how much."""

    exercise: str
    shared: int
    share: float
    first: Fragment
    second: Fragment


@dataclass(frozen=True)
class Pair:
    """Two submissions that are alike, by their ids in the order of the class list, and where."""

    first: str
    second: str
    shared: int
    share: float
    modules: Sequence[AlikeModules]

    @property
    def strength(self) -> float:
        """How striking the likeness is, from 0 to 1."""
        return _strength(self.shared, self.share, [(module.shared, module.share) for module in self.modules])


@dataclass(frozen=True)
class Same:
    """More learners than may have something in common handed in the same module, but for names and layout."""

    exercise: str
    ids: Sequence[str]


@dataclass(frozen=True)
class Likeness:
    """What was compared, and the pairs found, the most alike first; `names` are those of the learners by id.

    Of `n_pairs` there are in `pairs` no more than a person looks at.
    """

    n_submissions: int
    common_from: int
    n_pairs: int
    pairs: Sequence[Pair]
    same: Sequence[Same] = ()
    names: Mapping[str, str] = field(default_factory=dict)


def find_similar(
    submissions: Iterable[Submission], course: Course, advance: Callable[[], None] = lambda: None
) -> Likeness:
    """Compare every submission with every other one, and give the pairs that are alike; `advance` after each is read.

    Raises:
        SimilarError: when copydetect is not installed.

    """
    handed = sorted(submissions, key=lambda submission: alphabetical(submission.id))
    common_from = max(COMMON, round(COMMON_SHARE * len(handed)))
    of_class = _Class(handed, course, common_from, advance)
    alike = of_class.alike()
    names = {submission.id: submission.learner_name for submission in handed if submission.learner_name}
    pairs = [of_class.pair(one, other) for one, other in alike[:MOST_PAIRS]]
    return Likeness(len(handed), common_from, len(alike), pairs, of_class.same(), names)


class _Class:
    """What learners wrote as fingerprints, by learner and exercise, without those of stubs and of many others."""

    def __init__(
        self, handed: Sequence[Submission], course: Course, common_from: int, advance: Callable[[], None]
    ) -> None:
        self._handed = handed
        self._common_from = common_from
        self._exercises = [exercise.name for exercise in course.exercises]
        self._found = list(self._all_modules(_asked_for(course), advance))
        common = _held_by_more([_union(modules.values()) for modules in self._found], common_from + 1)
        self._rare = [
            {name: np.setdiff1d(hashes, common, assume_unique=True) for name, hashes in modules.items()}
            for modules in self._found
        ]
        self._all = [_union(modules.values()) for modules in self._rare]

    def alike(self) -> list[tuple[int, int]]:
        """Give the places of those who are alike in one module or over all together, the most striking first."""
        alike = set(_alike(self._all, LEAST_IN_ALL, LEAST_SHARE_IN_ALL))
        for name in self._exercises:
            alike |= set(_alike([modules.get(name, NOTHING) for modules in self._rare], LEAST, LEAST_SHARE))
        return sorted(alike, key=lambda places: (-self._strength_of(*places), places))

    def pair(self, one: int, other: int) -> Pair:
        """Give the pair at these places, with its code."""
        both = np.intersect1d(self._all[one], self._all[other], assume_unique=True)
        modules = [alike for name in self._exercises if (alike := self._alike_in(name, one, other, both))]
        return Pair(self._handed[one].id, self._handed[other].id, *_likeness(self._all[one], self._all[other]), modules)

    def same(self) -> list[Same]:
        """Give those who handed in one and the same module and are so many that it counts as common."""
        groups: dict[tuple[str, bytes], list[str]] = defaultdict(list)
        for submission, modules in zip(self._handed, self._found, strict=True):
            for name, hashes in modules.items():
                if len(hashes) >= LEAST_SAME:
                    groups[name, hashes.tobytes()].append(submission.id)
        many = [Same(name, ids) for (name, _), ids in groups.items() if len(ids) > self._common_from + 1]
        return sorted(many, key=lambda same: -len(same.ids))

    def _all_modules(self, asked_for: Hashes, advance: Callable[[], None]) -> Iterator[dict[str, Hashes]]:
        """Yield the fingerprints of each learner's modules, without those that the exercise asks for."""
        for submission in self._handed:
            modules = {name: submission.modules[name] for name in self._exercises if name in submission.modules}
            yield {name: np.setdiff1d(_fingerprints(code), asked_for) for name, code in modules.items()}
            advance()

    def _strength_of(self, one: int, other: int) -> float:
        first, second = self._rare[one], self._rare[other]
        of_modules = [_likeness(first[name], second[name]) for name in first.keys() & second.keys()]
        return _strength(*_likeness(self._all[one], self._all[other]), of_modules)

    def _alike_in(self, exercise: str, one: int, other: int, both: Hashes) -> AlikeModules | None:
        """Give the modules of an exercise where either has something of the other's submission, wherever it was."""
        first, second = (self._rare[learner].get(exercise, NOTHING) for learner in (one, other))
        if not (np.isin(first, both).any() or np.isin(second, both).any()):
            return None
        fragments = [_fragment(self._handed[learner].modules.get(exercise, b""), both) for learner in (one, other)]
        return AlikeModules(exercise, *_likeness(first, second), *fragments)


def _strength(shared: int, share: float, of_modules: Iterable[tuple[int, float]]) -> float:
    """Give the largest share among those that are of enough to count."""
    counted = [part for count, part in of_modules if count >= LEAST]
    return max([*counted, share if shared >= LEAST_IN_ALL else 0.0])


def _alike(rows: Sequence[Hashes], least: int, least_share: float) -> Iterator[tuple[int, int]]:
    """Yield the places of two rows, the smaller one first, that share so many and such a part of the shorter one."""
    shared = _shared(rows)
    for one, other in zip(*np.nonzero(shared >= least), strict=True):
        if shared[one, other] >= least_share * min(len(rows[one]), len(rows[other])):
            yield int(one), int(other)


def _shared(rows: Sequence[Hashes]) -> NDArray[np.int64]:
    """Give how many each row shares with each later one, (n, n); as costly as common ones are held by many."""
    n_rows = len(rows)
    counts = np.zeros(n_rows * n_rows, dtype=np.int64)
    hashes = np.concatenate([NOTHING, *rows])
    order = np.argsort(hashes, kind="stable")
    hashes, owners = hashes[order], np.repeat(np.arange(n_rows), [len(row) for row in rows])[order]
    # Equal ones stand together, their owners in order: the neighbours at every distance are all the pairs.
    distance = 1
    while (equal := hashes[distance:] == hashes[:-distance]).any():
        counts += np.bincount(owners[:-distance][equal] * n_rows + owners[distance:][equal], minlength=len(counts))
        distance += 1
    return counts.reshape(n_rows, n_rows)


def _held_by_more(rows: Sequence[Hashes], most: int) -> Hashes:
    """Give the fingerprints that more than `most` of the rows have."""
    hashes, counts = np.unique(np.concatenate([NOTHING, *rows]), return_counts=True)
    return hashes[counts > most]


def _union(rows: Iterable[Hashes]) -> Hashes:
    return np.unique(np.concatenate([NOTHING, *rows]))


def _likeness(first: Hashes, second: Hashes) -> tuple[int, float]:
    """Give how many are in both, and which part of the shorter one that is."""
    shared, shorter = len(np.intersect1d(first, second, assume_unique=True)), min(len(first), len(second))
    return shared, shared / shorter if shorter else 0.0


def _asked_for(course: Course) -> Hashes:
    """Give the fingerprints that nobody needs to have from anybody: of the stubs, and of several right answers."""
    stubs, right = [], []
    for exercise in course.exercises:
        stubs += _read([course.stub_of(exercise)])
        right += _read([course.solution_of(exercise), *course.variants_of(exercise)])
    return np.union1d(_union(stubs), _held_by_more(right, 1))


def _read(files: Iterable[Path]) -> list[Hashes]:
    return [_fingerprints(file.read_bytes()) for file in files if file.is_file()]


# The same stub is handed in by many.
@functools.lru_cache(maxsize=256)
def _fingerprints(code: bytes) -> Hashes:
    return np.array(sorted(_fingerprint(text_of(code)).hashes), dtype=np.int64)


def _fragment(code: bytes, both: Hashes) -> Fragment:
    """Give a module with the lines of which at least half is alike."""
    text = text_of(code)
    fingerprint = _fingerprint(text)
    alike = np.zeros(len(fingerprint.filtered_code), dtype=bool)
    for hash in fingerprint.hashes.intersection(both.tolist()):
        for start in fingerprint.hash_idx[hash]:
            alike[start : start + LENGTH] = True
    lines = _lines(fingerprint)
    kept, counts = np.unique(lines[alike], return_counts=True)
    lengths = np.bincount(lines, minlength=1)
    return Fragment(text, frozenset(kept[2 * counts >= lengths[kept]].tolist()))


def _lines(fingerprint: CodeFingerprint) -> NDArray[np.int64]:
    """Give the line, from 1, of each character that is compared."""
    places = np.arange(len(fingerprint.filtered_code))
    if len(fingerprint.offsets):
        starts, removed = fingerprint.offsets.T
        # What was removed before a place never gets less; copydetect forgets it at the names of classes.
        at = np.clip(np.searchsorted(starts, places), 0, len(starts) - 1)
        places = places + np.maximum.accumulate(removed)[at]
    ends = np.array([place for place, letter in enumerate(fingerprint.raw_code) if letter == "\n"], dtype=np.int64)
    return np.searchsorted(ends, places) + 1


def text_of(code: bytes) -> str:
    """Give a module as it is compared: no more than `MOST_CODE` characters, with the line ends of Unix."""
    text = code.decode("utf-8-sig", errors="replace")[:MOST_CODE]
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _fingerprint(text: str) -> CodeFingerprint:
    try:
        from copydetect import CodeFingerprint
    except ImportError:
        raise SimilarError(
            say("comparing code needs copydetect, which is not installed; install attention-by-hand[grade]")
        ) from None
    # A window of 1 keeps every fingerprint, so that nothing depends on which ones a window happens to choose.
    return CodeFingerprint("module.py", LENGTH, 1, fp=io.StringIO(text), language="python")
