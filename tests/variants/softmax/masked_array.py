"""The -inf are masked in a `np.ma` array, which leaves them out of the maximum and of the sum."""

import numpy as np
from numpy import ma


def softmax(scores, axis=-1, temperature=1.0):
    if temperature <= 0:
        raise ValueError("temperature <= 0")
    dtype = scores.dtype if scores.dtype.kind == "f" else np.dtype(np.float64)
    if scores.size == 0:
        return np.empty(scores.shape, dtype)
    legal = 0.5 * ma.masked_equal(scores.astype(np.float64), -np.inf)
    half_gap = legal - legal.max(axis=axis, keepdims=True)
    with np.errstate(over="ignore"):
        exponentials = ma.exp(half_gap.filled(0.0) / float(temperature) * 2)
    exponentials = ma.array(exponentials, mask=ma.getmaskarray(legal))
    weights = exponentials / exponentials.sum(axis=axis, keepdims=True)
    return weights.filled(0.0).astype(dtype)
