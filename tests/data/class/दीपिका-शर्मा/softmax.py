import numpy as np


def stable(x, axis):
    m = x.max(axis=axis, keepdims=True)
    return x - np.where(m == -np.inf, 0, m)


def softmax(scores, axis=-1, temperature=1.0):
    if temperature <= 0:
        raise ValueError("temperature should be positive")
    x = np.asarray(scores)
    if x.dtype.kind != "f":
        x = x.astype(float)
    if x.shape[axis] == 0:
        return x.copy()
    e = np.exp(stable(x, axis) / x.dtype.type(temperature))
    total = e.sum(axis=axis, keepdims=True)
    total[total == 0] = 1
    return e / total
