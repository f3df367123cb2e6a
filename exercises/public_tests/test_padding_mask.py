"""Try the masks: run `pytest public_tests/test_padding_mask.py` in the folder that holds padding_mask.py."""

import numpy as np
import pytest
from padding_mask import as_allowed, fully_masked_rows, merge_masks, padding_mask

CAUSAL = np.array([[1, 0, 0], [1, 1, 0], [1, 1, 1]], dtype=bool)


@pytest.mark.contract("padding")
def test_padding_on_the_right():
    expected = [[1, 1, 0], [1, 1, 1]]
    np.testing.assert_array_equal(padding_mask(np.array([2, 3]), 3), np.array(expected, dtype=bool))


@pytest.mark.contract("side")
def test_padding_on_the_left():
    expected = [[0, 1, 1], [1, 1, 1]]
    np.testing.assert_array_equal(padding_mask(np.array([2, 3]), 3, side="left"), np.array(expected, dtype=bool))


@pytest.mark.contract("length_error")
def test_a_length_above_the_number_of_keys_is_refused():
    with pytest.raises(ValueError, match=r"lengths|n_keys"):
        padding_mask(np.array([2, 4]), 3)


@pytest.mark.contract("blocked")
def test_the_two_boolean_conventions_are_opposites():
    np.testing.assert_array_equal(as_allowed(CAUSAL, "allowed"), CAUSAL)
    np.testing.assert_array_equal(as_allowed(CAUSAL, "blocked"), np.logical_not(CAUSAL))


@pytest.mark.contract("allowed")
def test_zeros_and_ones_count_as_booleans():
    np.testing.assert_array_equal(as_allowed(np.array([0, 1]), "blocked"), [True, False])


@pytest.mark.contract("additive")
def test_minus_infinity_blocks_in_an_additive_mask():
    np.testing.assert_array_equal(as_allowed(np.array([0.0, -np.inf]), "additive"), [True, False])


@pytest.mark.contract("additive_error")
def test_a_bias_is_not_a_mask():
    with pytest.raises(ValueError, match=r"mask|convention"):
        as_allowed(np.array([0.0, -1.5]), "additive")


@pytest.mark.contract("merge")
def test_a_key_is_readable_when_both_masks_allow_it():
    allowed = merge_masks(CAUSAL, np.array([[True, True, False], [True, True, True]]))
    assert allowed.shape == (2, 1, 3, 3)
    np.testing.assert_array_equal(allowed[0, 0], np.array([[1, 0, 0], [1, 1, 0], [1, 1, 0]], dtype=bool))
    np.testing.assert_array_equal(allowed[1, 0], CAUSAL)


@pytest.mark.contract("merge_error")
def test_masks_with_a_different_number_of_keys_are_refused():
    with pytest.raises(ValueError, match=r"causal|keys_allowed"):
        merge_masks(CAUSAL, np.array([[True]]))


@pytest.mark.contract("fully_masked")
def test_padding_on_the_left_can_leave_a_query_nothing_to_read():
    allowed = np.array([[0, 0, 0], [0, 1, 0], [0, 1, 1]], dtype=bool)
    np.testing.assert_array_equal(fully_masked_rows(allowed), [True, False, False])
