"""Loops over queries and keys: each row is read again from the list of keys that remain."""

import math
from itertools import product

import torch


def read(scores, values, keys):
    if not keys:
        return torch.zeros_like(values[0])
    peak = max(scores[j] for j in keys)
    exponentials = {j: math.exp(scores[j] - peak) for j in keys}
    total = sum(exponentials.values())
    return sum(exponentials[j] / total * values[j] for j in keys)


def ablation_effect(query, key, value, allowed=None):
    if query.shape[-1] != key.shape[-1] or key.shape[-2] != value.shape[-2]:
        raise ValueError(f"query, key and value do not fit: {query.shape}, {key.shape}, {value.shape}")
    if allowed is not None and allowed.dtype != torch.bool:
        raise TypeError("allowed has to be a mask of torch.bool")
    leading = torch.broadcast_shapes(query.shape[:-2], key.shape[:-2], value.shape[:-2])
    n_queries, n_keys = query.shape[-2], key.shape[-2]
    q, k, v = (x.double().expand(*leading, *x.shape[-2:]) for x in (query, key, value))
    allowed = torch.tensor(True) if allowed is None else allowed
    allowed = allowed.expand(*leading, n_queries, n_keys)
    effect = torch.zeros(*leading, n_queries, n_keys, dtype=query.dtype)
    for index in product(*map(range, leading)):
        for i in range(n_queries):
            scores = (k[index] @ q[index][i] / math.sqrt(q.shape[-1])).tolist()
            keys = [j for j in range(n_keys) if allowed[index][i, j]]
            output = read(scores, v[index], keys)
            for j in keys:
                rest = [other for other in keys if other != j]
                effect[(*index, i, j)] = torch.dist(output, read(scores, v[index], rest))
    return effect
