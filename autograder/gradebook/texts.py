"""Texts as every database takes them: PostgreSQL minds lengths, and no letter may be a NUL or half a surrogate."""

from __future__ import annotations

import hashlib

from autograder.course import Course
from autograder.outputs.text import visible, visible_lines
from autograder.policy import allowed, allowed_check
from autograder.report import CheckResult, ExerciseResult, Outcome

LONGEST = 128


def fitting(name: str) -> str:
    """Give a name itself where a column takes it, else a likeness and a hash, so that no two become one."""
    shown = visible(name)
    if shown == name and len(name) <= LONGEST:
        return name
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"{shown[: LONGEST - len(digest) - 1]}~{digest}"


def first_and_last(name: str) -> tuple[str, str]:
    """Split a name at its comma, else before its last word; one that is a single word is a last name."""
    last, comma, first = name.partition(",")
    if not comma:
        first, _, last = name.strip().rpartition(" ")
    return visible(first.strip())[:LONGEST], visible(last.strip())[:LONGEST]


def comment_of(check: CheckResult, exercise: ExerciseResult, course: Course) -> str | None:
    """Say why a check failed, the mistake's explanation first, or None where it passed.

    nbgrader shows comments to learners, so they say no more than the course's feedback policy, and in the course's
    first language.
    """
    if check.outcome is Outcome.PASSED:
        return None
    shown, around = allowed_check(check, course.feedback), allowed(exercise, course.feedback)
    if not (shown.title or shown.name):
        return None
    reader = course.reader(course.languages[0])
    parts = [_explanation(diagnosis.explanation, course) for diagnosis in around.diagnosis]
    parts += [reader.title(shown.title) or shown.name, shown.counterexample, reader.read(shown.phrase or shown.message)]
    return "\n".join(line for part in parts if part for line in visible_lines(part))


def _explanation(explanation: dict[str, str], course: Course) -> str:
    """Give an explanation in the first language of the course that it has."""
    spoken = [language for language in course.languages if language in explanation] or list(explanation)
    return explanation[spoken[0]] if spoken else ""
