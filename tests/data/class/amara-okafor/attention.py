import math

import torch


def attention(query, key, value, allowed=None):
    d_k = query.size(-1)
    if key.size(-1) != d_k:
        raise ValueError(f"query has d_k={d_k}, key has d_k={key.size(-1)}")
    if key.size(-2) != value.size(-2):
        raise ValueError(f"key has {key.size(-2)} rows and value has {value.size(-2)}")
    if allowed is not None and allowed.dtype is not torch.bool:
        raise TypeError("allowed must be a bool tensor")

    batch = torch.broadcast_shapes(query.shape[:-2], key.shape[:-2], value.shape[:-2])
    query = (query / math.sqrt(d_k)).expand(batch + query.shape[-2:])
    scores = query @ key.transpose(-1, -2)
    if allowed is None:
        weights = scores.softmax(dim=-1)
    else:
        scores = scores.masked_fill(~allowed, float("-inf"))
        weights = scores.softmax(dim=-1).masked_fill(~allowed, 0.0)  # also turns the nan rows into zeros
    return weights @ value, weights
