import numpy as np


def softmax(scores, axis=-1, temperature=1.0):
    if temperature <= 0
        raise ValueError("temperature phải lớn hơn 0")
    x = np.asarray(scores, dtype=np.float64) / temperature
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)
