"""`np.logaddexp.reduce` gives the logarithm of the sum, and more keyword arguments have defaults."""

import numpy as np


def softmax(scores, axis=-1, temperature=1.0, *, dtype=None, log=False):
    if temperature <= 0:
        raise ValueError(f"temperature: {temperature!r} is zero or negative")
    if dtype is None:
        dtype = scores.dtype if np.issubdtype(scores.dtype, np.inexact) else float
    wide = scores.astype(float)
    peak = np.nan_to_num(wide.max(axis=axis, keepdims=True, initial=-np.inf), neginf=0.0)
    with np.errstate(over="ignore", invalid="ignore"):
        gap = wide - peak
        # The difference of two finite numbers may leave the range; after the division it does not.
        too_wide = np.isinf(gap) & np.isfinite(wide)
        logits = np.where(too_wide, wide / temperature - peak / temperature, gap / np.float64(temperature))
    log_total = np.logaddexp.reduce(logits, axis=axis, keepdims=True)
    log_weights = logits - np.where(log_total == -np.inf, 0.0, log_total)
    return (log_weights if log else np.exp(log_weights)).astype(dtype)
