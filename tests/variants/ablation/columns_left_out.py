"""The key and its value are cut out of the tensors, and attention is calculated again from what is left."""

import torch


def attention(query, key, value, allowed):
    scores = torch.einsum("...id,...jd->...ij", query * query.shape[-1] ** -0.5, key)
    shape = torch.broadcast_shapes(scores.shape[:-2], value.shape[:-2]) + scores.shape[-2:]
    scores = scores.expand(shape)
    blocked = ~allowed.expand(shape)
    weights = scores.masked_fill(blocked, -torch.inf).softmax(-1).masked_fill(blocked, 0.0)
    return torch.einsum("...ij,...jv->...iv", weights, value)


def without(tensor, j, dim):
    if tensor.dim() < -dim or tensor.shape[dim] == 1:
        return tensor
    others = [other for other in range(tensor.shape[dim]) if other != j]
    return tensor.index_select(dim, torch.tensor(others, dtype=torch.long))


def ablation_effect(query, key, value, allowed=None):
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(f"d_k: query has {query.shape[-1]}, key has {key.shape[-1]}")
    if key.shape[-2] != value.shape[-2]:
        raise ValueError(f"n_keys: key has {key.shape[-2]}, value has {value.shape[-2]}")
    allowed = torch.tensor(True) if allowed is None else allowed
    if allowed.dtype != torch.bool:
        raise TypeError(f"allowed is {allowed.dtype}")
    output = attention(query, key, value, allowed)
    n_keys = key.shape[-2]
    effects = []
    for j in range(n_keys):
        if n_keys == 1:
            less = torch.zeros_like(output)
        else:
            rest = (
                key[..., [k for k in range(n_keys) if k != j], :],
                value[..., [k for k in range(n_keys) if k != j], :],
            )
            less = attention(query, *rest, without(allowed, j, -1))
        effects.append(torch.linalg.norm(output - less, dim=-1))
    effect = torch.stack(effects, dim=-1)
    return effect * allowed.expand(effect.shape)
