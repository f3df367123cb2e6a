"""Arrays and tensors as NumPy sees them, without importing torch where nobody has."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np


def is_tensor(value: Any) -> bool:
    """Tell whether a value is a torch tensor."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def as_array(value: Any) -> np.ndarray:
    """Give an array, a tensor or a number as an array; floating tensors become float64, since NumPy has no bfloat16."""
    if not is_tensor(value):
        return np.asarray(value)
    value = value.detach()
    return np.asarray(value.double().numpy() if value.is_floating_point() else value.numpy())
