"""One more axis for the key that is taken away, and no loop."""

import math

import torch


def ablation_effect(query, key, value, allowed=None):
    if query.shape[-1] != key.shape[-1]:
        raise ValueError("query and key must have the same d_k")
    if key.shape[-2] != value.shape[-2]:
        raise ValueError("key and value must have the same n_keys")
    if allowed is not None and allowed.dtype != torch.bool:
        raise TypeError("allowed must be boolean")
    n_keys = key.shape[-2]
    leading = torch.broadcast_shapes(query.shape[:-2], key.shape[:-2], value.shape[:-2])
    scores = (query / math.sqrt(query.shape[-1])).expand(*leading, *query.shape[-2:]) @ key.mT
    if allowed is None:
        allowed = torch.ones((), dtype=torch.bool)
    readable = allowed.expand(scores.shape)
    # One row of the new axis keeps everything, each of the others goes without one key.
    kept = torch.cat([torch.ones(1, n_keys, dtype=torch.bool), ~torch.eye(n_keys, dtype=torch.bool)])
    masked = scores.unsqueeze(-2).masked_fill(~(readable.unsqueeze(-2) & kept), -torch.inf)
    weights = torch.softmax(masked, dim=-1).nan_to_num(nan=0.0)
    outputs = weights @ value.unsqueeze(-3)  # (..., n_queries, 1 + n_keys, d_v)
    effect = (outputs[..., 1:, :] - outputs[..., :1, :]).norm(dim=-1)
    return torch.where(readable, effect, torch.zeros_like(effect))
