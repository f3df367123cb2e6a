"""Try by_hand: run `pytest public_tests/test_by_hand.py` in the folder that holds by_hand.py."""

import numpy as np
import pytest
from by_hand import attend_one

QUERY = np.array([1.0, 0.0])
KEYS = np.array([[1.0, 0.0], [0.0, 1.0]])
VALUES = np.array([[10.0, 0.0], [0.0, 20.0]])


@pytest.mark.contract("weights")
def test_the_weights_of_the_tutorial():
    weights, _ = attend_one(QUERY, KEYS, VALUES)
    np.testing.assert_allclose(weights, [0.670, 0.330], atol=5e-4)


@pytest.mark.contract("output")
def test_the_output_of_the_tutorial():
    _, output = attend_one(QUERY, KEYS, VALUES)
    np.testing.assert_allclose(output, [6.70, 6.60], atol=5e-3)


@pytest.mark.contract("apart")
def test_a_larger_first_value_leaves_the_weights_alone():
    weights, output = attend_one(QUERY, KEYS, np.array([[100.0, 0.0], [0.0, 20.0]]))
    np.testing.assert_allclose(weights, [0.670, 0.330], atol=5e-4)
    np.testing.assert_allclose(output, [66.98, 6.60], atol=5e-3)


@pytest.mark.contract("sizes")
def test_three_keys_of_width_two_and_values_of_width_one():
    keys = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 5.0]])
    weights, output = attend_one(QUERY, keys, np.array([[1.0], [4.0], [16.0]]))
    np.testing.assert_allclose(weights, [0.401112, 0.197776, 0.401112], atol=1e-6)
    np.testing.assert_allclose(output, [7.610009], atol=1e-6)


@pytest.mark.contract("sizes")
def test_one_key_gets_all_the_weight():
    weights, output = attend_one(QUERY, KEYS[:1], np.array([[3.0, 4.0, 5.0]]))
    np.testing.assert_allclose(weights, [1.0])
    np.testing.assert_allclose(output, [3.0, 4.0, 5.0])


@pytest.mark.contract("large")
def test_large_scores_do_not_overflow():
    weights, _ = attend_one(np.array([1.0]), np.array([[1000.0], [1001.0]]), VALUES)
    np.testing.assert_allclose(weights, [0.26894142, 0.73105858])


@pytest.mark.contract("integers")
def test_whole_numbers_give_fractions():
    weights, output = attend_one(np.array([1, 0]), np.array([[1, 0], [0, 1]]), np.array([[10, 0], [0, 20]]))
    np.testing.assert_allclose(weights, [0.670, 0.330], atol=5e-4)
    np.testing.assert_allclose(output, [6.70, 6.60], atol=5e-3)


@pytest.mark.contract("dtype")
def test_float32_comes_back_as_float32():
    weights, output = attend_one(*(array.astype(np.float32) for array in (QUERY, KEYS, VALUES)))
    assert weights.dtype == output.dtype == np.float32


@pytest.mark.contract("shape_error")
def test_a_query_and_keys_of_different_width_are_refused():
    with pytest.raises(ValueError, match=r"query|keys|d_k"):
        attend_one(np.array([1.0]), KEYS, VALUES)
