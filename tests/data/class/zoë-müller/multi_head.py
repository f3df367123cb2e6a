import torch
import torch.nn as nn
from attention import attention

print("multi head attention, version 3 (this one works!)")


def split_heads(x, n_heads):
    if x.shape[-1] % n_heads != 0:
        raise ValueError("d_model is not a multiple of n_heads")
    return torch.stack(x.chunk(n_heads, dim=-1), dim=-3)


def merge_heads(x):
    return torch.cat([x[..., h, :, :] for h in range(x.shape[-3])], dim=-1)


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("d_model is not a multiple of n_heads")
        self.d_head = d_model // n_heads
        self.n_heads = n_heads
        for name in ["q_proj", "k_proj", "v_proj", "out_proj"]:
            setattr(self, name, nn.Linear(d_model, d_model, bias=bias))
        self.dropout = dropout

    def drop(self, weights):
        if not self.training or self.dropout == 0:
            return weights
        if self.dropout == 1:
            return weights * 0
        keep = torch.rand_like(weights, dtype=torch.float64) >= self.dropout
        return weights * keep / (1 - self.dropout)

    def forward(self, query, key=None, value=None, allowed=None):
        if key is None:
            key = query
        if value is None:
            value = key
        if allowed is not None:
            if allowed.dim() != 4 and allowed.shape != (query.shape[1], key.shape[1]):
                raise ValueError("allowed has to be (n_queries, n_keys) or 4-dimensional")
            allowed = allowed.expand(query.shape[0], self.n_heads, query.shape[1], key.shape[1])
        q, k, v = self.q_proj(query), self.k_proj(key), self.v_proj(value)
        outputs, weights = [], []
        for h in range(self.n_heads):
            part = slice(h * self.d_head, (h + 1) * self.d_head)
            mask = None if allowed is None else allowed[:, h]
            _, w = attention(q[..., part], k[..., part], v[..., part], mask)
            weights.append(w)
            outputs.append(self.drop(w) @ v[..., part])
        return self.out_proj(torch.cat(outputs, dim=-1)), torch.stack(weights, dim=1)


if __name__ == "__main__":
    mha = MultiHeadAttention(512, 8)
    out, w = mha(torch.randn(2, 10, 512))
    print(out.shape, w.shape)
