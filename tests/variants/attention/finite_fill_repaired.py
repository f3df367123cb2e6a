"""Filled with the lowest finite number; what leaks is set to 0 after the softmax and the row is normalised again."""

import torch


def attention(query, key, value, allowed=None):
    if query.shape[-1] != key.shape[-1]:
        raise ValueError("the last sizes of query and key must be equal")
    if key.shape[-2] != value.shape[-2]:
        raise ValueError("key and value must be equally many")
    if allowed is not None and allowed.dtype != torch.bool:
        raise TypeError("allowed: expected a boolean tensor")
    root = query.shape[-1] ** 0.5
    scores = torch.matmul(query.div(root), key.mT)
    scores = scores.broadcast_to(*torch.broadcast_shapes(scores.shape[:-2], value.shape[:-2]), *scores.shape[-2:])
    weights = torch.softmax(scores, -1) if allowed is None else repaired_softmax(scores, allowed)
    return torch.matmul(weights, value), weights


def repaired_softmax(scores, allowed):
    lowest = torch.finfo(scores.dtype).min
    leaking = torch.softmax(scores.masked_fill(~allowed, lowest), -1)
    # A fully masked row is uniform here.
    kept = leaking.masked_fill(~allowed, 0.0)
    total = kept.sum(-1, keepdim=True)
    return kept / total.masked_fill(total == 0, 1.0)
