"""Softmax: scores become the weights of an average."""

import numpy as np


def softmax(scores: np.ndarray, axis: int = -1, temperature: float = 1.0) -> np.ndarray:
    """Return the weights along `axis`: the exponential of score / temperature, divided by their sum.

    Shapes: scores (...) -> weights (...), the same shape, whatever the number of dimensions.
    The dtype is that of the scores; integers and booleans come back as float64.

    A score of -inf gets weight exactly 0, a slice of nothing but -inf gets zeros,
    and an axis of size 0 gives an empty result.

    Raises:
        ValueError: the temperature is 0 or negative.

    >>> softmax(np.array([2**-0.5, 0.0])).round(3)
    array([0.67, 0.33])
    >>> softmax(np.array([3.0, -np.inf, 3.0]), temperature=50.0)
    array([0.5, 0. , 0.5])
    """
    raise NotImplementedError
