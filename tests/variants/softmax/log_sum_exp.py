"""The exponential of a log-softmax: the logarithm of the sum is subtracted, nothing is divided by the sum."""

import numpy as np


def log_sum_exp(logits, axis):
    with np.errstate(divide="ignore"):
        return np.log(np.sum(np.exp(logits), axis=axis, keepdims=True))


def softmax(scores, axis=-1, temperature=1.0):
    if temperature <= 0:
        raise ValueError(f"temperature = {temperature} is not above 0")
    dtype = np.result_type(scores.dtype, np.float64) if scores.dtype.kind in "iub" else scores.dtype
    scores = scores.astype(np.float64)
    peak = np.max(scores, axis=axis, keepdims=True, initial=-np.inf)
    peak = np.where(np.isneginf(peak), 0.0, peak)
    with np.errstate(over="ignore"):
        logits = (scores / 2 - peak / 2) / float(temperature) * 2
    log_total = log_sum_exp(logits, axis)
    return np.exp(logits - np.where(np.isneginf(log_total), 0.0, log_total)).astype(dtype)
