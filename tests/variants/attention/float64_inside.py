"""All in float64 and cast back at the end, so the scores may be divided after the product."""

import torch
from torch import Tensor


def attention(query: Tensor, key: Tensor, value: Tensor, allowed: Tensor | None = None) -> tuple[Tensor, Tensor]:
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(f"query has d_k = {query.shape[-1]} and key has d_k = {key.shape[-1]}")
    if key.shape[-2] != value.shape[-2]:
        raise ValueError(f"key has n_keys = {key.shape[-2]} and value has n_keys = {value.shape[-2]}")
    if allowed is not None and allowed.dtype != torch.bool:
        raise TypeError(f"allowed must hold booleans, not {allowed.dtype}")
    q, k, v = query.double(), key.double(), value.double()
    scores = (q @ k.mT) / q.shape[-1] ** 0.5
    scores = scores.expand(torch.broadcast_shapes(scores.shape[:-2], v.shape[:-2]) + scores.shape[-2:])
    if allowed is not None:
        scores = torch.where(allowed, scores, -torch.inf)
    weights = scores.softmax(dim=-1)
    weights = torch.where(weights.isnan(), 0.0, weights)
    return (weights @ v).to(query.dtype), weights.to(query.dtype)
