"""Try ablation: run `pytest public_tests/test_ablation.py` in the folder that holds ablation.py."""

import pytest
import torch
from ablation import ablation_effect

VALUE = torch.tensor([[1.0], [4.0], [16.0]])


def assert_close(actual, expected, *, rtol=1e-5, atol=1e-5):
    """Compare shape, dtype and numbers; `torch.testing` does too, but takes as long to import as half of torch."""
    assert isinstance(actual, torch.Tensor)
    assert actual.shape == expected.shape
    assert actual.dtype == expected.dtype
    assert torch.allclose(actual, expected, rtol=rtol, atol=atol), f"{actual} should be {expected}"


def uniform(n_queries, n_keys):
    """A query and a key of zeros: all scores are 0, so every row spreads its weight evenly over what it may read."""
    return torch.zeros(n_queries, 3), torch.zeros(n_keys, 3)


@pytest.mark.contract("renormalised")
def test_three_keys_of_the_same_weight():
    # The mean of 1, 4 and 16 is 7; without the first it is 10, without the second 8.5, without the third 2.5.
    effect = ablation_effect(*uniform(1, 3), VALUE)
    assert_close(effect, torch.tensor([[3.0, 1.5, 4.5]]))


@pytest.mark.contract("scale")
def test_the_row_of_the_tutorial():
    # The output [6.70, 6.60] becomes [0, 20] without the first key, and [10, 0] without the second.
    query, key = torch.tensor([[1.0, 0.0]]), torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    effect = ablation_effect(query, key, torch.tensor([[10.0, 0.0], [0.0, 20.0]]))
    assert_close(effect, torch.tensor([[14.976, 7.384]]), atol=5e-4, rtol=0)


@pytest.mark.contract("not_the_weight")
def test_the_largest_weight_may_have_no_effect_and_the_smallest_the_largest():
    weights = torch.tensor([[0.5], [0.25], [0.2], [0.05]])
    value = torch.tensor([[3.0], [4.0], [4.0], [-6.0]])
    effect = ablation_effect(torch.ones(1, 1), weights.log(), value)
    assert_close(effect, torch.tensor([[0.0, 0.333, 0.25, 0.474]]), atol=5e-4, rtol=0)


@pytest.mark.contract("shapes")
def test_every_size_may_be_different():
    # Six weights of 1/6: one of them falls to 0, and five rise by 1/30.
    effect = ablation_effect(torch.zeros(2, 3, 4, 5), torch.zeros(2, 3, 6, 5), torch.eye(6, 7))
    assert_close(effect, torch.full((2, 3, 4, 6), (1 / 6**2 + 5 / 30**2) ** 0.5))


@pytest.mark.contract("saturated")
def test_a_weight_that_is_one_to_the_last_bit():
    key = torch.tensor([[0.0], [-1000.0], [-1000.0]])
    effect = ablation_effect(torch.ones(1, 1), key, VALUE)
    assert_close(effect, torch.tensor([[9.0, 0.0, 0.0]]))


@pytest.mark.contract("unreadable")
def test_what_a_query_may_not_read_has_no_effect():
    allowed = torch.tensor([[True, True, False], [False, False, False]])
    effect = ablation_effect(*uniform(2, 3), VALUE, allowed)
    assert_close(effect, torch.tensor([[1.5, 1.5, 0.0], [0.0, 0.0, 0.0]]))


@pytest.mark.contract("only")
def test_without_its_only_key_the_output_is_zero():
    value = torch.tensor([[3.0, 4.0], [1.0, 1.0]])
    effect = ablation_effect(*uniform(1, 2), value, torch.tensor([[True, False]]))
    assert_close(effect, torch.tensor([[5.0, 0.0]]))


@pytest.mark.contract("untouched")
def test_the_mask_is_left_as_it_was():
    allowed = torch.tensor([[True, True, False]])
    ablation_effect(*uniform(1, 3), VALUE, allowed)
    assert allowed.tolist() == [[True, True, False]]


@pytest.mark.contract("mask_error")
def test_a_mask_of_numbers_is_refused():
    with pytest.raises(TypeError, match="allowed"):
        ablation_effect(*uniform(1, 3), VALUE, torch.ones(1, 3))


@pytest.mark.contract("shape_error")
def test_keys_and_values_of_different_number_are_refused():
    with pytest.raises(ValueError, match=r"key|value|n_keys"):
        ablation_effect(*uniform(1, 2), VALUE)
