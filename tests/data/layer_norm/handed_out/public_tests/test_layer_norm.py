"""Try layer_norm: run `pytest public_tests/test_layer_norm.py` in the folder that holds layer_norm.py."""

import numpy as np
from layer_norm import layer_norm


def test_one_and_three_are_one_below_and_one_above_their_mean():
    normalised = layer_norm(np.array([1.0, 3.0]), np.ones(2), np.zeros(2))
    np.testing.assert_allclose(normalised, [-1.0, 1.0], rtol=1e-4)
