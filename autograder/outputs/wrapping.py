"""Prose folded to a width, Chinese between any two letters and Latin letters between words."""

from __future__ import annotations

import re

from rich.cells import cell_len

# A line must not begin with one of the closing marks, nor end with an opening one.
OPENING = "“‘（「『《"
CLOSING = "”’）」』》，。、；：？！…"
WIDE = "\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef"
_UNIT = re.compile(rf"[{OPENING}]*(?:[{WIDE}]|[^\s{WIDE}{OPENING}]+)?[{CLOSING}]*\s*")
_WIDE = re.compile(f"[{WIDE}]")


def has_wide(text: str) -> bool:
    """Say whether there are letters between any two of which a line may end."""
    return _WIDE.search(text) is not None


def wrapped(text: str, width: int) -> list[str]:
    """Give `text` in lines of at most `width` terminal cells; a single word that is longer has a line to itself."""
    lines = [""]
    for unit in filter(None, _UNIT.findall(text)):
        if lines[-1] and cell_len(lines[-1] + unit.rstrip()) > width:
            lines.append("")
        lines[-1] += unit
    return [line.rstrip() for line in lines]
