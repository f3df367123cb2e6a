"""The course.toml that learners get: without what only graders need."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, time
from typing import Any

from autograder.course import FILE_NAME, Course, parse_course, parse_toml, read_course

# What is said about suites, and about where the parts of an instructor's copy lie.
OF_THE_GRADER = ("paths",)
OF_A_GRADED_EXERCISE = ("stand_ins",)
LIMITS_OF_A_LEARNER = ("exercise_seconds",)


def learner_course(course: Course, languages: Sequence[str]) -> str:
    """Give the text of the course.toml of a bundle, in `languages` alone. Raises CourseError.

    Keys that this function has never heard of stay, so that what is added to the course reaches its learners.
    """
    file = course.root / FILE_NAME
    described = parse_toml(read_course(file), file)
    kept = {key: value for key, value in described.items() if key not in OF_THE_GRADER}
    kept["languages"] = list(languages)
    kept["limits"] = {key: value for key, value in kept.get("limits", {}).items() if key in LIMITS_OF_A_LEARNER}
    kept["exercises"] = [
        {key: value for key, value in exercise.items() if key not in OF_A_GRADED_EXERCISE}
        for exercise in described["exercises"]
    ]
    text = as_toml(_in_languages(kept, languages))
    parse_course(text, file)
    return text


def as_toml(described: Mapping[str, Any]) -> str:
    """Write a description as TOML: plain keys first, then tables, then lists of tables."""
    text = "\n".join(_lines_of(described)).lstrip("\n") + "\n"
    assert tomllib.loads(text) == described
    return text


def _in_languages(kept: dict[str, Any], languages: Sequence[str]) -> dict[str, Any]:
    """Leave out the titles in languages that this bundle is not in."""
    for table in (kept, *kept["exercises"]):
        if "titles" in table:
            table["titles"] = {key: title for key, title in table["titles"].items() if key in languages}
    return {key: value for key, value in kept.items() if value != {}}


def _lines_of(described: Mapping[str, Any]) -> Iterator[str]:
    tables = {key: value for key, value in described.items() if isinstance(value, dict)}
    lists = {key: value for key, value in described.items() if _is_list_of_tables(value)}
    yield from (f"{_key(k)} = {_value(v)}" for k, v in described.items() if k not in tables and k not in lists)
    for key, table in tables.items():
        yield f"\n[{_key(key)}]"
        yield from (f"{_key(k)} = {_value(v)}" for k, v in table.items())
    for key, entries in lists.items():
        for entry in entries:
            yield f"\n[[{_key(key)}]]"
            yield from (f"{_key(k)} = {_value(v)}" for k, v in entry.items())


def _is_list_of_tables(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(entry, dict) for entry in value)


def _key(key: str) -> str:
    return key if key.isascii() and key.replace("_", "a").replace("-", "a").isalnum() else json.dumps(key)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        # A string of JSON is one of TOML, but for one letter.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{_key(k)} = {_value(v)}' for k, v in value.items())} }}"
    return str(value)
