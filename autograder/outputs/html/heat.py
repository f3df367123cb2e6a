"""A small array as a heat map: what its cells say, how each is coloured, and which differ from the right ones."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from autograder.language import catalogue
from autograder.outputs.text import visible
from autograder.report import CAME_BACK, RIGHT, Figure

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
    scales = {figure.kind: _largest(figures, figure.kind) for figure in figures}
    counterparts = _counterparts(figures)
    return [
        _heat_map(figure, counterparts.get(position), scales[figure.kind], language)
        for position, figure in enumerate(figures)
    ]


def _counterparts(figures: Sequence[Figure]) -> dict[int, Figure]:
    """Give to each figure of what came back the right one that follows it for the same part, and back."""
    pairs: dict[int, Figure] = {}
    for position, (figure, following) in enumerate(pairwise(figures)):
        part = figure.title.removeprefix(CAME_BACK)
        if part != figure.title and following.title == RIGHT + part:
            pairs[position], pairs[position + 1] = following, figure
    return pairs


def _heat_map(figure: Figure, counterpart: Figure | None, largest: float, language: str) -> HeatMap:
    comparable = counterpart is not None and _shape(figure) == _shape(counterpart)
    others = counterpart.cells if counterpart is not None and comparable else figure.cells
    return HeatMap(
        title=_in(figure.title, language),
        kind=figure.kind,
        rows=_in(figure.rows, language),
        columns=_in(figure.columns, language),
        cells=tuple(
            tuple(_cell(text, other, figure.kind, largest) for text, other in zip(row, other_row, strict=True))
            for row, other_row in zip(figure.cells, others, strict=True)
        ),
    )


def _cell(text: str, other: str, kind: str, largest: float) -> Cell:
    shown = visible(text)
    cut = shown if len(shown) <= LONGEST_CELL else f"{shown[:LONGEST_CELL]}..."
    return Cell(cut, colour_of(text, kind, largest), differs=text != other)


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
        return float(text)
    except ValueError:
        return None


def _shape(figure: Figure) -> list[int]:
    return [len(row) for row in figure.cells]


def _in(word: str, language: str) -> str:
    return visible(catalogue(language).get(word, word))
