"""The reference for one row, against the tutorial's own lines, a hundred digits, and the library."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
import torch
import torch.nn.functional as F

FLOATS = (np.float64, np.float32, np.float16)
QUERY = np.array([1.0, 0.0])
KEYS = np.array([[1.0, 0.0], [0.0, 1.0]])


@pytest.fixture
def rng():
    return np.random.default_rng(20260910)


@pytest.fixture
def attend_one(solution):
    return solution("by_hand").attend_one


def decimal_row(query, keys, values):
    """One row in a hundred digits, from the numbers exactly as their dtype holds them."""
    with localcontext() as context:
        context.prec = 100
        query, keys, values = ([[Decimal(float(x)) for x in row] for row in m] for m in ([query], keys, values))
        root = Decimal(len(query[0])).sqrt()
        scores = [sum(q * k for q, k in zip(query[0], key, strict=True)) / root for key in keys]
        exponentials = [(score - max(scores)).exp() for score in scores]
        weights = [exponential / sum(exponentials) for exponential in exponentials]
        columns = zip(*values, strict=True)
        output = [sum(w * x for w, x in zip(weights, column, strict=True)) for column in columns]
        return np.array([float(w) for w in weights]), np.array([float(x) for x in output])


def test_the_numbers_of_the_tutorial_as_they_are_printed(attend_one):
    weights, output = attend_one(QUERY, KEYS, np.array([[10.0, 0.0], [0.0, 20.0]]))
    assert [f"{weight:.3f}" for weight in weights] == ["0.670", "0.330"]
    assert [f"{number:.2f}" for number in output] == ["6.70", "6.60"]


@pytest.mark.parametrize("first", [10.0, 100.0])
def test_the_code_of_the_tutorial_gives_the_same_to_twelve_decimals(attend_one, first):
    scores = [1 / math.sqrt(2), 0.0]
    z = [math.exp(s - max(scores)) for s in scores]
    a = [v / sum(z) for v in z]
    values = [[first, 0], [0, 20]]
    out = [sum(a[j] * values[j][d] for j in range(2)) for d in range(2)]
    weights, output = attend_one(QUERY, KEYS, np.array(values, float))
    np.testing.assert_allclose(weights, a, rtol=0, atol=1e-12)
    np.testing.assert_allclose(output, out, rtol=0, atol=1e-12)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("n", "d_k", "d_v"), [(1, 1, 1), (2, 2, 2), (1, 4, 3), (4, 1, 3), (6, 5, 7), (64, 16, 3)])
def test_it_agrees_with_a_hundred_digits(attend_one, rng, dtype, n, d_k, d_v):
    arguments = [rng.normal(size=shape).astype(dtype) for shape in ((d_k,), (n, d_k), (n, d_v))]
    for actual, expected in zip(attend_one(*arguments), decimal_row(*arguments), strict=True):
        assert actual.dtype == dtype
        size = max(1.0, float(np.abs(expected).max()))
        assert np.all(np.abs(actual - expected) <= 2 * np.finfo(dtype).eps * size)


@pytest.mark.parametrize("dtype", FLOATS[:2])
def test_it_agrees_with_the_library(attend_one, rng, dtype):
    query, keys, values = (rng.normal(size=shape).astype(dtype) for shape in ((5,), (6, 5), (6, 7)))
    q, k, v = (torch.from_numpy(array.astype(np.float64)) for array in (query[None], keys, values))
    weights, output = attend_one(query, keys, values)
    expected = F.scaled_dot_product_attention(q, k, torch.eye(6, dtype=torch.float64)).numpy()[0]
    # The library rounds in float64 as well, and the exponential multiplies what a score has lost by its size.
    np.testing.assert_allclose(weights, expected, rtol=16 * np.finfo(dtype).eps)
    expected = F.scaled_dot_product_attention(q, k, v).numpy()[0]
    np.testing.assert_allclose(output, expected, atol=16 * np.finfo(dtype).eps)


@pytest.mark.parametrize("keys", [[1000.0, 1001.0], [-1000.0, -1001.0], [800.0, 1.0, 1.0], [1e300, 0.0]])
def test_large_scores_do_not_overflow(attend_one, keys):
    arguments = np.array([1.0]), np.array(keys)[:, None], np.arange(float(len(keys)))[:, None]
    for actual, expected in zip(attend_one(*arguments), decimal_row(*arguments), strict=True):
        np.testing.assert_allclose(actual, expected, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("dtype", (np.bool_, np.uint8, np.int64))
def test_integers_are_computed_as_float64(attend_one, dtype):
    arguments = [np.array(rows, dtype) for rows in ([1, 0], [[1, 0], [0, 1], [1, 1]], [[1], [0], [1]])]
    for actual, expected in zip(attend_one(*arguments), decimal_row(*arguments), strict=True):
        assert actual.dtype == np.float64
        np.testing.assert_allclose(actual, expected, rtol=1e-15)


@pytest.mark.parametrize(
    ("query", "keys", "values", "words"),
    [((2,), (4, 3), (4, 5), "query.*keys"), ((1,), (4, 3), (4, 5), "query.*keys"), ((3,), (4, 3), (1, 5), "values")],
)
def test_shapes_that_do_not_match_are_value_errors(attend_one, query, keys, values, words):
    with pytest.raises(ValueError, match=words):
        attend_one(np.ones(query), np.ones(keys), np.ones(values))


def test_any_layout_is_read_and_left_alone(attend_one, rng):
    numbers = rng.normal(size=(8, 6))
    arguments = numbers[0, ::3], numbers[::2, 1:3], np.broadcast_to(numbers[0], (4, 6))
    before = [array.copy() for array in arguments]
    first, second = attend_one(*arguments), attend_one(*arguments)
    for array, original in zip(arguments, before, strict=True):
        np.testing.assert_array_equal(array, original)
    for actual, again, expected in zip(first, second, decimal_row(*before), strict=True):
        np.testing.assert_allclose(actual, expected, rtol=1e-14)
        assert not any(np.shares_memory(actual, other) for other in (*arguments, again))
