"""All leading dimensions become one for `torch.bmm`, and everything is computed in float64."""

import math

import torch


def flat(x, leading):
    return x.double().expand(*leading, *x.shape[-2:]).reshape(math.prod(leading), *x.shape[-2:])


def tiled_attention(query, key, value, block_size=64, causal=False):
    if key.shape[-1] != query.shape[-1]:
        raise ValueError(f"key has {key.shape[-1]} features, query has {query.shape[-1]}")
    if value.shape[-2] != key.shape[-2]:
        raise ValueError(f"value has {value.shape[-2]} rows, key has {key.shape[-2]}")
    if block_size < 1:
        raise ValueError("there is no block_size below 1")
    leading = torch.broadcast_shapes(query.shape[:-2], key.shape[:-2], value.shape[:-2])
    q, k, v = flat(query, leading), flat(key, leading), flat(value, leading)
    n, n_keys = q.shape[1], k.shape[1]
    peak = q.new_full((q.shape[0], n), -math.inf)
    total, output = torch.zeros_like(peak), q.new_zeros(q.shape[0], n, v.shape[2])
    for number in range(math.ceil(n_keys / block_size)):
        part = torch.arange(number * block_size, min((number + 1) * block_size, n_keys))
        scores = torch.bmm(q, k[:, part].transpose(1, 2)) / math.sqrt(q.shape[2])
        if causal:
            scores += (
                torch.zeros(n, len(part)).double().masked_fill(part - n_keys > torch.arange(-n, 0)[:, None], -math.inf)
            )
        new_peak = torch.stack([peak, scores.max(dim=2)[0]]).max(dim=0)[0]
        usable = torch.nan_to_num(new_peak, neginf=0.0)
        scores = torch.exp(scores - usable[:, :, None])
        decay = torch.exp(peak - usable)
        total = decay * total + scores.sum(dim=2)
        output = torch.baddbmm(decay[:, :, None] * output, scores, v[:, part])
        peak = new_peak
    output = output / torch.where(total > 0, total, torch.ones_like(total))[:, :, None]
    return output.view(*leading, n, v.shape[2]).to(query.dtype)
