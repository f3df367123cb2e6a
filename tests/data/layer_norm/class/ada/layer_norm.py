import numpy as np


def layer_norm(x, gain, shift, epsilon=1e-5):
    mean = x.mean(axis=-1, keepdims=True)
    variance = x.var(axis=-1, ddof=1, keepdims=True)
    return ((x - mean) / np.sqrt(variance + epsilon) * gain + shift).astype(x.dtype)
