"""The reference causal mask against a loop over the contract and against PyTorch."""

import itertools

import numpy as np
import pytest
import torch
import torch.nn.functional as F


@pytest.fixture(scope="module")
def causal_mask(solution):
    return solution("causal_mask").causal_mask


def read_off_the_contract(n_queries, n_keys):
    allowed = np.zeros((n_queries, n_keys), dtype=bool)
    for i, j in itertools.product(range(n_queries), range(n_keys)):
        allowed[i, j] = j <= i + n_keys - n_queries
    return allowed


@pytest.mark.parametrize("n_queries, n_keys", [*itertools.product(range(7), repeat=2)])
def test_every_pair_of_small_sizes_is_what_the_contract_says(causal_mask, n_queries, n_keys):
    allowed = causal_mask(n_queries, n_keys)
    assert allowed.dtype == np.bool_
    assert allowed.shape == (n_queries, n_keys)
    np.testing.assert_array_equal(allowed, read_off_the_contract(n_queries, n_keys))


@pytest.mark.parametrize("size", (1, 2, 5, 33))
def test_a_square_mask_is_what_torch_means_by_causal(causal_mask, size):
    generator = torch.Generator().manual_seed(size)
    query, key, value = torch.randn(3, size, 3, generator=generator, dtype=torch.float64)
    allowed = torch.from_numpy(causal_mask(size))
    masked = F.scaled_dot_product_attention(query, key, value, attn_mask=allowed)
    torch.testing.assert_close(masked, F.scaled_dot_product_attention(query, key, value, is_causal=True))


@pytest.mark.parametrize("n_queries, n_keys", [(2, 5), (5, 2), (1, 4), (4, 1), (3, 3)])
def test_a_rectangular_mask_is_the_lower_right_triangle(causal_mask, n_queries, n_keys):
    expected = torch.ones(n_queries, n_keys, dtype=torch.bool).tril(n_keys - n_queries)
    np.testing.assert_array_equal(causal_mask(n_queries, n_keys), expected.numpy())


def test_a_step_with_a_cache_is_a_part_of_the_whole_mask(causal_mask):
    whole = causal_mask(6)
    for start, end in itertools.combinations(range(7), 2):
        np.testing.assert_array_equal(causal_mask(end - start, end), whole[start:end, :end])


@pytest.mark.parametrize("size", (3, np.int64(3), np.uint8(3), np.uint64(3)))
def test_numpy_integers_are_sizes_too(causal_mask, size):
    np.testing.assert_array_equal(causal_mask(size, 2), read_off_the_contract(3, 2))
    np.testing.assert_array_equal(causal_mask(2, size), read_off_the_contract(2, 3))


@pytest.mark.parametrize("sizes, name", [((-1,), "n_queries"), ((-1, 2), "n_queries"), ((2, -1), "n_keys")])
def test_a_negative_size_is_refused_by_name(causal_mask, sizes, name):
    with pytest.raises(ValueError, match=name):
        causal_mask(*sizes)


def test_the_mask_may_be_written_to_and_is_nobody_elses(causal_mask):
    first, second = causal_mask(3), causal_mask(3)
    first[:] = False
    np.testing.assert_array_equal(second, read_off_the_contract(3, 3))


def test_the_examples_print_what_they_say(solution, failed_examples):
    assert failed_examples(solution("causal_mask")) == 0
