import math

import torch


def read(scores, may, v):
    w = torch.softmax(scores.masked_fill(~may, -math.inf), -1)
    return torch.where(may, w, torch.zeros_like(w)) @ v


def ablation_effect(query, key, value, allowed=None):
    if query.size(-1) != key.size(-1):
        raise ValueError("query and key: different d_k")
    if key.size(-2) != value.size(-2):
        raise ValueError("key and value: different n_keys")
    if allowed is not None and allowed.dtype != torch.bool:
        raise TypeError("allowed: bool please")
    q, k, v = query.double(), key.double(), value.double()
    scores = q @ k.mT / math.sqrt(q.size(-1))
    lead = torch.broadcast_shapes(scores.shape[:-2], v.shape[:-2])
    scores = scores.expand(*lead, *scores.shape[-2:])
    may = torch.ones(scores.shape, dtype=torch.bool)
    if allowed is not None:
        may = may & allowed
    out = read(scores, may, v)
    effects = []
    for j in range(key.size(-2)):
        # ohne Key j, alle anderen wie vorher
        m = may.clone()
        m[..., j] = False
        effects.append((out - read(scores, m, v)).pow(2).sum(-1).sqrt())
    return torch.stack(effects, -1).masked_fill(~may, 0).to(query.dtype)
