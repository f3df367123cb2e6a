"""All leading dimensions become one, for `torch.bmm`, and the result is stored keys first."""

import math

import torch


def flat(x, leading):
    x = x.expand(*leading, *x.shape[-2:])
    return x.reshape(math.prod(leading), *x.shape[-2:])


class Reader:
    def __init__(self, scores, value):
        self.scores, self.value = scores, value

    def __call__(self, readable):
        dead = ~readable.any(dim=2, keepdim=True)
        scores = self.scores.masked_fill(~readable, -torch.inf).masked_fill(dead, 0.0)
        return torch.bmm(scores.softmax(dim=2).masked_fill(~readable, 0.0), self.value)


def ablation_effect(query, key, value, allowed=None):
    d_k, n_queries, n_keys = query.shape[-1], query.shape[-2], key.shape[-2]
    if key.shape[-1] != d_k:
        raise ValueError(f"key has {key.shape[-1]} features, query has {d_k}")
    if value.shape[-2] != n_keys:
        raise ValueError(f"value has {value.shape[-2]} rows, key has {n_keys}")
    if allowed is not None and allowed.dtype != torch.bool:
        raise TypeError(f"allowed has the dtype {allowed.dtype} instead of torch.bool")
    leading = torch.broadcast_shapes(query.shape[:-2], key.shape[:-2], value.shape[:-2])
    scores = torch.bmm(flat(query / math.sqrt(d_k), leading), flat(key, leading).transpose(1, 2))
    readable = torch.ones(n_queries, n_keys, dtype=torch.bool) if allowed is None else allowed
    readable = flat(readable.expand(*leading, n_queries, n_keys), leading)
    read = Reader(scores, flat(value, leading))
    output = read(readable)
    effect = torch.zeros(n_keys, *output.shape[:2], dtype=query.dtype)
    for j, column in enumerate(torch.eye(n_keys, dtype=torch.bool)):
        change = (output - read(readable & ~column)).norm(p=2, dim=2)
        effect[j] = change.where(readable[:, :, j], torch.zeros((), dtype=change.dtype))
    return effect.movedim(0, 2).unflatten(0, leading or (1,)).reshape(*leading, n_queries, n_keys)


print("the only key:", ablation_effect(torch.ones(1, 1), torch.ones(1, 1), torch.ones(1, 1)))
