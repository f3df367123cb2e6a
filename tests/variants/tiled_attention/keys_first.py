"""Tiles are stored keys first, the row statistics lie along the last axis, and the output is a transposed view."""

import torch


def tiled_attention(query, key, value, block_size=64, causal=False):
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(f"query ends in {query.shape[-1]}, key in {key.shape[-1]}")
    if key.shape[-2] != value.shape[-2]:
        raise ValueError("key is longer or shorter than value")
    if block_size < 1:
        raise ValueError("block_size too small")
    dtype = torch.promote_types(query.dtype, torch.float32)
    leading = torch.broadcast_shapes(query.shape[:-2], key.shape[:-2], value.shape[:-2])
    n_queries, n_keys, d_v = query.shape[-2], key.shape[-2], value.shape[-1]
    columns = query.to(dtype).mT / query.shape[-1] ** 0.5
    state = [torch.full((*leading, 1, n_queries), -torch.inf, dtype=dtype)]
    state += [torch.zeros(*leading, size, n_queries, dtype=dtype) for size in (1, d_v)]
    for start in range(0, n_keys, block_size):
        tile = key[..., start : start + block_size, :].to(dtype) @ columns
        if causal:
            # How far behind each query's last readable key a key of this block stands.
            behind = torch.arange(tile.shape[-2])[:, None] + start - (torch.arange(n_queries) + n_keys - n_queries)
            tile = tile.masked_fill(behind > 0, -torch.inf)
        state = updated(*state, tile, value[..., start : start + block_size, :].to(dtype).mT)
    _, total, summed = state
    return (summed / (total + (total == 0))).mT.to(query.dtype)


def updated(peak, total, summed, tile, values):
    higher = torch.maximum(peak, tile.amax(dim=-2, keepdim=True))
    nothing_yet = higher == -torch.inf
    decay = torch.exp(torch.where(nothing_yet, 0.0, peak - higher))
    tile = torch.where(nothing_yet, 0.0, torch.exp(tile - higher))
    return higher, decay * total + tile.sum(dim=-2, keepdim=True), decay * summed + values @ tile
