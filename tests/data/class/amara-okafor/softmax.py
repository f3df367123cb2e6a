import numpy as np


def softmax(scores, axis=-1, temperature=1.0):
    if temperature <= 0:
        raise ValueError(f"temperature has to be positive, got {temperature}")
    scores = np.asarray(scores)
    if not np.issubdtype(scores.dtype, np.floating):
        scores = scores.astype(np.float64)

    # half precision is too coarse to add up in, so work in float64 and go back at the end
    x = scores.astype(np.float64)
    highest = x.max(axis=axis, keepdims=True, initial=-np.inf)
    highest = np.where(np.isneginf(highest), 0.0, highest)  # row with nothing to read: -inf - -inf would be nan

    with np.errstate(over="ignore"):
        if temperature > 1:
            shifted = x / temperature - highest / temperature
        else:
            shifted = (x - highest) / temperature
    e = np.exp(shifted)
    total = e.sum(axis=axis, keepdims=True)
    return (e / np.where(total > 0, total, 1.0)).astype(scores.dtype)
