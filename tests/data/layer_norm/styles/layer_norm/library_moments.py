"""Mean and variance by NumPy's own functions."""

import numpy as np


def layer_norm(x, gain, shift, epsilon=1e-5):
    mean = np.mean(x, axis=-1, keepdims=True, dtype=np.float64)
    variance = np.var(x, axis=-1, keepdims=True, dtype=np.float64)
    return ((x - mean) / np.sqrt(variance + epsilon) * gain + shift).astype(x.dtype)
