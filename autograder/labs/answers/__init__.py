"""The answers of the self-test: they lie apart from the notebook, which shows one only after another was given."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Answer:
    """What is right, a letter or a number, and why."""

    right: str | float
    why: str


def answers(language: str) -> Mapping[str, Answer]:
    """Give every answer, by the name of its question."""
    file = FOLDER / f"self_test.{language}.toml"
    return {name: Answer(**entry) for name, entry in tomllib.loads(file.read_text(encoding="utf-8")).items()}
