"""多头注意力，不依赖第四题，头放在 einsum 的 h 轴上。"""
import torch
from torch import nn


def head_width(d_model, n_heads):
    if d_model % n_heads:
        raise ValueError(f"d_model={d_model} 不能被 n_heads={n_heads} 整除")
    return d_model // n_heads


def split_heads(x, n_heads):
    return x.unflatten(-1, (n_heads, head_width(x.shape[-1], n_heads))).movedim(-2, -3)


def merge_heads(x):
    return x.movedim(-3, -2).flatten(-2)


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        self.d_head = head_width(d_model, n_heads)
        self.n_heads = n_heads
        # 输出投影先建，顺序无所谓
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)
        self.v_proj = nn.Linear(d_model, d_model, bias=bias)
        self.k_proj = nn.Linear(d_model, d_model, bias=bias)
        self.q_proj = nn.Linear(d_model, d_model, bias=bias)
        self.p = dropout

    def forward(self, query, key=None, value=None, allowed=None):
        key = query if key is None else key
        value = key if value is None else value
        q, k, v = (
            split_heads(proj(x), self.n_heads)
            for proj, x in [(self.q_proj, query), (self.k_proj, key), (self.v_proj, value)]
        )
        weights = self.weights(q * self.d_head**-0.5, k, allowed)
        kept = nn.functional.dropout(weights, self.p, self.training)
        out = torch.einsum("bhqk,bhkd->bqhd", kept, v).flatten(2)
        return self.out_proj(out), weights

    def weights(self, q, k, allowed):
        scores = torch.einsum("bhqd,bhkd->bhqk", q, k)
        if allowed is None:
            return scores.softmax(-1)
        if allowed.ndim != 4 and allowed.shape != scores.shape[-2:]:
            raise ValueError("allowed 只能是 (n_queries, n_keys) 或四维")
        scores = scores.masked_fill(~allowed, torch.finfo(scores.dtype).min)
        return scores.softmax(-1).masked_fill(~allowed, 0)
