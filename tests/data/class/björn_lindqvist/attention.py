import torch

def attention(query, key, value, allowed=None):
    dk = query.shape[-1]
    if dk != key.shape[-1]: raise ValueError('d_k of query and key')
    if key.shape[-2] != value.shape[-2]: raise ValueError('n_keys of key and value')
    S = (query * dk ** -0.5) @ key.mT
    S = S.expand(*torch.broadcast_shapes(S.shape[:-2], value.shape[:-2]), *S.shape[-2:])
    if allowed is None:
        A = S.softmax(-1)
        return A @ value, A
    if allowed.dtype != torch.bool: raise TypeError('allowed is not a bool tensor')
    S = S.masked_fill(~allowed, -torch.inf)
    A = S.softmax(-1)
    A = torch.where(allowed, A, 0.)
    return A @ value, A
