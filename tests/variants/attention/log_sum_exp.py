"""The weights are the exponential of score minus log-sum-exp; nothing is divided."""

import torch


def log_sum_exp(scores):
    if scores.shape[-1] == 0:
        return scores.sum(dim=-1, keepdim=True)
    peak = scores.detach().amax(dim=-1, keepdim=True)
    peak = peak.masked_fill(peak == -torch.inf, 0.0)
    total = torch.exp(scores - peak).sum(dim=-1, keepdim=True)
    return peak + torch.log(total.masked_fill(total == 0, 1.0))


def attention(query, key, value, allowed=None):
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(f"query ends in {query.shape[-1]}, key in {key.shape[-1]}")
    if key.shape[-2] != value.shape[-2]:
        raise ValueError(f"there are {key.shape[-2]} keys and {value.shape[-2]} values: key and value do not match")
    if allowed is not None and allowed.dtype != torch.bool:
        raise TypeError(f"{allowed.dtype} is no dtype for allowed")
    dtype = torch.promote_types(query.dtype, torch.float32)
    wide_query, wide_key = query.to(dtype) * query.shape[-1] ** -0.5, key.to(dtype)
    scores = torch.matmul(wide_query, wide_key.swapaxes(-1, -2))
    leading = torch.broadcast_shapes(scores.shape[:-2], value.shape[:-2])
    scores = scores.expand(*leading, -1, -1)
    if allowed is not None:
        scores = scores.masked_fill(allowed.logical_not(), -torch.inf)
    weights = torch.exp(scores - log_sum_exp(scores))
    return (weights @ value.to(dtype)).to(query.dtype), weights.to(query.dtype)
