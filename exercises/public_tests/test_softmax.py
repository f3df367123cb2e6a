"""Try softmax: run `pytest public_tests/test_softmax.py` in the folder that holds softmax.py."""

import numpy as np
import pytest
from softmax import softmax

SCORES = np.array([[0.0, 1.0, 2.0], [3.0, 1.0, 0.0]])


@pytest.mark.contract("formula")
def test_the_row_of_the_tutorial():
    weights = softmax(np.array([1.0, 0.0]) / np.sqrt(2))
    np.testing.assert_allclose(weights, [0.670, 0.330], atol=5e-4)


@pytest.mark.contract("formula")
def test_the_weights_are_used_to_average_the_values():
    weights = softmax(np.array([1.0, 0.0]) / np.sqrt(2))
    values = np.array([[10.0, 0.0], [0.0, 20.0]])
    np.testing.assert_allclose(weights @ values, [6.70, 6.60], atol=5e-3)


@pytest.mark.contract("formula")
def test_rows_add_up_to_one():
    weights = softmax(SCORES)
    assert weights.shape == SCORES.shape
    np.testing.assert_allclose(weights.sum(axis=-1), [1.0, 1.0])


@pytest.mark.contract("axis")
def test_along_the_first_axis_it_is_the_columns_that_add_up():
    weights = softmax(SCORES, axis=0)
    np.testing.assert_allclose(weights.sum(axis=0), [1.0, 1.0, 1.0])
    np.testing.assert_allclose(weights[:, 1], [0.5, 0.5])


@pytest.mark.contract("shift")
def test_adding_one_hundred_to_every_score_changes_nothing():
    np.testing.assert_allclose(softmax(SCORES + 100.0), softmax(SCORES))
    np.testing.assert_allclose(softmax(np.array([0.0, np.log(3.0)]) + 100.0), [0.25, 0.75])


@pytest.mark.contract("finite")
def test_large_scores_do_not_overflow():
    np.testing.assert_allclose(softmax(np.array([1000.0, 1001.0])), [0.26894142, 0.73105858])


@pytest.mark.contract("temperature")
def test_a_temperature_of_two_halves_the_scores():
    np.testing.assert_allclose(softmax(np.array([0.0, np.log(9.0)]), temperature=2.0), [0.25, 0.75])


@pytest.mark.contract("temperature_error")
def test_a_temperature_of_zero_is_refused():
    with pytest.raises(ValueError, match="temperature"):
        softmax(SCORES, temperature=0.0)


@pytest.mark.contract("one_legal")
def test_with_one_legal_entry_the_temperature_does_not_matter():
    first_row = np.array([0.3, -np.inf, -np.inf, -np.inf])
    np.testing.assert_array_equal(softmax(first_row), [1.0, 0.0, 0.0, 0.0])
    np.testing.assert_array_equal(softmax(first_row, temperature=50.0), [1.0, 0.0, 0.0, 0.0])


@pytest.mark.contract("fully_masked")
def test_a_fully_masked_row_is_zero():
    scores = np.array([[-np.inf, -np.inf], [1.0, 1.0]])
    np.testing.assert_array_equal(softmax(scores), [[0.0, 0.0], [0.5, 0.5]])


@pytest.mark.contract("dtype")
def test_float32_comes_back_as_float32():
    weights = softmax(SCORES.astype(np.float32), temperature=2.0)
    assert weights.dtype == np.float32
    np.testing.assert_allclose(weights.sum(axis=-1), [1.0, 1.0], rtol=1e-6)
