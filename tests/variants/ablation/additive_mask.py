"""The mask becomes 0 and -inf, which is added to the scores, and so does the key that is taken away."""

import torch


def weights_of(scores, bias):
    biased = scores + bias
    dead = torch.isneginf(bias.expand_as(scores)).all(dim=-1, keepdim=True)
    weights = torch.softmax(torch.where(dead, torch.zeros_like(biased), biased), dim=-1)
    return torch.where(torch.isneginf(bias) | dead, torch.zeros_like(weights), weights)


def ablation_effect(query, key, value, allowed=None):
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(f"query ends in {query.shape[-1]}, key in {key.shape[-1]}")
    if key.shape[-2] != value.shape[-2]:
        raise ValueError(f"there are {key.shape[-2]} keys and {value.shape[-2]} values: key and value do not match")
    if allowed is not None and allowed.dtype != torch.bool:
        raise TypeError(f"{allowed.dtype} is no dtype for allowed")
    n_queries, n_keys = query.shape[-2], key.shape[-2]
    leading = torch.broadcast_shapes(query.shape[:-2], key.shape[:-2], value.shape[:-2])
    scores = (query / query.shape[-1] ** 0.5 @ key.mT).expand(*leading, n_queries, n_keys)
    bias = torch.zeros(n_queries, n_keys, dtype=scores.dtype)
    if allowed is not None:
        bias = bias.expand(torch.broadcast_shapes(bias.shape, allowed.shape)).masked_fill(~allowed, -torch.inf)
    taken = torch.zeros(n_keys, n_keys, dtype=scores.dtype).fill_diagonal_(-torch.inf)
    weights = weights_of(scores, bias)
    columns = [(weights - weights_of(scores, bias + one)) @ value for one in taken]
    effect = torch.stack([torch.linalg.vector_norm(moved, dim=-1) for moved in columns], dim=-1)
    return effect.masked_fill(torch.isneginf(bias), 0)
