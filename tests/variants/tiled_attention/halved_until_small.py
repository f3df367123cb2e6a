"""The keys are halved until a part fits a block, and the results of the halves are merged in pairs."""

import math

import torch


def tiled_attention(query, key, value, block_size=64, causal=False):
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(f"the last axis of query is {query.shape[-1]}, that of key {key.shape[-1]}")
    if key.shape[-2] != value.shape[-2]:
        raise ValueError(f"key holds {key.shape[-2]} positions, value {value.shape[-2]}")
    if not block_size >= 1:
        raise ValueError(f"a block_size of {block_size} makes no blocks")
    n_queries, n_keys = query.shape[-2], key.shape[-2]
    leading = torch.broadcast_shapes(query.shape[:-2], key.shape[:-2], value.shape[:-2])
    if n_keys == 0:
        return torch.zeros(*leading, n_queries, value.shape[-1], dtype=query.dtype)
    dtype = torch.promote_types(query.dtype, torch.float32)
    scaled = query.to(dtype) / math.sqrt(query.shape[-1])
    limit = torch.arange(n_keys - n_queries, n_keys)[:, None] if causal else None
    _, total, summed = part(scaled, key, value, 0, n_keys, block_size, limit)
    return (summed / total.masked_fill(total == 0, 1.0)).to(query.dtype)


def part(query, key, value, start, stop, block_size, limit):
    if stop - start > block_size:
        middle = (start + stop) // 2
        left = part(query, key, value, start, middle, block_size, limit)
        return merged(left, part(query, key, value, middle, stop, block_size, limit))
    scores = query @ key[..., start:stop, :].to(query.dtype).mT
    if limit is not None:
        scores = scores.masked_fill(torch.arange(start, stop) > limit, -torch.inf)
    peak = scores.amax(-1, keepdim=True)
    exponentials = torch.exp(scores - finite(peak))
    return peak, exponentials.sum(-1, keepdim=True), exponentials @ value[..., start:stop, :].to(query.dtype)


def merged(left, right):
    peak = torch.maximum(left[0], right[0])
    to_left, to_right = (torch.exp(side[0] - finite(peak)) for side in (left, right))
    return peak, to_left * left[1] + to_right * right[1], to_left * left[2] + to_right * right[2]


def finite(peak):
    return torch.where(peak == -torch.inf, torch.zeros_like(peak), peak)
