"""Moodle: the grading worksheet that an instructor downloaded, filled, and a zip of the learners' pages of feedback.

Facts, from `mod/assign/gradingtable.php`, `mod/assign/feedback/offline/importgradeslib.php` and `locallib.php` there,
`mod/assign/feedback/comments/locallib.php` and `mod/assign/feedback/file/importziplib.php` of moodle/moodle:

- The worksheet has the columns `Identifier` ("Participant 123"), `Full name` and those that identify people on the site
  (`Email address`, `ID number`, `Username`), the latter none where marking is blind; then `Status`, `Grade`,
  `Maximum Grade`, `Grade can be changed` (Yes or No), `Last modified (submission)`, `Last modified (grade)` and
  `Feedback comments`, where these are on.
- It is known again by `Identifier`, `Grade` and `Last modified (grade)`. A grade that was changed in Moodle after that
  moment, is locked, or is above the maximum is passed over, so that column stays what it is.
- Grades may have a decimal point or the comma of the site. An empty one changes nothing.
- A comment is HTML.
- The zip has a folder `<full name>_<number>_assignsubmission_file_` for each learner; the number is the participant's.
  The name ends at its first underscore. Files whose names begin with "." or "~" are passed over.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from autograder.exports import ExportError
from autograder.exports.comment import comment_lines, title_of
from autograder.exports.marks import exactly, mark_of, read_number, written
from autograder.exports.matching import Row, match
from autograder.exports.moodle_feedback import feedback_zip
from autograder.exports.order import Exported, Order
from autograder.exports.sheet import Sheet, read_sheet
from autograder.outputs.csv import inert
from autograder.outputs.text import number
from autograder.report import Report, write_whole

WHAT = "the grading worksheet of the assignment, downloaded from Moodle"
IDENTIFIER, GRADE, MODIFIED = "Identifier", "Grade", "Last modified (grade)"
NAME, MAXIMUM, CHANGEABLE, COMMENTS = "Full name", "Maximum Grade", "Grade can be changed", "Feedback comments"
ID_NUMBER, USERNAME, EMAIL = "ID number", "Username", "Email address"
KNOWN = (IDENTIFIER, NAME, EMAIL, ID_NUMBER, USERNAME, GRADE, MAXIMUM, CHANGEABLE, MODIFIED, COMMENTS)
PARTICIPANT = re.compile(r"\D*?(?P<number>\d+)\s*")


def export(order: Order) -> Exported:
    """Fill the grading worksheet, and zip the pages of feedback of the same learners. Raises ExportError."""
    if order.template is None:
        raise ExportError(f"--to moodle fills {WHAT}: name it with --template FILE")
    worksheet = _Worksheet(read_sheet(order.template, KNOWN, WHAT), order)
    matches = match(worksheet.learners(), order.reports, order.roster)
    filling = worksheet.fill(matches.pairs)
    place = order.place("moodle.csv")
    write_whole(place, worksheet.sheet.to_bytes())
    archive, about_pages = feedback_zip(matches.pairs, order, place.with_name(f"{place.stem}-feedback.zip"))
    said = [*filling.sentences(order), *matches.sentences(order.template.name), *about_pages]
    return Exported([place, *archive], said, matches.complete and not filling.above)


def participant(identifier: str) -> str:
    """Give the number of a participant, as it stands in the names of files; "" where there is none."""
    found = PARTICIPANT.fullmatch(identifier)
    return found["number"] if found else ""


@dataclass
class _Filling:
    """What became of the rows of learners who have a mark."""

    marks: int = 0
    replaced: list[str] = field(default_factory=list)
    locked: list[str] = field(default_factory=list)
    above: list[str] = field(default_factory=list)
    commented: list[str] = field(default_factory=list)
    maxima: set[Decimal] = field(default_factory=set)

    def sentences(self, order: Order) -> Iterator[str]:
        yield "1 grade" if self.marks == 1 else f"{self.marks} grades"
        if self.replaced:
            yield f"Another grade was there, and was replaced: {'; '.join(self.replaced)}"
        if self.locked:
            yield f"Locked in Moodle, so left as they were: {'; '.join(self.locked)}"
        if self.above:
            yield f"Above the maximum grade, which Moodle refuses, so left as they were: {'; '.join(self.above)}"
        if self.commented:
            yield f"Somebody's comment was there, and stayed: {'; '.join(self.commented)}"
        others = self.maxima - {exactly(order.course.points)}
        if others and not order.scaled:
            counts = " or ".join(f"{maximum.normalize():f}" for maximum in sorted(others))
            yield f"Moodle counts {counts}, the course {number(order.course.points)}; --scaled makes the grades fit"


class _Worksheet:
    """A grading worksheet, and what is to be filled into it."""

    def __init__(self, sheet: Sheet, order: Order) -> None:
        self.sheet = sheet
        self._order = order
        header = sheet.header
        self._columns = {name: header.index(name) for name in KNOWN if name in header}
        if order.column:
            self._columns[GRADE] = self._named(order.column)
        missing = [name for name in (IDENTIFIER, GRADE, MODIFIED) if name not in self._columns]
        if missing:
            there = ", ".join(header) or "nothing"
            wanted = ", ".join(missing)
            raise ExportError(f"{sheet.file}: not {WHAT} in English; without the columns {wanted}; found {there}")

    def learners(self) -> list[Row]:
        """Give the rows, by the participant's number and what else the site shows of people."""
        rows = []
        for place in self.sheet.row_numbers:
            says = {name: self.sheet.cell(place, column) for name, column in self._columns.items()}
            if says[IDENTIFIER].strip():
                ids = [participant(says[IDENTIFIER]), says.get(ID_NUMBER, "")]
                name = says.get(NAME) or says[IDENTIFIER]
                rows.append(Row(place, name, ids, [says.get(USERNAME, "")], [says.get(EMAIL, "")]))
        return rows

    def fill(self, pairs: Sequence[tuple[Row, Report]]) -> _Filling:
        """Put grades and comments in, except where a person or Moodle said otherwise."""
        filling = _Filling()
        for row, report in pairs:
            if report.graded:
                self._fill_row(row, report, filling)
        return filling

    def _fill_row(self, row: Row, report: Report, filling: _Filling) -> None:
        limit = self._says(row, MAXIMUM)
        maximum = read_number(limit)
        mark = mark_of(report, with_bonus=self._order.with_bonus, maximum=self._scale(row, maximum))
        assert mark is not None
        if maximum is not None:
            filling.maxima.add(maximum)
        if self._says(row, CHANGEABLE).strip().casefold() == "no":
            filling.locked.append(row.name)
        elif maximum is not None and mark > maximum:
            filling.above.append(row.name)
        else:
            self._grade(row, mark, "," in limit, filling)
            self._comment(row, report, filling)

    def _grade(self, row: Row, mark: Decimal, comma: bool, filling: _Filling) -> None:
        before = read_number(self._says(row, GRADE))
        if before != mark:
            if before is not None:
                filling.replaced.append(row.name)
            self.sheet.put(row.number, self._columns[GRADE], written(mark, comma=comma))
        filling.marks += 1

    def _comment(self, row: Row, report: Report, filling: _Filling) -> None:
        if COMMENTS not in self._columns:
            return
        before = self._says(row, COMMENTS).strip()
        if before and not html.unescape(before).lstrip("'").startswith(f"{title_of(self._order.course)}:"):
            filling.commented.append(row.name)
            return
        lines = (html.escape(line) for line in comment_lines(report, self._order.course))
        self.sheet.put(row.number, self._columns[COMMENTS], inert("<br>".join(lines)))

    def _scale(self, row: Row, maximum: Decimal | None) -> Decimal | None:
        if self._order.scaled and maximum is None:
            place = f"{self.sheet.file}, row {row.number + 1}"
            raise ExportError(f"{place}: --scaled needs a number in the column {MAXIMUM}")
        return maximum if self._order.scaled else None

    def _says(self, row: Row, name: str) -> str:
        return self.sheet.cell(row.number, self._columns.get(name))

    def _named(self, column: str) -> int:
        if column not in self.sheet.header:
            there = ", ".join(self.sheet.header)
            raise ExportError(f"{self.sheet.file}: there is no column {column}; --column names one of: {there}")
        return self.sheet.header.index(column)
