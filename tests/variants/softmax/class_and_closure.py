"""A callable class with the temperature inside, made by a closure, sums by `np.einsum`, tried out when loaded."""

import numpy as np


class Softmax:
    def __init__(self, temperature):
        if temperature <= 0:
            raise ValueError(f"the temperature is {temperature}, it must be positive")
        self.temperature = float(temperature)

    def __call__(self, scores):
        peak = np.maximum.reduce(scores, axis=-1, keepdims=True, initial=-np.inf)
        peak = np.where(np.isfinite(peak), peak, 0.0)
        with np.errstate(over="ignore"):
            logits = np.ldexp((np.ldexp(scores, -1) - np.ldexp(peak, -1)) / self.temperature, 1)
        exponentials = np.exp(logits)
        total = np.einsum("...k->...", exponentials)[..., None]
        return exponentials * np.where(total > 0, 1.0 / np.where(total > 0, total, 1.0), 0.0)


def make_softmax(default_temperature):
    def softmax(scores, axis=-1, temperature=default_temperature):
        floating = scores.dtype.kind == "f"
        weights = Softmax(temperature)(np.swapaxes(scores, axis, -1).astype(np.float64))
        return np.swapaxes(weights, axis, -1).astype(scores.dtype if floating else np.float64)

    return softmax


softmax = make_softmax(1.0)

assert softmax(np.zeros(2)).tolist() == [0.5, 0.5]
