"""A function of one row, which looks at the legal entries only, handed to `np.apply_along_axis`."""

import numpy as np


def softmax_of_row(row, temperature):
    weights = np.zeros_like(row)
    legal = row > -np.inf
    if np.any(legal):
        halves = row[legal] / 2  # their differences stay within the range
        with np.errstate(over="ignore"):
            numerators = np.exp((halves - halves.max()) / temperature * 2)
        weights[legal] = numerators / numerators.sum()
    return weights


def softmax(scores, axis=-1, temperature=1.0):
    if not temperature > 0:
        raise ValueError("the temperature must be positive")
    dtype = scores.dtype if scores.dtype.kind == "f" else np.dtype("float64")
    if scores.size == 0:
        return np.zeros(scores.shape, dtype)
    weights = np.apply_along_axis(softmax_of_row, axis, scores.astype("float64"), float(temperature))
    return weights.astype(dtype)
