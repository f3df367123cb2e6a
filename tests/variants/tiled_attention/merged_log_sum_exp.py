"""Each block is softmaxed by itself, and the averages are merged by the log-sum-exp of their scores."""

import torch
from torch import Tensor


def tiled_attention(query: Tensor, key: Tensor, value: Tensor, block_size: int = 64, causal: bool = False) -> Tensor:
    check(query, key, value, block_size)
    dtype = torch.promote_types(query.dtype, torch.float32)
    leading = torch.broadcast_shapes(query.shape[:-2], key.shape[:-2], value.shape[:-2])
    n_queries, n_keys = query.size(-2), key.size(-2)
    output = torch.zeros(*leading, n_queries, value.size(-1), dtype=dtype)
    log_total = torch.full((*leading, n_queries, 1), -torch.inf, dtype=dtype)
    scaled = query.to(dtype) * query.size(-1) ** -0.5
    for first in range(0, n_keys, block_size):
        keys, values = (x[..., first : first + block_size, :].to(dtype) for x in (key, value))
        scores = torch.matmul(scaled, keys.transpose(-1, -2))
        if causal:
            i = torch.arange(n_queries).unsqueeze(1)
            j = torch.arange(first, first + keys.size(-2)).unsqueeze(0)
            scores = scores.masked_fill(j > i + n_keys - n_queries, -torch.inf)
        of_block = torch.logsumexp(scores, dim=-1, keepdim=True)
        average = torch.softmax(scores, dim=-1).nan_to_num(nan=0.0) @ values
        both = torch.logaddexp(log_total, of_block)
        output = share(log_total, both) * output + share(of_block, both) * average
        log_total = both
    return output.to(query.dtype)


def share(part: Tensor, whole: Tensor) -> Tensor:
    return torch.where(part == -torch.inf, 0.0, torch.exp(part - whole))


def check(query: Tensor, key: Tensor, value: Tensor, block_size: int) -> None:
    if block_size < 1:
        raise ValueError(f"{block_size=} is below 1")
    if query.size(-1) != key.size(-1):
        raise ValueError(f"d_k differs: {query.size(-1)} and {key.size(-1)}")
    if key.size(-2) != value.size(-2):
        raise ValueError(f"n_keys differs: {key.size(-2)} and {value.size(-2)}")
