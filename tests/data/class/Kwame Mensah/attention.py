import math
import torch

def attention(query, key, value, allowed=None):
    if query.shape[-1] != key.shape[-1]:
        raise ValueError("query %s, key %s" % (tuple(query.shape), tuple(key.shape)))
    if key.shape[-2] != value.shape[-2]:
        raise ValueError("key %s, value %s" % (tuple(key.shape), tuple(value.shape)))
    scores = (query / math.sqrt(query.shape[-1])) @ key.transpose(-1, -2)
    if allowed is not None:
        if allowed.dtype != torch.bool:
            raise TypeError("allowed has dtype %s" % allowed.dtype)
        scores = scores.masked_fill(~allowed, -math.inf)
    weights = torch.softmax(scores, dim=-2)
    if allowed is not None:
        weights = weights.masked_fill(~allowed, 0)
    return weights @ value, weights
