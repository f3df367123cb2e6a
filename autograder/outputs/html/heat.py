"""A small array as a heat map: what its cells say, how each is coloured, and which differ from the right ones."""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from autograder.outputs.grid import axis_in, grouped, title_in
from autograder.outputs.text import visible
from autograder.report import Figure

WEIGHT_STEPS = 10
NUMBER_STEPS = 5
LONGEST_CELL = 24
SPECIALS = {math.inf: "inf", -math.inf: "minus-inf"}


@dataclass(frozen=True)
class Cell:
    """One entry: its text, the class of its colour, and whether it differs from its counterpart."""

    text: str
    colour: str
    differs: bool = False


@dataclass(frozen=True)
class HeatMap:
    """A grid of cells with its axes named; row and column numbers count from 0, as in the learner's code."""

    title: str
    kind: str
    rows: str
    columns: str
    cells: tuple[tuple[Cell, ...], ...]

    @property
    def n_columns(self) -> int:
        """How many columns the widest row has."""
        return max(map(len, self.cells), default=0)


def heat_maps(figures: Sequence[Figure], language: str) -> list[HeatMap]:
    """Give each figure as a heat map, its title and axes in a language where a catalogue has them.

    Figures of one kind share a scale, so that equal numbers have equal colours. What came back and what is right are
    compared cell by cell as they are read, where they have one shape.
    """
    scales = {kind: _largest(figures, kind) for kind in {figure.kind for figure in figures}}
    return [
        _heat_map(figure, counterpart, scales[figure.kind], language)
        for group in grouped(figures)
        for figure, counterpart in _held_against([figure for figure, _ in group])
    ]


def _held_against(group: Sequence[Figure]) -> list[tuple[Figure, Figure | None]]:
    """Give to each of two figures that belong together the other one, where they have one shape."""
    if len(group) == 2 and _shape(group[0]) == _shape(group[1]):
        return [(group[0], group[1]), (group[1], group[0])]
    return [(figure, None) for figure in group]


def _heat_map(figure: Figure, counterpart: Figure | None, largest: float, language: str) -> HeatMap:
    others = figure.cells if counterpart is None else counterpart.cells
    return HeatMap(
        title=visible(title_in(language, figure)),
        kind=figure.kind,
        rows=visible(axis_in(language, figure.rows)),
        columns=visible(axis_in(language, figure.columns)),
        cells=tuple(
            tuple(_cell(text, other, figure.kind, largest) for text, other in zip(row, other_row, strict=True))
            for row, other_row in zip(figure.cells, others, strict=True)
        ),
    )


def _cell(text: str, other: str, kind: str, largest: float) -> Cell:
    shown = visible(text)
    cut = shown if len(shown) <= LONGEST_CELL else f"{shown[:LONGEST_CELL]}..."
    return Cell(cut, colour_of(text, kind, largest), differs=text != other)


@functools.lru_cache(maxsize=1 << 14)
def colour_of(text: str, kind: str, largest: float) -> str:
    """Give the class of a cell: "allowed" or "blocked", a step of a weight or of a signed number, or a special value.

    Weights are coloured from 0 to 1 whatever stands beside them, numbers from 0 to the `largest` in either direction.
    """
    number = _number(text)
    if number is None:
        return "words"
    if math.isnan(number):
        return "nan"
    if number in SPECIALS:
        return SPECIALS[number]
    if kind == "mask" and number in (0, 1):
        return "allowed" if number else "blocked"
    if kind == "weights" and number >= 0:
        return f"weight-{round(min(number, 1.0) * WEIGHT_STEPS)}"
    step = math.ceil(min(abs(number) / largest, 1.0) * NUMBER_STEPS) if largest else 0
    return f"{'below' if number < 0 else 'above'}-{step}" if step else "zero"


def _largest(figures: Sequence[Figure], kind: str) -> float:
    """Give the largest size of a finite number in the figures of a kind."""
    sizes = (abs(number) for figure in figures if figure.kind == kind for number in _finite_numbers(figure))
    return max(sizes, default=0.0)


def _finite_numbers(figure: Figure) -> Iterator[float]:
    for row in figure.cells:
        for text in row:
            number = _number(text)
            if number is not None and math.isfinite(number):
                yield number


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    # The largest numbers, rounded to a few digits, are above what a float holds.
    overflown = math.isinf(number) and "inf" not in text.casefold()
    return math.copysign(sys.float_info.max, number) if overflown else number


def _shape(figure: Figure) -> list[int]:
    return [len(row) for row in figure.cells]
