"""One pass along the axis with a running maximum and a running sum, as a softmax over a stream is done."""

import numpy as np


def softmax(scores, axis=-1, temperature=1.0):
    if temperature <= 0:
        raise ValueError(f"temperature must be greater than zero, got {temperature}")
    along = np.moveaxis(scores, axis, 0).astype(np.float64)
    peak = np.full(along.shape[1:], -np.inf)
    total = np.zeros(along.shape[1:])
    for entry in along:
        higher = np.maximum(peak, entry)
        total = total * decay(peak, higher, temperature) + decay(entry, higher, temperature)
        peak = higher
    weights = decay(along, peak, temperature) / np.where(total > 0, total, 1.0)
    dtype = scores.dtype if np.issubdtype(scores.dtype, np.floating) else np.float64
    return np.moveaxis(weights, 0, axis).astype(dtype)


def decay(low, high, temperature):
    """exp((low - high) / temperature), and 0 where low is -inf."""
    nothing = np.isneginf(low)
    high = np.where(np.isneginf(high), 0.0, high)
    with np.errstate(over="ignore"):
        half_gap = np.where(nothing, 0.0, low) / 2 - high / 2
        return np.where(nothing, 0.0, np.exp(np.minimum(half_gap, 0.0) / np.float64(temperature) * 2))
