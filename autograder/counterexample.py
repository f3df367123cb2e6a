"""The smallest input that shows a mistake, written the way the learner would type it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from autograder.arrays import as_array, is_tensor

SHOWN_IN_FULL = 48
MAX_TEXT = 2000
DIGITS = 6
# What NumPy and torch make of plain numbers; any other dtype is part of the counterexample.
DEFAULT_DTYPES = {"array": ("float64", "int64", "bool"), "tensor": ("float32", "int64", "bool")}


def show_call(function: str, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> str:
    """Give a call as text: `softmax([[1., 2.]], axis=0)`; large arrays by shape and dtype."""
    parts = [show(value) for value in arguments]
    parts += [f"{name}={show(value)}" for name, value in keywords.items()]
    return cut(f"{function}({', '.join(parts)})")


def show(value: Any) -> str:
    """Give a value as short text: small arrays in full, masks as 1 and 0, large ones by shape and dtype."""
    if is_tensor(value):
        return _show_array(as_array(value), "tensor", str(value.dtype).removeprefix("torch."))
    if isinstance(value, np.ndarray):
        return _show_array(value, "array", str(value.dtype))
    if isinstance(value, list | tuple):
        inside = ", ".join(show(item) for item in value[:8])
        return f"[{inside}]" if isinstance(value, list) else f"({inside})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {show(item)}" for key, item in list(value.items())[:8]) + "}"
    return cut(repr(value))


def cut(text: str, longest: int = MAX_TEXT) -> str:
    """Cut a text that nobody would read to its end."""
    return text if len(text) <= longest else f"{text[:longest]} ..."


def show_numbers(array: np.ndarray, digits: int = DIGITS) -> str:
    """Give the entries of an array as one line, masks as 1 and 0."""
    if array.dtype == bool:
        # Rows of 1 and 0 read like the mask they are.
        return np.array2string(array.astype(int), separator=" ").replace("\n", "")
    return " ".join(np.array2string(array, precision=digits, separator=", ", suppress_small=False).split())


def _show_array(array: np.ndarray, kind: str, dtype: str) -> str:
    if array.size > SHOWN_IN_FULL:
        return f"<{kind} {array.shape} {dtype}>"
    plain = dtype in DEFAULT_DTYPES[kind]
    if not array.size:
        return f"<empty {kind} {array.shape}>" if plain else f"<empty {kind} {array.shape} {dtype}>"
    return show_numbers(array) if plain else f"{kind}({show_numbers(array)}, dtype={dtype})"
