"""Results that are strided views of tensors made for them: the weights stored keys first, the output every other."""

import torch


def attention(query, key, value, allowed=None):
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(f"d_k of query and key: {query.shape[-1]}, {key.shape[-1]}")
    if key.shape[-2] != value.shape[-2]:
        raise ValueError(f"n_keys of key and value: {key.shape[-2]}, {value.shape[-2]}")
    if allowed is not None and allowed.dtype != torch.bool:
        raise TypeError(f"allowed: {allowed.dtype}")
    leading = torch.broadcast_shapes(query.shape[:-2], key.shape[:-2], value.shape[:-2])
    scaled_key = (key / query.shape[-1] ** 0.5).expand(*leading, *key.shape[-2:])
    scores = scaled_key @ query.transpose(-2, -1)  # (..., n_keys, n_queries)
    blocked = None if allowed is None else ~torch.atleast_2d(allowed).transpose(-2, -1)
    if blocked is not None:
        scores = scores.masked_fill(blocked, -torch.inf)
    weights = torch.softmax(scores, dim=-2)
    if blocked is not None:
        weights = weights.masked_fill(blocked, 0.0)
    weights = weights.transpose(-2, -1)
    output = weights @ value
    return torch.stack([output, output], dim=-1)[..., 0], weights
