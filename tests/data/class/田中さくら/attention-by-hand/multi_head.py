import torch
import torch.nn as nn

from attention import attention


def split_heads(x, n_heads):
    if x.shape[-1] % n_heads != 0:
        raise ValueError("d_model は n_heads で割り切れません")
    d_head = x.shape[-1] // n_heads
    return x.reshape(x.shape[:-1] + (n_heads, d_head)).swapaxes(-2, -3)


def merge_heads(x):
    y = x.swapaxes(-2, -3)
    return y.reshape(y.shape[:-2] + (-1,))


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("d_model は n_heads で割り切れません")
        self.n_heads = n_heads
        self.dropout = nn.Dropout(dropout)
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (
            nn.Linear(d_model, d_model, bias=bias) for _ in range(4)
        )

    def forward(self, query, key=None, value=None, allowed=None):
        if key is None:
            key = query
        if value is None:
            value = key
        if allowed is not None and allowed.dim() not in (2, 4):
            raise ValueError("allowed は 2 次元か 4 次元です")
        q = split_heads(self.q_proj(query), self.n_heads)
        k = split_heads(self.k_proj(key), self.n_heads)
        v = split_heads(self.v_proj(value), self.n_heads)
        _, weights = attention(q, k, v, allowed)
        output = torch.matmul(self.dropout(weights), v)
        return self.out_proj(merge_heads(output)), weights
