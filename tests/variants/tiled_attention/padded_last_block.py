"""Keys and values are padded to a whole number of blocks, and what was added is masked like a later key."""

import math

import torch
import torch.nn.functional as F


def tiled_attention(query, key, value, block_size=64, causal=False):
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(f"d_k of query and key: {query.shape[-1]}, {key.shape[-1]}")
    if key.shape[-2] != value.shape[-2]:
        raise ValueError(f"n_keys of key and value: {key.shape[-2]}, {value.shape[-2]}")
    if block_size < 1:
        raise ValueError(f"block_size = {block_size}")
    accurate = torch.promote_types(query.dtype, torch.float32)
    n_queries, n_keys = query.shape[-2], key.shape[-2]
    width = max(1, min(block_size, n_keys))
    missing = -n_keys % width
    key, value = (F.pad(x.to(accurate), (0, 0, 0, missing)) for x in (key, value))
    keys, values = (x.unflatten(-2, (-1, width)) if n_keys else x.unsqueeze(-3)[..., :0, :, :] for x in (key, value))
    leading = torch.broadcast_shapes(query.shape[:-2], key.shape[:-2], value.shape[:-2])
    last = torch.arange(n_queries)[:, None] + n_keys - n_queries if causal else torch.tensor(n_keys - 1)
    m = torch.full((*leading, n_queries, 1), -torch.inf, dtype=accurate)
    l, o = torch.zeros_like(m), m.new_zeros(*leading, n_queries, value.shape[-1])  # noqa: E741
    for block, (k, v) in enumerate(zip(keys.unbind(-3), values.unbind(-3), strict=True)):
        s = query.to(accurate) @ k.mT / math.sqrt(query.shape[-1])
        s = s.masked_fill(torch.arange(block * width, (block + 1) * width) > last, -torch.inf)
        new_m = torch.maximum(m, s.amax(-1, keepdim=True))
        p = torch.exp(s - new_m).nan_to_num(0.0)
        alpha = torch.exp(m - new_m).nan_to_num(0.0)
        l, o, m = alpha * l + p.sum(-1, keepdim=True), alpha * o + p @ v, new_m  # noqa: E741
    return (o / l).nan_to_num(0.0).to(query.dtype)


if __name__ == "__main__":
    q, k, v = torch.randn(3, 2, 7, 8)
    print(tiled_attention(q, k, v, 3) - F.scaled_dot_product_attention(q, k, v))
