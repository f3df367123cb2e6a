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
    ### BEGIN SOLUTION
    d_head = _width_of_a_head(x.shape[-1], n_heads)
    heads = x.unflatten(-1, (n_heads, d_head))  # (..., seq, n_heads, d_head)
    return heads.transpose(-3, -2)
    ### END SOLUTION


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
    ### BEGIN SOLUTION
    heads = x.transpose(-3, -2)  # (..., seq, n_heads, d_head)
    return heads.flatten(-2)
    ### END SOLUTION


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
        ### BEGIN SOLUTION
        _width_of_a_head(d_model, n_heads)
        self.n_heads = n_heads
        self.q_proj = nn.Linear(d_model, d_model, bias=bias)
        self.k_proj = nn.Linear(d_model, d_model, bias=bias)
        self.v_proj = nn.Linear(d_model, d_model, bias=bias)
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)
        self.dropout = nn.Dropout(dropout)
        ### END SOLUTION

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
        ### BEGIN SOLUTION
        key = query if key is None else key
        value = key if value is None else value
        if allowed is not None:
            _check_mask(allowed, query.shape[-2], key.shape[-2])
        head_queries = split_heads(self.q_proj(query), self.n_heads)  # (batch, n_heads, n_queries, d_head)
        head_keys = split_heads(self.k_proj(key), self.n_heads)  # (batch, n_heads, n_keys, d_head)
        head_values = split_heads(self.v_proj(value), self.n_heads)  # (batch, n_heads, n_keys, d_head)
        _, weights = attention(head_queries, head_keys, head_values, allowed)
        head_outputs = self.dropout(weights) @ head_values  # (batch, n_heads, n_queries, d_head)
        output = self.out_proj(merge_heads(head_outputs))
        return output, weights
        ### END SOLUTION


### BEGIN SOLUTION
def _width_of_a_head(d_model: int, n_heads: int) -> int:
    if n_heads < 1 or d_model % n_heads != 0:
        raise ValueError(f"d_model must be divisible by n_heads, got d_model={d_model} and n_heads={n_heads}")
    return d_model // n_heads


def _check_mask(allowed: torch.Tensor, n_queries: int, n_keys: int) -> None:
    if allowed.dim() != 4 and allowed.shape != (n_queries, n_keys):
        raise ValueError(
            f"allowed must have the shape ({n_queries}, {n_keys}) or four dimensions"
            f" (batch, n_heads, n_queries, n_keys), got {tuple(allowed.shape)}"
        )
### END SOLUTION
