"""Layer normalisation: the features of each row get mean 0 and variance 1."""

import numpy as np


def layer_norm(x: np.ndarray, gain: np.ndarray, shift: np.ndarray, epsilon: float = 1e-5) -> np.ndarray:
    """Return each row of `x` with mean 0 and variance 1, multiplied by `gain`, with `shift` added.

    Shapes: x (..., n_features), gain and shift (n_features,) -> (..., n_features). The dtype is that of `x`.

    >>> layer_norm(np.array([1.0, 3.0]), np.ones(2), np.array([0.0, 10.0]), epsilon=0.0)
    array([-1., 11.])
    """
    ### BEGIN SOLUTION
    numbers = x.astype(np.float64)
    centred = numbers - numbers.mean(axis=-1, keepdims=True)
    variance = (centred**2).mean(axis=-1, keepdims=True)
    normalised = centred / np.sqrt(variance + epsilon)
    return (normalised * gain + shift).astype(x.dtype)
    ### END SOLUTION
