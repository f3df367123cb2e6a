"""What counts as the same value: kind, shape, dtype, NaN and infinity, then numbers to a tolerance that is derived."""

import math

import numpy as np
import pytest
import torch

from autograder.compare import Difference, SuiteMistake, assert_close, assert_equal, dtype_name, relative_tolerance

ROUNDOFF = {"float64": 2.0**-53, "float32": 2.0**-24, "float16": 2.0**-11, "bfloat16": 2.0**-8}
FLOATS = list(ROUNDOFF)


def tensor(value, dtype):
    return torch.tensor(value, dtype=torch.float64).to(getattr(torch, dtype))


def message_of(actual, expected, compare=assert_close, **options):
    with pytest.raises(Difference) as caught:
        compare(actual, expected, **options)
    return str(caught.value)


@pytest.mark.parametrize("dtype", FLOATS)
def test_the_tolerance_is_sixteen_roundings_for_one_term(dtype):
    assert relative_tolerance(dtype) == 16 * ROUNDOFF[dtype]


@pytest.mark.parametrize(("terms", "roundings"), [(1, 8.0), (16, 23.0), (20, 27.0), (1 << 20, 43.0)])
def test_long_sums_are_held_to_what_adding_in_pairs_achieves(terms, roundings):
    length = min(terms, 16 + math.log2(terms))
    assert length + 7 == pytest.approx(roundings, abs=0.4)
    assert relative_tolerance("float32", terms) == 2 * ROUNDOFF["float32"] * (length + 7)


def test_large_scores_loosen_it_and_small_ones_do_not_tighten_it():
    assert relative_tolerance("float64", logits=10.0) == 2 * ROUNDOFF["float64"] * 35
    assert relative_tolerance("float64", logits=0.1) == relative_tolerance("float64")


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("sign", [1, -1])
def test_a_value_just_inside_passes_and_one_just_outside_does_not(dtype, sign):
    # Between 1 and 2 the numbers of a dtype lie two roundoffs apart, so the tolerance at 1 is eight of them.
    step = 2 * ROUNDOFF[dtype]
    expected = sign * torch.ones(3, dtype=torch.float64)
    assert_close(tensor([sign * (1 + 8 * step)] * 3, dtype), expected, dtype=getattr(torch, dtype))
    outside = tensor([sign, sign * (1 + 9 * step), sign], dtype)
    message_of(outside, expected, dtype=getattr(torch, dtype))


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
def test_the_same_holds_for_arrays(dtype):
    step = 2 * ROUNDOFF[dtype]
    assert_close(np.array([1 + 8 * step], dtype), np.ones(1), dtype=dtype)
    message_of(np.array([1 + 9 * step], dtype), np.ones(1), dtype=dtype)


def test_small_values_are_held_as_tightly_as_large_ones():
    expected = np.array([1.0, 1e-12])
    assert_close(expected * (1 + 12 * ROUNDOFF["float64"]), expected)
    message_of(np.array([1.0, 1.001e-12]), expected)


def test_with_a_scale_the_tolerance_is_taken_relative_to_it():
    expected = torch.tensor([1e-9, 3.0], dtype=torch.float64)
    tolerance = 16 * ROUNDOFF["float32"] * 4.0
    assert_close(torch.tensor([0.9 * tolerance, 3.0]), expected, dtype=torch.float32, scale=4.0)
    message_of(torch.tensor([1.1 * tolerance, 3.0]), expected, dtype=torch.float32, scale=4.0)


def test_the_smallest_subnormal_is_within_reach_of_zero_and_of_nothing_else():
    assert_close(np.array([5e-324]), np.array([0.0]))
    message_of(np.array([1e-320]), np.array([0.0]))
    assert_close(np.array([2.0**-24], np.float16), np.array([0.0]), dtype=np.float16)
    message_of(np.array([2.0**-22], np.float16), np.array([0.0]), dtype=np.float16)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("options", [{}, {"terms": 16}, {"terms": 1 << 40}, {"logits": 8.0}, {"scale": 1.0}])
def test_zeros_never_pass_for_something_else(dtype, options):
    expected = torch.tensor([0.25, 0.75], dtype=torch.float64)
    with pytest.raises((Difference, SuiteMistake)):
        assert_close(tensor([0.0, 0.0], dtype), expected, dtype=getattr(torch, dtype), **options)


@pytest.mark.parametrize(
    ("dtype", "options"),
    [("bfloat16", {"logits": 30.0}), ("float32", {"logits": 1e7}), ("float64", {"scale": 1e16})],
)
def test_a_tolerance_that_zeros_would_meet_is_a_mistake_of_the_suite(dtype, options):
    right = torch.tensor([0.25, 0.75], dtype=torch.float64)
    for found in (right.to(getattr(torch, dtype)), torch.zeros(2, dtype=getattr(torch, dtype))):
        with pytest.raises(SuiteMistake):
            assert_close(found, right, dtype=getattr(torch, dtype), **options)


def test_a_gradient_that_is_zero_but_for_rounding_may_be_compared_with_a_scale():
    assert_close(torch.zeros(2), torch.full((2,), 1e-17, dtype=torch.float64), dtype=torch.float32, scale=1.0)


@pytest.mark.parametrize(
    ("actual", "said"),
    [
        (None, "a NumPy array should come back, not None"),
        (1.0, "a NumPy array should come back, not a float"),
        ([1.0, 2.0], "a NumPy array should come back, not a list"),
        ((np.ones(2),), "a NumPy array should come back, not a tuple"),
        (torch.ones(2), "a NumPy array should come back, not a Tensor"),
    ],
)
@pytest.mark.parametrize("compare", [assert_close, assert_equal])
def test_another_kind_of_value_is_refused_by_its_name(actual, said, compare):
    assert message_of(actual, np.ones(2), compare) == said


def test_an_array_is_no_tensor():
    assert message_of(np.ones(2), torch.ones(2)) == "a torch tensor should come back, not a NumPy array"


@pytest.mark.parametrize("compare", [assert_close, assert_equal])
@pytest.mark.parametrize("shape", [(), (1,), (3,), (1, 2, 3), (3, 2), (2, 1)])
def test_a_shape_that_would_only_broadcast_is_refused(compare, shape):
    said = message_of(np.ones(shape), np.ones((2, 3)), compare)
    assert said == f"the shape is {shape}, not (2, 3)"


def test_the_dtype_of_the_expected_value_is_asked_for_unless_another_is_named():
    assert message_of(np.ones(2, np.float32), np.ones(2)) == "the dtype is float32, not float64"
    assert message_of(np.ones(2), np.ones(2), dtype=np.float16) == "the dtype is float64, not float16"
    assert message_of(torch.ones(2), torch.ones(2).double()) == "the dtype is float32, not float64"
    assert_close(torch.ones(2).bfloat16(), torch.ones(2).double(), dtype=torch.bfloat16)


def test_integers_are_no_masks():
    assert message_of(np.ones(2, int), np.ones(2, bool), assert_equal) == "the dtype is int64, not bool"


@pytest.mark.parametrize(
    ("found", "right", "said"),
    [
        ([1.0, math.nan], [1.0, 2.0], "NaN at (1,), where 2 is right"),
        ([1.0, 2.0], [1.0, math.nan], "2 at (1,), where nan is right"),
        ([math.inf, 2.0], [1.0, 2.0], "inf at (0,), where 1 is right"),
        ([-math.inf, 2.0], [math.inf, 2.0], "-inf at (0,), where inf is right"),
        ([math.inf, 2.0], [-math.inf, 2.0], "inf at (0,), where -inf is right"),
        ([1.0, 2.0], [math.inf, 2.0], "1 at (0,), where inf is right"),
    ],
)
def test_nan_and_infinity_must_be_where_they_belong(found, right, said):
    assert message_of(np.array(found), np.array(right)) == said
    assert message_of(torch.tensor(found), torch.tensor(right)) == said


def test_nan_and_infinity_in_their_places_pass():
    values = np.array([math.nan, math.inf, -math.inf, 1.0])
    assert_close(values.copy(), values)


def test_empty_values_are_compared_by_their_form():
    assert_close(np.ones((0, 3)), np.ones((0, 3)))
    assert message_of(np.ones((0, 2)), np.ones((0, 3))) == "the shape is (0, 2), not (0, 3)"


def test_exact_means_exact():
    assert_equal(np.array([0.1 + 0.2]), np.array([0.1 + 0.2]))
    message_of(np.array([0.1 + 0.2]), np.array([0.3]), assert_equal)
    assert_equal(np.array([True, False]), np.array([True, False]))


def test_small_masks_are_shown_as_ones_and_zeros():
    found, right = np.array([[True, True]]), np.array([[True, False]])
    assert message_of(found, right, assert_equal) == "returned [[1 1]], right is [[1 0]]"


def test_small_values_are_shown_in_full():
    assert message_of(np.array([1.0, 2.5]), np.array([1.0, 2.0])) == "returned [1. , 2.5], right is [1., 2.]"


def test_a_difference_in_the_last_digits_is_shown_with_as_many_digits_as_it_takes():
    said = message_of(np.array([0.35986712345]), np.array([0.35986712999]))
    assert said == "returned [0.359867123], right is [0.35986713]"
    said = message_of(np.array([1.0 + 2**-40]), np.array([1.0]))
    assert said == "returned [1.0000000000009095], right is [1.]"
    said = message_of(np.array([1.0 + 2**-52]), np.array([1.0]), assert_equal)
    assert said == "returned [1.0000000000000002], right is [1.]"


def test_of_many_values_the_first_that_differs_and_the_largest_difference_are_shown():
    right = np.arange(100.0).reshape(10, 10) + 1
    found = right.copy()
    found[2, 3] += 0.5
    found[7, 1] -= 4
    said = message_of(found, right)
    assert said == "2 of 100 entries differ, first at (2, 3): 24.5 instead of 24; the largest difference is 4"


def test_of_many_masks_no_difference_is_counted_in_numbers():
    right = np.zeros((5, 8), bool)
    found = right.copy()
    found[1, 2] = True
    assert message_of(found, right, assert_equal) == "1 of 40 entries differ, first at (1, 2): True instead of False"


def test_differences_of_small_integers_do_not_wrap_around():
    right = np.full(30, 3, np.uint8)
    assert message_of(right - 1, right, assert_equal).endswith("2 instead of 3; the largest difference is 1")


def test_both_values_are_kept_for_showing():
    with pytest.raises(Difference) as caught:
        assert_close(np.array([1.0]), np.array([2.0]))
    assert caught.value.actual.tolist() == [1.0]
    assert caught.value.expected.tolist() == [2.0]


@pytest.mark.parametrize(
    ("dtype", "name"),
    [
        (np.float32, "float32"),
        (np.dtype("int8"), "int8"),
        (torch.bfloat16, "bfloat16"),
        (torch.bool, "bool"),
        (bool, "bool"),
        ("float16", "float16"),
    ],
)
def test_dtypes_of_both_libraries_have_one_name(dtype, name):
    assert dtype_name(dtype) == name
