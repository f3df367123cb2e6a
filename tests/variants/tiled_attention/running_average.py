"""The output is divided from the start: a running average, to which each block is added with its share."""

import math

import torch


class RunningAverage:
    def __init__(self, shape, d_v, dtype):
        self.largest = torch.full((*shape, 1), -math.inf, dtype=dtype)
        self.total = torch.zeros(*shape, 1, dtype=dtype)
        self.average = torch.zeros(*shape, d_v, dtype=dtype)

    def add(self, scores, values):
        largest = torch.maximum(self.largest, scores.amax(dim=-1, keepdim=True))
        shift = largest.masked_fill(largest.isneginf(), 0.0)
        exponentials = (scores - shift).exp()
        kept = self.total * (self.largest - shift).exp()
        self.total = kept + exponentials.sum(dim=-1, keepdim=True)
        divisor = self.total.masked_fill(self.total == 0.0, 1.0)
        self.average = self.average * (kept / divisor) + (exponentials / divisor) @ values
        self.largest = largest


def tiled_attention(query, key, value, block_size=64, causal=False):
    (n_queries, d_k), (n_keys, d_v) = query.shape[-2:], value.shape[-2:]
    if key.shape[-1] != d_k:
        raise ValueError(f"d_k: {d_k} and {key.shape[-1]}")
    if key.shape[-2] != n_keys:
        raise ValueError(f"n_keys: {key.shape[-2]} and {n_keys}")
    if block_size < 1:
        raise ValueError(f"block_size: {block_size}")
    dtype = torch.promote_types(query.dtype, torch.float32)
    leading = torch.broadcast_shapes(query.shape[:-2], key.shape[:-2], value.shape[:-2])
    running = RunningAverage((*leading, n_queries), d_v, dtype)
    start = 0
    while start < n_keys:
        keys, values = key[..., start : start + block_size, :], value[..., start : start + block_size, :]
        scores = query.to(dtype) @ keys.to(dtype).mT / math.sqrt(d_k)
        if causal:
            below = torch.ones(n_queries, scores.shape[-1], dtype=torch.bool).tril(n_keys - n_queries - start)
            scores = scores.masked_fill(~below, -math.inf)
        running.add(scores, values.to(dtype))
        start += block_size
    return running.average.to(query.dtype)


print("one query, one key:", tiled_attention(torch.ones(1, 1), torch.ones(1, 1), torch.ones(1, 1)))
