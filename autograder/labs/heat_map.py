"""A heat map of weights as SVG: axes named, row sums at the edge, the last row as bars.

Drawn by hand and not by matplotlib, which takes about as long for 16 by 16 cells with their numbers as a slider may
(see tests/benchmarks/lab_redraw.py); the colours are those of matplotlib's cividis, which a colour-blind reader sees as
everybody else does.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from autograder.labs.picture import FONTS, Picture
from autograder.language import say

LARGEST_WITH_NUMBERS = 16
# A row of float32 adds up to 1 no better than so.
ONE = 1e-6
_LEFT, _TOP, _EDGE, _BARS = 58, 46, 84, 92
_INK = "#222"


def draw_heat_map(
    weights: Any,
    language: str,
    *,
    allowed: Any = None,
    title: str = "",
    bars: bool = False,
    queries: Sequence[str] | None = None,
    keys: Sequence[str] | None = None,
) -> Picture:
    """Draw weights `(n_queries, n_keys)`; `allowed`, of the same shape, says which cells no query could read.

    `queries` and `keys` name rows and columns (their tokens), else numbers do.
    """
    table = np.asarray(weights, dtype=np.float64)
    readable = np.ones(table.shape, dtype=bool) if allowed is None else np.asarray(allowed, dtype=bool)
    n_queries, n_keys = table.shape
    rows = list(queries or map(str, range(n_queries)))
    columns = list(keys or map(str, range(n_keys)))
    size = _cell_size(n_keys)
    width = max(_LEFT + n_keys * size + _EDGE, _width_of(title))
    below = _TOP + n_queries * size
    parts = [
        _title(title, width),
        _axes(language, n_queries, n_keys, size, rows, columns),
        *(_cell(table[i, j], readable[i, j], i, j, size, n_keys) for i in range(n_queries) for j in range(n_keys)),
        _sums(table, language, size),
    ]
    if bars and n_queries:
        parts.append(_bars(table[-1], below + 22, size, language))
    height = below + (_BARS + 40 if bars else 12)
    words = _words(table, readable, language, title)
    return Picture(_svg(parts, width, height, table, words), words)


def _cell_size(n_keys: int) -> int:
    return 46 if n_keys <= 8 else 34 if n_keys <= LARGEST_WITH_NUMBERS else max(3, 540 // n_keys)


def _width_of(title: str) -> int:
    """Give the pixels that a title may take: a Han character is wider than a Latin letter."""
    return round(sum(13 if ord(letter) > 0x2E7F else 8 for letter in title)) + 12


def _svg(parts: list[str], width: int, height: int, table: NDArray[np.float64], words: str) -> str:
    facts = escape(json.dumps(np.round(table, 4).tolist()), quote=True)
    # The wide hatching tells what could not be read from what got no weight, also without colours.
    hatching = (
        '<defs><pattern id="attend-blocked" width="6" height="6" patternUnits="userSpaceOnUse" '
        'patternTransform="rotate(45)"><rect width="6" height="6" fill="#ececec"/>'
        '<line x1="0" y1="0" x2="0" y2="6" stroke="#9a9a9a" stroke-width="2"/></pattern></defs>'
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="attend-heat-map" role="img" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" aria-label="{escape(words, quote=True)}" data-weights="{facts}" '
        f'font-family="{FONTS}" font-size="12" fill="{_INK}">{hatching}'
        f'<rect width="{width}" height="{height}" fill="#fff"/>\n' + "\n".join(filter(None, parts)) + "\n</svg>"
    )


def _title(title: str, width: int) -> str:
    return f'<text x="{width // 2}" y="14" text-anchor="middle" font-weight="bold">{escape(title)}</text>'


def _axes(language: str, n_queries: int, n_keys: int, size: int, rows: Sequence[str], columns: Sequence[str]) -> str:
    middle = _TOP + n_queries * size // 2
    key, query = say("Key →").in_(language), say("← Query").in_(language)
    centre = _LEFT + n_keys * size // 2
    parts = [
        f'<text x="{centre}" y="30" text-anchor="middle" font-weight="bold">{key}</text>',
        f'<text x="14" y="{middle}" text-anchor="middle" font-weight="bold" '
        f'transform="rotate(-90 14 {middle})">{query}</text>',
    ]
    if n_keys <= LARGEST_WITH_NUMBERS:
        parts += [_tick(name, _LEFT + j * size + size // 2, _TOP - 4, "middle") for j, name in enumerate(columns)]
    if n_queries <= LARGEST_WITH_NUMBERS:
        parts += [_tick(name, _LEFT - 6, _TOP + i * size + size // 2 + 4, "end") for i, name in enumerate(rows)]
    return "\n".join(parts)


def _tick(name: str, x: int, y: int, anchor: str) -> str:
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}" font-size="11">{escape(name)}</text>'


def _cell(weight: float, readable: bool, i: int, j: int, size: int, n_keys: int) -> str:
    x, y = _LEFT + j * size, _TOP + i * size
    # A blocked cell that has a weight all the same is a mistake worth seeing: it keeps its colour and its number.
    blocked = not readable and weight == 0
    fill = "url(#attend-blocked)" if blocked else _colour(weight)
    cell = f'<rect x="{x}" y="{y}" width="{size}" height="{size}" fill="{fill}" stroke="#fff"/>'
    if blocked or n_keys > LARGEST_WITH_NUMBERS:
        return cell
    middle, base = x + size // 2, y + size // 2 + 4
    font = 12 if size > 40 else 10
    return f'{cell}<text x="{middle}" y="{base}" text-anchor="middle" font-size="{font}" fill="{_ink_on(weight)}">' + (
        f"{weight_text(weight)}</text>"
    )


def _sums(table: NDArray[np.float64], language: str, size: int) -> str:
    n_queries, n_keys = table.shape
    x = _LEFT + n_keys * size + 10
    heading = say("row sum").in_(language)
    parts = [f'<text x="{x}" y="{_TOP - 4}" font-size="11" font-weight="bold">{heading}</text>']
    if n_queries <= LARGEST_WITH_NUMBERS:
        parts += [
            f'<text class="attend-row-sum" x="{x}" y="{_TOP + i * size + size // 2 + 4}">{weight_text(total)}</text>'
            for i, total in enumerate(table.sum(axis=-1))
        ]
    return "\n".join(parts)


def _bars(row: NDArray[np.float64], top: int, size: int, language: str) -> str:
    base = top + _BARS - 12
    room = base - top - 16
    heading = say("weights of the last row").in_(language)
    parts = [f'<text x="{_LEFT}" y="{top}" font-size="11" font-weight="bold">{heading}</text>']
    for j, weight in enumerate(row):
        length = round(float(np.clip(np.nan_to_num(weight), 0, 1)) * (room - 12), 1)
        x = _LEFT + j * size
        parts.append(
            f'<rect class="attend-bar" x="{x + 4}" y="{base - length:g}" width="{max(size - 8, 1)}" '
            f'height="{length:g}" fill="{_colour(weight)}" stroke="#444" stroke-width="0.5"/>'
        )
        if len(row) <= LARGEST_WITH_NUMBERS:
            parts.append(_tick(weight_text(weight), x + size // 2, round(base - length - 3), "middle"))
            parts.append(_tick(str(j), x + size // 2, base + 13, "middle"))
    right = _LEFT + len(row) * size
    parts.append(f'<line x1="{_LEFT}" y1="{base}" x2="{right}" y2="{base}" stroke="{_INK}"/>')
    return "\n".join(parts)


def weight_text(weight: float) -> str:
    """Show a weight in a cell: 0 and 1 only where they are exact to the last digit that matters."""
    if np.isnan(weight):
        return "NaN"
    if abs(weight) < 1e-12 or abs(weight - 1) < ONE:
        return f"{weight:.0f}"
    return f"{weight:.2f}"


def _words(table: NDArray[np.float64], readable: NDArray[np.bool_], language: str, title: str) -> str:
    """Say the picture row by row, as it stands for it where none is shown."""
    lines = [title] if title else []
    for i, row in enumerate(table):
        cells = [
            "×" if not may and weight == 0 else weight_text(weight)
            for weight, may in zip(row, readable[i], strict=True)
        ]
        facts = {"weights": " ".join(cells), "total": weight_text(float(row.sum()))}
        lines.append(say("Query {query}: {weights}; row sum {total}", query=i, **facts).in_(language))
    return "\n".join(lines)


@functools.cache
def _shades() -> list[tuple[int, int, int]]:
    from matplotlib import colormaps

    return [(int(red), int(green), int(blue)) for red, green, blue, _ in colormaps["cividis"](range(256), bytes=True)]


def _shade(weight: float) -> tuple[int, int, int]:
    if np.isnan(weight):
        return (255, 255, 255)
    return _shades()[round(255 * min(max(float(weight), 0.0), 1.0))]


def _colour(weight: float) -> str:
    return "#{:02x}{:02x}{:02x}".format(*_shade(weight))


def _ink_on(weight: float) -> str:
    red, green, blue = _shade(weight)
    return "#000" if 0.299 * red + 0.587 * green + 0.114 * blue > 120 else "#fff"
