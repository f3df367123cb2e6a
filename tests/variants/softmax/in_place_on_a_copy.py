"""Every step is done in place, on a copy of the scores."""

import numpy as np


def softmax(scores, axis=-1, temperature=1.0):
    if temperature <= 0:
        raise ValueError(f"{temperature=}, but it must be above 0")
    x = np.array(scores, dtype=np.float64)
    x *= 0.5
    peak = x.max(axis=axis, keepdims=True, initial=-np.inf)
    peak[np.isneginf(peak)] = 0.0
    x -= peak
    with np.errstate(over="ignore"):
        x /= temperature
        x *= 2.0
    np.exp(x, out=x)
    total = x.sum(axis=axis, keepdims=True)
    np.divide(x, total, out=x, where=total > 0)
    return x if scores.dtype.kind in "iub" else x.astype(scores.dtype)
