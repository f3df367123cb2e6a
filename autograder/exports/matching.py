"""Whose row is whose submission: by id, else by login, else by e-mail, and never by a guess."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from autograder.report import Report
from autograder.roster import Learner, recogniser


@dataclass(frozen=True)
class Row:
    """A learner in a platform's sheet: the number of the row, a name for people, and what it is known by."""

    number: int
    name: str
    ids: Sequence[str] = ()
    logins: Sequence[str] = ()
    emails: Sequence[str] = ()


@dataclass
class Matches:
    """Which report belongs to which row, and what belongs to nothing.

    `undecided` are submissions that fit several rows, or share the only one that they fit.
    """

    pairs: list[tuple[Row, Report]] = field(default_factory=list)
    submissions: list[str] = field(default_factory=list)
    undecided: list[str] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)

    @property
    def complete(self) -> bool:
        """Whether every submission has its row."""
        return not (self.submissions or self.undecided)

    def sentences(self, sheet: str) -> list[str]:
        """Say what was left over, on both sides."""
        said = []
        if self.submissions:
            said.append(f"Submissions of nobody in {sheet}: {', '.join(self.submissions)}")
        if self.undecided:
            said.append(f"Submissions that fit more than one row, or share one, left out: {', '.join(self.undecided)}")
        if self.rows:
            said.append(f"Rows of {sheet} without a submission, left as they were: {_names(self.rows)}")
        return said


def match(rows: Sequence[Row], reports: Iterable[Report], roster: Sequence[Learner] = ()) -> Matches:
    """Find the row of each report; the `roster` tells the e-mail address that belongs to an id.

    Capitals do not count. Ids are looked for in the whole sheet before logins, and those before e-mail addresses.
    """
    known = {kind: _by_key(rows, kind) for kind in ("ids", "logins", "emails")}
    recognised = recogniser(roster)
    wanted: dict[int, list[tuple[Row, Report]]] = defaultdict(list)
    matches = Matches()
    for report in reports:
        found = _rows_of(report, recognised(report.submission, report.learner_name), known)
        if len(found) == 1:
            wanted[found[0].number].append((found[0], report))
        else:
            (matches.undecided if found else matches.submissions).append(report.submission)
    for pairs in wanted.values():
        if len(pairs) == 1:
            matches.pairs += pairs
        else:
            matches.undecided += [report.submission for _, report in pairs]
    taken = {row.number for row, _ in matches.pairs}
    matches.rows = [row for row in rows if row.number not in taken]
    return matches


def _rows_of(report: Report, learner: Learner | None, known: dict[str, dict[str, list[Row]]]) -> list[Row]:
    """Give the rows that the best kind of key leads to."""
    keys = [report.submission, *([learner.id, learner.email] if learner else [])]
    for kind in ("ids", "logins", "emails"):
        found = {row.number: row for key in keys if key for row in known[kind].get(_key(key), ())}
        if found:
            return list(found.values())
    return []


def _by_key(rows: Iterable[Row], kind: str) -> dict[str, list[Row]]:
    by_key: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        for key in getattr(row, kind):
            if key.strip():
                by_key[_key(key)].append(row)
    return by_key


def _key(text: str) -> str:
    return unicodedata.normalize("NFC", text.strip()).casefold()


def _names(rows: Sequence[Row]) -> str:
    return "; ".join(row.name or f"row {row.number + 1}" for row in rows)
