"""All in float64 and cast back at the end, with a softmax of its own that divides by 1 where nothing is left."""

import torch
from torch import Tensor


def ablation_effect(query: Tensor, key: Tensor, value: Tensor, allowed: Tensor | None = None) -> Tensor:
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(f"query has d_k = {query.shape[-1]} and key has d_k = {key.shape[-1]}")
    if key.shape[-2] != value.shape[-2]:
        raise ValueError(f"key has n_keys = {key.shape[-2]} and value has n_keys = {value.shape[-2]}")
    if allowed is not None and allowed.dtype != torch.bool:
        raise TypeError(f"allowed must hold booleans, not {allowed.dtype}")
    q, k, v = query.double(), key.double(), value.double()
    scores = (q @ k.mT) / q.shape[-1] ** 0.5
    scores = scores.expand(torch.broadcast_shapes(scores.shape[:-2], v.shape[:-2]) + scores.shape[-2:])
    readable = scores.new_ones(scores.shape, dtype=torch.bool)
    if allowed is not None:
        readable = readable.logical_and(allowed)

    def average(keep: Tensor) -> Tensor:
        lowest = torch.finfo(torch.float64).min
        peak = torch.where(keep, scores, lowest).amax(dim=-1, keepdim=True)
        exponentials = torch.where(keep, torch.exp(torch.where(keep, scores - peak, 0.0)), 0.0)
        total = exponentials.sum(dim=-1, keepdim=True)
        return exponentials @ v / torch.where(total > 0, total, 1.0)

    whole = average(readable)
    effect = torch.zeros_like(scores)
    for column in range(scores.shape[-1]):
        keep = readable.clone()
        keep.select(-1, column).zero_()
        effect.select(-1, column).copy_((whole - average(keep)).pow(2).sum(-1).sqrt())
    return (effect * readable).to(query.dtype)
