import numpy as np
from numpy.typing import ArrayLike, NDArray


def softmax(scores: ArrayLike, axis: int = -1, temperature: float = 1.0) -> NDArray:
    if temperature <= 0.0:
        raise ValueError(f"{temperature=} is not allowed")
    logits = np.asarray(scores)
    dtype = logits.dtype if np.issubdtype(logits.dtype, np.floating) else np.float64
    logits = logits.astype(np.float64) / temperature
    legal = logits > -np.inf
    peak = np.max(logits, axis=axis, keepdims=True, initial=-np.inf, where=legal)
    exps = np.exp(logits - peak, where=legal, out=np.zeros_like(logits))
    norm = exps.sum(axis=axis, keepdims=True)
    return np.divide(exps, norm, where=legal, out=np.zeros_like(exps)).astype(dtype)
