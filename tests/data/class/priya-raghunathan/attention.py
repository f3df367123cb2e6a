import math

import torch


def attention(query, key, value, allowed=None):
    if query.size(-1) != key.size(-1):
        raise ValueError("query and key must have the same d_k")
    if key.size(-2) != value.size(-2):
        raise ValueError("key and value must have the same n_keys")
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if allowed is not None:
        if allowed.dtype != torch.bool:
            raise TypeError("allowed must be a bool mask")
        scores = scores.masked_fill(~allowed, -1e9)
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights
