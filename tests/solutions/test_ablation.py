"""The reference ablation against loops that leave each key out, a hundred digits, and the library."""

import math
from decimal import Decimal, localcontext
from itertools import product

import pytest
import torch
import torch.nn.functional as F

DTYPES = (torch.float64, torch.float32, torch.bfloat16, torch.float16)
HUGE = {torch.float64: 1e300, torch.float32: 1e30, torch.bfloat16: 1e30, torch.float16: 1e3}
MASKS = {
    "none masked": torch.ones(4, 6, dtype=torch.bool),
    "causal": torch.ones(4, 6, dtype=torch.bool).tril(2),
    "causal with one key and dead rows": torch.ones(4, 6, dtype=torch.bool).tril(-1),
    "padding per item": (torch.arange(6) < torch.tensor([[3], [6]]))[:, None, None, :],
    "all masked": torch.zeros(4, 6, dtype=torch.bool),
}


@pytest.fixture
def ablation_effect(solution):
    return solution("ablation").ablation_effect


@pytest.fixture
def generator():
    return torch.Generator().manual_seed(20260910)


def draw(generator, *shape, dtype=torch.float64, scale=1.0):
    return (scale * torch.randn(shape, generator=generator, dtype=torch.float64)).to(dtype)


def spread(query, key, value, allowed):
    """All arguments in float64 with the leading dimensions of the result."""
    leading = torch.broadcast_shapes(query.shape[:-2], key.shape[:-2], value.shape[:-2])
    allowed = torch.tensor(True) if allowed is None else allowed
    tensors = (x.double().expand(*leading, -1, -1) for x in (query, key, value))
    return *tensors, allowed.expand(*leading, query.shape[-2], key.shape[-2])


def loops(query, key, value, allowed=None):
    """Read each row from Python lists, once from all its keys and once without each of them."""
    query, key, value, allowed = spread(query, key, value, allowed)
    effect = torch.zeros(allowed.shape, dtype=torch.float64)
    for *index, i in product(*map(range, allowed.shape[:-1])):
        at = tuple(index)
        scores = [math.fsum((query[at][i] * k).tolist()) / math.sqrt(query.shape[-1]) for k in key[at]]
        readable = [j for j, may in enumerate(allowed[(*at, i)].tolist()) if may]
        values = value[at].tolist()
        output = averaged(scores, values, readable)
        for j in readable:
            effect[(*at, i, j)] = math.dist(output, averaged(scores, values, [k for k in readable if k != j]))
    return effect


def averaged(scores, values, keys):
    if not keys:
        return [0.0] * len(values[0])
    peak = max(scores[j] for j in keys)
    total = math.fsum(math.exp(scores[j] - peak) for j in keys)
    weights = {j: math.exp(scores[j] - peak) / total for j in keys}
    return [math.fsum(weights[j] * values[j][v] for j in keys) for v in range(len(values[0]))]


def library(query, key, value, allowed=None):
    """The library's attention once for each key that is masked, in float64."""
    query, key, value, allowed = spread(query, key, value, allowed)
    output = F.scaled_dot_product_attention(query, key, value, attn_mask=allowed)
    effects = []
    for column in torch.eye(key.shape[-2], dtype=torch.bool):
        less = F.scaled_dot_product_attention(query, key, value, attn_mask=allowed & ~column)
        effects.append((output - less).norm(dim=-1))
    return torch.stack(effects, dim=-1)


def assert_near(actual, expected, value):
    """Agree but for the roundings of scores, exponentials and two averages, in numbers of the size of the values."""
    assert actual.shape == expected.shape
    size = max(1.0, value.double().norm(dim=-1).max().item())
    error = (actual.double() - expected).abs().max().item() if expected.numel() else 0.0
    assert error <= 16 * torch.finfo(actual.dtype).eps * size


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("allowed", MASKS.values(), ids=MASKS)
def test_it_agrees_with_loops_and_with_the_library(ablation_effect, generator, dtype, allowed):
    query, key, value = (draw(generator, *shape, dtype=dtype) for shape in ((2, 1, 4, 5), (3, 6, 5), (6, 7)))
    effect = ablation_effect(query, key, value, allowed)
    assert effect.dtype == dtype
    assert effect.shape == (2, 3, 4, 6)
    assert_near(effect, loops(query, key, value, allowed), value)
    assert_near(effect, library(query, key, value, allowed), value)
    assert (effect[~allowed.expand(effect.shape)] == 0).all()


@pytest.mark.parametrize("shapes", [((1, 1), (1, 1), (1, 1)), ((1, 1), (2, 1), (2, 3)), ((3, 3), (3, 3), (3, 3))])
def test_without_a_mask_every_key_is_readable(ablation_effect, generator, shapes):
    query, key, value = (draw(generator, *shape) for shape in shapes)
    assert_near(ablation_effect(query, key, value), loops(query, key, value), value)


def test_the_tutorials_row_and_the_two_outputs_that_it_could_have_become(ablation_effect):
    query, key = torch.eye(1, 2, dtype=torch.float64), torch.eye(2, dtype=torch.float64)
    value = torch.tensor([[10.0, 0.0], [0.0, 20.0]], dtype=torch.float64)
    weight = 1 / (1 + math.exp(-1 / math.sqrt(2)))
    output = (10 * weight, 20 * (1 - weight))
    expected = [[math.dist(output, (0, 20)), math.dist(output, (10, 0))]]
    torch.testing.assert_close(ablation_effect(query, key, value), torch.tensor(expected, dtype=torch.float64))


def test_a_large_weight_is_not_the_same_as_a_large_effect(ablation_effect):
    weights = torch.tensor([0.5, 0.25, 0.2, 0.05], dtype=torch.float64)
    value = torch.tensor([[3.0], [4.0], [4.0], [-6.0]], dtype=torch.float64)
    (effect,) = ablation_effect(torch.ones(1, 1, dtype=torch.float64), weights.log()[:, None], value)
    assert effect.argmax() == weights.argmin()
    assert effect[weights.argmax()] < 1e-15
    torch.testing.assert_close(effect, torch.tensor([0.0, 1 / 3, 1 / 4, 9 / 19], dtype=torch.float64))


def decimal_effect(scores, values):
    """One row of values with one feature, in a hundred digits."""
    with localcontext() as context:
        context.prec = 100
        pairs = [(Decimal(score).exp(), Decimal(value)) for score, value in zip(scores, values, strict=True)]
        return [float(abs(decimal_mean(pairs) - decimal_mean(pairs[:j] + pairs[j + 1 :]))) for j in range(len(pairs))]


def decimal_mean(pairs):
    return sum(weight * value for weight, value in pairs) / sum(weight for weight, _ in pairs)


@pytest.mark.parametrize("gap", [1.0, 20.0, 30.0, 36.0, 37.0, 40.0, 100.0, 745.0, 800.0, 1e4])
def test_however_far_the_largest_score_lies_above_the_others(ablation_effect, gap):
    scores, values = [0.0, -gap, -gap - 1.0], [1.0, 4.0, 16.0]
    key, value = (torch.tensor(numbers, dtype=torch.float64)[:, None] for numbers in (scores, values))
    (effect,) = ablation_effect(torch.ones(1, 1, dtype=torch.float64), key, value)
    expected = torch.tensor(decimal_effect(scores, values), dtype=torch.float64)
    # The exponential multiplies the rounding of the score by its size.
    torch.testing.assert_close(effect, expected, rtol=1e-12, atol=1e-14)


def test_the_only_readable_key_has_the_norm_of_the_output(ablation_effect):
    value = torch.tensor([[3.0, 4.0], [5.0, 12.0]])
    only = torch.tensor([[True, False], [False, True], [False, False]])
    effect = ablation_effect(torch.ones(3, 1), torch.ones(2, 1), value, only)
    assert effect.tolist() == [[5.0, 0.0], [0.0, 13.0], [0.0, 0.0]]
    assert ablation_effect(torch.ones(1, 1), torch.ones(1, 1), value[:1]).tolist() == [[5.0]]


@pytest.mark.parametrize("sign", [1.0, -1.0], ids=["positive", "negative"])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_huge_masked_keys_and_values_change_nothing(ablation_effect, generator, dtype, sign):
    query, key, value = (draw(generator, *shape, dtype=dtype) for shape in ((4, 5), (6, 5), (6, 7)))
    allowed = torch.ones(4, 6, dtype=torch.bool)
    allowed[:, 2] = False
    allowed[3] = False
    expected = ablation_effect(query, key, value, allowed)
    key[2], value[2] = sign * HUGE[dtype], sign * HUGE[dtype]
    assert torch.equal(ablation_effect(query, key, value, allowed), expected)


@pytest.mark.parametrize("allowed", [torch.tensor(True), torch.tensor([True, False, True]), torch.tensor([[True]])])
def test_a_mask_may_have_fewer_dimensions(ablation_effect, generator, allowed):
    query, key, value = draw(generator, 2, 4, 5), draw(generator, 2, 3, 5), draw(generator, 2, 3, 7)
    assert_near(ablation_effect(query, key, value, allowed), loops(query, key, value, allowed), value)


def test_without_keys_there_is_no_effect(ablation_effect):
    assert ablation_effect(torch.ones(2, 4, 5), torch.ones(2, 0, 5), torch.ones(2, 0, 7)).shape == (2, 4, 0)


def test_any_memory_layout_is_read_and_left_alone(ablation_effect, generator):
    query, key, value = draw(generator, 5, 4).T, draw(generator, 1, 5).expand(6, 5), draw(generator, 12, 7)[::2]
    allowed = torch.tensor([[True], [True], [False], [True]]).expand(4, 6)
    before = [x.clone() for x in (query, key, value, allowed)]
    first, second = ablation_effect(query, key, value, allowed), ablation_effect(query, key, value, allowed)
    assert_near(first, loops(*before), value)
    assert first.data_ptr() != second.data_ptr()
    for after, original in zip((query, key, value, allowed), before, strict=True):
        assert torch.equal(after, original)


@pytest.mark.parametrize("dtype", [torch.float32, torch.uint8, torch.int64], ids=str)
def test_a_mask_of_numbers_is_a_type_error(ablation_effect, dtype):
    with pytest.raises(TypeError, match="allowed"):
        ablation_effect(torch.ones(2, 3), torch.ones(4, 3), torch.ones(4, 5), torch.ones(2, 4, dtype=dtype))


@pytest.mark.parametrize(
    ("query", "key", "value", "words"),
    [((2, 3), (4, 5), (4, 3), "query.*key"), ((2, 3), (4, 3), (5, 3), "key.*value"), ((2, 3), (4, 3), (1, 3), "value")],
)
def test_shapes_that_do_not_match_are_value_errors(ablation_effect, query, key, value, words):
    with pytest.raises(ValueError, match=words):
        ablation_effect(torch.ones(query), torch.ones(key), torch.ones(value))
