"""What was handed in, and the one error that ends the search for it.

Exceptions:
    SubmissionError     nothing to grade, or something that must not be read
    UnreadableError     one file of a submission cannot be taken; the rest of it can
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from autograder.language import Phrase, as_phrase, said_by


class SubmissionError(Exception):
    """Nothing to grade, or something that must not be read; one line naming the path and what is expected."""


class UnreadableError(Exception):
    """Why one file cannot be taken; the sentence goes on after the file's name."""


class Wanted(tuple[str, ...]):
    """The names of the exercises that are looked for; `functions` are what each has to define, where that is known."""

    functions: Mapping[str, Sequence[str]]

    def __new__(cls, functions: Mapping[str, Sequence[str]]) -> Wanted:
        """Take a mapping from exercises to their functions."""
        wanted = super().__new__(cls, functions)
        wanted.functions = functions
        return wanted


def functions_of(exercise: str, exercises: Sequence[str]) -> Sequence[str]:
    """Give the functions of one of the exercises looked for, or nothing where only names are known."""
    return exercises.functions[exercise] if isinstance(exercises, Wanted) else ()


@dataclass(frozen=True)
class Submission:
    """The modules a learner handed in, by exercise, as bytes; those from notebooks are made of their cells.

    `problems` says of an exercise why its module could not be taken; `extra` names files that are no module.
    `handed_in` knows its time zone, and is None where the download tells no time; `late` is what the platform says of
    it, `attempt` the number it gives, `learner_name` the name; each is None or "" where it says nothing. `notes` say
    what was chosen among several files or attempts. When and by whom has no part in whether two submissions are equal.
    """

    id: str
    modules: dict[str, bytes]
    extra: tuple[str, ...] = ()
    problems: dict[str, Phrase | str] = field(default_factory=dict)
    handed_in: datetime | None = field(default=None, compare=False)
    attempt: int | None = field(default=None, compare=False)
    late: bool | None = field(default=None, compare=False)
    learner_name: str = field(default="", compare=False)
    notes: tuple[str, ...] = field(default=(), compare=False)


@dataclass(frozen=True)
class Refused:
    """A submission that could not be read, and why: in English, and as a phrase for those who read another language."""

    id: str
    reason: str
    learner_name: str = field(default="", compare=False)
    reason_phrase: Phrase | None = field(default=None, compare=False)

    @classmethod
    def by(cls, error: SubmissionError, id: str, learner_name: str = "") -> Refused:
        """Refuse a submission for what went wrong when it was read."""
        return cls(id, str(error), learner_name, as_phrase(said_by(error)))


@dataclass(frozen=True)
class Found:
    """The submissions under a path, in the order of `alphabetical`, and the names of what lies beside them.

    `layout` is the name of the layout that they were read in, and `said` the sentence that tells the instructor so.
    """

    submissions: list[Submission | Refused]
    ignored: list[str]
    layout: str = ""
    said: str = ""
