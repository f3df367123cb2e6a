"""The reference mask functions against loops and against what PyTorch does with the masks."""

import itertools

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

FLOATS = (np.float64, np.float32, np.float16)
TO_ZERO_OR_ONE = (np.bool_, np.uint8, np.int8, np.int64, *FLOATS)

quietly = settings(derandomize=True, database=None, deadline=None, max_examples=100)
sizes = st.integers(0, 5)


@pytest.fixture(scope="module")
def module(solution):
    return solution("padding_mask")


@pytest.mark.parametrize("side", ("right", "left"))
@pytest.mark.parametrize("n_keys", range(6))
def test_the_real_tokens_are_counted_off_one_by_one(module, n_keys, side):
    lengths = np.arange(n_keys + 1)
    keys_allowed = module.padding_mask(lengths, n_keys, side)
    assert keys_allowed.dtype == np.bool_
    assert keys_allowed.shape == (n_keys + 1, n_keys)
    for length, row in zip(lengths, keys_allowed, strict=True):
        tokens, padding = [True] * length, [False] * (n_keys - length)
        assert row.tolist() == (tokens + padding if side == "right" else padding + tokens)


def test_padding_stands_on_the_right_unless_told_otherwise(module):
    np.testing.assert_array_equal(module.padding_mask(np.array([1]), 3), [[True, False, False]])


@pytest.mark.parametrize("dtype", (np.uint8, np.int8, np.uint64, np.int32))
def test_lengths_may_have_any_integer_dtype(module, dtype):
    keys_allowed = module.padding_mask(np.array([0, 3], dtype), 300, "left")
    np.testing.assert_array_equal(keys_allowed.sum(axis=1), [0, 3])
    np.testing.assert_array_equal(keys_allowed[1, -4:], [False, True, True, True])


@pytest.mark.parametrize("lengths", ([-1], [5], [2, 5, 1], [4, -2]))
@pytest.mark.parametrize("side", ("right", "left"))
def test_a_length_outside_the_keys_is_refused_by_name(module, lengths, side):
    with pytest.raises(ValueError, match="lengths"):
        module.padding_mask(np.array(lengths), 4, side)


@pytest.mark.parametrize("side", ("top", "", "Right", None, 1))
def test_an_unknown_side_is_refused_by_name(module, side):
    with pytest.raises(ValueError, match="side"):
        module.padding_mask(np.array([1]), 2, side)


@pytest.mark.parametrize("dtype", TO_ZERO_OR_ONE)
@pytest.mark.parametrize("shape", ((), (0,), (5,), (2, 3), (2, 1, 3, 4)))
def test_the_boolean_conventions_are_read_entry_by_entry(module, shape, dtype):
    mask = (np.arange(np.prod(shape, dtype=int)) % 3 == 1).reshape(shape).astype(dtype)
    for convention, readable in (("allowed", 1), ("blocked", 0)):
        allowed = module.as_allowed(mask, convention)
        assert isinstance(allowed, np.ndarray)
        assert allowed.dtype == np.bool_
        assert allowed.shape == shape
        assert allowed.ravel().tolist() == [value == readable for value in mask.ravel().tolist()]


@pytest.mark.parametrize("convention", ("allowed", "blocked"))
@pytest.mark.parametrize("value", (2, -1, 0.5, 255, np.nan, np.inf, -np.inf))
def test_only_zeros_and_ones_are_a_boolean_mask(module, convention, value):
    with pytest.raises(ValueError, match="mask"):
        module.as_allowed(np.array([0, 1, value]), convention)


@pytest.mark.parametrize("dtype", FLOATS)
def test_an_additive_mask_blocks_with_minus_infinity_or_its_lowest_number(module, dtype):
    mask = np.array([[0.0, -np.inf, np.finfo(dtype).min], [-0.0, 0.0, -np.inf]], dtype)
    np.testing.assert_array_equal(module.as_allowed(mask, "additive"), [[True, False, False], [True, True, False]])


@pytest.mark.parametrize("dtype", FLOATS)
def test_any_other_number_is_a_bias(module, dtype):
    info = np.finfo(dtype)
    almost_lowest = np.nextafter(info.min, dtype(0))
    for value in (np.nan, np.inf, 1.0, -1.0, -1e4, info.max, almost_lowest, info.smallest_subnormal):
        with pytest.raises(ValueError, match="mask"):
            module.as_allowed(np.array([0.0, value], dtype), "additive")


@pytest.mark.parametrize("narrow, wide", [(np.float32, np.float64), (np.float16, np.float32), (np.float16, np.float64)])
def test_the_lowest_number_of_another_dtype_is_a_bias(module, narrow, wide):
    with pytest.raises(ValueError, match="mask"):
        module.as_allowed(np.array([0.0, np.finfo(narrow).min], wide), "additive")


@pytest.mark.parametrize("dtype", (np.bool_, np.int64))
def test_what_is_not_floating_is_never_additive(module, dtype):
    with pytest.raises(ValueError, match="mask"):
        module.as_allowed(np.zeros(2, dtype), "additive")


@pytest.mark.parametrize("convention", ("keep", "", "Allowed", None))
def test_an_unknown_convention_is_refused_by_name(module, convention):
    with pytest.raises(ValueError, match="convention"):
        module.as_allowed(np.zeros(2, dtype=bool), convention)


@pytest.mark.parametrize("convention, mask", [("allowed", [True, True, False]), ("additive", [0.0, 0.0, -np.inf])])
def test_torch_reads_the_mask_in_the_same_way(module, convention, mask):
    value = torch.tensor([[1.0], [4.0], [16.0]])
    query, key = torch.zeros(1, 1), torch.zeros(3, 1)
    own = torch.from_numpy(module.as_allowed(np.array(mask), convention))
    theirs = torch.tensor(mask) if convention == "allowed" else torch.tensor(mask, dtype=torch.float32)
    for attn_mask in (own, theirs):
        output = F.scaled_dot_product_attention(query, key, value, attn_mask=attn_mask[None])
        torch.testing.assert_close(output, torch.tensor([[2.5]]))


@quietly
@given(st.data(), sizes, sizes, sizes)
def test_a_key_is_readable_exactly_when_both_masks_say_so(module, data, batch, n_queries, n_keys):
    causal = data.draw(arrays.arrays(np.bool_, (n_queries, n_keys)))
    keys_allowed = data.draw(arrays.arrays(np.bool_, (batch, n_keys)))
    allowed = module.merge_masks(causal, keys_allowed)
    assert allowed.dtype == np.bool_
    assert allowed.shape == (batch, 1, n_queries, n_keys)
    for b, i, j in itertools.product(range(batch), range(n_queries), range(n_keys)):
        assert allowed[b, 0, i, j] == (causal[i, j] and keys_allowed[b, j])


@pytest.mark.parametrize("causal, keys_allowed", [*itertools.permutations([(3, 3), (3, 1), (3, 2), (1, 4)], 2)])
def test_masks_with_different_numbers_of_keys_are_refused_by_name(module, causal, keys_allowed):
    with pytest.raises(ValueError, match="causal"):
        module.merge_masks(np.ones(causal, dtype=bool), np.ones(keys_allowed, dtype=bool))


@quietly
@given(arrays.arrays(np.bool_, arrays.array_shapes(min_dims=2, max_dims=4, min_side=0, max_side=4)))
def test_a_row_is_fully_masked_when_none_of_its_keys_is_allowed(module, allowed):
    rows = module.fully_masked_rows(allowed)
    assert rows.dtype == np.bool_
    assert rows.shape == allowed.shape[:-1]
    for index in np.ndindex(rows.shape):
        assert rows[index] == (True not in allowed[index].tolist())


def test_results_share_memory_with_nothing(module):
    causal = np.tri(3, dtype=bool)
    lengths = np.array([1, 3])
    for call in (
        lambda: module.padding_mask(lengths, 3),
        lambda: module.as_allowed(causal, "allowed"),
        lambda: module.merge_masks(causal, causal[:1]),
        lambda: module.fully_masked_rows(causal),
    ):
        first, second = call(), call()
        first[:] = True
        assert not np.shares_memory(first, second)
    np.testing.assert_array_equal(causal, np.tri(3, dtype=bool))
    np.testing.assert_array_equal(lengths, [1, 3])


def test_the_examples_print_what_they_say(solution, failed_examples):
    assert failed_examples(solution("padding_mask")) == 0
