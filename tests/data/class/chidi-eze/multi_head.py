import torch
from torch import Tensor, nn

from attention import attention


def _head_size(d_model: int, n_heads: int) -> int:
    size, rest = divmod(d_model, n_heads)
    if rest:
        raise ValueError(f"{d_model=} is not a multiple of {n_heads=}")
    return size


def split_heads(x: Tensor, n_heads: int) -> Tensor:
    return x.unflatten(-1, (n_heads, _head_size(x.shape[-1], n_heads))).transpose(-3, -2)


def merge_heads(x: Tensor) -> Tensor:
    return x.transpose(-3, -2).flatten(start_dim=-2)


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model: int, n_heads: int, dropout: float = 0.0, bias: bool = True) -> None:
        super().__init__()
        _head_size(d_model, n_heads)
        self.n_heads = n_heads
        self.q_proj = nn.Linear(d_model, d_model, bias=bias)
        self.k_proj = nn.Linear(d_model, d_model, bias=bias)
        self.v_proj = nn.Linear(d_model, d_model, bias=bias)
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, query: Tensor, key: Tensor | None = None, value: Tensor | None = None, allowed: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        key = query if key is None else key
        value = key if value is None else value
        if allowed is not None and allowed.ndim != 4 and allowed.shape != (query.shape[-2], key.shape[-2]):
            raise ValueError(f"allowed has an ambiguous shape: {tuple(allowed.shape)}")
        q, k, v = (
            split_heads(project(x), self.n_heads)
            for project, x in ((self.q_proj, query), (self.k_proj, key), (self.v_proj, value))
        )
        _, weights = attention(q, k, v, allowed)
        weights = self.dropout(weights)
        return self.out_proj(merge_heads(weights @ v)), weights
