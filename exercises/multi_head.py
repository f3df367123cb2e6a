"""Multi-head attention: several attentions side by side, each with projections of its own."""

import torch
from attention import attention
from torch import nn


def split_heads(x: torch.Tensor, n_heads: int) -> torch.Tensor:
    """Cut the features into heads and put the heads in front of the sequence.

    Args:
        x: `(..., seq, d_model)`; the first d_head features belong to head 0, the next ones to head 1.
        n_heads: how many heads to make; d_head = d_model / n_heads.

    Returns:
        `(..., n_heads, seq, d_head)`, possibly a view.

    Raises:
        ValueError: d_model does not divide by `n_heads`.

    Example:
        >>> x = torch.arange(8).reshape(2, 4)
        >>> split_heads(x, 2)
        tensor([[[0, 1],
                 [4, 5]],
        <BLANKLINE>
                [[2, 3],
                 [6, 7]]])
    """
    raise NotImplementedError


def merge_heads(x: torch.Tensor) -> torch.Tensor:
    """Put the heads side by side again: the inverse of `split_heads`.

    Args:
        x: `(..., n_heads, seq, d_head)`.

    Returns:
        `(..., seq, n_heads * d_head)`, possibly a view.

    Example:
        >>> x = torch.arange(8).reshape(2, 4)
        >>> merge_heads(split_heads(x, 2))
        tensor([[0, 1, 2, 3],
                [4, 5, 6, 7]])
    """
    raise NotImplementedError


class MultiHeadAttention(nn.Module):
    """Project, attend in every head, join the heads, project again.

    Holds four `nn.Linear` layers of d_model to d_model named `q_proj`, `k_proj`, `v_proj` and `out_proj`, and no
    other parameters or buffers.

    Args:
        d_model: width of the input and of the output.
        n_heads: number of heads; must divide `d_model`.
        dropout: probability with which a weight is dropped in training mode.
        bias: whether the four layers have a bias.

    Raises:
        ValueError: `d_model` does not divide by `n_heads`.

    Example:
        >>> module = MultiHeadAttention(d_model=6, n_heads=3)
        >>> output, weights = module(torch.zeros(2, 4, 6))
        >>> output.shape, weights.shape
        (torch.Size([2, 4, 6]), torch.Size([2, 3, 4, 4]))
    """

    def __init__(self, d_model: int, n_heads: int, dropout: float = 0.0, bias: bool = True) -> None:
        super().__init__()
        raise NotImplementedError

    def forward(
        self,
        query: torch.Tensor,
        key: torch.Tensor | None = None,
        value: torch.Tensor | None = None,
        allowed: torch.Tensor | None = None,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Attend from `query` to `key` and `value`.

        Args:
            query: `(batch, n_queries, d_model)`.
            key: `(batch, n_keys, d_model)`; None: the query (self-attention).
            value: `(batch, n_keys, d_model)`; None: the key.
            allowed: boolean, True = this query may read this key. Either exactly `(n_queries, n_keys)`, or
                four-dimensional and broadcastable to `(batch, n_heads, n_queries, n_keys)`.

        Returns:
            output: `(batch, n_queries, d_model)`; the bias of `out_proj` where a row is fully masked in every head.
            weights: `(batch, n_heads, n_queries, n_keys)` as they are before dropout.

        Raises:
            ValueError: `allowed` is three-dimensional: it could mean one mask per batch item or one per head.
        """
        raise NotImplementedError
