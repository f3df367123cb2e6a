"""The weights are exponentials of score minus log-sum-exp, and it is their difference that meets the values."""

import torch


def shares(scores):
    """Exponentials of scores minus their log-sum-exp; where all are -inf, zeros."""
    total = scores.logsumexp(dim=-1, keepdim=True)
    return torch.exp(scores - total.masked_fill(total == -torch.inf, 0.0))


def ablation_effect(query, key, value, allowed=None):
    if query.shape[-1] != key.shape[-1]:
        raise ValueError("query.shape[-1] and key.shape[-1] are not equal")
    if key.shape[-2] != value.shape[-2]:
        raise ValueError("key.shape[-2] and value.shape[-2] are not equal")
    if allowed is None:
        allowed = torch.tensor(True)
    if allowed.dtype != torch.bool:
        raise TypeError(f"{allowed.dtype=}, it should be torch.bool")
    dtype = query.dtype
    wide = torch.promote_types(dtype, torch.float32)
    query, key, value = query.to(wide), key.to(wide), value.to(wide)
    leading = torch.broadcast_shapes(query.shape[:-2], key.shape[:-2], value.shape[:-2])
    scores = torch.matmul(query.div(query.shape[-1] ** 0.5), key.swapaxes(-1, -2))
    scores = scores.expand(*leading, -1, -1).masked_fill(~allowed, -torch.inf)
    own = shares(scores)
    columns = []
    for j in range(key.shape[-2]):
        rest = scores.clone()
        rest[..., j] = -torch.inf
        # Both averages from one product, so that what they have in common cancels before the values come in.
        moved = (own - shares(rest)) @ value
        columns.append(torch.sqrt(torch.sum(moved * moved, dim=-1)))
    return torch.stack(columns, dim=-1).masked_fill(~allowed, 0.0).to(dtype)
