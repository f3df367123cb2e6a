"""One pass finds the largest score of each row, a second one makes the scores again and adds up: nothing to correct."""

import math

import torch


def tiled_attention(query, key, value, block_size=64, causal=False):
    if block_size <= 0:
        raise ValueError("block_size has to be at least 1")
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(f"query has {query.shape[-1]} features, key has {key.shape[-1]}")
    if key.shape[-2] != value.shape[-2]:
        raise ValueError(f"key has {key.shape[-2]} rows, value has {value.shape[-2]}")
    dtype = torch.promote_types(query.dtype, torch.float32)
    n_queries, n_keys = query.shape[-2], key.shape[-2]
    rows = torch.arange(n_queries)[:, None] + (n_keys - n_queries)

    def tiles():
        for start in range(0, n_keys, block_size):
            stop = min(start + block_size, n_keys)
            scores = (query.to(dtype) / math.sqrt(query.shape[-1])) @ key[..., start:stop, :].to(dtype).mT
            if causal:
                scores[..., torch.arange(start, stop) > rows] = -torch.inf
            yield scores, value[..., start:stop, :].to(dtype)

    largest = torch.tensor(-torch.inf, dtype=dtype)
    for scores, _ in tiles():
        largest = torch.maximum(largest, scores.amax(-1, keepdim=True))
    largest = torch.where(largest == -torch.inf, 0.0, largest)
    leading = torch.broadcast_shapes(query.shape[:-2], key.shape[:-2], value.shape[:-2])
    numerator = torch.zeros(*leading, n_queries, value.shape[-1], dtype=dtype)
    denominator = torch.zeros(1, dtype=dtype)
    for scores, values in tiles():
        scores = torch.exp(scores - largest)
        numerator = numerator + scores @ values
        denominator = denominator + scores.sum(-1, keepdim=True)
    return torch.where(denominator > 0, numerator / denominator, 0.0).to(query.dtype)
