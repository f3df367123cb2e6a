"""What can stop a cell of a lab: one line each, in the language of the notebook.

Exceptions:
    LabError                what stops a cell, or `attend lab`
        PredictionMissing   an answer was asked for before a prediction was given
        PredictionUnfit     a prediction that is not of the kind that was asked for
"""

from __future__ import annotations

from autograder.language import SOURCE, Phrase


class LabError(Exception):
    """Something that the reader of a notebook can mend; IPython shows the line alone, without a traceback."""

    def __init__(self, phrase: Phrase, language: str = SOURCE) -> None:
        self.line = phrase.in_(language)
        super().__init__(self.line)

    def _render_traceback_(self) -> list[str]:
        return [self.line]


class PredictionMissing(LabError):
    """The answer is not shown before there is a prediction."""


class PredictionUnfit(LabError):
    """A choice that is not offered, a number that is none, a row of another length."""
