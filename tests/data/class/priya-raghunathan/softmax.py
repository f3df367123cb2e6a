import numpy as np


def softmax(scores, axis=-1, temperature=1.0):
    """numerically stable softmax"""
    if temperature <= 0:
        raise ValueError("temperature must be positive")
    z = np.asarray(scores) / temperature
    z = z - z.max(axis=axis, keepdims=True)
    p = np.exp(z)
    return p / p.sum(axis=axis, keepdims=True)
