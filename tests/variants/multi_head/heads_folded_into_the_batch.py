"""The heads are folded into the batch, the mask with them, for products of three dimensions."""

import torch
from attention import attention
from torch import nn


def split_heads(x, n_heads):
    if n_heads <= 0 or x.shape[-1] % n_heads:
        raise ValueError(f"n_heads must divide the width, not {n_heads}")
    return x.unflatten(-1, (n_heads, -1)).swapaxes(-2, -3).contiguous()


def merge_heads(x):
    return x.swapaxes(-2, -3).flatten(-2).contiguous()


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if d_model % n_heads:
            raise ValueError("n_heads must divide d_model")
        self.n_heads = n_heads
        self.v_proj = nn.Linear(d_model, d_model, bias=bias)
        self.q_proj = nn.Linear(d_model, d_model, bias=bias)
        self.k_proj = nn.Linear(d_model, d_model, bias=bias)
        self.attention_dropout = nn.Dropout(p=dropout)
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)

    def fold(self, x):
        return split_heads(x, self.n_heads).flatten(0, 1)

    def unfold(self, x):
        return x.unflatten(0, (-1, self.n_heads))

    def forward(self, query, key=None, value=None, allowed=None):
        key = query if key is None else key
        value = key if value is None else value
        q, k, v = self.fold(self.q_proj(query)), self.fold(self.k_proj(key)), self.fold(self.v_proj(value))
        if allowed is not None:
            if allowed.dim() == 3:
                raise ValueError("is allowed for the batch or for the heads?")
            shape = (query.shape[0], self.n_heads, query.shape[1], key.shape[1])
            allowed = allowed.broadcast_to(shape).flatten(0, 1)
        _, weights = attention(q, k, v, allowed)
        output = torch.bmm(self.attention_dropout(weights), v)
        return self.out_proj(merge_heads(self.unfold(output))), self.unfold(weights)
