"""The logits are float64, exponentials and quotient have the dtype of the scores; the peak comes by sorting."""

import numpy as np


def softmax(scores, axis=-1, temperature=1.0):
    if temperature <= 0:
        raise ValueError(f"no softmax at temperature {temperature}")
    dtype = np.dtype(np.float64) if scores.dtype.kind != "f" else scores.dtype
    x = scores.astype(np.float64)
    if x.shape[axis] == 0:
        return x.astype(dtype)
    peak = np.take(np.sort(x, axis=axis), [-1], axis=axis)
    with np.errstate(over="ignore", invalid="ignore"):
        logits = np.where(x == peak, 0.0, (x / 2 - peak / 2) / float(temperature) * 2)
    exponentials = np.where(np.isneginf(x), 0.0, np.exp(logits)).astype(dtype)
    # Thousands of equal terms added up in float16 would stall.
    total = exponentials.sum(axis=axis, keepdims=True, dtype=np.promote_types(dtype, np.float32))
    return (exponentials / np.where(total == 0, 1, total)).astype(dtype)
