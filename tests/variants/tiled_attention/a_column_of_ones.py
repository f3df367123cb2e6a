"""A column of ones beside the values lets one product carry the sum along with the weighted values."""

import math

import torch


def tiled_attention(query, key, value, block_size=64, causal=False):
    if query.shape[-1] != key.shape[-1]:
        raise ValueError("query.shape[-1] and key.shape[-1] are not equal")
    if key.shape[-2] != value.shape[-2]:
        raise ValueError("key.shape[-2] and value.shape[-2] are not equal")
    if block_size < 1:
        raise ValueError("block_size < 1")
    dtype = torch.promote_types(query.dtype, torch.float32)
    n_queries, n_keys, d_v = query.shape[-2], key.shape[-2], value.shape[-1]
    leading = torch.broadcast_shapes(query.shape[:-2], key.shape[:-2], value.shape[:-2])
    if n_keys == 0:
        return torch.zeros(*leading, n_queries, d_v, dtype=query.dtype)
    with_ones = torch.cat([value.to(dtype), torch.ones(*value.shape[:-1], 1, dtype=dtype)], dim=-1)
    both = torch.zeros(*leading, n_queries, d_v + 1, dtype=dtype)
    peak = torch.full((*leading, n_queries, 1), torch.finfo(dtype).min, dtype=dtype)
    position = torch.arange(n_keys)
    limit = torch.arange(n_queries)[:, None] + n_keys - n_queries
    blocks = zip(*(x.split(block_size, dim=-2) for x in (key.to(dtype), with_ones, position[:, None])), strict=True)
    for keys, values, positions in blocks:
        scores = torch.einsum("...id,...jd->...ij", query.to(dtype) / math.sqrt(query.shape[-1]), keys)
        if causal:
            scores = torch.where(limit >= positions.T, scores, -torch.inf)
        higher = torch.maximum(peak, scores.max(dim=-1, keepdim=True).values)
        both = both * (peak - higher).exp() + (scores - higher).exp() @ values
        peak = higher
    weighted, total = both[..., :d_v], both[..., d_v:]
    return (weighted / total.clamp(min=torch.finfo(dtype).tiny)).to(query.dtype)
