"""The exponentials are made twice: shifted by the largest score, and by the second largest for where that is gone."""

import torch


def exponentials(scores, peak):
    peak = torch.where(peak == -torch.inf, torch.zeros_like(peak), peak)
    return torch.exp(torch.clamp(scores - peak, max=0.0))


def ablation_effect(query, key, value, allowed=None, *, scale=None):
    if query.shape[-1] != key.shape[-1]:
        raise ValueError("the last axes of query and key differ")
    if key.shape[-2] != value.shape[-2]:
        raise ValueError("the n_keys of key and value differ")
    if allowed is not None and allowed.dtype is not torch.bool:
        raise TypeError("allowed: a boolean mask is needed")
    dtype = query.dtype
    query, key, value = query.double(), key.double(), value.double()
    scale = scale or query.shape[-1] ** -0.5
    scores = scale * query @ key.mT
    leading = torch.broadcast_shapes(scores.shape[:-2], value.shape[:-2])
    scores = scores.expand(*leading, -1, -1)
    if allowed is not None:
        scores = scores.masked_fill(~allowed, -torch.inf)
    padded = torch.cat([scores, torch.full_like(scores[..., :1], -torch.inf)], dim=-1)
    first, second = padded.topk(2, dim=-1).values.unsqueeze(-1).unbind(-2)
    top = scores.argmax(dim=-1, keepdim=True)
    columns = []
    plain, shifted = exponentials(scores, first), exponentials(scores, second)
    output = divide(plain @ value, plain.sum(-1, keepdim=True))
    for j in range(scores.shape[-1]):
        rest = torch.where(top == j, shifted, plain)
        rest[..., j] = 0.0
        columns.append(rows(output, rest, value))
    effect = torch.stack(columns, dim=-1)
    return torch.where(scores == -torch.inf, torch.zeros_like(effect), effect).to(dtype)


def rows(output, rest, value):
    return torch.linalg.vector_norm(output - divide(rest @ value, rest.sum(-1, keepdim=True)), dim=-1)


def divide(sums, total):
    return torch.where(total > 0, sums / total, torch.zeros_like(sums))
