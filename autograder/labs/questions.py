"""The kinds of predictions that are asked for, and which values are one of a kind."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from autograder.labs.missed import Missed, missed_choice, missed_number, missed_row
from autograder.language import Phrase, say


class Unfit(ValueError):
    """A value that is no prediction of the kind; `phrase` says why."""

    def __init__(self, phrase: Phrase) -> None:
        super().__init__(str(phrase))
        self.phrase = phrase


@dataclass(frozen=True)
class Choice:
    """One of a few sentences, by its letter."""

    options: Mapping[str, str] = field(default_factory=dict)

    def fitting(self, value: Any) -> str:
        """Give the letter; Unfit where nothing is offered under it."""
        if not isinstance(value, str) or (self.options and value not in self.options):
            letters = ", ".join(self.options)
            raise Unfit(say("{value} is none of the choices: {letters}", value=repr(value), letters=letters))
        return value

    def missed(self, predicted: Any, right: Any) -> Missed:
        """Tell the choice from what happened."""
        return missed_choice(self.fitting(predicted), right, self.options)

    def example(self) -> str:
        """A value as one types it."""
        return repr(next(iter(self.options), "a"))


@dataclass(frozen=True)
class Number:
    """A number; `unit` is shown after it."""

    unit: str = ""

    def fitting(self, value: Any) -> float:
        """Give the number as a float; Unfit where it is none, or not finite."""
        if isinstance(value, bool) or not _is_number(value):
            raise Unfit(say("{value} is not a number", value=repr(value)))
        return float(value)

    def missed(self, predicted: Any, measured: Any) -> Missed:
        """Tell the number from what was measured."""
        return missed_number(self.fitting(predicted), float(measured))

    def example(self) -> str:
        """A value as one types it."""
        return "0.5"


@dataclass(frozen=True)
class Row:
    """A row of weights for so many keys."""

    n_keys: int

    def fitting(self, value: Any) -> list[float]:
        """Give the row as floats; Unfit where it has another length, or something that is no number from 0 to 1."""
        row = list(value) if isinstance(value, Sequence) and not isinstance(value, str) else []
        if len(row) != self.n_keys or not all(_is_number(weight) and 0 <= float(weight) <= 1 for weight in row):
            raise Unfit(
                say("{value} is not a row of {n_keys} weights from 0 to 1", value=repr(value), n_keys=self.n_keys)
            )
        return [float(weight) for weight in row]

    def missed(self, predicted: Any, measured: Any) -> Missed:
        """Tell the row from the real one."""
        return missed_row(self.fitting(predicted), [float(weight) for weight in measured])

    def example(self) -> str:
        """A value as one types it."""
        return repr([round(1 / self.n_keys, 2)] * self.n_keys)


Question = Choice | Number | Row


def question_like(value: Any) -> Question:
    """Give the question that a value answers, where the cell that asked has not been run."""
    if isinstance(value, str):
        return Choice()
    return Row(len(value)) if hasattr(value, "__len__") else Number()


def _is_number(value: Any) -> bool:
    try:
        return math.isfinite(float(value)) and not isinstance(value, str | bool)
    except (TypeError, ValueError, OverflowError):
        return False
