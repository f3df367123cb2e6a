# One query at a time, in double precision. Slow, but I can see what happens.
import torch

DEBUG = False


def attention(query, key, value, allowed=None):
    if query.shape[-1] != key.shape[-1]:
        raise ValueError("query and key have different d_k")
    if key.shape[-2] != value.shape[-2]:
        raise ValueError("key and value have a different number of keys")
    if allowed is not None and allowed.dtype != torch.bool:
        raise TypeError("allowed is " + str(allowed.dtype) + ", it should be bool")

    q, k, v = query.double(), key.double(), value.double()
    lead = torch.broadcast_shapes(q.shape[:-2], k.shape[:-2], v.shape[:-2])
    n_queries, n_keys = q.shape[-2], k.shape[-2]
    if allowed is not None:
        allowed = allowed.expand(*lead, n_queries, n_keys)

    all_weights = []
    for i in range(n_queries):
        # (..., 1, d) * (..., n_keys, d) -> (..., n_keys)
        scores = (q[..., i : i + 1, :] * k).sum(-1) / q.shape[-1] ** 0.5
        scores = scores.expand(*lead, n_keys)
        if allowed is not None:
            scores = scores.masked_fill(~allowed[..., i, :], -torch.inf)
        weights = torch.softmax(scores, dim=-1)
        if allowed is not None:
            weights = torch.where(allowed[..., i, :], weights, torch.zeros_like(weights))
        if DEBUG:
            print(i, weights)
        all_weights.append(weights)
    weights = torch.stack(all_weights, dim=-2)
    output = weights @ v
    return output.to(value.dtype), weights.to(query.dtype)


if __name__ == "__main__":
    q = torch.tensor([[1.0, 0.0]])
    k = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    v = torch.tensor([[10.0, 0.0], [0.0, 20.0]])
    print(*attention(q, k, v))
