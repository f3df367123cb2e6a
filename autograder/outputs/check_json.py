"""`attend check --json`: one document for editors and other programs, as much in it as the feedback policy allows.

    schema       1; a number that grows where a key changes its meaning or goes
    course       the name of the course
    feedback     the policy: full, hint, title or none
    exercises    one object for each exercise that was checked, in the order of the course:
        name, points, earned, bonus, public
        passed       whether every check passed
        reason       why no check was run, or ""
        line, code   the line of the module that the reason is about, or 0; the module where something was lost
        diagnosis    fault, explanation (language -> text), counterexample, call, figures
        checks       name, title, outcome, points, earned, message, contract, hint, counterexample, call, figures,
                     seconds, line (where the module raised, or 0)

`outcome` is one of `autograder.report.Outcome`; `contract` is the sentence that the check holds the exercise to.
A figure has title, kind (mask, weights or numbers), rows and columns (what the axes are called) and cells (text).
Titles, messages and reasons are in English here, whatever the reader's language; what may not be shown is empty, and
of hidden checks under the policy "none" only `outcome` is told.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from autograder.course import Course
from autograder.policy import allowed
from autograder.report import CheckResult, ExerciseResult, indented

SCHEMA = 1


def to_json(results: Sequence[ExerciseResult], course: Course, sentence_of: Callable[[str], str]) -> str:
    """Give the results of a check as JSON text; `sentence_of` gives the sentence of a contract for a hint id, or ""."""
    document = {
        "schema": SCHEMA,
        "course": course.name,
        "feedback": course.feedback,
        "exercises": [_exercise(result, course.feedback, sentence_of) for result in results],
    }
    return indented(document).decode()


def _exercise(result: ExerciseResult, policy: str, sentence_of: Callable[[str], str]) -> dict[str, Any]:
    shown = allowed(result, policy)
    told = _told(shown) | {"passed": result.passed}
    return told | {"checks": [_check(check, sentence_of) for check in shown.checks]}


def _check(check: CheckResult, sentence_of: Callable[[str], str]) -> dict[str, Any]:
    return _told(check) | {"contract": sentence_of(check.hint) if check.hint else ""}


def _told(what: msgspec.Struct) -> dict[str, Any]:
    """Give the fields of a record, without the phrases, which say the same again for other languages."""
    fields: dict[str, Any] = msgspec.to_builtins(what)
    return {name: value for name, value in fields.items() if name not in ("phrase", "reason_phrase")}
