"""The charts of the labs, by matplotlib; as SVG with its text left to the browser, so that Chinese needs no font here.

Colours are those of Okabe and Ito, which colour-blind readers tell apart; lines also differ in their marks.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from html import escape
from typing import TYPE_CHECKING, Any

from autograder.labs.missed import shown
from autograder.labs.picture import FONTS, Picture
from autograder.language import say

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
MARKS = ("o", "s", "^", "D", "v", "P")
_SETTINGS: dict[Any, str] = {"svg.fonttype": "none", "svg.hashsalt": "attention-by-hand", "font.family": "DejaVu Sans"}


def draw_lines(
    x: Sequence[float],
    lines: Mapping[str, Sequence[float]],
    *,
    x_label: str,
    y_label: str,
    language: str,
    title: str = "",
    log_x: bool = False,
    log_y: bool = False,
) -> Picture:
    """Draw lines over the same x; numbers below 0 or NaN are left out where an axis is logarithmic."""
    with _settings():
        figure, axes = _figure()
        for (name, values), colour, mark in zip(lines.items(), COLOURS, MARKS, strict=False):
            axes.plot(x, values, color=colour, marker=mark, label=name)
        _scale(axes, x, log_x, log_y)
        axes.set(xlabel=x_label, ylabel=y_label, title=title)
        axes.grid(True, which="major", color="#dddddd")
        _legend(figure, len(lines))
        words = _line_words(x, lines, x_label, title, language)
        return Picture(_svg(figure, words), words)


def draw_bars(
    names: Sequence[str], groups: Mapping[str, Sequence[float]], *, y_label: str, language: str, title: str = ""
) -> Picture:
    """Draw groups of bars side by side, each bar with its number."""
    with _settings():
        figure, axes = _figure()
        width = 0.8 / len(groups)
        for place, ((name, values), colour) in enumerate(zip(groups.items(), COLOURS, strict=False)):
            left = [index + (place - (len(groups) - 1) / 2) * width for index in range(len(names))]
            # Hatching tells the groups apart in print, too.
            hatch = ("", "//", "..")[place % 3]
            bars = axes.bar(left, values, width, color=colour, hatch=hatch, edgecolor="white", label=name)
            axes.bar_label(bars, labels=[shown(float(value)) for value in values], fontsize=8, padding=2)
        axes.set_xticks(range(len(names)), names)
        axes.set(ylabel=y_label, title=title)
        axes.margins(y=0.15)
        _legend(figure, len(groups))
        words = _bar_words(names, groups, title, language)
        return Picture(_svg(figure, words), words)


@contextmanager
def _settings() -> Iterator[None]:
    """Leave the notebook's own settings of matplotlib as they are, and be silent about letters that DejaVu lacks."""
    import matplotlib

    with warnings.catch_warnings(), matplotlib.rc_context():
        warnings.filterwarnings("ignore", message="Glyph")
        matplotlib.rcParams.update(_SETTINGS)
        yield


def _figure() -> tuple[Figure, Axes]:
    """Make a figure of its own, which pyplot does not know and so does not keep."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 3.8), layout="constrained")
    return figure, figure.subplots()


def _legend(figure: Figure, entries: int) -> None:
    """Name the lines below the axes, where no number can be under the names."""
    figure.legend(loc="outside lower center", ncols=min(entries, 2), frameon=False, fontsize=9)


def _scale(axes: Axes, x: Sequence[float], log_x: bool, log_y: bool) -> None:
    from matplotlib.ticker import NullLocator

    if log_x:
        axes.set_xscale("log", base=2)
        axes.set_xticks(list(x), [f"{value:,.0f}" for value in x])
        axes.xaxis.set_minor_locator(NullLocator())
    if log_y:
        axes.set_yscale("log")


def _svg(figure: Figure, words: str) -> str:
    opened = io.StringIO()
    figure.savefig(opened, format="svg", metadata={"Date": None, "Creator": None})
    svg = opened.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"'DejaVu Sans'[^;\"]*", FONTS, svg)
    label = escape(words, quote=True)
    return svg.replace("<svg ", f'<svg class="attend-chart" role="img" aria-label="{label}" ', 1)


def _line_words(
    x: Sequence[float], lines: Mapping[str, Sequence[float]], x_label: str, title: str, language: str
) -> str:
    told = [title] if title else []
    for name, values in lines.items():
        pairs = ", ".join(f"{shown(float(at))}: {shown(float(value))}" for at, value in zip(x, values, strict=True))
        told.append(say("{line} over {x}: {pairs}", line=name, x=x_label, pairs=pairs).in_(language))
    return "\n".join(told)


def _bar_words(names: Sequence[str], groups: Mapping[str, Sequence[float]], title: str, language: str) -> str:
    told = [title] if title else []
    for name, values in groups.items():
        pairs = ", ".join(f"{at}: {shown(float(value))}" for at, value in zip(names, values, strict=True))
        told.append(say("{group}: {pairs}", group=name, pairs=pairs).in_(language))
    return "\n".join(told)
