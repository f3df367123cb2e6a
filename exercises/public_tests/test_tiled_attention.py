"""Try tiled_attention: run `pytest public_tests/test_tiled_attention.py` in the folder with tiled_attention.py."""

import pytest
import torch
from tiled_attention import tiled_attention

VALUE = torch.tensor([[1.0], [4.0], [16.0]])


def assert_close(actual, expected, *, rtol=1e-5, atol=1e-5):
    """Compare shape, dtype and numbers; `torch.testing` does too, but takes as long to import as half of torch."""
    assert isinstance(actual, torch.Tensor)
    assert actual.shape == expected.shape
    assert actual.dtype == expected.dtype
    assert torch.allclose(actual, expected, rtol=rtol, atol=atol), f"{actual} should be {expected}"


def whole(query, key, value):
    """Attention with the whole matrix of scores, by the library."""
    return torch.nn.functional.scaled_dot_product_attention(query, key, value)


@pytest.mark.contract("exact")
def test_the_row_of_the_tutorial():
    query = torch.tensor([[1.0, 0.0]])
    key = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    value = torch.tensor([[10.0, 0.0], [0.0, 20.0]])
    for block_size in (1, 2):
        output = tiled_attention(query, key, value, block_size)
        assert_close(output, torch.tensor([[6.70, 6.60]]), atol=5e-3, rtol=0)


@pytest.mark.contract("any_block")
def test_every_block_size_gives_the_same_output():
    generator = torch.Generator().manual_seed(0)
    query = torch.randn(2, 3, 4, 5, generator=generator, dtype=torch.float64)
    key = torch.randn(2, 3, 6, 5, generator=generator, dtype=torch.float64)
    value = torch.randn(2, 3, 6, 7, generator=generator, dtype=torch.float64)
    for block_size in (1, 2, 3, 4, 5, 6, 7, 64):
        output = tiled_attention(query, key, value, block_size)
        assert_close(output, whole(query, key, value))


@pytest.mark.contract("large")
@pytest.mark.parametrize("scores", [[0.0, 500.0, 1000.0], [1000.0, 500.0, 0.0], [-1000.0, -1001.0, -1002.0]])
def test_the_largest_score_may_stand_in_any_block(scores):
    query, key = torch.ones(1, 1), torch.tensor(scores)[:, None]
    assert_close(tiled_attention(query, key, VALUE, block_size=1), whole(query, key, VALUE))


@pytest.mark.contract("causal")
def test_the_causal_border_does_not_depend_on_the_blocks():
    for block_size in (1, 2, 3, 64):
        output = tiled_attention(torch.zeros(3, 2), torch.zeros(3, 2), VALUE, block_size, causal=True)
        assert_close(output, torch.tensor([[1.0], [2.5], [7.0]]))


@pytest.mark.contract("causal")
def test_the_last_query_reads_every_key():
    output = tiled_attention(torch.zeros(2, 2), torch.zeros(3, 2), VALUE, block_size=2, causal=True)
    assert_close(output, torch.tensor([[2.5], [7.0]]))


@pytest.mark.contract("fully_masked")
def test_a_row_with_nothing_to_read_is_zero():
    output = tiled_attention(torch.zeros(3, 2), torch.zeros(2, 2), VALUE[:2], block_size=1, causal=True)
    assert_close(output, torch.tensor([[0.0], [1.0], [2.5]]))


@pytest.mark.contract("dtype")
def test_the_dtype_comes_back():
    for dtype in (torch.float64, torch.float32, torch.float16, torch.bfloat16):
        query, key, value = torch.zeros(2, 2, dtype=dtype), torch.zeros(3, 2, dtype=dtype), VALUE.to(dtype)
        output = tiled_attention(query, key, value, block_size=2)
        assert_close(output, torch.full((2, 1), 7.0, dtype=dtype))


@pytest.mark.contract("tile")
def test_a_long_sequence_needs_little_memory():
    # One score for each pair of them would be 1.15 GB.
    zeros = torch.zeros(12_000, 1, dtype=torch.float64)
    assert_close(tiled_attention(zeros, zeros, zeros + 3.0), zeros + 3.0)


@pytest.mark.contract("block_size_error")
@pytest.mark.parametrize("block_size", [0, -1])
def test_a_block_size_below_one_is_refused(block_size):
    with pytest.raises(ValueError, match="block_size"):
        tiled_attention(torch.zeros(2, 2), torch.zeros(3, 2), VALUE, block_size)


@pytest.mark.contract("shape_error")
def test_a_query_and_a_key_of_different_width_are_refused():
    with pytest.raises(ValueError, match=r"query|key"):
        tiled_attention(torch.zeros(2, 3), torch.zeros(3, 2), VALUE)
