"""A softmax of its own: the largest readable score is subtracted, and an empty row is divided by 1."""

import math

import torch


def attention(query, key, value, allowed=None):
    check(query, key, value, allowed)
    # Sums of exponentials in half precision would lose too much.
    dtype = torch.float32 if query.dtype in (torch.float16, torch.bfloat16) else query.dtype
    leading = torch.broadcast_shapes(query.shape[:-2], key.shape[:-2], value.shape[:-2])
    scaled_query = query.to(dtype) / math.sqrt(query.shape[-1])
    scores = (scaled_query @ key.to(dtype).transpose(-1, -2)).expand(*leading, -1, -1)
    readable = torch.ones_like(scores, dtype=torch.bool) if allowed is None else allowed.expand_as(scores)
    weights = softmax_over(readable, scores)
    return (weights @ value.to(dtype)).to(value.dtype), weights.to(query.dtype)


def softmax_over(readable, scores):
    if scores.shape[-1] == 0:
        return scores.clone()
    peak = torch.where(readable, scores, -torch.inf).amax(-1, keepdim=True)
    peak = torch.where(peak > -torch.inf, peak, 0.0)
    gap = torch.where(readable, scores - peak, 0.0)
    numerator = torch.where(readable, torch.exp(gap), 0.0)
    denominator = numerator.sum(-1, keepdim=True)
    return numerator / torch.where(denominator > 0, denominator, 1.0)


def check(query, key, value, allowed):
    d_k, n_keys = query.shape[-1], key.shape[-2]
    if key.shape[-1] != d_k:
        raise ValueError(f"d_k: {d_k} and {key.shape[-1]}")
    if value.shape[-2] != n_keys:
        raise ValueError(f"n_keys: {n_keys} and {value.shape[-2]}")
    if allowed is not None and allowed.dtype != torch.bool:
        raise TypeError("only a boolean mask is allowed")
