"""Where a line of a module stands for its author: the module itself says so where it was made from a notebook."""

from __future__ import annotations

import re

# A mark follows, or nothing does: learners begin their own modules with such comments too.
FIRST_LINE = re.compile(rb"# from (.+)\n(?:# cell \d+, line \d+\n|\Z)")
MARK = re.compile(rb"# cell (\d+), line (\d+)")


def first_line(notebook: str) -> str:
    """Give the line that a module made from a notebook begins with."""
    return f"# from {notebook.encode('unicode_escape').decode()}"


def mark(cell: int, line: int) -> str:
    """Give the line that says where the next one comes from."""
    return f"# cell {cell}, line {line}"


def file_of(source: bytes, module: str) -> str:
    """Give the file that a learner wrote: the notebook that a module was made from, or the module."""
    found = FIRST_LINE.match(source)
    return found[1].decode("ascii", "replace") if found else f"{module}.py"


def place_of(line: int, source: bytes) -> tuple[int, int]:
    """Give the cell of a line and the line there where a module was made from a notebook, else 0 and the line."""
    lines = source.split(b"\n")[:line] if FIRST_LINE.match(source) else []
    for distance, text in enumerate(reversed(lines)):
        if found := MARK.fullmatch(text):
            return int(found[1]), int(found[2]) + distance - 1
    return 0, line
