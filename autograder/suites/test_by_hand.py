"""The hidden checks of by_hand, 5 points.

Where the scale is not the question `d_k` is 1, so that a wrong scale costs few checks and not all.
"""

import numpy as np

from autograder.checks import (
    assert_close,
    assert_unshared,
    assert_untouched,
    hint,
    insist,
    points,
    promise,
    raises,
    say,
    seen_in,
    stays,
)

ROUGH = 1e4
QUERY = np.array([1.0, 0.0])
KEYS = np.array([[1.0, 0.0], [0.0, 1.0]])
VALUES = np.array([[10.0, 0.0], [0.0, 20.0]])
# 1 / (1 + exp(-1 / sqrt(2))) to all digits that float64 holds, and what remains.
WEIGHTS = np.array([0.6697615493266569, 0.3302384506733431])
OUTPUT = np.array([6.697615493266569, 6.604769013466862])


def in_dtype(result, dtype):
    """Leave the dtype of a result to the check that is about it."""
    floating = isinstance(result, np.ndarray) and np.issubdtype(result.dtype, np.floating)
    with np.errstate(over="ignore"):
        return result.astype(dtype) if floating else result


def assert_roughly(actual, expected):
    """Three digits are enough where accuracy is not the question, so that rounding on the way costs one check."""
    assert_close(in_dtype(actual, np.float32), expected, dtype=np.float32, logits=ROUGH, scale=largest(expected))


def largest(array):
    return max(1.0, float(np.abs(array).max()))


def both(returned):
    """Take `(weights, output)` apart."""
    is_many = isinstance(returned, tuple | list)
    insist(is_many, say("attend_one returns (weights, output), not {kind}", kind=type(returned).__name__))
    insist(
        len(returned) == 2, say("attend_one returns two things, (weights, output), not {count}", count=len(returned))
    )
    return returned


def assert_attends(returned, expected):
    """Compare weights and output with those expected."""
    for actual, right in zip(both(returned), expected, strict=True):
        assert_roughly(actual, right)


@points(1)
@promise("names", "returns", "weights", "output")
@hint("by_hand.row")
@seen_in("Open-Deep-ML/DML-OpenProblem#406")
@stays("the tutorial's first experiment and the smallest case, whose numbers learners know")
def test_the_row_of_the_tutorial(learner):
    weights, output = both(learner.attend_one(QUERY, KEYS, VALUES))
    for actual, printed, decimals in ((weights, [0.670, 0.330], 3), (output, [6.70, 6.60], 2)):
        exact = in_dtype(actual, np.float64)
        assert_close(exact.round(decimals) if isinstance(exact, np.ndarray) else exact, np.array(printed))
    named = learner.attend_one(values=VALUES, keys=KEYS, query=QUERY)
    assert_attends(named, (WEIGHTS, OUTPUT))


@points(0.5)
@promise("apart", "output")
@hint("by_hand.values")
@stays("the tutorial's second experiment; values mixed into the scores show elsewhere too")
def test_a_larger_first_value_moves_the_output_and_not_the_weights(learner):
    for first in (100.0, -1000.0):
        values = np.array([[first, 0.0], [0.0, 20.0]])
        output = np.array([WEIGHTS[0] * first, OUTPUT[1]])
        assert_attends(learner.attend_one(QUERY, KEYS, values), (WEIGHTS, output))


@points(0.5)
@promise("scores")
@hint("by_hand.scale")
@seen_in("lucidrains/vit-pytorch#65", "esceptico/perceiver-io#9", "delzac/cntkx#10")
@stays("the only check whose question is the scale; a wrong one also moves the tutorial's row")
def test_scores_are_divided_by_the_root_of_the_key_width(learner):
    # Beyond 256 equal sizes are no longer the same object.
    for d_k, weight in ((2, 0.9441928), (5, 0.8567868), (289, 0.5585536)):
        query = 2.0 * np.eye(1, d_k)[0]
        keys = np.stack([query, np.zeros(d_k)])
        weights, _ = both(learner.attend_one(query, keys, np.eye(2, 3)))
        assert_roughly(weights, np.array([weight, 1.0 - weight]))


@points(0.5)
@promise("shapes", "sizes")
@hint("by_hand.sizes")
@seen_in("allenai/allennlp#3599")
def test_every_size_may_be_one_and_may_equal_or_differ_from_the_others(learner, reference, rng):
    for n, d_k, d_v in (
        (1, 1, 1),
        (1, 1, 3),
        (2, 1, 1),
        (2, 1, 2),
        (3, 1, 2),
        (2, 2, 2),
        (3, 3, 3),
        (4, 3, 5),
        (257, 1, 1),
    ):
        query, keys, values = rng.normal(size=d_k), rng.normal(size=(n, d_k)), rng.normal(size=(n, d_v))
        # All scores are 0 where a wrong scale could be seen, and where the keys are square their rows sum to 0.
        query = query if d_k == 1 else np.ones(d_k)
        keys = keys if d_k == 1 else keys - keys.mean(axis=1, keepdims=True)
        expected = reference.attend_one(query, keys, values)
        assert_attends(learner.attend_one(query, keys, values), expected)


@points(0.5)
@promise("large", "weights")
@hint("by_hand.overflow")
@seen_in("tensorflow/tensorflow#10142", "dwavesystems/dwave-optimization#555")
def test_large_scores_do_not_overflow(learner, reference):
    for keys in ([1000.0, 1001.0], [-1000.0, -1001.0], [800.0, 1.0, 1.0]):
        arguments = (
            np.array([1.0]),
            np.array(keys)[:, None],
            np.array([[1.0, 2.0], [4.0, 0.0], [16.0, 3.0]])[: len(keys)],
        )
        assert_attends(learner.attend_one(*arguments), reference.attend_one(*arguments))


@points(0.5)
@promise("dtype", "integers")
@hint("by_hand.dtype")
@seen_in("rsokl/MyGrad#193", "netket/netket#1218")
def test_floating_dtypes_come_back_and_integers_become_float64(learner):
    whole = np.array([2]), np.array([[0], [1]]), np.array([[1, 3, 0], [2, 5, 1]])
    weights = np.array([0.1192029220221176, 0.8807970779778824])
    output = np.array([1.8807970779778824, 4.761594155955765, 0.8807970779778824])
    for dtype in (np.int64, np.float32, np.float16, np.uint8):
        returned = both(learner.attend_one(*(array.astype(dtype) for array in whole)))
        back = dtype if np.issubdtype(dtype, np.floating) else np.float64
        # Three digits: how many are right is another check.
        logits = {np.float64: 5e12, np.float32: ROUGH, np.float16: 2.0}[back]
        for actual, right in zip(returned, (weights, output), strict=True):
            assert_close(actual, right, dtype=back, logits=logits, scale=largest(right))


@points(0.5)
@promise("accuracy", "weights")
@hint("by_hand.accuracy")
def test_the_row_is_right_to_twelve_decimals(learner, reference, rng):
    for actual, right in zip(both(learner.attend_one(QUERY, KEYS, VALUES)), (WEIGHTS, OUTPUT), strict=True):
        assert_close(in_dtype(actual, np.float64), right, terms=2)
    keys, values = rng.normal(size=(6, 1)), rng.normal(size=(6, 7))
    for dtype in (np.float64, np.float32, np.float16):
        arguments = [array.astype(dtype) for array in (np.array([1.5]), keys, values)]
        expected = reference.attend_one(*(array.astype(np.float64) for array in arguments))
        logits = 1.5 * float(np.abs(keys).max())
        for actual, right in zip(both(learner.attend_one(*arguments)), expected, strict=True):
            assert_close(in_dtype(actual, dtype), right, dtype=dtype, terms=6, logits=logits, scale=largest(values))


@points(0.5)
@promise("shape_error")
@hint("by_hand.shape_error")
def test_widths_or_numbers_that_differ_are_value_errors(learner):
    for d_query, d_keys in ((2, 3), (1, 3), (3, 1)):
        with raises(ValueError, naming=("query", "keys", "d_k")):
            learner.attend_one(np.ones(d_query), np.ones((4, d_keys)), np.ones((4, 5)))
    for n_keys, n_values in ((2, 3), (1, 3), (3, 1)):
        with raises(ValueError, naming=("keys", "values")):
            learner.attend_one(np.ones(2), np.ones((n_keys, 2)), np.ones((n_values, 5)))
    weights, _ = both(learner.attend_one(np.ones(1), np.array([[0.0], [1.0]]), VALUES))
    assert_roughly(weights, np.array([0.2689414213699951, 0.7310585786300049]))


@points(0.25)
@promise("layout")
@hint("by_hand.layout")
def test_any_memory_layout_is_legal(learner, reference, rng):
    numbers = rng.normal(size=(8, 6))
    for query, keys, values in (
        (numbers[0, :1], numbers[0, :3, None], numbers.T[:3, :2]),
        (numbers[0, ::6], numbers[::2, 1:2], numbers[1::2, ::2]),
        (numbers[0, 1::-6], np.broadcast_to(numbers[:1, :1], (3, 1)), np.broadcast_to(numbers[0, :4], (3, 4))),
    ):
        assert_attends(learner.attend_one(query, keys, values), reference.attend_one(query, keys, values))


@points(0.25)
@promise("untouched", "unshared")
@hint("by_hand.memory")
@seen_in("exercism/python#1874")
def test_arguments_stay_as_they_are_and_results_are_new(learner, reference, rng):
    for n in (1, 3, 3):
        arguments = rng.normal(size=1), rng.normal(size=(n, 1)), rng.normal(size=(n, 2))
        assert_attends(learner.attend_one(*arguments), reference.attend_one(*arguments))
        assert_untouched(learner)
        assert_unshared(learner)
