"""One number after the other."""

import numpy as np


def double(numbers, more=0.0):
    return np.array([number + number + more for number in numbers])
