import torch

# Задание 4
def attention(query, key, value, allowed=None):
    if query.shape[-1] != key.shape[-1]:
        raise ValueError("у query и key разный d_k")
    if key.shape[-2] != value.shape[-2]:
        raise ValueError("у key и value разное число строк")
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    if allowed is not None:
        if allowed.dtype != torch.bool:
            raise TypeError("allowed должен быть bool")
        scores = scores.masked_fill(~allowed, float("-inf"))
    weights = scores.softmax(dim=-1)
    out = weights @ value
    return out, weights
