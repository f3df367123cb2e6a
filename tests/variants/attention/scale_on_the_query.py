"""The scale goes on the query, `masked_fill` in front of the softmax and again behind it."""

import math

import torch


def attention(query, key, value, allowed=None):
    if query.shape[-1] != key.shape[-1]:
        raise ValueError("query and key must have the same d_k")
    if key.shape[-2] != value.shape[-2]:
        raise ValueError("key and value must have the same n_keys")
    if allowed is not None and allowed.dtype != torch.bool:
        raise TypeError("allowed must be boolean")
    leading = torch.broadcast_shapes(query.shape[:-2], key.shape[:-2], value.shape[:-2])
    query = query / math.sqrt(query.shape[-1])
    scores = query.expand(*leading, *query.shape[-2:]) @ key.transpose(-2, -1)
    if allowed is not None:
        scores = scores.masked_fill(~allowed, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    if allowed is not None:
        weights = weights.masked_fill(~allowed, 0.0)
    return weights @ value, weights
