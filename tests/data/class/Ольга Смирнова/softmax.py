import numpy as np

# Задание 1
def softmax(scores, axis=-1, temperature=1.0):
    if temperature <= 0:
        raise ValueError("temperature должна быть больше нуля")
    scores = np.asarray(scores)
    x = (scores - np.max(scores, axis=axis, keepdims=True)) / temperature
    exp_x = np.exp(x)
    return exp_x / np.sum(exp_x, axis=axis, keepdims=True)
