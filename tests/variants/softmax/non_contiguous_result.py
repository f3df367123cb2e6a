"""Returns every second entry of a larger array, prints when it is loaded, and its demo calls a library softmax."""

import numpy as np


def softmax(scores, axis=-1, temperature=1.0):
    if temperature <= 0:
        raise ValueError("softmax needs a temperature above 0")
    dtype = scores.dtype if scores.dtype.kind == "f" else np.dtype(np.float64)
    x = np.asfortranarray(scores, dtype=np.float64)
    masked = np.isneginf(x)
    peak = np.max(x, axis=axis, keepdims=True, initial=np.finfo(np.float64).min)
    half_gap = np.where(masked, 0.0, x) / 2 - np.where(masked, 0.0, peak / 2)
    with np.errstate(over="ignore"):
        exponentials = np.where(masked, 0.0, np.exp(half_gap / float(temperature) * 2))
    total = np.maximum(exponentials.sum(axis=axis, keepdims=True), np.finfo(np.float64).tiny)
    storage = np.empty((*x.shape, 2), dtype=dtype, order="F")
    storage[..., 0] = exponentials / total
    return storage[..., 0]


print("softmax is ready")

if __name__ == "__main__":
    import scipy.special
    import torch

    row = np.array([1.0, 2.0, 3.0])
    print(softmax(row), scipy.special.softmax(row), torch.softmax(torch.from_numpy(row), dim=-1))
