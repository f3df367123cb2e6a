"""One head after the other; layers made in a loop and initialised again; extra arguments; prints when loaded."""

import torch
from attention import attention
from torch import nn


def split_heads(x, n_heads, *, check=True):
    if check and x.size(-1) % n_heads != 0:
        raise ValueError(f"x of width {x.size(-1)} cannot be cut into {n_heads} heads")
    return torch.stack(torch.chunk(x, n_heads, dim=-1), dim=-3)


def merge_heads(x):
    return torch.cat([x[..., head, :, :] for head in range(x.size(-3))], dim=-1)


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True, gain=1.0):
        if d_model % n_heads != 0:
            raise ValueError("d_model is not a multiple of n_heads")
        super().__init__()
        for name in ("out_proj", "v_proj", "k_proj", "q_proj"):
            layer = nn.Linear(d_model, d_model, bias=bias)
            nn.init.xavier_uniform_(layer.weight, gain)
            setattr(self, name, layer)
        self.n_heads, self.dropout_p = n_heads, dropout

    def forward(self, query, key=None, value=None, allowed=None, need_weights=True):
        if key is None:
            key = query
        if value is None:
            value = key
        if allowed is not None:
            if allowed.ndim not in (2, 4):
                raise ValueError(f"allowed has {allowed.ndim} dimensions, not 2 or 4")
            allowed = allowed.expand(query.size(0), self.n_heads, query.size(1), key.size(1))
        heads = zip(
            self.q_proj(query).chunk(self.n_heads, dim=-1),
            self.k_proj(key).chunk(self.n_heads, dim=-1),
            self.v_proj(value).chunk(self.n_heads, dim=-1),
            [None] * self.n_heads if allowed is None else allowed.unbind(1),
            strict=True,
        )
        outputs, weights = zip(*(self.one_head(*head) for head in heads), strict=True)
        return self.out_proj(torch.cat(outputs, dim=-1)), torch.stack(weights, dim=1) if need_weights else None

    def one_head(self, query, key, value, allowed):
        _, weights = attention(query, key, value, allowed)
        return nn.functional.dropout(weights, self.dropout_p, self.training) @ value, weights


print("multi_head: one head after the other")
