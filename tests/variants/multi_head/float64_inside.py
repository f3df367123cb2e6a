"""The heads attend in float64, by a function of its own, and what comes out is cast back."""

import torch
from torch import Tensor, nn


def split_heads(x: Tensor, n_heads: int) -> Tensor:
    d_head, rest = divmod(x.shape[-1], n_heads)
    if rest:
        raise ValueError(f"d_model = {x.shape[-1]} leaves {rest} over with n_heads = {n_heads}")
    return x.unflatten(-1, (n_heads, d_head)).transpose(-3, -2)


def merge_heads(x: Tensor) -> Tensor:
    return x.transpose(-3, -2).flatten(-2)


def weights_of(query: Tensor, key: Tensor, allowed: Tensor | None) -> Tensor:
    scores = query.double() @ key.double().mT / query.shape[-1] ** 0.5
    if allowed is None:
        return scores.softmax(-1)
    return scores.where(allowed, -torch.inf).softmax(-1).where(allowed, 0.0)


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model: int, n_heads: int, dropout: float = 0.0, bias: bool = True) -> None:
        super().__init__()
        if d_model % n_heads:
            raise ValueError(f"{d_model=} is not divisible by {n_heads=}")
        self.n_heads = n_heads
        self.dropout = dropout
        self.q_proj = nn.Linear(d_model, d_model, bias)
        self.k_proj = nn.Linear(d_model, d_model, bias)
        self.v_proj = nn.Linear(d_model, d_model, bias)
        self.out_proj = nn.Linear(d_model, d_model, bias)

    def forward(
        self, query: Tensor, key: Tensor | None = None, value: Tensor | None = None, allowed: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        if key is None:
            key = query
        if value is None:
            value = key
        if allowed is not None and allowed.dim() == 3:
            raise ValueError("allowed: (n_queries, n_keys) or four dimensions")
        q, k = split_heads(self.q_proj(query), self.n_heads), split_heads(self.k_proj(key), self.n_heads)
        v = split_heads(self.v_proj(value), self.n_heads)
        weights = weights_of(q, k, allowed)
        output = torch.dropout(weights, self.dropout, self.training) @ v.double()
        return self.out_proj(merge_heads(output).to(query.dtype)), weights.to(query.dtype)


if __name__ == "__main__":
    x, library = torch.randn(2, 3, 8), nn.MultiheadAttention(8, 2, batch_first=True)
    mine = MultiHeadAttention(8, 2)
    rows = library.in_proj_weight.chunk(3)
    for layer, weight in zip((mine.q_proj, mine.k_proj, mine.v_proj), rows, strict=True):
        layer.load_state_dict({"weight": weight, "bias": torch.zeros(8)})
    mine.out_proj.load_state_dict(library.out_proj.state_dict())
    print((mine(x)[0] - library(x, x, x)[0]).abs().max())
