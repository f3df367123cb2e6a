"""Texts of learners as a page shows them: nothing in them acts, and a flood is cut."""

from __future__ import annotations

from autograder.outputs.text import visible_lines

MOST_LINES = 24
LONGEST_LINE = 1_000


def cut_lines(text: str) -> str:
    """Give the text's own lines, and of very many only the first."""
    lines = visible_lines(text)
    kept = [cut(line) for line in lines[:MOST_LINES]]
    return "\n".join(kept if len(lines) <= MOST_LINES else [*kept, f"... (+{len(lines) - MOST_LINES})"])


def cut(line: str) -> str:
    """Give a line, and of a very long one only its beginning."""
    return line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE].rstrip()}..."
