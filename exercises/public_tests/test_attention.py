"""Try attention: run `pytest public_tests/test_attention.py` in the folder that holds attention.py."""

import pytest
import torch
from attention import attention

QUERY = torch.tensor([[1.0, 0.0]])
KEY = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
VALUE = torch.tensor([[10.0, 0.0], [0.0, 20.0]])


def assert_close(actual, expected, *, rtol=1e-5, atol=1e-5):
    """Compare shape, dtype and numbers; `torch.testing` does too, but takes as long to import as half of torch."""
    assert isinstance(actual, torch.Tensor)
    assert actual.shape == expected.shape
    assert actual.dtype == expected.dtype
    assert torch.allclose(actual, expected, rtol=rtol, atol=atol), f"{actual} should be {expected}"


def uniform(n_queries, n_keys):
    """A query and a key of zeros: all scores are 0, so every row spreads its weight evenly over what it may read."""
    return torch.zeros(n_queries, 3), torch.zeros(n_keys, 3)


@pytest.mark.contract("scale")
def test_the_row_of_the_tutorial():
    output, weights = attention(QUERY, KEY, VALUE)
    assert_close(weights, torch.tensor([[0.670, 0.330]]), atol=5e-4, rtol=0)
    assert_close(output, torch.tensor([[6.70, 6.60]]), atol=5e-3, rtol=0)


@pytest.mark.contract("returns")
def test_a_larger_first_value_leaves_the_weights_alone():
    _, weights = attention(QUERY, KEY, VALUE)
    output, same_weights = attention(QUERY, KEY, torch.tensor([[100.0, 0.0], [0.0, 20.0]]))
    assert_close(same_weights, weights)
    assert_close(output, torch.tensor([[66.98, 6.60]]), atol=5e-3, rtol=0)


@pytest.mark.contract("shapes")
def test_every_size_may_be_different():
    output, weights = attention(torch.zeros(2, 3, 4, 5), torch.zeros(2, 3, 6, 5), torch.ones(2, 3, 6, 7))
    assert_close(weights, torch.full((2, 3, 4, 6), 1 / 6))
    assert_close(output, torch.ones(2, 3, 4, 7))


@pytest.mark.contract("polarity")
def test_true_means_that_the_query_may_read_the_key():
    query, key = uniform(3, 3)
    value = torch.tensor([[1.0], [4.0], [16.0]])
    causal = torch.ones(3, 3, dtype=torch.bool).tril()
    output, weights = attention(query, key, value, causal)
    assert_close(output, torch.tensor([[1.0], [2.5], [7.0]]))
    assert_close(weights[1], torch.tensor([0.5, 0.5, 0.0]))


@pytest.mark.contract("fully_masked")
def test_a_fully_masked_row_is_zero_and_so_is_its_gradient():
    query, key = uniform(2, 3)
    query.requires_grad_()
    value = torch.tensor([[1.0], [4.0], [16.0]])
    allowed = torch.tensor([[True, True, False], [False, False, False]])
    output, weights = attention(query, key, value, allowed)
    assert_close(output.detach(), torch.tensor([[2.5], [0.0]]))
    assert_close(weights.detach(), torch.tensor([[0.5, 0.5, 0.0], [0.0, 0.0, 0.0]]))
    output.sum().backward()
    assert_close(query.grad, torch.zeros(2, 3))


@pytest.mark.contract("huge")
def test_a_huge_value_behind_the_mask_does_not_leak():
    query, key = uniform(1, 2)
    output, _ = attention(query, key, torch.tensor([[1.0], [1e30]]), torch.tensor([[True, False]]))
    assert_close(output, torch.tensor([[1.0]]))


@pytest.mark.contract("no_keys")
def test_without_keys_the_output_is_zero():
    output, weights = attention(torch.ones(2, 3), torch.ones(0, 3), torch.ones(0, 4))
    assert_close(output, torch.zeros(2, 4))
    assert weights.shape == (2, 0)


@pytest.mark.contract("overflow")
def test_half_precision_comes_back_and_does_not_overflow():
    query = torch.full((1, 64), 40.0, dtype=torch.float16)
    key = torch.full((2, 64), 40.0, dtype=torch.float16)
    output, weights = attention(query, key, torch.tensor([[1.0], [4.0]], dtype=torch.float16))
    assert_close(weights, torch.tensor([[0.5, 0.5]], dtype=torch.float16), rtol=1e-3)
    assert_close(output, torch.tensor([[2.5]], dtype=torch.float16), rtol=1e-3)


@pytest.mark.contract("mask_error")
def test_a_mask_of_numbers_is_refused():
    with pytest.raises(TypeError, match="allowed"):
        attention(QUERY, KEY, VALUE, torch.tensor([[0.0, 1.0]]))


@pytest.mark.contract("shape_error")
def test_a_query_and_a_key_of_different_width_are_refused():
    with pytest.raises(ValueError, match=r"query|key"):
        attention(QUERY, torch.zeros(2, 3), VALUE)
