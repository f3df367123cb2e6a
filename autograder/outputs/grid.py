"""Figures on the terminal: masks as filled and empty cells, weights shaded, what differs marked, axes named.

Nothing depends on colour: a mask has two signs, weights keep their numbers, and a cell that differs has a star.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from rich.cells import cell_len
from rich.color import Color
from rich.console import Console, ConsoleOptions, RenderResult
from rich.style import Style
from rich.text import Text

from autograder.language import Phrase, say
from autograder.report import Figure

CAME_BACK, RIGHT = "came back", "right"
GAP = 3
MARK = "*"
MOST_NUMBERS = 24
NAMES: Mapping[str, Phrase] = {
    name.text: name
    for name in (
        say("query"), say("key"), say("row"), say("column"), say("feature"), say("position"), say("sequence"),
    )
}  # fmt: skip
WORDS: Mapping[str, Phrase] = {CAME_BACK: say("came back"), RIGHT: say("right")}
# Paper for nothing, ink for everything.
LIGHT, DARK = (255, 255, 255), (24, 60, 150)


@dataclass(frozen=True)
class Signs:
    """What stands for the cells of a mask, and behind the names of axes."""

    allowed: str
    blocked: str
    down: str
    across: str


SIGNS = Signs("■", "□", " ↓", " →")
ASCII_SIGNS = Signs("#", ".", " (down)", " (across)")


@dataclass(frozen=True)
class Grids:
    """Figures side by side where the width allows it, what came back always beside what is right or above it."""

    figures: Sequence[Figure]
    indent: int = 0
    language: str = "en"

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        signs = ASCII_SIGNS if options.ascii_only else SIGNS
        groups = [[self._block(figure, other, signs) for figure, other in group] for group in grouped(self.figures)]
        for number, row in enumerate(_rows(groups, options.max_width - self.indent)):
            if number:
                yield Text("")
            for line in _joined(row):
                yield Text(" " * self.indent).append_text(line)

    def _block(self, figure: Figure, other: Figure | None, signs: Signs) -> list[Text]:
        """Give the lines of one figure, all equally wide; cells that are not those of `other` are marked."""
        title = Text(title_in(self.language, figure), style="bold")
        axes = Text("  ".join(_axes(figure, signs, self.language)), style="dim")
        lines = [title, axes, *_cell_lines(figure, other, signs)]
        width = max(cell_len(line.plain) for line in lines)
        for line in lines:
            line.pad_right(width - cell_len(line.plain))
        return lines


def drawn(figures: Sequence[Figure]) -> list[Figure]:
    """Give the figures to draw, of numbers only few; none where a line of text shows as much: of a row of numbers."""
    shown = [figure for figure in figures if figure.kind != "numbers" or _n_cells(figure) <= MOST_NUMBERS]
    return shown if any(figure.kind != "numbers" or len(figure.cells) > 1 for figure in shown) else []


def differing(figures: Sequence[Figure]) -> bool:
    """Say whether one sees in the figures that something else came back than what is right."""
    return any(figure.cells != other.cells for group in grouped(figures) for figure, other in group if other)


def grouped(figures: Sequence[Figure]) -> Iterator[list[tuple[Figure, Figure | None]]]:
    """Yield the figures that belong side by side, each with the one that it is compared with."""
    alone = sum(_is(figure, CAME_BACK) for figure in figures) == 1
    previous: Figure | None = None
    for figure in figures:
        if previous is not None and _is(figure, RIGHT) and (alone or _part(figure) == _part(previous)):
            yield [(previous, figure), (figure, None)]
            previous = None
            continue
        if previous is not None:
            yield [(previous, None)]
        previous = figure if _is(figure, CAME_BACK) else None
        if previous is None:
            yield [(figure, None)]
    if previous is not None:
        yield [(previous, None)]


def title_in(language: str, figure: Figure) -> str:
    """Give the title of a figure: the name of an argument, or words with a place behind them."""
    for words, phrase in WORDS.items():
        if _is(figure, words):
            return phrase.in_(language) + figure.title.removeprefix(words)
    return figure.title


def axis_in(language: str, name: str) -> str:
    """Give the name of an axis; one that only the course knows is shown as it stands there."""
    return NAMES[name].in_(language) if name in NAMES else name


def _n_cells(figure: Figure) -> int:
    return sum(map(len, figure.cells))


def _is(figure: Figure, words: str) -> bool:
    return figure.title == words or figure.title.startswith(f"{words} [")


def _part(figure: Figure) -> str:
    """Give the part of what several came back that is meant, `[1` of `came back [1][0, 2]`."""
    return figure.title.partition("[")[2].partition("]")[0]


def _axes(figure: Figure, signs: Signs, language: str) -> list[str]:
    named = ((figure.rows, signs.down), (figure.columns, signs.across))
    return [axis_in(language, name) + sign for name, sign in named if name]


def _cell_lines(figure: Figure, other: Figure | None, signs: Signs) -> Iterator[Text]:
    shown = _sign_of(signs) if figure.kind == "mask" else str
    widths = [max(len(shown(cell)) for cell in column) for column in zip_longest(*figure.cells, fillvalue="")]
    for row, cells in enumerate(figure.cells):
        line = Text()
        for column, cell in enumerate(cells):
            differs = other is not None and _at(other, row, column) != cell
            line.append(shown(cell).rjust(widths[column]), style=_style(figure, cell, differs=differs))
            line.append(MARK if differs else " ", style="bold red")
            line.append("" if figure.kind == "mask" else " ")
        line.rstrip()
        yield line


def _sign_of(signs: Signs) -> Callable[[str], str]:
    return lambda cell: {"1": signs.allowed, "0": signs.blocked}.get(cell, cell)


def _at(figure: Figure, row: int, column: int) -> str:
    cells = figure.cells[row] if row < len(figure.cells) else []
    return cells[column] if column < len(cells) else ""


def _style(figure: Figure, cell: str, *, differs: bool) -> Style:
    if figure.kind == "weights" and (share := float(cell)) == share:
        return _shade(share)
    if differs:
        return Style(color="red", bold=True)
    return Style(color="cyan") if (figure.kind, cell) == ("mask", "1") else Style()


def _shade(share: float) -> Style:
    mixed = [light + (dark - light) * share for light, dark in zip(LIGHT, DARK, strict=True)]
    letters = Color.from_rgb(255, 255, 255) if share > 0.5 else Color.from_rgb(0, 0, 0)
    return Style(color=letters, bgcolor=Color.from_rgb(*mixed))


def _rows(groups: Sequence[list[list[Text]]], width: int) -> Iterator[list[list[Text]]]:
    """Yield the blocks that fit beside each other; a group that is too wide by itself is taken apart."""
    row: list[list[Text]] = []
    for group in groups:
        parts = [group] if _width(group) <= width else [[block] for block in group]
        for blocks in parts:
            if row and _width([*row, *blocks]) > width:
                yield row
                row = []
            row = [*row, *blocks]
    if row:
        yield row


def _width(blocks: Sequence[list[Text]]) -> int:
    return sum(cell_len(block[0].plain) for block in blocks) + GAP * (len(blocks) - 1)


def _joined(blocks: Sequence[list[Text]]) -> Iterator[Text]:
    for lines in zip_longest(*blocks):
        joined = Text()
        for place, (line, block) in enumerate(zip(lines, blocks, strict=True)):
            joined.append(" " * GAP if place else "")
            joined.append_text(line if line is not None else Text(" " * cell_len(block[0].plain)))
        joined.rstrip()
        yield joined
