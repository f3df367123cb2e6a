"""Canvas: the gradebook that an instructor exported ("Export Entire Gradebook"), with one column filled for import.

Facts, from `lib/gradebook_exporter.rb` and `lib/gradebook_importer.rb` of instructure/canvas-lms:

- The first row names the columns: `Student` (or `LastName`, `FirstName`), `ID`, then as the site has it `SIS User ID`,
  `SIS Login ID`, `Integration ID`, `Root Account`, then `Section`, columns of the instructor's own, and assignments,
  each as `Title (id)`. After these come totals, whose cells in the row of points say `(read only)`.
- A row may follow that says `Manual Posting` or `Muted` of assignments. The row whose first cell is
  `    Points Possible` gives the points.
- Of a learner, `EX` is an excused assignment and `N/A` one that is not theirs.
- Cells are separated by commas, or by semicolons where numbers have decimal commas; both kinds of number are read.
- Scores are written, and compared with what is there, at two decimals. An empty cell beside a score takes it away,
  so cells of learners without a mark stay what they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from autograder.exports import ExportError
from autograder.exports.marks import exactly, mark_of, read_number, written
from autograder.exports.matching import Row, match
from autograder.exports.order import Exported, Order
from autograder.exports.sheet import Sheet, read_sheet
from autograder.outputs.text import number
from autograder.report import Report, write_whole

WHAT = "the gradebook that Canvas exported"
FIRST = ("Student", "LastName", "FirstName", "ID", "SIS User ID", "SIS Login ID", "Integration ID", "Root Account")
LAST = "Section"
ASSIGNMENT = re.compile(r"(?P<title>.*) \((?P<id>\d+)\)", re.DOTALL)
READ_ONLY = re.compile(r"read\s+only", re.IGNORECASE)
NOT_THEIRS, EXCUSED = "N/A", "EX"
OF_NOBODY = ("Student, Test", "Test Student")


def export(order: Order) -> Exported:
    """Fill the assignment's column of the exported gradebook. Raises ExportError."""
    if order.template is None:
        raise ExportError(f"--to canvas fills {WHAT}: name it with --template FILE")
    sheet = read_sheet(order.template, [*FIRST, LAST], WHAT)
    _insist_on_canvas(sheet)
    points = _row_of_points(sheet)
    column = _column(sheet, points, order)
    possible = sheet.cell(points, column)
    on_points = _on_points(possible, order)
    matches = match(_learners(sheet, points), order.reports, order.roster)
    marks, *told = _fill(sheet, column, possible, matches.pairs, order).sentences()
    place = order.place("canvas.csv")
    write_whole(place, sheet.to_bytes())
    said = [f"{sheet.header[column]}: {marks}", *told, *on_points, *matches.sentences(order.template.name)]
    return Exported([place], said, matches.complete)


def _insist_on_canvas(sheet: Sheet) -> None:
    header = sheet.header
    if LAST not in header or "ID" not in header or header[0] not in FIRST:
        there = ", ".join(header[:8]) or "nothing"
        raise ExportError(
            f"{sheet.file}: not {WHAT}; expected the columns Student, ID, ..., Section, and found {there}"
        )


def _row_of_points(sheet: Sheet) -> int:
    for row in sheet.row_numbers:
        if "Points Possible" in sheet.cell(row, 0):
            return row
    raise ExportError(f"{sheet.file}: there is no row Points Possible in it; export the gradebook from Canvas again")


def _column(sheet: Sheet, points: int, order: Order) -> int:
    """Find the column of the assignment: the one that was named, else the one that is called like the course."""
    header = sheet.header
    there = [
        column
        for column in range(header.index(LAST) + 1, len(header))
        if ASSIGNMENT.fullmatch(header[column]) and not READ_ONLY.search(sheet.cell(points, column))
    ]
    wanted = [order.column] if order.column else [order.course.title, *order.course.titles.values(), order.course.name]
    found = [column for column in there if any(_is_called(header[column], name) for name in wanted)]
    if len(found) == 1:
        return found[0]
    candidates = "; ".join(header[column] for column in found or there) or "there is none"
    what = f"no assignment {wanted[0]}" if not found else f"{len(found)} assignments {wanted[0]}"
    raise ExportError(f"{sheet.file}: {what}; name one with --column, by its title or its number: {candidates}")


def _is_called(heading: str, name: str) -> bool:
    known = ASSIGNMENT.fullmatch(heading)
    names = [heading, *(known.groups() if known else ())]
    return name.strip().casefold() in (each.strip().casefold() for each in names)


def _learners(sheet: Sheet, points: int) -> list[Row]:
    """Give the rows of learners, who stand below the row of points."""
    places = {name: sheet.header.index(name) for name in FIRST if name in sheet.header}
    rows = []
    for place in range(points + 1, len(sheet.row_numbers) + 1):
        facts = {name: sheet.cell(place, column) for name, column in places.items()}
        name = facts.get("Student") or f"{facts.get('LastName', '')}, {facts.get('FirstName', '')}".strip(", ")
        login = facts.get("SIS Login ID", "")
        ids = [facts["ID"], facts.get("SIS User ID", ""), facts.get("Integration ID", "")]
        # Canvas' own learner, for trying things out, has nothing to hand in.
        if any(facts.values()) and name not in OF_NOBODY:
            rows.append(Row(place, name, ids, [login], [login] if "@" in login else []))
    return rows


@dataclass
class _Filling:
    """What became of the cells of learners who have a mark."""

    marks: int = 0
    replaced: list[str] = field(default_factory=list)
    excused: list[str] = field(default_factory=list)
    not_theirs: list[str] = field(default_factory=list)

    def sentences(self) -> Iterator[str]:
        yield "1 mark" if self.marks == 1 else f"{self.marks} marks"
        if self.replaced:
            yield f"Another mark was there, and was replaced: {'; '.join(self.replaced)}"
        if self.excused:
            yield f"Excused in Canvas, and left so: {'; '.join(self.excused)}"
        if self.not_theirs:
            yield f"Not assigned to them in Canvas, so left out: {'; '.join(self.not_theirs)}"


def _fill(sheet: Sheet, column: int, points: str, pairs: Sequence[tuple[Row, Report]], order: Order) -> _Filling:
    """Put the marks in, except where Canvas has none to take."""
    filling = _Filling()
    maximum = read_number(points) if order.scaled else None
    for row, report in pairs:
        mark = mark_of(report, with_bonus=order.with_bonus, maximum=maximum)
        before = sheet.cell(row.number, column).strip()
        if mark is None:
            continue
        if before.upper() in (EXCUSED, NOT_THEIRS):
            (filling.excused if before.upper() == EXCUSED else filling.not_theirs).append(row.name)
            continue
        if before and read_number(before) != mark:
            filling.replaced.append(row.name)
        # A mark that is the same number is left as Canvas wrote it.
        if read_number(before) != mark:
            sheet.put(row.number, column, written(mark, comma="," in points))
        filling.marks += 1
    return filling


def _on_points(points: str, order: Order) -> list[str]:
    """Say where Canvas counts on another scale than the course."""
    possible = read_number(points)
    if order.scaled and not possible:
        raise ExportError(f"--scaled: Canvas gives no points for this assignment ({points or 'the cell is empty'})")
    if order.scaled or possible is None or possible == exactly(order.course.points):
        return []
    return [f"Canvas counts {points} points, the course {number(order.course.points)}; --scaled makes the marks fit"]
