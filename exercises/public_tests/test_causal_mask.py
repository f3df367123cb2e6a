"""Try causal_mask: run `pytest public_tests/test_causal_mask.py` in the folder that holds causal_mask.py."""

import numpy as np
import pytest
from causal_mask import causal_mask


@pytest.mark.contract("rule")
def test_four_tokens_as_in_the_tutorial():
    expected = [[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1]]
    np.testing.assert_array_equal(causal_mask(4), np.array(expected, dtype=bool))


@pytest.mark.contract("rule")
def test_the_rows_have_one_two_three_and_four_legal_keys():
    np.testing.assert_array_equal(causal_mask(4).sum(axis=-1), [1, 2, 3, 4])


@pytest.mark.contract("shape")
def test_one_token_may_read_itself():
    np.testing.assert_array_equal(causal_mask(1), [[True]])


@pytest.mark.contract("last_query")
def test_two_new_queries_see_the_keys_in_the_cache():
    expected = [[1, 1, 1, 1, 0], [1, 1, 1, 1, 1]]
    np.testing.assert_array_equal(causal_mask(2, 5), np.array(expected, dtype=bool))


@pytest.mark.contract("fewer_keys")
def test_with_fewer_keys_than_queries_the_first_rows_are_empty():
    np.testing.assert_array_equal(causal_mask(3, 2), np.array([[0, 0], [1, 0], [1, 1]], dtype=bool))


@pytest.mark.contract("dtype")
def test_the_mask_is_boolean():
    assert causal_mask(3).dtype == np.bool_


@pytest.mark.contract("zero")
def test_no_queries_is_a_legal_size():
    assert causal_mask(0, 3).shape == (0, 3)


@pytest.mark.contract("negative")
def test_a_negative_size_is_refused():
    with pytest.raises(ValueError, match="n_queries"):
        causal_mask(-1, 3)
