"""How many learners have which part of the points, as bars for an SVG."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from autograder.outputs.text import number

# Full marks have a bar of their own, the last one, a little apart.
N_BARS = 11
WIDTH, HEIGHT = 56, 140
GAP, APART = 4, 18
SIDE, ABOVE, BELOW = 16, 22, 24


@dataclass(frozen=True)
class Bar:
    """A bar: the marks it stands for, how many have these, where it is drawn, and the number at its foot."""

    marks: str
    count: int
    x: float
    y: float
    height: float
    edge: str
    edge_x: float

    @property
    def middle(self) -> float:
        """Where its count stands."""
        return self.x + (WIDTH - GAP) / 2


@dataclass(frozen=True)
class Chart:
    """The bars, and the size of the whole in units of the SVG."""

    bars: Sequence[Bar]

    width = SIDE + N_BARS * WIDTH + APART
    height = ABOVE + HEIGHT + BELOW
    bar_width = WIDTH - GAP
    base = ABOVE + HEIGHT

    @property
    def said(self) -> str:
        """The same in words: the marks, and how many have them."""
        return "; ".join(f"{bar.marks}: {bar.count}" for bar in self.bars)


def distribution(shares: Sequence[float], points: float) -> Chart:
    """Give the chart of the parts of `points` that learners earned, each from 0 to 1, in tenths."""
    counts = Counter(bar_of(share) for share in shares)
    most = max(counts.values(), default=1)
    return Chart([_bar(place, counts[place], HEIGHT * counts[place] / most, points) for place in range(N_BARS)])


def bar_of(share: float) -> int:
    """Give the place of the bar in which a part of the points is counted; the tenths begin at their lower end."""
    # A sum of points such as 0.1 + 0.2 must not fall short of its own tenth.
    return min(max(int(share * 10 + 1e-9), 0), N_BARS - 1)


def _bar(place: int, count: int, height: float, points: float) -> Bar:
    """Give a bar; the tenths have their lower end at their left foot, full marks stand under the middle."""
    full = place == N_BARS - 1
    start, end = (number(points * edge / 10) for edge in (place, place + 1))
    left = SIDE + place * WIDTH + (APART if full else 0)
    return Bar(
        marks=start if full else f"{start}–{end}",
        count=count,
        x=left + GAP / 2,
        y=round(ABOVE + HEIGHT - height, 2),
        height=round(height, 2),
        edge=start,
        edge_x=left + (WIDTH / 2 if full else 0),
    )
