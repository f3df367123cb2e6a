import numpy as np

def padding_mask(lengths, n_keys, side='right'):
    L = np.asarray(lengths)[:, None]
    if (L < 0).any() or (L > n_keys).any():
        raise ValueError('lengths out of range')
    k = np.arange(n_keys)[None]
    match side:
        case 'right':
            return k < L
        case 'left':
            return k >= n_keys - L
    raise ValueError('side')

def as_allowed(mask, convention):
    m = np.asarray(mask)
    match convention:
        case 'allowed' | 'blocked':
            if ((m != 0) & (m != 1)).any():
                raise ValueError('mask: only 0 and 1')
            return m.astype(bool) ^ (convention == 'blocked')
        case 'additive':
            if m.dtype.kind != 'f':
                raise ValueError('mask: additive means float')
            blocked = (m == -np.inf) | (m == np.finfo(m.dtype).min)
            if ((m != 0) & ~blocked).any():
                raise ValueError('mask: this is a bias')
            return ~blocked
    raise ValueError('convention')

def merge_masks(causal, keys_allowed):
    if causal.shape[1] != keys_allowed.shape[1]:
        raise ValueError('causal, keys_allowed: not the same number of keys')
    # combine both masks
    return causal[None, None, :, :] | keys_allowed[:, None, None, :]

def fully_masked_rows(allowed):
    return np.sum(allowed, axis=-1) == 0
