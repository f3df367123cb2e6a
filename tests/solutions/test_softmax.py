"""The reference softmax against SciPy, PyTorch and decimal arithmetic."""

import itertools
import math
import warnings
from decimal import Context, Decimal, localcontext

import numpy as np
import pytest
import scipy.special
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

FLOATS = (np.float64, np.float32, np.float16)
TEMPERATURES = (5e-324, 1e-300, 1e-40, 0.3, 1.0, 7.0, 65504.0, 1e40, 1e300, 1.7e308)


@pytest.fixture(scope="module")
def softmax(solution):
    return solution("softmax").softmax


@pytest.fixture
def rng():
    return np.random.default_rng(20260910)


def decimal_softmax(row, temperature):
    """One row with a hundred digits and exponents without bounds that matter; -inf is left out of the sum."""
    with localcontext(Context(prec=100, Emin=-(10**9), Emax=10**9)):
        scores = [Decimal(float(score)) / Decimal(temperature) if score > -math.inf else None for score in row]
        peak = max(score for score in scores if score is not None)
        exponentials = [Decimal(0) if score is None else max(score - peak, Decimal(-5000)).exp() for score in scores]
        return np.array([float(exponential / sum(exponentials)) for exponential in exponentials])


def within(dtype, actual, expected, ulps=8):
    """True where the two differ by less than a few units of the dtype's last place."""
    assert actual.dtype == dtype
    info = np.finfo(dtype)
    difference = np.abs(actual.astype(np.float64) - expected)
    return np.all(difference <= ulps * float(info.eps) * expected + float(info.smallest_subnormal))


def extreme_rows(dtype):
    info = np.finfo(dtype)
    largest, tiny, subnormal = float(info.max), float(info.tiny), float(info.smallest_subnormal)
    values = (largest, largest / 2, 1.0, 0.0, -1.0, -largest, -math.inf, tiny, subnormal)
    rows = itertools.combinations_with_replacement(values, 3)
    return [np.array(row, dtype) for row in rows if max(row) > -math.inf]


@pytest.mark.parametrize("temperature", TEMPERATURES)
@pytest.mark.parametrize("dtype", FLOATS)
def test_any_finite_scores_and_any_temperature_give_what_a_hundred_digits_give(softmax, dtype, temperature):
    for row in extreme_rows(dtype):
        expected = decimal_softmax(row, temperature)
        actual = softmax(row, temperature=temperature)
        assert within(dtype, actual, expected), (row, actual, expected)


@pytest.mark.parametrize("temperature_type", (float, np.float64, np.float32, np.float16, int, np.int64, np.array))
@pytest.mark.parametrize("dtype", FLOATS)
def test_the_dtype_is_that_of_the_scores_whatever_the_type_of_the_temperature(softmax, dtype, temperature_type):
    scores = np.array([[0.5, -1.5, 2.0], [3.0, 3.0, -np.inf]], dtype)
    expected = [decimal_softmax(row, 2.0) for row in scores]
    assert within(dtype, softmax(scores, temperature=temperature_type(2)), np.array(expected))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape, axis", [((7,), 0), ((3, 5), 0), ((3, 5), -1), ((2, 3, 4), 1), ((2, 3, 4, 5), -2)])
def test_it_agrees_with_scipy_and_torch_on_every_axis(softmax, rng, shape, axis, dtype):
    scores = (5 * rng.normal(size=shape)).astype(dtype)
    weights = softmax(scores, axis=axis)
    wide = scores.astype(np.float64)
    assert within(dtype, weights, scipy.special.softmax(wide, axis=axis))
    assert within(dtype, weights, torch.softmax(torch.from_numpy(wide), dim=axis).numpy())


@settings(derandomize=True, database=None, deadline=None, max_examples=150)
@given(
    scores=arrays.arrays(
        np.float64,
        arrays.array_shapes(min_dims=1, max_dims=4, max_side=5),
        elements=st.floats(-1e308, 1e308) | st.floats(-30, 30) | st.just(-math.inf),
    ),
    axis=st.integers(0, 3),
    temperature=st.floats(1e-3, 1e3),
)
def test_it_agrees_with_a_loop_over_every_slice(softmax, scores, axis, temperature):
    axis = axis % scores.ndim
    weights = np.moveaxis(softmax(scores, axis=axis, temperature=temperature), axis, -1)
    rows = np.moveaxis(scores, axis, -1)
    assert weights.shape == rows.shape
    for index in np.ndindex(rows.shape[:-1]):
        masked = np.all(rows[index] == -np.inf)
        expected = np.zeros(rows.shape[-1]) if masked else decimal_softmax(rows[index], temperature)
        # The quotient is rounded once, and a logit of 1e3 turns that into a thousand units in the last place.
        np.testing.assert_allclose(weights[index], expected, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("dtype", (*FLOATS, np.int64, np.uint8, np.bool_))
def test_ordinary_scores_raise_no_warning(softmax, dtype):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        softmax(np.array([[0, 1, 1], [1, 0, 1]], dtype))


@pytest.mark.parametrize("temperature", (1e-300, 1.0, math.inf))
@pytest.mark.parametrize("axis", (0, 1))
def test_a_fully_masked_slice_is_zero_and_silent(softmax, axis, temperature):
    scores = np.array([[-np.inf, -np.inf], [-np.inf, 4.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        weights = softmax(scores, axis=axis, temperature=temperature)
    np.testing.assert_array_equal(weights, [[0.0, 0.0], [0.0, 1.0]])


def test_an_infinite_temperature_shares_alike_among_what_is_legal(softmax):
    np.testing.assert_array_equal(softmax(np.array([7.0, -np.inf, -7.0]), temperature=math.inf), [0.5, 0.0, 0.5])


@pytest.mark.parametrize("scores", ([math.nan, 0.0], [math.inf, 0.0]))
def test_what_has_no_answer_is_nan_as_in_the_libraries(softmax, scores):
    assert np.isnan(softmax(np.array(scores))).all()


@pytest.mark.parametrize("shape, axis", [((0,), 0), ((0, 3), 0), ((0, 3), 1), ((3, 0), 1), ((3, 0), 0), ((2, 0, 3), 1)])
def test_an_empty_axis_gives_an_empty_result(softmax, shape, axis):
    assert softmax(np.zeros(shape, np.float32), axis=axis).shape == shape


@pytest.mark.parametrize("dtype", (np.bool_, np.int8, np.uint8, np.int64, np.uint64))
def test_integers_are_computed_as_float64(softmax, dtype):
    scores = np.array([0, 1, 1], dtype)
    np.testing.assert_allclose(softmax(scores), scipy.special.softmax(np.array([0.0, 1.0, 1.0])), rtol=1e-15)
    assert softmax(scores).dtype == np.float64


@pytest.mark.parametrize("temperature", (0, 0.0, -0.0, -1e-300, -2, -math.inf, math.nan, np.float32(0)))
def test_a_temperature_that_is_not_above_zero_is_refused_by_name(softmax, temperature):
    with pytest.raises(ValueError, match="temperature"):
        softmax(np.zeros(2), temperature=temperature)


@pytest.mark.parametrize("dtype", FLOATS)
def test_neither_the_scores_nor_an_earlier_result_are_touched(softmax, dtype):
    scores = np.array([[1.0, -np.inf], [0.0, 0.0]], dtype)
    before = scores.copy()
    first = softmax(scores)
    second = softmax(scores)
    np.testing.assert_array_equal(scores, before)
    assert not np.shares_memory(first, scores)
    assert not np.shares_memory(first, second)


def test_any_layout_gives_the_same_weights(softmax, rng):
    scores = rng.normal(size=(4, 6))
    np.testing.assert_array_equal(softmax(scores.T, axis=0), softmax(scores.T.copy(), axis=0))
    np.testing.assert_array_equal(softmax(scores[::-1, ::2]), softmax(scores[::-1, ::2].copy()))
    row = np.broadcast_to(scores[0], (3, 6))
    np.testing.assert_array_equal(softmax(row), softmax(row.copy()))


def test_a_long_row_in_half_precision_is_summed_exactly_enough(softmax):
    assert within(np.float16, softmax(np.zeros(4096, np.float16)), np.full(4096, 1 / 4096))


def test_the_examples_print_what_they_say(solution, failed_examples):
    assert failed_examples(solution("softmax")) == 0
