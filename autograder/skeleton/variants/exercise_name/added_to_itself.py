"""A sum instead of a product."""

import numpy as np


def exercise_name(x):
    return np.add(x, x)
