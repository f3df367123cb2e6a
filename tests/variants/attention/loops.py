"""Loops over queries and keys, one score at a time, and a softmax written out."""

import math

import torch


def attention(query, key, value, allowed=None):
    if query.shape[-1] != key.shape[-1] or key.shape[-2] != value.shape[-2]:
        raise ValueError(f"query, key and value do not fit: {query.shape}, {key.shape}, {value.shape}")
    if allowed is not None and allowed.dtype != torch.bool:
        raise TypeError("allowed has to be a mask of torch.bool")
    leading = torch.broadcast_shapes(query.shape[:-2], key.shape[:-2], value.shape[:-2])
    query, key, value = (x.expand(*leading, *x.shape[-2:]) for x in (query, key, value))
    n_queries, n_keys = query.shape[-2], key.shape[-2]
    if n_keys == 0:
        nothing = query[..., :1] * 0  # zeros that gradients flow through
        return nothing * value.sum(-2, keepdim=True), nothing[..., :0]
    allowed = torch.ones(n_queries, n_keys, dtype=torch.bool) if allowed is None else allowed
    allowed = allowed.expand(*leading, n_queries, n_keys)
    rows = [weights_of_row(query[..., i, :], key, allowed[..., i, :]) for i in range(n_queries)]
    outputs = [sum(row[..., j, None] * value[..., j, :] for j in range(n_keys)) for row in rows]
    return torch.stack(outputs, dim=-2), torch.stack(rows, dim=-2)


def weights_of_row(query, key, readable):
    scores = []
    for j in range(key.shape[-2]):
        products = query / math.sqrt(query.shape[-1]) * key[..., j, :]
        score = products.sum(-1)
        scores.append(torch.where(readable[..., j], score, torch.full_like(score, -math.inf)))
    scores = torch.stack(scores, dim=-1)
    peak = scores.amax(-1, keepdim=True)
    exponentials = torch.exp(scores - torch.where(peak == -math.inf, torch.zeros_like(peak), peak))
    total = exponentials.sum(-1, keepdim=True)
    return exponentials / torch.where(total == 0, torch.ones_like(total), total)
