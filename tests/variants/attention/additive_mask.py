"""An additive mask of 0 and -inf; in rows with nothing to read it stays 0, and the weights are taken away later."""

import math

import torch


def attention(query, key, value, allowed=None):
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(f"query of width {query.shape[-1]} against key of width {key.shape[-1]}")
    if key.shape[-2] != value.shape[-2]:
        raise ValueError(f"each key needs a value: {key.shape[-2]} against {value.shape[-2]}")
    leading = torch.broadcast_shapes(query.shape[:-2], key.shape[:-2], value.shape[:-2])
    wide_query, wide_key, wide_value = query.double(), key.double(), value.double()
    scores = (wide_query @ wide_key.transpose(-2, -1) / math.sqrt(query.shape[-1])).expand(*leading, -1, -1)
    if allowed is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        bias, alive = additive(allowed)
        weights = torch.softmax(scores + bias, dim=-1) * alive
    return (weights @ wide_value).to(query.dtype), weights.to(query.dtype)


def additive(allowed):
    if allowed.dtype != torch.bool:
        raise TypeError(f"allowed must have the dtype torch.bool, it has {allowed.dtype}")
    if allowed.dim() == 0:
        allowed = allowed[None]
    alive = allowed.any(dim=-1, keepdim=True)
    hidden_key = alive & ~allowed
    return torch.zeros(allowed.shape, dtype=torch.float64).masked_fill(hidden_key, -math.inf), alive
