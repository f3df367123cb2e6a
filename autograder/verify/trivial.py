"""Answers that do nothing right: whatever they are asked, the same filling comes back in the right shape."""

from __future__ import annotations

from autograder.course import Exercise

# Appended to the solution, so that the shapes are right and only the values are not.
_REPLACED = """
import functools as _functools
import sys as _sys

import numpy as _np


def _fill(value):
    if isinstance(value, (tuple, list)):
        return type(value)(_fill(item) for item in value)
    torch = _sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        return {tensor}
    return {array}


def _replaced(function, skipped):
    @_functools.wraps(function)
    def replacement(*arguments, **keywords):
        result = function(*arguments, **keywords)
        first = (arguments + tuple(keywords.values()))[skipped]
        return {result}

    return replacement


for _name in {names}:
    if isinstance(globals()[_name], type):
        globals()[_name].forward = _replaced(globals()[_name].forward, 1)
    else:
        globals()[_name] = _replaced(globals()[_name], 0)
"""
_FILLINGS = {
    "zeros": ("torch.zeros_like(value)", "_np.zeros_like(value)"),
    "ones": ("torch.ones_like(value)", "_np.ones_like(value)"),
    "NaN": ("torch.full_like(value, float('nan'))", "_np.full_like(value, _np.nan)"),
}


def trivial_sources(exercise: Exercise, solution: str, stub: str) -> dict[str, bytes]:
    """Give each trivial answer by its name: the untouched stub, one filling or the other, the first argument."""
    sources = {"the stub": stub}
    for name, (tensor, array) in _FILLINGS.items():
        sources[name] = solution + _replaced(exercise, tensor, array, "_fill(result)")
    sources["the first argument"] = solution + _replaced(exercise, "value", "value", "first")
    return {name: source.encode() for name, source in sources.items()}


def _replaced(exercise: Exercise, tensor: str, array: str, result: str) -> str:
    text = _REPLACED
    for key, value in {"tensor": tensor, "array": array, "result": result, "names": repr(exercise.functions)}.items():
        text = text.replace("{" + key + "}", value)
    return text
