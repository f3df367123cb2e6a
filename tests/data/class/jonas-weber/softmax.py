import numpy as np

def softmax(scores, axis=-1, temperature=1.0):
    if temperature <= 0:
        raise ValueError("temperature")
    s = np.asarray(scores) * 1.0
    s = (s - s.max(axis, keepdims=True)) / temperature
    return np.exp(s) / np.exp(s).sum(axis, keepdims=True)
