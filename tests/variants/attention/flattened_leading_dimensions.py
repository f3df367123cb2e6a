"""All leading dimensions become one, for `torch.bmm`, and the result is a named tuple."""

import math
from typing import NamedTuple

import torch


class Attended(NamedTuple):
    output: torch.Tensor
    weights: torch.Tensor


def flat(x, leading):
    x = x.expand(*leading, *x.shape[-2:])
    return x.reshape(math.prod(leading), *x.shape[-2:])


def attention(query, key, value, allowed=None):
    d_k, n_queries, n_keys, d_v = query.shape[-1], query.shape[-2], key.shape[-2], value.shape[-1]
    if key.shape[-1] != d_k:
        raise ValueError(f"key has {key.shape[-1]} features, query has {d_k}")
    if value.shape[-2] != n_keys:
        raise ValueError(f"value has {value.shape[-2]} rows, key has {n_keys}")
    if allowed is not None and allowed.dtype != torch.bool:
        raise TypeError(f"allowed has the dtype {allowed.dtype} instead of torch.bool")
    leading = torch.broadcast_shapes(query.shape[:-2], key.shape[:-2], value.shape[:-2])
    scores = torch.bmm(flat(query / math.sqrt(d_k), leading), flat(key, leading).transpose(1, 2))
    if allowed is None:
        weights = torch.softmax(scores, dim=2)
    else:
        readable = flat(allowed.expand(*leading, n_queries, n_keys), leading)
        weights = torch.softmax(scores.where(readable, -torch.inf), dim=2).where(readable, 0.0)
    output = torch.bmm(weights, flat(value, leading))
    return Attended(output.view(*leading, n_queries, d_v), weights.view(*leading, n_queries, n_keys))
