"""A key moves the output by its weight times the distance of its value from what the others give."""

import math

import torch


def weights_among(readable, scores):
    weights = torch.softmax(torch.where(readable, scores, -torch.inf), dim=-1)
    return torch.where(readable, weights, torch.zeros_like(weights))


def ablation_effect(query, key, value, allowed=None):
    if query.shape[-1] != key.shape[-1]:
        raise ValueError("key is wider or narrower than query")
    if key.shape[-2] != value.shape[-2]:
        raise ValueError("key is longer or shorter than value")
    if allowed is not None and allowed.dtype != torch.bool:
        raise TypeError("allowed is not a mask of True and False")
    leading = torch.broadcast_shapes(query.shape[:-2], key.shape[:-2], value.shape[:-2])
    query, key, value = (x.expand(*leading, *x.shape[-2:]) for x in (query, key, value))
    scores = torch.matmul(query / math.sqrt(query.shape[-1]), key.transpose(-2, -1))
    readable = torch.ones_like(scores).bool() if allowed is None else allowed.expand_as(scores)
    weights = weights_among(readable, scores)
    effects = []
    for j in range(key.shape[-2]):
        others = readable.clone()
        others[..., j] = False
        of_others = weights_among(others, scores) @ value
        # The weight goes first: what is masked may be so large that its distance has no norm.
        moved = weights[..., j, None] * (value[..., j, None, :] - of_others)
        effects.append(moved.square().sum(-1).sqrt())
    return torch.stack(effects, -1)
