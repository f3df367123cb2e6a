"""The learner's own module, kept with the result of its exercise where something was lost."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping

import msgspec

from autograder.report import ExerciseResult

# A module is a few KB; what is larger was not written by hand, and a class of reports has to stay small.
LARGEST = 64 << 10


def with_code(result: ExerciseResult, modules: Mapping[str, bytes]) -> ExerciseResult:
    """Give the result with the module it is about, unless everything passed, none was handed in or it is too large."""
    source = modules.get(result.name, b"")
    if result.passed or not source or len(source) > LARGEST:
        return result
    return msgspec.structs.replace(result, code=as_text(source))


def as_text(source: bytes) -> str:
    """Give source as Python reads it, and where Python cannot, what UTF-8 makes of it."""
    try:
        return importlib.util.decode_source(source)
    except (SyntaxError, UnicodeError, LookupError):
        # A cookie may also name what is no encoding of text: rot13.
        return source.decode("utf-8", "replace")
