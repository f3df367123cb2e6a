"""One row after the other, with sums written out."""

import numpy as np


def normalised(row, epsilon):
    mean = sum(row) / len(row)
    variance = sum((number - mean) ** 2 for number in row) / len(row)
    return [(number - mean) / (variance + epsilon) ** 0.5 for number in row]


def layer_norm(x, gain, shift, epsilon=1e-5):
    rows = x.astype(float).reshape(-1, x.shape[-1])
    result = np.array([normalised(list(row), epsilon) for row in rows]) * gain + shift
    return result.reshape(x.shape).astype(x.dtype)
