"""The reference multi-head attention against nn.MultiheadAttention and against its own pieces."""

import importlib.util
import math
import sys
from pathlib import Path
from types import ModuleType

import pytest
import torch
from torch import nn

ROOT = Path(__file__).parents[2]
ATTENTIONS = {"solution": ROOT / "solutions/attention.py", "stand-in": ROOT / "autograder/stand_ins/attention.py"}
DTYPES = (torch.float64, torch.float32, torch.bfloat16, torch.float16)
PROJECTIONS = ("q_proj", "k_proj", "v_proj")


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(params=sorted(ATTENTIONS))
def multi_head(request, monkeypatch):
    monkeypatch.setitem(sys.modules, "attention", load(ATTENTIONS[request.param]))
    return load(ROOT / "solutions/multi_head.py")


@pytest.fixture
def generator():
    return torch.Generator().manual_seed(20260910)


def draw(generator, *shape, dtype=torch.float64):
    return torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype)


def randomised(multi_head, generator, d_model, n_heads, dtype=torch.float64, **options):
    """A module in eval mode, every parameter drawn, biases too."""
    module = multi_head.MultiHeadAttention(d_model, n_heads, **options).to(dtype).eval()
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(draw(generator, *parameter.shape) / math.sqrt(d_model))
    return module


def library(module, n_heads, bias=True):
    """The library's module in float64 with the same weights."""
    twin = nn.MultiheadAttention(module.q_proj.in_features, n_heads, bias=bias, batch_first=True, dtype=torch.float64)
    with torch.no_grad():
        twin.in_proj_weight.copy_(torch.cat([getattr(module, name).weight for name in PROJECTIONS]))
        twin.out_proj.weight.copy_(module.out_proj.weight)
        if bias:
            twin.in_proj_bias.copy_(torch.cat([getattr(module, name).bias for name in PROJECTIONS]))
            twin.out_proj.bias.copy_(module.out_proj.bias)
    return twin.eval()


def assert_near(actual, expected, terms):
    assert actual.shape == expected.shape
    assert torch.isfinite(actual).all()
    error = (actual.double() - expected.double()).abs()
    size = max(1.0, expected.abs().max().item())
    limit = torch.finfo(actual.dtype).eps * (min(terms, 16 + math.log2(terms)) + 7) * size
    assert (error <= limit).all(), f"off by {error.max().item()}, limit {limit}"


@pytest.mark.parametrize("n_heads", [1, 2, 3, 12])
def test_splitting_cuts_the_features_and_merging_joins_them(multi_head, generator, n_heads):
    x = draw(generator, 2, 5, 4, 12)
    heads = multi_head.split_heads(x, n_heads)
    d_head = 12 // n_heads
    for head in range(n_heads):
        assert torch.equal(heads[..., head, :, :], x[..., head * d_head : (head + 1) * d_head])
    assert torch.equal(multi_head.merge_heads(heads), x)


@pytest.mark.parametrize(
    "x", [torch.arange(8.0).reshape(4, 2).T, torch.ones(2, 1).expand(2, 4), torch.ones(4, 8)[::2, ::2]]
)
def test_any_memory_layout_can_be_split_and_merged(multi_head, x):
    heads = multi_head.split_heads(x, 2)
    assert torch.equal(heads, multi_head.split_heads(x.contiguous(), 2))
    assert torch.equal(multi_head.merge_heads(heads), x)


@pytest.mark.parametrize(("d_model", "n_heads"), [(10, 3), (2, 8), (4, 0), (4, -2)])
def test_a_width_that_does_not_divide_is_a_value_error(multi_head, d_model, n_heads):
    with pytest.raises(ValueError, match=f"{d_model}.*{n_heads}"):
        multi_head.split_heads(torch.ones(2, d_model), n_heads)
    with pytest.raises(ValueError, match=f"{d_model}.*{n_heads}"):
        multi_head.MultiHeadAttention(d_model, n_heads)


@pytest.mark.parametrize("bias", [True, False])
def test_the_parameters_are_four_linear_layers(multi_head, bias):
    module = multi_head.MultiHeadAttention(15, 3, bias=bias)
    names = {f"{layer}.{kind}" for layer in (*PROJECTIONS, "out_proj") for kind in ("weight", "bias")[: 1 + bias]}
    assert set(module.state_dict()) == names
    assert all(isinstance(getattr(module, layer), nn.Linear) for layer in (*PROJECTIONS, "out_proj"))


CAUSAL = torch.ones(4, 6, dtype=torch.bool).tril(2)
PADDED = (torch.arange(6) < torch.tensor([[3], [6]]))[:, None, None, :]
PER_HEAD = torch.rand(1, 3, 4, 6, generator=torch.Generator().manual_seed(5)) < 0.6
PER_HEAD[..., 0] = True
MASKS = {"none": None, "causal": CAUSAL, "padded": PADDED, "both": CAUSAL & PADDED, "per head": PER_HEAD}


@pytest.mark.parametrize("bias", [True, False], ids=["bias", "no bias"])
@pytest.mark.parametrize("allowed", MASKS.values(), ids=MASKS)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_results_and_gradients_agree_with_the_library(multi_head, generator, dtype, allowed, bias):
    module = randomised(multi_head, generator, 15, 3, dtype, bias=bias)
    twin = library(module, 3, bias)
    inputs = [draw(generator, 2, n, 15, dtype=dtype).requires_grad_() for n in (4, 6, 6)]
    exact = [x.detach().double().requires_grad_() for x in inputs]
    cotangents = (draw(generator, 2, 4, 15, dtype=dtype), draw(generator, 2, 3, 4, 6, dtype=dtype))
    blocked = None if allowed is None else ~allowed.expand(2, 3, 4, 6).reshape(6, 4, 6)
    results = module(*inputs, allowed=allowed)
    expected = twin(*exact, attn_mask=blocked, average_attn_weights=False)
    for actual, right in zip(results, expected, strict=True):
        assert actual.dtype == dtype
        assert_near(actual, right, terms=4 * 15)
    sum((result * cotangent).sum() for result, cotangent in zip(results, cotangents, strict=True)).backward()
    sum((result * cotangent).sum() for result, cotangent in zip(expected, cotangents, strict=True)).backward()
    for x, right in zip(inputs, exact, strict=True):
        assert_near(x.grad, right.grad, terms=8 * 15)
    slopes = torch.cat([getattr(module, name).weight.grad for name in PROJECTIONS])
    assert_near(slopes, twin.in_proj_weight.grad, terms=8 * 15)
    assert_near(module.out_proj.weight.grad, twin.out_proj.weight.grad, terms=8 * 15)


def test_key_defaults_to_query_and_value_to_key(multi_head, generator):
    module = randomised(multi_head, generator, 15, 3)
    query, key = draw(generator, 2, 4, 15), draw(generator, 2, 6, 15)
    for short, long in ((module(query), module(query, query, query)), (module(query, key), module(query, key, key))):
        assert torch.equal(short[0], long[0])
        assert torch.equal(short[1], long[1])


def test_a_fully_masked_row_becomes_the_bias_of_out_proj(multi_head, generator):
    module = randomised(multi_head, generator, 15, 3)
    query = draw(generator, 2, 4, 15).requires_grad_()
    allowed = torch.ones(4, 4, dtype=torch.bool).tril(-1)
    output, weights = module(query, allowed=allowed)
    assert torch.equal(output[:, 0], module.out_proj.bias.expand(2, 15))
    assert (weights[:, :, 0] == 0).all()
    output.sum().backward()
    assert torch.isfinite(query.grad).all()
    assert all(torch.isfinite(parameter.grad).all() for parameter in module.parameters())


@pytest.mark.parametrize("shape", [(2, 4, 6), (3, 4, 6), (1, 4, 6), (6,), (1, 6), (4, 1), (1, 1, 1, 4, 6)])
def test_a_mask_that_could_mean_two_things_is_a_value_error(multi_head, shape):
    module = multi_head.MultiHeadAttention(15, 3)
    with pytest.raises(ValueError, match="allowed"):
        module(torch.ones(2, 4, 15), torch.ones(2, 6, 15), allowed=torch.ones(shape, dtype=torch.bool))


def test_permuting_keys_and_values_together_changes_nothing(multi_head, generator):
    module = randomised(multi_head, generator, 15, 3)
    query, key, value = (draw(generator, 2, n, 15) for n in (4, 6, 6))
    order = [3, 5, 0, 1, 4, 2]
    output, weights = module(query, key, value)
    permuted_output, permuted_weights = module(query, key[:, order], value[:, order])
    assert_near(permuted_output, output, terms=15)
    assert_near(permuted_weights, weights[..., order], terms=15)


@pytest.mark.parametrize("probability", [0.0, 0.25, 0.5, 1.0])
def test_dropout_drops_weights_and_divides_the_rest(multi_head, generator, probability):
    """Values that are the rows of the identity, and no projection of them: the output is the dropped weights."""
    n_keys = 32
    module = randomised(multi_head, generator, n_keys, 1, dropout=probability)
    with torch.no_grad():
        for layer in (module.v_proj, module.out_proj):
            layer.weight.copy_(torch.eye(n_keys))
            layer.bias.zero_()
    query, key = draw(generator, 16, 8, n_keys), draw(generator, 16, n_keys, n_keys)
    value = torch.eye(n_keys, dtype=torch.float64).expand(16, n_keys, n_keys)
    expected, expected_weights = module(query, key, value)
    torch.manual_seed(20260910)
    dropped, weights = module.train()(query, key, value)
    assert torch.equal(weights, expected_weights)
    kept = dropped != 0
    spread = math.sqrt(probability * (1 - probability) / kept.numel())
    assert abs(kept.double().mean().item() - (1 - probability)) <= 5 * spread
    if probability < 1:
        assert_near(dropped[kept] * (1 - probability), expected[kept], terms=n_keys)


def test_the_worked_shapes_of_the_tutorial(multi_head):
    heads = multi_head.split_heads(torch.zeros(2, 3, 512), 8)
    assert heads.shape == (2, 8, 3, 64)
