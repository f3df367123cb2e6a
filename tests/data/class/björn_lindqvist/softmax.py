import numpy as np

def softmax(scores, axis=-1, temperature=1.0):
    if temperature <= 0:
        raise ValueError('temperature <= 0')
    scores = np.array(scores, dtype=np.float64)
    m = np.max(scores, axis=axis, keepdims=True)
    m[m == -np.inf] = 0
    e = np.exp((scores - m) / temperature)
    Z = np.sum(e, axis=axis, keepdims=True)
    return np.divide(e, Z, out=np.zeros_like(e), where=Z > 0)
