"""The reference attention, and its stand-in, against the library and against loops."""

import importlib.util
import math
from itertools import product
from pathlib import Path
from types import ModuleType

import pytest
import torch
import torch.nn.functional as F

ROOT = Path(__file__).parents[2]
SOURCES = {"solution": ROOT / "solutions/attention.py", "stand-in": ROOT / "autograder/stand_ins/attention.py"}
DTYPES = (torch.float64, torch.float32, torch.bfloat16, torch.float16)
HUGE = {torch.float64: 1e300, torch.float32: 1e30, torch.bfloat16: 1e30, torch.float16: 1e3}


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(params=sorted(SOURCES))
def attention(request):
    return load(SOURCES[request.param]).attention


@pytest.fixture
def generator():
    return torch.Generator().manual_seed(20260910)


def draw(generator, *shape, dtype=torch.float64, scale=1.0):
    return (scale * torch.randn(shape, generator=generator, dtype=torch.float64)).to(dtype).requires_grad_()


def tolerance(dtype, terms, size):
    """The roundings of `terms` products and sums, relative to numbers of that `size`."""
    return torch.finfo(dtype).eps * (min(terms, 16 + math.log2(terms)) + 7) * size


def assert_near(actual, expected, terms):
    assert actual.shape == expected.shape
    assert torch.isfinite(actual).all()
    error = (actual.double() - expected.double()).abs()
    size = max(1.0, expected.abs().max().item()) if expected.numel() else 1.0
    assert (error <= tolerance(actual.dtype, terms, size)).all(), f"off by {error.max().item()}"


def gradients(function, arguments, cotangents):
    """The results and the gradients of sum(result * cotangent) for every argument."""
    leaves = [argument.detach().clone().requires_grad_() for argument in arguments]
    results = function(*leaves)
    loss = sum(
        (result * cotangent.to(result.dtype)).sum() for result, cotangent in zip(results, cotangents, strict=True)
    )
    loss.backward()
    return [result.detach() for result in results], [leaf.grad for leaf in leaves]


def library(query, key, value, allowed):
    """F.scaled_dot_product_attention in float64; the weights are the same call with the identity as value."""
    query, key, value = (x.double() for x in (query, key, value))
    leading = torch.broadcast_shapes(query.shape[:-2], key.shape[:-2], value.shape[:-2])
    identity = torch.eye(key.shape[-2], dtype=torch.float64).expand(*leading, -1, -1)
    output = F.scaled_dot_product_attention(query, key, value.expand(*leading, -1, -1), attn_mask=allowed)
    return output, F.scaled_dot_product_attention(query, key, identity, attn_mask=allowed)


def loops(query, key, value, allowed):
    """One cell at a time, in Python floats."""
    leading = torch.broadcast_shapes(query.shape[:-2], key.shape[:-2], value.shape[:-2])
    query, key, value = (x.detach().double().expand(*leading, -1, -1) for x in (query, key, value))
    allowed = allowed.expand(*leading, query.shape[-2], key.shape[-2])
    output = torch.zeros(*leading, query.shape[-2], value.shape[-1], dtype=torch.float64)
    weights = torch.zeros(*leading, query.shape[-2], key.shape[-2], dtype=torch.float64)
    for *index, row in product(*map(range, (*leading, query.shape[-2]))):
        at = tuple(index)
        readable = [j for j in range(key.shape[-2]) if allowed[(*at, row, j)]]
        scores = [math.fsum((query[at][row] * key[at][j]).tolist()) / math.sqrt(query.shape[-1]) for j in readable]
        exponentials = [math.exp(score - max(scores)) for score in scores]
        for j, exponential in zip(readable, exponentials, strict=True):
            weights[(*at, row, j)] = exponential / math.fsum(exponentials)
            output[(*at, row)] += weights[(*at, row, j)] * value[at][j]
    return output, weights


MASKS = {
    "none masked": torch.ones(4, 6, dtype=torch.bool),
    "causal": torch.ones(4, 6, dtype=torch.bool).tril(2),
    "causal with dead rows": torch.ones(4, 6, dtype=torch.bool).tril(-2),
    "padding per item": (torch.arange(6) < torch.tensor([[3], [6]]))[:, None, None, :],
    "all masked": torch.zeros(4, 6, dtype=torch.bool),
}


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("allowed", MASKS.values(), ids=MASKS)
def test_results_and_gradients_agree_with_the_library(attention, generator, dtype, allowed):
    shapes = ((2, 3, 4, 5), (2, 3, 6, 5), (2, 3, 6, 7))
    arguments = [draw(generator, *shape, dtype=dtype) for shape in shapes]
    cotangents = (draw(generator, 2, 3, 4, 7).detach(), draw(generator, 2, 3, 4, 6).detach())
    results, slopes = gradients(lambda q, k, v: attention(q, k, v, allowed), arguments, cotangents)
    exact = [argument.double() for argument in arguments]
    expected, expected_slopes = gradients(lambda q, k, v: library(q, k, v, allowed), exact, cotangents)
    for actual, right in zip(results, expected, strict=True):
        assert actual.dtype == dtype
        assert_near(actual, right, terms=6)
    for actual, right in zip(slopes, expected_slopes, strict=True):
        assert actual.dtype == dtype
        # A gradient passes three products and the softmax.
        assert_near(actual, right, terms=3 * 7)


@pytest.mark.parametrize("allowed", MASKS.values(), ids=MASKS)
def test_results_agree_with_loops(attention, generator, allowed):
    query, key, value = draw(generator, 2, 1, 4, 5), draw(generator, 3, 6, 5), draw(generator, 6, 7)
    output, weights = attention(query, key, value, allowed)
    expected_output, expected_weights = loops(query, key, value, allowed)
    assert output.shape == (2, 3, 4, 7)
    assert_near(output, expected_output, terms=6)
    assert_near(weights, expected_weights, terms=6)


def test_no_mask_is_the_mask_that_allows_everything(attention, generator):
    query, key, value = draw(generator, 4, 5), draw(generator, 6, 5), draw(generator, 6, 7)
    without = attention(query, key, value)
    allowed = attention(query, key, value, MASKS["none masked"])
    for actual, expected in zip(without, allowed, strict=True):
        assert_near(actual, expected, terms=6)


@pytest.mark.parametrize("allowed", [torch.tensor(True), torch.tensor([True, False, True]), torch.tensor([[True]])])
def test_a_mask_may_have_fewer_dimensions(attention, generator, allowed):
    query, key, value = draw(generator, 2, 4, 5), draw(generator, 2, 3, 5), draw(generator, 2, 3, 7)
    output, weights = attention(query, key, value, allowed)
    expected_output, expected_weights = loops(query, key, value, allowed)
    assert_near(output, expected_output, terms=3)
    assert_near(weights, expected_weights, terms=3)


@pytest.mark.parametrize("broadcast", range(3), ids=["query", "key", "value"])
def test_leading_dimensions_of_one_argument_spread_to_both_results(attention, generator, broadcast):
    shapes = [(4, 5), (6, 5), (6, 7)]
    shapes[broadcast] = (2, 3, *shapes[broadcast])
    query, key, value = (draw(generator, *shape) for shape in shapes)
    output, weights = attention(query, key, value)
    expected_output, expected_weights = loops(query, key, value, torch.tensor(True))
    assert_near(output, expected_output, terms=6)
    assert_near(weights, expected_weights, terms=6)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("n_dimensions", [2, 3, 4])
def test_fully_masked_rows_and_their_gradients_are_zero(attention, generator, dtype, n_dimensions):
    leading = (2, 3)[: n_dimensions - 2]
    arguments = [draw(generator, *leading, *shape, dtype=dtype) for shape in ((4, 5), (6, 5), (6, 5))]
    allowed = torch.ones(4, 6, dtype=torch.bool)
    allowed[1] = False
    cotangents = (draw(generator, *leading, 4, 5).detach(), draw(generator, *leading, 4, 6).detach())
    (output, weights), slopes = gradients(lambda q, k, v: attention(q, k, v, allowed), arguments, cotangents)
    assert (output[..., 1, :] == 0).all()
    assert (weights[..., 1, :] == 0).all()
    assert (slopes[0][..., 1, :] == 0).all()
    alive = [0, 2, 3]
    without_row = [arguments[0][..., alive, :], *arguments[1:]]
    fewer_cotangents = [cotangent[..., alive, :] for cotangent in cotangents]
    _, expected = gradients(lambda q, k, v: attention(q, k, v), without_row, fewer_cotangents)
    assert_near(slopes[0][..., alive, :], expected[0], terms=21)
    assert_near(slopes[1], expected[1], terms=21)
    assert_near(slopes[2], expected[2], terms=21)


@pytest.mark.parametrize("sign", [1.0, -1.0], ids=["positive", "negative"])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_huge_masked_keys_and_values_change_nothing(attention, generator, dtype, sign):
    query, key, value = (draw(generator, *shape, dtype=dtype) for shape in ((4, 5), (6, 5), (6, 7)))
    allowed = torch.ones(4, 6, dtype=torch.bool)
    allowed[:, 2] = False
    allowed[3] = False
    cotangents = (draw(generator, 4, 7).detach(), draw(generator, 4, 6).detach())
    with torch.no_grad():
        key[2], value[2] = 0.0, 0.0
        huge_key, huge_value = key.clone(), value.clone()
        huge_key[2], huge_value[2] = sign * HUGE[dtype], sign * HUGE[dtype]
    expected = gradients(lambda q, k, v: attention(q, k, v, allowed), (query, key, value), cotangents)
    actual = gradients(lambda q, k, v: attention(q, k, v, allowed), (query, huge_key, huge_value), cotangents)
    for changed, unchanged in zip((*actual[0], *actual[1]), (*expected[0], *expected[1]), strict=True):
        assert torch.equal(changed, unchanged)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_even_a_score_or_slope_that_overflows_behind_the_mask_changes_nothing(dtype):
    """What the dtype itself cannot hold: a masked score of inf - inf, and a weight's gradient of inf."""
    attention = load(SOURCES["solution"]).attention
    loud = torch.finfo(dtype).max / HUGE[dtype]
    query = torch.tensor([[loud, loud], [1.0, 0.0]], dtype=dtype)
    key = torch.tensor([[0.0, 0.0], [HUGE[dtype], HUGE[dtype]], [HUGE[dtype], -HUGE[dtype]]], dtype=dtype)
    value = torch.tensor([[1.0, 2.0], [HUGE[dtype], HUGE[dtype]], [HUGE[dtype], -HUGE[dtype]]], dtype=dtype)
    allowed = torch.tensor([[True, False, False], [False, False, False]])
    cotangents = (torch.full((2, 2), loud, dtype=dtype), torch.ones(2, 3, dtype=dtype))
    function = lambda q, k, v: attention(q, k, v, allowed)  # noqa: E731
    (output, weights), (d_query, d_key, d_value) = gradients(function, (query, key, value), cotangents)
    assert output.tolist() == [[1.0, 2.0], [0.0, 0.0]]
    assert weights.tolist() == [[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    assert (d_query == 0).all()
    assert (d_key == 0).all()
    assert d_value.tolist() == [[cotangents[0][0, 0].item()] * 2, [0.0, 0.0], [0.0, 0.0]]


@pytest.mark.parametrize(
    ("dtype", "element"), [(torch.float16, 40.0), (torch.float16, 85.0), (torch.bfloat16, 6.2e18)], ids=str
)
def test_a_dot_product_that_overflows_before_scaling_does_not(attention, dtype, element):
    query = torch.full((2, 3, 64), element, dtype=dtype)
    key = query.clone()
    key[..., 2, :] = 0.0
    value = torch.tensor([[1.0], [4.0], [16.0]], dtype=dtype).expand(2, 3, 1)
    product = 64 * query[0, 0, 0].double() ** 2
    assert product > torch.finfo(dtype).max
    assert product / 8 < torch.finfo(dtype).max
    output, weights = attention(query, key, value)
    assert (output == 2.5).all()
    assert torch.equal(weights, torch.tensor([0.5, 0.5, 0.0], dtype=dtype).expand(2, 3, 3))


def test_gradients_agree_with_finite_differences(attention, generator):
    allowed = torch.ones(3, 4, dtype=torch.bool).tril(-1)
    arguments = draw(generator, 2, 3, 2), draw(generator, 2, 4, 2), draw(generator, 2, 4, 3)
    assert torch.autograd.gradcheck(lambda q, k, v: attention(q, k, v, allowed), arguments)


def test_without_keys_there_is_nothing_to_read(attention):
    query = torch.ones(2, 4, 5, requires_grad=True)
    output, weights = attention(query, torch.ones(2, 0, 5), torch.ones(2, 0, 7))
    assert output.tolist() == torch.zeros(2, 4, 7).tolist()
    assert weights.shape == (2, 4, 0)
    (output.sum() + weights.sum()).backward()
    assert (query.grad == 0).all()
    masked, _ = attention(query, torch.ones(2, 0, 5), torch.ones(2, 0, 7), torch.ones(4, 0, dtype=torch.bool))
    assert masked.tolist() == torch.zeros(2, 4, 7).tolist()


def test_any_memory_layout_is_read_and_left_alone(attention, generator):
    query = draw(generator, 5, 4).detach().T
    key = draw(generator, 1, 5).detach().expand(6, 5)
    value = draw(generator, 12, 7).detach()[::2]
    allowed = torch.ones(4, 1, dtype=torch.bool).expand(4, 6)
    before = [x.clone() for x in (query, key, value, allowed)]
    output, weights = attention(query, key, value, allowed)
    expected_output, expected_weights = loops(*before)
    assert_near(output, expected_output, terms=6)
    assert_near(weights, expected_weights, terms=6)
    for after, original in zip((query, key, value, allowed), before, strict=True):
        assert torch.equal(after, original)


@pytest.mark.parametrize("dtype", [torch.float32, torch.uint8, torch.int64], ids=str)
def test_a_mask_of_numbers_is_a_type_error(attention, dtype):
    with pytest.raises(TypeError, match="allowed"):
        attention(torch.ones(2, 3), torch.ones(4, 3), torch.ones(4, 5), torch.ones(2, 4, dtype=dtype))


@pytest.mark.parametrize(
    ("query", "key", "value", "words"),
    [((2, 3), (4, 5), (4, 3), "query.*key"), ((2, 3), (4, 3), (5, 3), "key.*value"), ((2, 3), (4, 3), (1, 3), "value")],
)
def test_shapes_that_do_not_match_are_value_errors(attention, query, key, value, words):
    with pytest.raises(ValueError, match=words):
        attention(torch.ones(query), torch.ones(key), torch.ones(value))
