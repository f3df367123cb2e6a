"""A banned function that was reached. By itself, since whoever only reads source needs neither NumPy nor the wire."""

from __future__ import annotations

import msgspec


class Violation(msgspec.Struct, array_like=True, frozen=True):
    """A banned function that was reached: its name, and the learner's line by number and text."""

    name: str
    line: int
    text: str
