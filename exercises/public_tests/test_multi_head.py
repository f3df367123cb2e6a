"""Try multi-head attention: run `pytest public_tests/test_multi_head.py` in the folder that holds multi_head.py.

If your multi_head.py imports your own attention.py, that one is used here.
"""

import pytest
import torch
from multi_head import MultiHeadAttention, merge_heads, split_heads
from torch import nn


def assert_close(actual, expected, *, rtol=1e-5, atol=1e-5):
    """Compare shape, dtype and numbers; `torch.testing` does too, but takes as long to import as half of torch."""
    assert isinstance(actual, torch.Tensor)
    assert actual.shape == expected.shape
    assert actual.dtype == expected.dtype
    assert torch.allclose(actual, expected, rtol=rtol, atol=atol), f"{actual} should be {expected}"


def identity_module(d_model, n_heads, **options):
    """Zero queries and keys, so that the weights are even; values and output as they come in."""
    module = MultiHeadAttention(d_model, n_heads, **options)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.zero_()
        module.v_proj.weight.copy_(torch.eye(d_model))
        module.out_proj.weight.copy_(torch.eye(d_model))
    return module


@pytest.mark.contract("split")
def test_512_features_make_8_heads_of_64():
    assert split_heads(torch.zeros(2, 10, 512), 8).shape == (2, 8, 10, 64)


@pytest.mark.contract("split")
def test_a_head_is_a_slice_of_the_features():
    x = torch.arange(8.0).reshape(1, 2, 4)
    heads = split_heads(x, 2)
    assert_close(heads[0, 0], torch.tensor([[0.0, 1.0], [4.0, 5.0]]))
    assert_close(heads[0, 1], torch.tensor([[2.0, 3.0], [6.0, 7.0]]))


@pytest.mark.contract("merge")
def test_merging_takes_splitting_back():
    x = torch.arange(24.0).reshape(2, 2, 6)
    assert_close(merge_heads(split_heads(x, 3)), x)


@pytest.mark.contract("constructor_error")
def test_heads_that_do_not_divide_the_width_are_refused():
    with pytest.raises(ValueError, match=r"n_heads|d_model"):
        MultiHeadAttention(10, 3)


@pytest.mark.contract("agrees")
def test_the_row_of_the_tutorial_in_each_of_two_heads():
    module = identity_module(4, 2)
    with torch.no_grad():
        module.q_proj.weight.copy_(torch.eye(4))
        module.k_proj.weight.copy_(torch.eye(4))
    query = torch.tensor([[[1.0, 0.0, 1.0, 0.0]]])
    key = torch.tensor([[[1.0, 0.0, 0.0, 1.0], [0.0, 1.0, 1.0, 0.0]]])
    value = torch.tensor([[[10.0, 0.0, 10.0, 0.0], [0.0, 20.0, 0.0, 20.0]]])
    output, weights = module(query, key, value)
    assert_close(weights[0, :, 0], torch.tensor([[0.670, 0.330], [0.330, 0.670]]), atol=5e-4, rtol=0)
    assert_close(output[0, 0], torch.tensor([6.70, 6.60, 3.30, 13.40]), atol=5e-3, rtol=0)


@pytest.mark.contract("agrees")
def test_it_agrees_with_the_library():
    torch.manual_seed(0)
    module = MultiHeadAttention(15, 3)
    twin = nn.MultiheadAttention(15, 3, batch_first=True)
    layers = (module.q_proj, module.k_proj, module.v_proj)
    with torch.no_grad():
        twin.in_proj_weight.copy_(torch.cat([layer.weight for layer in layers]))
        twin.in_proj_bias.copy_(torch.cat([layer.bias for layer in layers]))
        twin.out_proj.weight.copy_(module.out_proj.weight)
        twin.out_proj.bias.copy_(module.out_proj.bias)
    query, key, value = torch.randn(2, 4, 15), torch.randn(2, 6, 15), torch.randn(2, 6, 15)
    allowed = torch.ones(4, 6, dtype=torch.bool).tril(2)
    output, weights = module(query, key, value, allowed)
    # In nn.MultiheadAttention, True means the opposite: this key must not be read.
    expected, expected_weights = twin(query, key, value, attn_mask=~allowed, average_attn_weights=False)
    assert_close(output, expected)
    assert_close(weights, expected_weights)


@pytest.mark.contract("fully_masked")
def test_a_fully_masked_row_becomes_the_bias():
    module = identity_module(4, 2)
    with torch.no_grad():
        module.out_proj.bias.fill_(3.0)
    allowed = torch.tensor([[True, False], [False, False]])
    output, weights = module(torch.ones(1, 2, 4), allowed=allowed)
    assert_close(output, torch.tensor([[[4.0] * 4, [3.0] * 4]]))
    assert_close(weights[0, 0], torch.tensor([[1.0, 0.0], [0.0, 0.0]]))


@pytest.mark.contract("mask_error")
def test_a_mask_of_three_dimensions_is_refused():
    module = identity_module(4, 2)
    with pytest.raises(ValueError, match="allowed"):
        module(torch.ones(2, 3, 4), allowed=torch.ones(2, 3, 3, dtype=torch.bool))


@pytest.mark.contract("dropout")
def test_dropout_drops_weights_in_training_and_nothing_in_evaluation():
    module = identity_module(4, 1, dropout=0.5)
    x = torch.ones(8, 16, 4)
    assert_close(module.eval()(x)[0], x)
    output, weights = module.train()(x)
    assert_close(weights, torch.full((8, 1, 16, 16), 1 / 16))
    # Every kept weight counts 2/16, so each output is a multiple of 1/8.
    assert_close(output * 8, (output * 8).round())
    assert output.unique().numel() > 1
