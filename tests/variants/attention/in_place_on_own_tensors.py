"""A callable class that writes into tensors of its own by index; it prints and is tried out when loaded."""

import torch


class Attention:
    def __init__(self, d_k):
        self.scale = d_k**-0.5

    def __call__(self, query, key, value, allowed):
        leading = torch.broadcast_shapes(query.shape[:-2], key.shape[:-2], value.shape[:-2])
        scores = torch.matmul(query * self.scale, key.mT).expand(*leading, -1, -1).clone()
        if allowed is None:
            weights = scores.softmax(dim=-1)
        else:
            blocked = allowed.logical_not().expand(scores.shape)
            scores[blocked] = -torch.inf
            weights = scores.softmax(dim=-1).clone()
            weights[blocked] = 0
        return torch.matmul(weights, value), weights


def attention(query, key, value, allowed=None):
    if query.shape[-1] != key.shape[-1]:
        raise ValueError("key is wider or narrower than query")
    if key.shape[-2] != value.shape[-2]:
        raise ValueError("key is longer or shorter than value")
    if allowed is not None and allowed.dtype != torch.bool:
        raise TypeError("allowed is not a mask of True and False")
    return Attention(query.shape[-1])(query, key, value, allowed)


print("attention to one key:", attention(torch.ones(1, 1), torch.ones(1, 1), torch.ones(1, 1)))
