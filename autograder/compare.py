"""Comparing what came back with what is right: kind, shape, dtype, the pattern of NaN and infinity, then values.

The tolerance follows from the dtype and the length of the sums; it is never found by trial and error.

Exceptions:
    Difference     the learner's value is not the right one
    SuiteMistake   the suite itself asks something that it could not tell from a wrong answer
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from autograder.arrays import as_array, is_tensor
from autograder.counterexample import DIGITS, show_numbers
from autograder.language import Phrase, say

UNIT_ROUNDOFF = {"float64": 2.0**-53, "float32": 2.0**-24, "float16": 2.0**-11, "bfloat16": 2.0**-8}
SMALLEST_STEP = {"float64": 2.0**-1074, "float32": 2.0**-149, "float16": 2.0**-24, "bfloat16": 2.0**-133}
# Libraries add this many terms one after the other before they begin to add in pairs.
PLAIN_SUM = 16
SHOWN_IN_FULL = 24
# Zeros are wrong by the whole of each value.
LARGEST_TOLERANCE = 0.5
# Nine digits tell any two float32 apart, seventeen any two float64.
MORE_DIGITS = (DIGITS, 9, 17)


class Difference(AssertionError):
    """What came back differs from what is right; both are kept for showing.

    A message that was said is shown in the language of whoever reads it, plain text as it is.
    """

    def __init__(self, message: str | Phrase, actual: Any = None, expected: Any = None) -> None:
        super().__init__(message)
        self.actual = actual
        self.expected = expected


class SuiteMistake(Exception):
    """A comparison that could not fail."""


def relative_tolerance(dtype: str, terms: int = 1, logits: float = 1.0) -> float:
    """Give the relative error that sound arithmetic in `dtype` stays below.

    One rounding for each term of the longest sum, and each rounding of a score of size `logits` (divided, shifted,
    exponentiated) comes out of the exponential multiplied by its size; all doubled. Beyond 16 terms a sum is held
    to what adding in pairs achieves (Higham, Accuracy and Stability of Numerical Algorithms, section 4.2).
    """
    length = min(float(terms), PLAIN_SUM + math.log2(max(terms, 1)))
    return 2 * UNIT_ROUNDOFF[dtype] * (length + 3 * max(logits, 1.0) + 4)


def assert_close(
    actual: Any,
    expected: Any,
    *,
    dtype: Any = None,
    terms: int = 1,
    logits: float = 1.0,
    scale: Any = None,
) -> None:
    """Compare a learner's value with the float64 reference.

    `dtype` is the one that must come back (default: that of `expected`). `terms` is the length of the longest sum,
    `logits` the largest size of a score before the exponential. With `scale` (the size of the terms of a sum in which
    they cancel) the tolerance is taken relative to it instead of element by element.

    Raises:
        Difference: with a message for the learner.
        SuiteMistake: when the tolerance is so large that zeros would pass.

    """
    name = dtype_name(dtype if dtype is not None else expected.dtype)
    _compare_form(actual, expected, name)
    found, right = _as_float64(actual), _as_float64(expected)
    _compare_specials(found, right, actual, expected)
    relative = relative_tolerance(name, terms, logits)
    allowed = relative * (np.abs(right) if scale is None else float(scale)) + SMALLEST_STEP[name]
    _insist_on_a_tolerance_that_tells(right, relative, allowed, scale)
    finite = np.isfinite(right)
    with np.errstate(invalid="ignore", over="ignore"):
        differs = finite & ~(np.abs(found - right) <= allowed)
    if differs.any():
        raise Difference(_describe(found, right, differs), actual, expected)


def assert_equal(actual: Any, expected: Any) -> None:
    """Compare kind, shape and dtype, then every value exactly: for masks and for exact zeros."""
    _compare_form(actual, expected, dtype_name(expected.dtype))
    found, right = as_array(actual), as_array(expected)
    differs = found != right
    if differs.any():
        raise Difference(_describe(found, right, differs), actual, expected)


@functools.cache
def dtype_name(dtype: Any) -> str:
    """Give the plain name of a NumPy or torch dtype: "float32"."""
    text = str(dtype)
    return text.removeprefix("torch.") if text.startswith("torch.") else str(np.dtype(dtype))


def _compare_form(actual: Any, expected: Any, dtype: str) -> None:
    if is_tensor(actual) != is_tensor(expected) or not (is_tensor(actual) or isinstance(actual, np.ndarray)):
        wanted = say("a torch tensor") if is_tensor(expected) else say("a NumPy array")
        said = say("{wanted} should come back, not {found}", wanted=wanted, found=_kind_of(actual))
        raise Difference(said, actual, expected)
    if tuple(actual.shape) != tuple(expected.shape):
        said = say("the shape is {found}, not {right}", found=tuple(actual.shape), right=tuple(expected.shape))
        raise Difference(said, actual, expected)
    if dtype_name(actual.dtype) != dtype:
        said = say("the dtype is {found}, not {right}", found=dtype_name(actual.dtype), right=dtype)
        raise Difference(said, actual, expected)


def _compare_specials(found: np.ndarray, right: np.ndarray, actual: Any, expected: Any) -> None:
    if np.isfinite(found).all() and np.isfinite(right).all():
        return
    for special, name in ((np.isnan, "NaN"), (np.isposinf, "inf"), (np.isneginf, "-inf")):
        wrong = special(found) != special(right)
        if wrong.any():
            where = _first(wrong)
            have = name if special(found)[where] else _number(found[where])
            said = say(
                "{found} at {where}, where {right} is right", found=have, where=where, right=_number(right[where])
            )
            raise Difference(said, actual, expected)


def _insist_on_a_tolerance_that_tells(right: np.ndarray, relative: float, allowed: Any, scale: Any) -> None:
    largest = np.abs(right[np.isfinite(right)]).max(initial=0.0)
    if scale is None and relative >= LARGEST_TOLERANCE and largest:
        raise SuiteMistake(f"a tolerance of {relative:.3g} of each value lets almost any value pass")
    # Far below the tolerance it is a zero with rounding on it (the gradient of a key's bias, for one).
    if scale is not None and float(np.max(allowed)) * 1e-3 < largest < 2 * float(np.max(allowed)):
        raise SuiteMistake(f"a tolerance of {float(np.max(allowed)):.3g} says nothing about values below {largest:.3g}")


def _describe(found: np.ndarray, right: np.ndarray, differs: np.ndarray) -> Phrase:
    if right.size <= SHOWN_IN_FULL:
        have, want = _told_apart(found, right)
        return say("returned {found}, right is {right}", found=have, right=want)
    where = _first(differs)
    first = say(
        "{count} of {size} entries differ, first at {where}: {found} instead of {right}",
        count=int(differs.sum()),
        size=differs.size,
        where=where,
        found=_number(found[where]),
        right=_number(right[where]),
    )
    if found.dtype == bool:
        return first
    with np.errstate(invalid="ignore"):
        apart = np.abs(found.astype(np.float64) - right.astype(np.float64))
    largest = f"{apart[differs].max():.3g}"
    return say("{first}; the largest difference is {largest}", first=first, largest=largest)


def _told_apart(found: np.ndarray, right: np.ndarray) -> tuple[str, str]:
    """Give both as text, with as many digits as it takes to see that they differ."""
    for digits in MORE_DIGITS:
        have, want = show_numbers(found, digits), show_numbers(right, digits)
        if have != want:
            break
    return have, want


def _first(wrong: np.ndarray) -> tuple[int, ...]:
    return tuple(int(index) for index in np.argwhere(wrong)[0])


def _number(value: Any) -> str:
    return str(bool(value)) if isinstance(value, np.bool_) else f"{float(value):.6g}"


def _kind_of(value: Any) -> Phrase | str:
    if value is None:
        return "None"
    return say("a NumPy array") if isinstance(value, np.ndarray) else say("a {kind}", kind=type(value).__name__)


def _as_float64(value: Any) -> np.ndarray:
    return np.asarray(as_array(value), dtype=np.float64)
