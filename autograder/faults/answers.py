"""What a module answers to a probe, and when two answers are alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from autograder.arrays import as_array, is_tensor
from autograder.faults.family import Probe
from autograder.sandbox.learner import LearnerException

# Far above any rounding, far below what a mistake does; what is finer than this a probe has to bring out itself.
RELATIVE = {"float64": 1e-7, "float32": 1e-4, "float16": 2e-2, "bfloat16": 1e-1}


@dataclass(frozen=True)
class Answer:
    """A value, or the name of the type of the exception that came instead."""

    value: Any = None
    raised: str = ""


def answer_to(probe: Probe, module: Any) -> Answer:
    """Put a probe to a `Rehearsal`, or to a learner in its process, whose end is no answer but passed on."""
    try:
        return Answer(probe.ask(module))
    except (Exception, SystemExit) as error:
        # Other exceptions have a `name` too: that of a missing attribute, say.
        return Answer(raised=error.name if isinstance(error, LearnerException) else type(error).__name__)


def alike(one: Answer, other: Answer) -> bool:
    """Tell whether two answers agree in everything but rounding."""
    return one.raised == other.raised and _alike(one.value, other.value)


def _alike(one: Any, other: Any) -> bool:
    if isinstance(one, list | tuple):
        return (
            type(one) is type(other)
            and len(one) == len(other)
            and all(_alike(*both) for both in zip(one, other, strict=True))
        )
    if isinstance(one, np.ndarray) or is_tensor(one):
        return type(one) is type(other) and one.dtype == other.dtype and one.shape == other.shape and _close(one, other)
    if isinstance(one, float):
        return type(one) is type(other) and _close(np.asarray(one), np.asarray(other))
    return type(one) is type(other) and bool(one == other)


def _close(one: Any, other: Any) -> bool:
    dtype = str(one.dtype).removeprefix("torch.")
    have, want = as_array(one), as_array(other)
    if dtype not in RELATIVE:
        return np.array_equal(have, want)
    return _near(have.astype(np.float64), want.astype(np.float64), RELATIVE[dtype])


def _near(have: np.ndarray, want: np.ndarray, relative: float) -> bool:
    """Tell what `np.allclose` would, with NaN alike, and quicker: a diagnosis asks it some hundred times."""
    sizes = np.abs(np.where(np.isfinite(want), want, 0.0))
    with np.errstate(invalid="ignore", over="ignore"):
        near = np.abs(have - want) <= relative * (sizes + sizes.max(initial=0.0))
    both_nan = (have != have) & (want != want)
    return bool((near | (have == want) | both_nan).all())
