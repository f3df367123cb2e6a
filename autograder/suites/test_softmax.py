"""The hidden checks of softmax, 20 points."""

import math

import numpy as np

from autograder.checks import (
    Examples,
    assert_close,
    assert_equal,
    assert_no_runtime_warning,
    assert_unshared,
    assert_untouched,
    hint,
    points,
    promise,
    raises,
    seen_in,
    stays,
)

FLOATS = (np.float64, np.float32, np.float16)
# Five digits in float64; the others have few enough.
ROUGH = {np.float64: 1e10, np.float32: 4.0, np.float16: 4.0}
ORDINARY = np.array([[0.5, -1.0, 2.0, 0.25], [3.0, 1.5, -2.0, 1.0]])


def any_scores(choose):
    """Make a row or a matrix of scores, and choose a dtype."""
    shape = [choose(2, 5) for _ in range(choose(1, 2))]
    # Multiples of 1/4 are exact in every dtype, and so is their distance from each other.
    quarters = [choose(-16, 16) for _ in range(math.prod(shape))]
    return np.reshape(quarters, shape) / 4, FLOATS[choose(0, 2)]


ANY_SCORES = Examples(20, any_scores)


def assert_roughly(actual, expected, dtype=np.float64, logits=4.0):
    """Compare five digits, whatever floating dtype came back: accuracy and dtype have checks of their own."""
    assert_close(as_dtype(actual, dtype), expected, dtype=dtype, logits=max(logits, ROUGH[dtype]))


def as_dtype(weights, dtype):
    floating = isinstance(weights, np.ndarray) and np.issubdtype(weights.dtype, np.floating)
    return weights.astype(dtype) if floating else weights


@points(1)
@promise("names", "shape", "formula")
@hint("softmax.formula")
@seen_in("Open-Deep-ML/DML-OpenProblem#406", "ScalingIntelligence/KernelBench#165")
@stays("what breaks the plainest case breaks others too, and here it is easiest to read")
def test_a_row_of_scores_becomes_its_weights(learner, reference):
    in_the_tutorial = np.array([0.6697615493266569, 0.3302384506733431])
    assert_roughly(learner.softmax(np.array([0.5**0.5, 0.0])), in_the_tutorial)
    assert_roughly(learner.softmax(np.array([1.0, 2.0, 3.0])), np.array([0.09003057317, 0.24472847105, 0.66524095577]))
    assert_roughly(learner.softmax(ORDINARY), reference.softmax(ORDINARY))


@points(2)
@promise("axis", "shape")
@hint("softmax.axis")
@seen_in(
    "jadore801120/attention-is-all-you-need-pytorch#52",
    "PetrochukM/PyTorch-NLP#2",
    "FudanNLP/fastNLP#254",
    "stackoverflow.com/questions/34968722",
)
def test_any_axis_of_an_array_of_any_dimensions(learner, reference, rng):
    cases = [((3,), 0), ((1, 2), 0), ((3, 3), -1), ((3, 3), 0), ((3, 4), -1), ((3, 4), 0), ((3, 4), -2)]
    cases += [((1, 2, 2), -1), ((2, 3, 4), 0), ((2, 3, 4), 1), ((2, 3, 4), 2), ((2, 3, 4), -2), ((2, 3, 4), -3)]
    cases += [((2, 3, 4, 5), -1), ((2, 3, 4, 5), 1)]
    for shape, axis in cases:
        scores = rng.normal(size=shape)
        assert_roughly(learner.softmax(scores, axis), reference.softmax(scores, axis))
    assert_roughly(learner.softmax(scores), reference.softmax(scores))


@points(1)
@promise("temperature")
@hint("softmax.temperature")
@stays("what breaks an everyday temperature breaks an extreme one too, and here the numbers can be followed")
def test_the_scores_are_divided_by_the_temperature(learner, reference):
    for temperature in (2.0, 0.5, 3):
        for scores in (np.array([0.0, 1.0]), ORDINARY):
            weights = learner.softmax(scores, temperature=temperature)
            assert_roughly(weights, reference.softmax(scores, temperature=temperature))
    assert_roughly(learner.softmax(ORDINARY, -1, 2.0), reference.softmax(ORDINARY, -1, 2.0))


@points(1)
@promise("temperature_error")
@hint("softmax.temperature_error")
def test_a_temperature_of_zero_or_below_is_refused(learner, reference):
    for temperature in (0.0, 0, -1.0, -1e-9):
        with raises(ValueError, naming=("temperature",)):
            learner.softmax(np.array([0.0, 1.0]), temperature=temperature)
    assert_roughly(learner.softmax(ORDINARY, temperature=1.0), reference.softmax(ORDINARY))


@points(1)
@promise("shift")
@hint("softmax.shift")
@seen_in("tensorflow/tensorflow#10142", "FluxML/NNlib.jl#43", "open-edge-platform/geti#1507")
def test_a_constant_added_to_a_row_changes_nothing(learner, reference):
    for constant in (-50.0, 100.0, -1000.0, 1000.0):
        assert_roughly(learner.softmax(np.zeros(2) + constant), np.array([0.5, 0.5]))
        assert_roughly(learner.softmax(ORDINARY + constant), reference.softmax(ORDINARY))
    each_row_its_own = np.array([[-1000.0], [1000.0]])
    assert_roughly(learner.softmax(ORDINARY + each_row_its_own), reference.softmax(ORDINARY))


@points(1)
@promise("finite", "ties")
@hint("softmax.overflow")
@seen_in(
    "dwavesystems/dwave-optimization#555",
    "deeplearning4j/deeplearning4j#6039",
    "tensorflow/tensorflow#10142",
    "linxiaow/EECS498-Deep-Learning-for-Vision#2",
)
@stays("each dtype overflows at a score of its own; the fault that only float16 shows is one that nobody reports")
def test_scores_just_above_the_overflow_of_the_exponential_stay_finite(learner, reference):
    cases = [([12, 0], np.float16), ([100, 101], np.float32), ([1000, 1001], np.float64), ([800, 1, 1], np.float64)]
    cases += [([12, 12, 0], np.float16), ([1000, 1000, 0], np.float32), ([900, 901, 0, 1], np.float64)]
    for numbers, dtype in cases:
        scores = np.array(numbers, dtype)
        expected = reference.softmax(scores.astype(np.float64))
        assert_roughly(learner.softmax(scores), expected, dtype, logits=float(np.max(scores)))


@points(1)
@promise("finite", "ties")
@hint("softmax.range")
@stays("the contract promises the whole range, and a fix may reach 1000 without reaching it")
def test_scores_as_large_as_the_dtype_allows_stay_finite(learner):
    for dtype in FLOATS:
        largest = np.finfo(dtype).max
        for temperature in (1.0, 0.5, 4.0):
            for row, expected in (([largest, 0], [1.0, 0.0]), ([largest, largest, -largest], [0.5, 0.5, 0.0])):
                weights = learner.softmax(np.array(row, dtype), temperature=temperature)
                assert_roughly(weights, np.array(expected), dtype)
        # Between the most negative score and -inf lies nothing that may be lost.
        weights = learner.softmax(np.array([-largest, -np.inf], dtype), temperature=0.1)
        assert_roughly(weights, np.array([1.0, 0.0]), dtype)


@points(1)
@promise("finite", "temperature")
@hint("softmax.any_temperature")
def test_a_temperature_far_outside_the_range_of_the_scores_still_works(learner):
    for dtype in FLOATS:
        for row, temperature, expected in (
            ([3, 1], 1e-300, [1.0, 0.0]),
            ([3, 3, 1], 1e-300, [0.5, 0.5, 0.0]),
            ([60000, 60000, -60000], 1e-300, [0.5, 0.5, 0.0]),
            ([60000, 60000, -60000, 1], 1e300, [0.25] * 4),
        ):
            weights = learner.softmax(np.array(row, dtype), temperature=temperature)
            assert_roughly(weights, np.array(expected), dtype)
    weights = learner.softmax(np.array([0.0, 1e-200]), temperature=1e-200)
    assert_roughly(weights, np.array([0.26894142, 0.73105858]))
    # The two lie further apart than float32 reaches, and the temperature makes nothing of it.
    largest = np.finfo(np.float32).max
    weights = learner.softmax(np.array([largest, -largest], np.float32), temperature=1e300)
    assert_roughly(weights, np.array([0.5, 0.5]), np.float32)


@points(1)
@promise("minus_inf")
@hint("softmax.minus_inf")
@seen_in("scipy/scipy#8872")
@stays("a weight that is only nearly 0 shows elsewhere too, but here it is the question")
def test_a_score_of_minus_infinity_has_exactly_no_weight(learner, reference):
    for row in ([0.0, -np.inf], [-np.inf, 0.0, -np.inf], [2.0, -np.inf, 1.0, 1.0, -np.inf], [-3.0, -np.inf, -4.0]):
        weights = learner.softmax(np.array(row))
        expected = reference.softmax(np.array(row))
        assert_roughly(weights, expected)
        assert_equal(weights == 0, expected == 0)


@points(1)
@promise("fully_masked")
@hint("softmax.fully_masked")
@seen_in("pytorch/pytorch#25110", "pytorch/pytorch#24816")
def test_a_slice_of_nothing_but_minus_infinity_becomes_zeros(learner, reference):
    one_row = np.array([[1.0, 2.0, 0.0], [-np.inf] * 3, [-np.inf, 0.5, -np.inf]])
    in_a_batch = np.stack([one_row, one_row[::-1]])
    for scores, axis in ((np.full(2, -np.inf), 0), (one_row, -1), (one_row.T.copy(), 0), (in_a_batch, 2)):
        assert_roughly(learner.softmax(scores, axis=axis), reference.softmax(scores, axis=axis))


@points(1)
@promise("no_warning")
@hint("softmax.no_warning")
def test_a_slice_of_nothing_but_minus_infinity_causes_no_warning(learner, reference):
    assert_roughly(learner.softmax(ORDINARY), reference.softmax(ORDINARY))
    for scores in (np.full(2, -np.inf), np.array([[1.0, 2.0], [-np.inf, -np.inf]])):
        learner.softmax(scores)
        assert_no_runtime_warning(learner)


@points(1)
@promise("empty")
@hint("softmax.empty")
@seen_in("open-edge-platform/geti#1507", "TheAlgorithms/Python#13409", "pytorch/pytorch#174950")
def test_an_axis_of_size_zero_gives_an_empty_result(learner, reference):
    for shape, axis in (((0,), -1), ((3, 0), -1), ((3, 0), 0), ((0, 3), 0), ((0, 3), -1), ((2, 0, 3), 1)):
        assert_close(learner.softmax(np.zeros(shape), axis=axis), np.zeros(shape))
    assert_roughly(learner.softmax(ORDINARY), reference.softmax(ORDINARY))


@points(1)
@promise("flattens")
@hint("softmax.flattens")
@stays("the uniform limit is promised in words of its own; a finite -inf shows in the next check as well")
def test_a_high_temperature_shares_alike_among_the_legal_entries(learner):
    # At this temperature the largest difference, 6, is lost in the sixteenth digit.
    for row, expected in (
        ([4.0, -2.0], [1 / 2, 1 / 2]),
        ([4.0, -np.inf, -2.0], [1 / 2, 0.0, 1 / 2]),
        ([-np.inf, 1.0, 4.0, -2.0], [0.0, 1 / 3, 1 / 3, 1 / 3]),
    ):
        assert_roughly(learner.softmax(np.array(row), temperature=1e17), np.array(expected))


@points(1)
@promise("one_legal")
@hint("softmax.one_legal")
@stays("the one-hot row is promised in words of its own; a finite -inf shows in the check before as well")
def test_one_legal_entry_gets_everything_whatever_the_temperature(learner):
    for position in (0, 2):
        scores = np.full(4, -np.inf)
        scores[position] = 0.3
        expected = np.eye(4)[position]
        for temperature in (1.0, 50.0, 1e-3, 1e300):
            weights = learner.softmax(scores, temperature=temperature)
            assert_roughly(weights, expected)
            assert_equal(weights == 0, expected == 0)


@points(1)
@promise("dtype")
@hint("softmax.dtype")
@seen_in("netket/netket#1218", "netket/netket#1181", "numpy/numpy#21103")
def test_the_dtype_of_the_scores_comes_back_whatever_the_type_of_the_temperature(learner, reference):
    for dtype in (np.float32, np.float16, np.float64):
        scores = ORDINARY.astype(dtype)
        assert_close(learner.softmax(scores), reference.softmax(ORDINARY), dtype=dtype, logits=ROUGH[dtype])
        for temperature in (2, 2.0, np.float64(2.0)):
            weights = learner.softmax(np.ones((2, 4), dtype), temperature=temperature)
            assert_close(weights, np.full((2, 4), 0.25), dtype=dtype, logits=ROUGH[dtype])


@points(1)
@promise("integers")
@hint("softmax.integers")
@seen_in("rsokl/MyGrad#193", "pymc-devs/pytensor#857")
def test_integers_and_booleans_give_float64(learner, reference):
    cases = [([1, 2, 3], np.int64), ([True, False], np.bool_), ([1, 2, 3], np.uint8), ([-100, 100, 99], np.int8)]
    for numbers, dtype in cases:
        expected = reference.softmax(np.array(numbers, np.float64))
        assert_close(learner.softmax(np.array(numbers, dtype)), expected, logits=ROUGH[np.float64])


@points(1)
@promise("untouched", "unshared")
@hint("softmax.memory")
@seen_in("exercism/python#1874", "exercism/javascript#817", "Foundations-of-Applied-Mathematics/Lab-Development#969")
def test_the_arguments_stay_as_they_were_and_the_result_is_new(learner, reference):
    masked = np.where(ORDINARY == 2.0, -np.inf, ORDINARY)
    for scores in (ORDINARY, masked, ORDINARY.astype(np.float32), ORDINARY):
        weights = learner.softmax(scores)
        assert_untouched(learner)
        assert_unshared(learner)
        assert_roughly(weights, reference.softmax(scores.astype(np.float64)), scores.dtype.type)


@points(1)
@promise("layout")
@hint("softmax.layout")
def test_scores_in_any_memory_layout_are_read_right(learner, reference, rng):
    numbers = rng.normal(size=(4, 6))
    for scores in (
        numbers[0, ::2],
        np.broadcast_to(numbers[0, :3], (2, 3)),
        np.broadcast_to(numbers[:2, :1], (2, 3)),
        numbers[:3, :2].T,
        numbers[::-1, 1::2],
        np.asfortranarray(numbers),
    ):
        assert_roughly(learner.softmax(scores), reference.softmax(scores))


@points(1)
@promise("accuracy")
@hint("softmax.accuracy")
@seen_in("sonos/tract#2586", "pytorch/executorch#20090")
def test_the_weights_are_as_accurate_as_the_dtype_allows(learner, reference):
    def agree(numbers, dtype):
        weights = as_dtype(learner.softmax(numbers.astype(dtype)), dtype)
        assert_close(weights, reference.softmax(numbers), dtype=dtype, terms=numbers.shape[-1], logits=4.0)

    # These come first, since looking for the smallest case takes time that a plain mistake need not cost.
    for dtype in FLOATS:
        agree(np.array([0.0, 0.0, -0.25]), dtype)
        agree(ORDINARY, dtype)
    ANY_SCORES.hold(agree)
    # Added one after the other in float16, the exponentials stall at 2048.
    weights = as_dtype(learner.softmax(np.zeros(4096, np.float16)), np.float16)
    assert_close(weights, np.full(4096, 1 / 4096), dtype=np.float16, terms=4096)
