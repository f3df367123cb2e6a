"""The three running tensors are made once and changed in place; later keys are filled in after the product."""

import math

import torch


def tiled_attention(query, key, value, block_size=64, causal=False):
    if query.shape[-1] != key.shape[-1]:
        raise ValueError("query and key must have the same d_k")
    if key.shape[-2] != value.shape[-2]:
        raise ValueError("key and value must have the same n_keys")
    if block_size < 1:
        raise ValueError("block_size must be positive")
    leading = torch.broadcast_shapes(query.shape[:-2], key.shape[:-2], value.shape[:-2])
    n_queries, n_keys = query.shape[-2], key.shape[-2]
    accurate = torch.float64 if query.dtype == torch.float64 else torch.float32
    m = torch.full((*leading, n_queries), -math.inf, dtype=accurate)
    s = torch.zeros_like(m)
    out = torch.zeros(*leading, n_queries, value.shape[-1], dtype=accurate)
    query = query.expand(*leading, *query.shape[-2:])
    for begin in range(0, n_keys, block_size):
        end = min(begin + block_size, n_keys)
        tile = query.to(accurate) @ key[..., begin:end, :].to(accurate).mT
        tile.mul_(1 / math.sqrt(query.shape[-1]))
        if causal:
            later = torch.ones(n_queries, end - begin, dtype=torch.bool).triu(n_keys - n_queries - begin + 1)
            tile.masked_fill_(later, -math.inf)
        peak = torch.maximum(m, tile.amax(dim=-1))
        safe = torch.where(peak.isinf(), 0.0, peak)
        decay = torch.exp(m - safe)
        tile.sub_(safe.unsqueeze(-1)).exp_()
        s.mul_(decay).add_(tile.sum(dim=-1))
        out.mul_(decay.unsqueeze(-1)).add_(tile @ value[..., begin:end, :].to(accurate))
        m.copy_(peak)
    out.div_(s.masked_fill_(s == 0, 1).unsqueeze(-1))
    return out.to(query.dtype)
