"""`torch.einsum` for both products, the NaN of dead rows replaced, and more keyword arguments with defaults."""

import torch


def attention(query, key, value, allowed=None, *, temperature=1.0, fill=-torch.inf):
    d_k = query.size(-1)
    if key.size(-1) != d_k:
        raise ValueError(f"d_k is {d_k} in the query and {key.size(-1)} in the key")
    if key.size(-2) != value.size(-2):
        raise ValueError(f"n_keys is {key.size(-2)} in the key and {value.size(-2)} in the value")
    if allowed is None:
        allowed = torch.ones((), dtype=torch.bool)
    elif allowed.dtype is not torch.bool:
        raise TypeError(f"allowed is {allowed.dtype}, not boolean")
    scores = torch.einsum("...qd,...kd->...qk", query * (d_k**-0.5 / temperature), key)
    leading = torch.broadcast_shapes(scores.shape[:-2], value.shape[:-2])
    scores = torch.broadcast_to(scores, leading + scores.shape[-2:]).masked_fill(~allowed, fill)
    weights = torch.nan_to_num(scores.softmax(-1), nan=0.0)
    return torch.einsum("...qk,...kv->...qv", weights, value), weights
