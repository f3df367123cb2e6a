"""Plain Python: one slice at a time, one number at a time, with `math.exp` and an exact sum."""

import math

import numpy as np


def softmax(scores, axis=-1, temperature=1.0):
    if temperature <= 0:
        raise ValueError(f"temperature must be above 0, not {temperature}")
    floating = np.issubdtype(scores.dtype, np.floating)
    weights = np.zeros(scores.shape, scores.dtype if floating else np.float64)
    rows = np.moveaxis(scores, axis, -1)
    result_rows = np.moveaxis(weights, axis, -1)
    for index in np.ndindex(rows.shape[:-1]):
        result_rows[index] = weights_of([float(score) for score in rows[index]], float(temperature))
    return weights


def weights_of(row, temperature):
    legal = [score for score in row if score != -math.inf]
    if not legal:
        return [0.0] * len(row)
    exponentials = [exponential(score, max(legal), temperature) for score in row]
    total = math.fsum(exponentials)
    return [number / total for number in exponentials]


def exponential(score, peak, temperature):
    if score == -math.inf:
        return 0.0
    gap = score - peak
    if gap == -math.inf:  # two finite numbers too far apart for their difference
        return math.exp(score / temperature - peak / temperature)
    return math.exp(gap / temperature)
