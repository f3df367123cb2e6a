"""`np.where` all through: safe numbers in front of the subtraction, a safe denominator in front of the division."""

import numpy as np


def softmax(scores: np.ndarray, axis: int = -1, temperature: float = 1.0) -> np.ndarray:
    if temperature <= 0:
        raise ValueError(f"temperature should be > 0, got {temperature}")
    legal = scores > -np.inf if scores.dtype.kind == "f" else np.ones(scores.shape, dtype=bool)
    x = np.where(legal, scores, 0).astype(np.float64)
    peak = np.max(x, axis=axis, keepdims=True, where=legal, initial=-np.inf)
    safe_peak = np.where(peak == -np.inf, 0.0, peak)
    half = 0.5 if temperature > 1 else 1.0
    with np.errstate(over="ignore"):
        logits = np.where(legal, half * x - half * safe_peak, 0.0) / (half * float(temperature))
    numerator = np.where(legal, np.exp(logits), 0.0)
    denominator = np.sum(numerator, axis=axis, keepdims=True)
    weights = numerator / np.where(denominator == 0.0, 1.0, denominator)
    return weights.astype(scores.dtype if scores.dtype.kind == "f" else np.float64)
