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
    ### BEGIN SOLUTION
    if not temperature > 0:
        raise ValueError(f"temperature must be greater than 0, not {temperature}")
    scores = np.asarray(scores)
    dtype = scores.dtype if np.issubdtype(scores.dtype, np.floating) else np.dtype(np.float64)
    logits = _logits(scores.astype(np.result_type(dtype, np.float64)), axis, float(temperature))
    exponentials = np.exp(logits)
    total = np.sum(exponentials, axis=axis, keepdims=True)
    weights = exponentials / np.where(total == 0, 1.0, total)
    return weights.astype(dtype)
    ### END SOLUTION


### BEGIN SOLUTION
def _logits(scores: np.ndarray, axis: int, temperature: float) -> np.ndarray:
    """Return (scores - their maximum along axis) / temperature: 0 at the top, below 0 elsewhere, -inf where masked."""
    masked = scores == -np.inf
    peak = np.max(scores, axis=axis, keepdims=True, initial=-np.inf)
    peak = np.where(peak == -np.inf, 0.0, peak)
    # Two finite scores can lie twice the largest number apart, their halves cannot. It matters only for a high
    # temperature: with a low one the weight is 0 anyway, and halving could lose the last bit of a tiny score.
    half = 0.5 if temperature > 1 else 1.0
    with np.errstate(over="ignore", invalid="ignore"):
        logits = (half * scores - half * peak) / (half * temperature)
    return np.where(masked, -np.inf, logits)
### END SOLUTION
