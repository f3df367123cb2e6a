"""Library calls that stand in for the exercises in a lab until the learner's own code passes its public tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from torch import Tensor


def attend_one(query: Any, keys: Any, values: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Give weights `(n,)` and output `(d_v,)` of one query `(d_k,)`, by `scaled_dot_product_attention`."""
    import torch

    arrays = (np.atleast_2d(np.asarray(array, dtype=np.float64)) for array in (query, keys, values))
    output, weights = _fused(*(torch.from_numpy(array) for array in arrays))
    return weights.numpy()[0], output.numpy()[0]


def softmax(scores: Any, axis: int = -1, temperature: float = 1.0) -> NDArray[Any]:
    """Give weights of the shape of `scores`, by `torch.softmax`; zeros where a whole slice is -inf."""
    import torch

    logits = torch.from_numpy(np.asarray(scores, dtype=np.float64) / temperature)
    weights: NDArray[Any] = torch.softmax(logits, dim=axis).nan_to_num().numpy()
    return weights


def causal_mask(n_queries: int, n_keys: int | None = None) -> NDArray[np.bool_]:
    """Give `allowed` `(n_queries, n_keys)`, by PyTorch's own additive mask of the larger square."""
    import torch

    columns = n_queries if n_keys is None else n_keys
    side = max(n_queries, columns)
    square = torch.nn.Transformer.generate_square_subsequent_mask(side).numpy() == 0
    return np.array(square[side - n_queries :, side - columns :])


def attention(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    """Give output and weights for d_v = d_k, by PyTorch's multi-head attention with one head and no projections.

    Of the library's functions this one makes the whole matrix of scores, and shows it.
    """
    import torch
    import torch.nn.functional as F

    as_it_is = torch.eye(query.shape[-1], dtype=query.dtype)
    output, weights = F.multi_head_attention_forward(
        query[:, None], key[:, None], value[:, None], query.shape[-1], 1, None, None, None, None, False, 0.0,
        as_it_is, None, training=False, use_separate_proj_weight=True,
        q_proj_weight=as_it_is, k_proj_weight=as_it_is, v_proj_weight=as_it_is,
    )  # fmt: skip
    assert weights is not None
    return output[:, 0], weights[0]


def tiled_attention(query: Tensor, key: Tensor, value: Tensor, block_size: int = 64, causal: bool = False) -> Tensor:
    """Give the output of PyTorch's fused attention, which chooses its tiles itself, whatever `block_size` is."""
    import torch.nn.functional as F

    # The fused kernel wants a batch and heads, and calls square masks causal, as the labs do.
    output = F.scaled_dot_product_attention(query[None, None], key[None, None], value[None, None], is_causal=causal)
    return output[0, 0]


def ablation_effect(query: Tensor, key: Tensor, value: Tensor, allowed: Tensor | None = None) -> Tensor:
    """Give `(n_queries, n_keys)`: how far each output moves where a library may not read that key."""
    import torch

    n_keys = key.shape[-2]
    before, weights = _fused(query, key, value, allowed)
    every = torch.ones(weights.shape, dtype=torch.bool) if allowed is None else allowed.expand(weights.shape)
    columns = []
    for left_out in torch.eye(n_keys, dtype=torch.bool):
        after, _ = _fused(query, key, value, every & ~left_out)
        columns.append((before - after).norm(dim=-1))
    return torch.stack(columns, dim=-1) * every


def _fused(query: Tensor, key: Tensor, value: Tensor, allowed: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Give output and weights: the weights are the same library call with the identity as value."""
    import torch
    import torch.nn.functional as F

    identity = torch.eye(key.shape[-2], dtype=query.dtype).expand(*key.shape[:-2], -1, -1)
    output = F.scaled_dot_product_attention(query, key, value, attn_mask=allowed)
    return output, F.scaled_dot_product_attention(query, key, identity, attn_mask=allowed)


def multi_head(d_model: int, n_heads: int) -> Any:
    """Give a module of torch's attention, called as the exercise's is, `(x) -> (output, weights)`, with its names."""
    import torch
    import torch.nn.functional as F

    class LibraryHeads(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.q_proj, self.k_proj, self.v_proj, self.out_proj = (torch.nn.Linear(d_model, d_model) for _ in range(4))

        def forward(self, x: Tensor) -> Any:
            inputs = (self.q_proj, self.k_proj, self.v_proj)
            # This function wants the sequence before the batch.
            output, weights = F.multi_head_attention_forward(
                *(x.transpose(0, 1),) * 3, d_model, n_heads, None, torch.cat([layer.bias for layer in inputs]),
                None, None, False, 0.0, self.out_proj.weight, self.out_proj.bias, training=False,
                use_separate_proj_weight=True, q_proj_weight=self.q_proj.weight, k_proj_weight=self.k_proj.weight,
                v_proj_weight=self.v_proj.weight, average_attn_weights=False,
            )  # fmt: skip
            return output.transpose(0, 1), weights

    return LibraryHeads()
