"""An additive mask of 0 and -inf, compared with 0; its demo shows what a library makes of the result."""

import numpy as np


def causal_mask(n_queries, n_keys=None, *, verbose=False):
    if n_keys is None:
        n_keys = n_queries
    if n_queries < 0 or n_keys < 0:
        raise ValueError(f"n_queries and n_keys: a size cannot be negative ({n_queries}, {n_keys})")
    first_hidden_key = n_keys - n_queries + 1
    additive = np.triu(np.full((n_queries, n_keys), -np.inf), first_hidden_key)
    if verbose:
        print(additive)
    return additive == 0


if __name__ == "__main__":
    import torch
    import torch.nn.functional as F

    x = torch.eye(4)[None]
    print(F.scaled_dot_product_attention(x, x, x, attn_mask=torch.from_numpy(causal_mask(4, verbose=True))))
