"""A platform's own CSV file in which some cells are filled: every other byte stays what it was."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder.exports import ExportError

SEPARATORS = ",;\t"
LARGEST_SHEET = 64 << 20
MARK = "\ufeff"
NEEDS_QUOTES = re.compile(r'["\r\n]|^\s|\s$')


@dataclass(frozen=True)
class Cell:
    """What a cell says, and where in the text of the file it stands."""

    text: str
    start: int
    end: int
    quoted: bool = False


class Sheet:
    """The rows of a CSV file, the header first; `put` replaces what one cell says."""

    def __init__(self, text: str, separator: str, file: Path) -> None:
        self.file = file
        self._text = text
        self._separator = separator
        self._rows = _parsed(text, separator, file)
        self._changes: dict[tuple[int, int], str] = {}

    @property
    def header(self) -> list[str]:
        """The names of the columns."""
        return [cell.text for cell in self._rows[0]] if self._rows else []

    @property
    def row_numbers(self) -> range:
        """The places of all rows below the header that are not blank at the end."""
        return range(1, len(self._rows))

    def cell(self, row: int, column: int | None) -> str:
        """Give what a cell says; "" where the row is shorter, or the column is None."""
        cells = self._rows[row]
        return cells[column].text if column is not None and column < len(cells) else ""

    def put(self, row: int, column: int, text: str) -> None:
        """Replace what a cell says."""
        if text != self.cell(row, column):
            self._changes[row, column] = text

    def to_bytes(self) -> bytes:
        """Give the file with the changes in it."""
        pieces: list[str] = []
        place = 0
        for (row, column), text in sorted(self._changes.items()):
            start, end, written = self._written(row, column, text)
            pieces += [self._text[place:start], written]
            place = end
        return "".join([*pieces, self._text[place:]]).encode()

    def _written(self, row: int, column: int, text: str) -> tuple[int, int, str]:
        """Give which piece of the file a change replaces, and with what; a short row is made long enough."""
        cells = self._rows[row]
        if column < len(cells):
            cell = cells[column]
            return cell.start, cell.end, self._in_quotes(text, always=cell.quoted)
        end = cells[-1].end
        return end, end, self._separator * (column - len(cells) + 1) + self._in_quotes(text)

    def _in_quotes(self, text: str, *, always: bool = False) -> str:
        if always or self._separator in text or NEEDS_QUOTES.search(text):
            return '"' + text.replace('"', '""') + '"'
        return text


def read_sheet(file: Path, wanted: Sequence[str], what: str) -> Sheet:
    """Read a sheet, whose header tells how cells are separated: so that most of the `wanted` columns are there.

    Raises:
        ExportError: when it cannot be read, is not UTF-8, or is no CSV; `what` says what was expected.

    """
    text = _text_of(file, what)
    first_lines = text[: text.find("\n") + 1 or len(text)]

    def known(separator: str) -> tuple[int, int]:
        header = [name.strip(f'{MARK}" \r\n') for name in first_lines.split(separator)]
        return sum(name in header for name in wanted), len(header)

    return Sheet(text, max(SEPARATORS, key=known), file)


def _text_of(file: Path, what: str) -> str:
    try:
        with file.open("rb") as opened:
            data = opened.read(LARGEST_SHEET + 1)
    except OSError as error:
        raise ExportError(f"{file}: cannot be read ({error.strerror}); --template names {what}") from None
    if len(data) > LARGEST_SHEET:
        raise ExportError(f"{file}: larger than {LARGEST_SHEET >> 20} MiB; --template names {what}")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        row = data.count(b"\n", 0, error.start) + 1
        raise ExportError(
            f"{file}, row {row}: byte {data[error.start]:#x} is not UTF-8; give the file as it was downloaded, or save "
            "it as CSV UTF-8"
        ) from None


def _parsed(text: str, separator: str, file: Path) -> list[list[Cell]]:
    """Take a file apart as RFC 4180 describes it, with any line ends."""
    one = re.compile(
        rf'(?:"(?P<quoted>[^"]*(?:""[^"]*)*)"|(?P<plain>(?!")[^{separator}\r\n]*))(?P<end>{separator}|\r\n|\r|\n|\Z)'
    )
    place = len(MARK) if text.startswith(MARK) else 0
    rows: list[list[Cell]] = []
    cells: list[Cell] = []
    while place < len(text) or cells:
        found = one.match(text, place)
        if found is None:
            raise ExportError(f"{file}, row {len(rows) + 1}: a quotation mark is not closed, or text follows it")
        quoted = found["quoted"] is not None
        says = found["quoted"].replace('""', '"') if quoted else found["plain"]
        cells.append(Cell(says, found.start(), found.start("end"), quoted))
        place = found.end()
        if found["end"] != separator:
            rows.append(cells)
            cells = []
    return rows
