"""The reference tiled attention against the library, against loops in Python floats, and for the memory it takes."""

import math
import resource
from itertools import product

import pytest
import torch
import torch.nn.functional as F
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

DTYPES = (torch.float64, torch.float32, torch.bfloat16, torch.float16)
BLOCK_SIZES = (1, 2, 3, 4, 5, 6, 7, 64)


@pytest.fixture(scope="module")
def tiled_attention(solution):
    return solution("tiled_attention").tiled_attention


@pytest.fixture
def generator():
    return torch.Generator().manual_seed(20261130)


def draw(generator, *shape, dtype=torch.float64):
    return torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype)


def assert_near(actual, expected, terms):
    """Each term and each of its factors may be rounded once, relative to numbers of the size of the largest."""
    assert actual.shape == expected.shape
    assert torch.isfinite(actual).all()
    size = max(1.0, expected.abs().max().item()) if expected.numel() else 1.0
    allowed = torch.finfo(actual.dtype).eps * (min(terms, 16 + math.log2(max(1, terms))) + 7) * size
    error = (actual.double() - expected).abs()
    assert (error <= allowed).all(), f"off by {error.max().item()}"


def readable(n_queries, n_keys, causal):
    allowed = [[not causal or j <= i + n_keys - n_queries for j in range(n_keys)] for i in range(n_queries)]
    return torch.tensor(allowed, dtype=torch.bool).reshape(n_queries, n_keys)


def library(query, key, value, causal):
    """F.scaled_dot_product_attention in float64, with the mask made by a loop over the contract."""
    query, key, value = (x.double() for x in (query, key, value))
    leading = torch.broadcast_shapes(query.shape[:-2], key.shape[:-2], value.shape[:-2])
    query, key, value = (x.expand(*leading, *x.shape[-2:]) for x in (query, key, value))
    allowed = readable(query.shape[-2], key.shape[-2], causal)
    return F.scaled_dot_product_attention(query, key, value, attn_mask=allowed)


def loops(query, key, value, causal):
    """One row at a time, in Python floats whose sums are rounded once."""
    leading = torch.broadcast_shapes(query.shape[:-2], key.shape[:-2], value.shape[:-2])
    query, key, value = (x.double().expand(*leading, *x.shape[-2:]) for x in (query, key, value))
    n_queries, n_keys = query.shape[-2], key.shape[-2]
    output = torch.zeros(*leading, n_queries, value.shape[-1], dtype=torch.float64)
    for *index, row in product(*map(range, (*leading, n_queries))):
        at = tuple(index)
        seen = [j for j in range(n_keys) if not causal or j <= row + n_keys - n_queries]
        scores = [math.fsum((query[at][row] * key[at][j]).tolist()) / math.sqrt(query.shape[-1]) for j in seen]
        exponentials = [math.exp(score - max(scores)) for score in scores]
        for column in range(value.shape[-1]):
            terms = [e * value[at][j, column].item() for e, j in zip(exponentials, seen, strict=True)]
            output[(*at, row, column)] = math.fsum(terms) / math.fsum(exponentials) if seen else 0.0
    return output


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("block_size", BLOCK_SIZES)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_block_size_agrees_with_the_library(tiled_attention, generator, dtype, block_size, causal):
    query, key, value = (draw(generator, *shape, dtype=dtype) for shape in ((2, 3, 4, 5), (2, 3, 6, 5), (2, 3, 6, 7)))
    output = tiled_attention(query, key, value, block_size, causal)
    assert output.dtype == dtype
    assert_near(output, library(query, key, value, causal), terms=6)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("n_queries, n_keys", [*product((1, 2, 3, 5), (0, 1, 2, 3, 5))])
def test_every_pair_of_small_sizes_agrees_with_loops(tiled_attention, generator, n_queries, n_keys, causal):
    query, key, value = draw(generator, n_queries, 3), draw(generator, n_keys, 3), draw(generator, n_keys, 2)
    expected = loops(query, key, value, causal)
    for block_size in (1, 2, 3, 64):
        assert_near(tiled_attention(query, key, value, block_size, causal), expected, terms=5)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_rows_with_nothing_to_read_are_exactly_zero(tiled_attention, generator, dtype):
    query, key, value = (draw(generator, *shape, dtype=dtype) for shape in ((2, 5, 3), (2, 2, 3), (2, 2, 4)))
    for block_size in (1, 2, 64):
        output = tiled_attention(query, key, value, block_size, causal=True)
        assert (output[:, :3] == 0).all()
        assert_near(output, library(query, key, value, causal=True), terms=2)


@pytest.mark.parametrize("spread", range(3), ids=["query", "key", "value"])
def test_leading_dimensions_of_one_argument_spread_to_the_output(tiled_attention, generator, spread):
    shapes = [(4, 5), (6, 5), (6, 7)]
    shapes[spread] = (2, 3, *shapes[spread])
    query, key, value = (draw(generator, *shape) for shape in shapes)
    for causal in (False, True):
        assert_near(tiled_attention(query, key, value, 4, causal), loops(query, key, value, causal), terms=6)


@pytest.mark.parametrize("block_size", [1, 2, 3])
@pytest.mark.parametrize("scores", [[0, 800, 1600], [1600, 800, 0], [-1600, -1601, -1602], [0, -1600, 800], [5, 5, 5]])
def test_scores_far_apart_agree_with_loops(tiled_attention, scores, block_size):
    query, key = torch.tensor([[1.0], [-1.0], [0.0]]).double(), torch.tensor(scores).double()[:, None]
    value = torch.tensor([[1.0], [4.0], [16.0]]).double()
    for causal in (False, True):
        assert_near(tiled_attention(query, key, value, block_size, causal), loops(query, key, value, causal), terms=3)


@pytest.mark.parametrize("dtype, n_keys", [(torch.bfloat16, 600), (torch.float16, 5000)], ids=str)
def test_a_running_sum_in_half_precision_does_not_stall(tiled_attention, dtype, n_keys):
    zeros = torch.zeros(n_keys, 1, dtype=dtype)
    value = (torch.arange(n_keys) >= n_keys // 2)[:, None].to(dtype)
    assert tiled_attention(zeros[:1], zeros, value, block_size=1).item() == 0.5


def test_a_step_with_a_cache_is_a_part_of_the_whole(tiled_attention, generator):
    query, key, value = draw(generator, 7, 5), draw(generator, 7, 5), draw(generator, 7, 3)
    whole = tiled_attention(query, key, value, 3, causal=True)
    for start in range(7):
        assert_near(tiled_attention(query[start:], key, value, 2, causal=True), whole[start:], terms=7)


class Largest(TorchDispatchMode):
    """Notes the most entries of a tensor made in the block."""

    entries = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        made = [leaf.numel() for leaf in tree_leaves(result) if isinstance(leaf, torch.Tensor)]
        self.entries = max([self.entries, *made])
        return result


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("n_queries, n_keys", [(32, 32), (32, 8), (8, 256)])
def test_the_largest_tensor_is_one_tile_or_an_argument(tiled_attention, generator, n_queries, n_keys, causal):
    query, key, value = draw(generator, 2, n_queries, 3), draw(generator, 2, n_keys, 3), draw(generator, 2, n_keys, 3)
    for block_size in (1, 5, 16, 300):
        with Largest() as largest:
            tiled_attention(query, key, value, block_size, causal)
        tile = 2 * n_queries * min(block_size, n_keys)
        assert largest.entries <= max(tile, query.numel(), key.numel())


def test_a_length_whose_scores_do_not_fit_takes_little_memory(tiled_attention, generator):
    n = 12_000
    query, key, value = draw(generator, n, 2), draw(generator, n, 2), draw(generator, n, 1)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    output = tiled_attention(query, key, value)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 << 10
    some = slice(None, None, 1000)
    torch.testing.assert_close(output[some], library(query[some], key, value, False), rtol=1e-12, atol=1e-12)


def test_any_memory_layout_is_read_and_left_alone(tiled_attention, generator):
    arguments = draw(generator, 5, 4).T, draw(generator, 1, 5).expand(6, 5), draw(generator, 12, 7)[::2]
    before = [x.clone() for x in arguments]
    assert_near(tiled_attention(*arguments, 4), loops(*before, causal=False), terms=6)
    for after, original in zip(arguments, before, strict=True):
        assert torch.equal(after, original)


@pytest.mark.parametrize("block_size", [0, -1, -64])
def test_a_block_size_below_one_is_refused_by_name(tiled_attention, block_size):
    with pytest.raises(ValueError, match="block_size"):
        tiled_attention(torch.ones(2, 3), torch.ones(4, 3), torch.ones(4, 5), block_size)


@pytest.mark.parametrize(
    ("query", "key", "value", "words"),
    [((2, 3), (4, 5), (4, 3), "query.*key"), ((2, 3), (4, 3), (5, 3), "key.*value"), ((2, 3), (4, 3), (1, 3), "value")],
)
def test_shapes_that_do_not_match_are_value_errors(tiled_attention, query, key, value, words):
    with pytest.raises(ValueError, match=words):
        tiled_attention(torch.ones(query), torch.ones(key), torch.ones(value))
