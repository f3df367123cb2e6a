"""Queries come in blocks as well, and a block of keys that all lie behind the last of them is not read at all."""

import math

import torch


def tiled_attention(query, key, value, block_size=64, causal=False):
    if query.shape[-1] != key.shape[-1] or key.shape[-2] != value.shape[-2]:
        raise ValueError(f"query, key and value do not fit: {query.shape}, {key.shape}, {value.shape}")
    if block_size < 1:
        raise ValueError("block_size: at least one key at a time")
    leading = torch.broadcast_shapes(query.shape[:-2], key.shape[:-2], value.shape[:-2])
    n_queries, n_keys = query.shape[-2], key.shape[-2]
    output = query.new_zeros(*leading, n_queries, value.shape[-1])
    rows = max(block_size, 512)
    for top in range(0, n_queries, rows):
        some = query[..., top : top + rows, :]
        first = top + n_keys - n_queries if causal else n_keys
        output[..., top : top + rows, :] = attend(some, key, value, block_size, first)
    return output


def attend(query, key, value, block_size, first):
    """The first of these queries may read the keys up to `first`, the next one key more, and so on."""
    dtype = torch.promote_types(query.dtype, torch.float32)
    last_of_all = first + query.shape[-2] - 1
    query = query.to(dtype) / math.sqrt(query.shape[-1])
    largest, total, summed = -torch.inf, 0.0, 0.0
    for start in range(0, min(key.shape[-2], last_of_all + 1), block_size):
        scores = query @ key[..., start : start + block_size, :].to(dtype).mT
        columns = torch.arange(start, start + scores.shape[-1])
        if columns[-1] > first:
            scores = scores.where(columns <= first + torch.arange(query.shape[-2])[:, None], -torch.inf)
        before, largest = largest, scores.amax(-1, keepdim=True).clamp(min=largest)
        shift = largest.clamp(min=torch.finfo(dtype).min)
        weights = torch.exp(scores - shift)
        decay = torch.exp(before - shift)
        total = total * decay + weights.sum(-1, keepdim=True)
        summed = summed * decay + weights @ value[..., start : start + block_size, :].to(dtype)
    if isinstance(total, float):
        return 0.0
    return torch.where(total == 0, 0.0, summed / total).to(value.dtype)
