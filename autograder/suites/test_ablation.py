"""The hidden checks of ablation, 10 points.

Where the scale is not the question `d_k` is 1, or all scores are 0, so that a wrong scale costs few checks and not
all. Most values have one feature, where most norms agree, so that a wrong norm costs few checks too.
"""

import torch

from autograder.checks import (
    assert_close,
    assert_equal,
    assert_no_runtime_warning,
    assert_unshared,
    assert_untouched,
    hint,
    points,
    promise,
    raises,
    seen_in,
    stays,
)

DTYPES = (torch.float64, torch.float32, torch.bfloat16, torch.float16)
HUGE = {torch.float32: 1e30, torch.bfloat16: 1e30, torch.float64: 1e300, torch.float16: 1e3}
VALUES = torch.tensor([[1.0], [4.0], [16.0]], dtype=torch.float64)
FLAT = torch.zeros(3, 1, dtype=torch.float64)
ONE = torch.ones(1, 1, dtype=torch.float64)


def normal(rng, *shape):
    return torch.from_numpy(rng.normal(size=shape))


def one_feature(rng, *shape):
    """Draw values that are 0 in all features but the first, where most norms agree."""
    values = torch.zeros(shape, dtype=torch.float64)
    values[..., :1] = normal(rng, *shape[:-1], 1)
    return values


def column(*numbers):
    return torch.tensor(numbers, dtype=torch.float64)[:, None]


def row(*numbers):
    return torch.tensor([numbers], dtype=torch.float64)


def mask(*rows):
    """Read a mask from words of 1 (may be read) and 0."""
    return torch.tensor([[cell == "1" for cell in row] for row in rows])


def in_dtype(result, dtype):
    """Leave the dtype of a result to the check that is about it."""
    return result.to(dtype) if isinstance(result, torch.Tensor) and result.is_floating_point() else result


def assert_roughly(actual, expected, values):
    """Six digits of the values are enough where accuracy is not the question, so that a slip costs one check."""
    assert_close(in_dtype(actual, torch.float32), expected, dtype=torch.float32, terms=16, scale=size_of(values))


def size_of(values):
    """Give the length of the longest value: a difference of averages cannot be more accurate than they are."""
    return max(1.0, values.norm(dim=-1).max().item())


@points(1)
@promise("names", "returns", "effect", "renormalised")
@hint("ablation.effect")
@stays("the smallest case, with weights that can be followed by hand")
def test_without_a_key_the_others_share_its_weight(learner):
    for n_keys, expected in ((2, row(1.5, 1.5)), (3, row(3.0, 1.5, 4.5))):
        assert_roughly(learner.ablation_effect(FLAT[:1], FLAT[:n_keys], VALUES[:n_keys]), expected, VALUES)
    expected = row(2.25, 0.75)
    key, value = column(0.75, 0.25).log(), column(1.0, 4.0)
    assert_roughly(learner.ablation_effect(value=value, key=key, query=ONE), expected, value)


@points(1)
@promise("not_the_weight", "effect", "renormalised")
@hint("ablation.not_the_weight")
@stays("the tutorial's warning, and what the exercise is there to show")
def test_the_largest_weight_may_have_no_effect_and_the_smallest_the_largest(learner):
    for weights, values, expected in (
        ((0.5, 0.25, 0.25), (4.0, 8.0, 0.0), (0.0, 4 / 3, 4 / 3)),
        ((0.5, 0.25, 0.2, 0.05), (3.0, 4.0, 4.0, -6.0), (0.0, 1 / 3, 1 / 4, 9 / 19)),
    ):
        value = column(*values)
        assert_roughly(learner.ablation_effect(ONE, column(*weights).log(), value), row(*expected), value)


@points(1)
@promise("norm", "effect")
@hint("ablation.norm")
@stays("the smallest counterexample for a wrong norm, which every value shows")
def test_how_far_is_the_euclidean_norm_of_the_difference(learner, reference, rng):
    for value in ([[0.0, 0.0], [6.0, 8.0]], [[3.0, 4.0], [4.0, 3.0]], [[2.0, 4.0, 4.0], [0.0, 0.0, 0.0]]):
        value = torch.tensor(value, dtype=torch.float64)
        apart = (value[0] - value[1]).norm().item()
        effect = learner.ablation_effect(FLAT[:1], FLAT[:2], value)
        assert_roughly(effect, row(apart / 2, apart / 2), value)
    query, key, value = normal(rng, 2, 4, 1), normal(rng, 2, 6, 1), normal(rng, 2, 6, 7)
    assert_roughly(learner.ablation_effect(query, key, value), reference.ablation_effect(query, key, value), value)


@points(0.5)
@promise("scale")
@hint("ablation.scale")
@seen_in("lucidrains/vit-pytorch#65", "esceptico/perceiver-io#9", "delzac/cntkx#10")
def test_scores_are_divided_by_the_root_of_the_key_width(learner):
    # The output [6.70, 6.60] of the tutorial becomes [0, 20] without the first key and [10, 0] without the second.
    query, key = torch.eye(1, 2, dtype=torch.float64), torch.eye(2, dtype=torch.float64)
    value = torch.tensor([[10.0, 0.0], [0.0, 20.0]], dtype=torch.float64)
    effect = learner.ablation_effect(query, key, value)
    assert_roughly(effect, row(14.9763236, 7.3843563), value)
    # Beyond 256 equal sizes are no longer the same object.
    for d_k, weight in ((5, 0.8567868), (289, 0.5585536)):
        query = 2.0 * torch.eye(1, d_k, dtype=torch.float64)
        key = torch.cat([query, torch.zeros_like(query)])
        effect = learner.ablation_effect(query, key, column(1.0, 0.0))
        assert_roughly(effect, row(weight, 1.0 - weight), ONE)


@points(0.5)
@promise("shapes", "leading", "mask_shape")
@hint("ablation.shapes")
@seen_in("pytorch/pytorch#64888", "allenai/allennlp#3599")
def test_every_size_may_differ_and_leading_dimensions_are_broadcast(learner, reference, rng):
    cases = [((1, 1), (2, 1), (2, 1), None), ((2, 1), (3, 1), (3, 1), None), ((3, 1), (2, 1), (2, 5), None)]
    cases += [((3, 3, 1), (3, 3, 1), (3, 3, 3), None), ((2, 4, 1), (6, 1), (6, 7), None)]
    cases += [((4, 1), (2, 6, 1), (6, 7), mask("111110")), ((4, 1), (6, 1), (2, 6, 7), None)]
    cases += [((2, 1, 4, 1), (3, 6, 1), (6, 7), mask("111000", "111111")[:, None, None, :])]
    cases += [((2, 3, 4, 1), (2, 3, 6, 1), (2, 3, 6, 7), mask("100001", "110000", "111111")[:, None, :])]
    for of_query, of_key, of_value, allowed in cases:
        query, key, value = normal(rng, *of_query), normal(rng, *of_key), one_feature(rng, *of_value)
        expected = reference.ablation_effect(query, key, value, allowed)
        assert_roughly(learner.ablation_effect(query, key, value, allowed), expected, value)
    # All scores are 0.
    query, key, value = normal(rng, 2, 3, 4, 5) * 0.0, normal(rng, 2, 3, 6, 5), one_feature(rng, 2, 3, 6, 7)
    assert_roughly(learner.ablation_effect(query, key, value), reference.ablation_effect(query, key, value), value)


@points(0.5)
@promise("alone", "effect")
@hint("ablation.alone")
@stays("names keys that are taken away one after the other, which fails almost everywhere")
def test_each_key_is_taken_away_alone_and_comes_back(learner):
    # Three values are alike, so it makes no difference which of them is taken away first.
    expected = row(0.25, 0.25, 0.25, 0.75)
    value = column(1.0, 1.0, 1.0, 4.0)
    flat = torch.zeros(4, 1, dtype=torch.float64)
    assert_roughly(learner.ablation_effect(flat[:1], flat, value), expected, value)
    effect = learner.ablation_effect(flat[:2], flat, value, mask("1111", "0111"))
    assert_roughly(effect, torch.cat([expected, row(0.0, 0.5, 0.5, 1.0)]), value)


@points(1)
@promise("saturated", "renormalised")
@hint("ablation.saturated")
@seen_in("tensorflow/tensorflow#10142")
def test_what_remains_is_weighed_anew_where_a_weight_is_one_to_the_last_bit(learner):
    share = 0.7310585786300049
    left = share * 4.0 + (1.0 - share) * 16.0
    for gap in (40.0, 30.0, 800.0):
        key = column(0.0, -gap, -gap - 1.0)
        effect = learner.ablation_effect(ONE, key, VALUES)
        assert_roughly(effect, row(left - 1.0, 0.0, 0.0), VALUES)
    effect = learner.ablation_effect(ONE, column(-1e4, 1e4), column(1.0, 4.0))
    assert_roughly(effect, row(0.0, 3.0), VALUES)


@points(1)
@promise("only", "polarity", "shapes")
@hint("ablation.only_key")
@seen_in("pytorch/pytorch#25110")
def test_the_only_readable_key_has_the_norm_of_the_output(learner):
    value = torch.tensor([[5.0, 0.0], [-13.0, 0.0], [4.0, 0.0]], dtype=torch.float64)
    effect = learner.ablation_effect(FLAT[:1], FLAT[:1], value[:1])
    assert_roughly(effect, row(5.0), value)
    effect = learner.ablation_effect(FLAT, FLAT, value, mask("100", "001", "010"))
    expected = torch.tensor([[5.0, 0.0, 0.0], [0.0, 0.0, 4.0], [0.0, 13.0, 0.0]], dtype=torch.float64)
    assert_roughly(effect, expected, value)


@points(1)
@promise("unreadable", "polarity", "mask_shape")
@hint("ablation.unreadable")
@seen_in("rasbt/LLMs-from-scratch#1061", "pytorch/pytorch#170415", "lucidrains/x-transformers#174")
def test_a_key_that_may_not_be_read_has_no_effect(learner, reference, rng):
    for allowed, expected in (
        (mask("110"), row(1.5, 1.5, 0.0)),
        (mask("011", "101"), torch.tensor([[0.0, 6.0, 6.0], [7.5, 0.0, 7.5]], dtype=torch.float64)),
        (torch.tensor([True, False, True]), row(7.5, 0.0, 7.5)),
        (torch.tensor(True), row(3.0, 1.5, 4.5)),
    ):
        effect = learner.ablation_effect(FLAT[: len(expected)], FLAT, VALUES, allowed)
        assert_roughly(effect, expected, VALUES)
        assert_equal(effect == 0, expected == 0)
    query, key, value = column(1.0, -1.0, 0.5), column(2.0, 1.5, -1.0, -2.0), one_feature(rng, 4, 2)
    allowed = mask("0011", "1100", "0101")
    effect = learner.ablation_effect(query, key, value, allowed)
    assert_roughly(effect, reference.ablation_effect(query, key, value, allowed), value)
    assert_equal(effect[~allowed], torch.zeros(6, dtype=effect.dtype))


@points(0.5)
@promise("fully_masked")
@hint("ablation.fully_masked")
@seen_in("pytorch/pytorch#103963", "patrick-kidger/equinox#274")
def test_in_a_fully_masked_row_every_effect_is_zero(learner):
    expected = torch.tensor([[1.5, 1.5, 0.0], [0.0, 0.0, 0.0]], dtype=torch.float64)
    for allowed, right in ((mask("110", "000"), expected), (mask("000", "110"), expected.flip(0))):
        effect = learner.ablation_effect(FLAT[:2], FLAT, VALUES, allowed)
        assert_roughly(effect, right, VALUES)
        assert_equal(effect == 0, right == 0)
        assert_no_runtime_warning(learner)


@points(0.5)
@promise("huge", "unreadable")
@hint("ablation.huge_masked")
@seen_in("pytorch/pytorch#101967", "onnx/onnx#8068")
def test_what_is_masked_may_be_huge(learner, reference):
    allowed = mask("101", "101")
    query, key = column(1.0, -1.0), column(0.25, 0.0, -0.5)
    expected = reference.ablation_effect(query, key, VALUES, allowed)
    hidden = column(0.0, 1.0, 0.0)
    for dtype, huge in HUGE.items():
        for of_key, of_value in ((huge, 0.0), (0.0, huge), (-huge, -huge)):
            arguments = query, key + of_key * hidden, VALUES + of_value * hidden
            effect = learner.ablation_effect(*(argument.to(dtype) for argument in arguments), allowed)
            rough = dtype if dtype.itemsize == 2 else torch.float32
            assert_close(in_dtype(effect, rough), expected, dtype=rough, terms=4, scale=16.0)


@points(0.25)
@promise("mask_error")
@hint("ablation.mask_error")
@seen_in("pytorch/pytorch#24180", "pytorch/pytorch#92554")
def test_a_mask_that_is_not_boolean_is_a_type_error(learner):
    for dtype in (torch.float64, torch.uint8, torch.int64):
        with raises(TypeError, naming=("allowed",)):
            learner.ablation_effect(FLAT[:1], FLAT, VALUES, torch.ones(1, 3, dtype=dtype))
    assert_roughly(learner.ablation_effect(FLAT[:1], FLAT, VALUES, mask("110")), row(1.5, 1.5, 0.0), VALUES)


@points(0.25)
@promise("shape_error")
@hint("ablation.shape_error")
@seen_in("pytorch/pytorch#193728")
def test_widths_or_numbers_of_keys_that_differ_are_value_errors(learner):
    def blank(*shape):
        return torch.zeros(shape, dtype=torch.float64)

    for d_query, d_key in ((2, 3), (1, 3), (3, 1)):
        with raises(ValueError, naming=("query", "key", "d_k")):
            learner.ablation_effect(blank(4, d_query), blank(6, d_key), blank(6, 7))
    for n_keys, n_values in ((2, 3), (1, 3), (3, 1)):
        with raises(ValueError, naming=("key", "value", "n_keys")):
            learner.ablation_effect(blank(2, 4, 5), blank(2, n_keys, 5), blank(2, n_values, 7))
    assert_roughly(learner.ablation_effect(FLAT[:1], FLAT, VALUES), row(3.0, 1.5, 4.5), VALUES)


@points(0.5)
@promise("dtype", "accuracy")
@hint("ablation.dtype")
@seen_in("facebookresearch/fairseq#3575", "netket/netket#1218")
def test_each_floating_dtype_comes_back_with_its_own_accuracy(learner, reference, rng):
    causal = torch.ones(4, 6, dtype=torch.bool).tril(2)
    for dtype in DTYPES:
        arguments = normal(rng, 3, 4, 1), normal(rng, 3, 6, 1), one_feature(rng, 3, 6, 7)
        arguments = [argument.to(dtype) for argument in arguments]
        query, key, value = (argument.double() for argument in arguments)
        expected = reference.ablation_effect(query, key, value, causal)
        effect = learner.ablation_effect(*arguments, causal)
        logits = (query @ key.mT).abs().max().item()
        assert_close(effect, expected, dtype=dtype, terms=6 + 7, logits=logits, scale=size_of(value))


@points(0.25)
@promise("layout")
@hint("ablation.layout")
@seen_in("NVIDIA/Megatron-LM#875", "ByteDance-Seed/Depth-Anything-3#268")
def test_any_memory_layout_is_legal(learner, reference, rng):
    transposed = (
        normal(rng, 3, 1, 4).mT,
        normal(rng, 2, 6, 3).transpose(0, 2)[..., :1],
        normal(rng, 6, 3, 1).transpose(0, 1),
    )
    sliced = normal(rng, 8, 2)[::2, 1:], normal(rng, 12, 2)[1::2, :1], normal(rng, 6, 2)[:, ::2]
    expanded = normal(rng, 1, 1).expand(2, 4, 1), normal(rng, 6, 1).expand(2, 6, 1), normal(rng, 6, 1).expand(2, 6, 1)
    allowed = mask("1").expand(4, 6)
    for query, key, value in (sliced, transposed, expanded):
        expected = reference.ablation_effect(query, key, value, allowed)
        assert_roughly(learner.ablation_effect(query, key, value, allowed), expected, value)


@points(0.25)
@promise("untouched", "unshared")
@hint("ablation.memory")
@seen_in("exercism/python#1874", "huggingface/transformers#31008")
def test_arguments_stay_as_they_are_and_the_result_is_new(learner, reference, rng):
    full = mask("111111", "111110", "000011", "111100")
    for leading, allowed in (((), None), ((), full), ((), full), ((2,), full.expand(2, 4, 6).clone())):
        # All scores are 0, but not all that goes into them.
        query, key = normal(rng, *leading, 4, 5), torch.zeros(*leading, 6, 5, dtype=torch.float64)
        value = one_feature(rng, *leading, 6, 7)
        effect = learner.ablation_effect(query, key, value, allowed)
        assert_untouched(learner)
        assert_unshared(learner)
        assert_roughly(effect, reference.ablation_effect(query, key, value, allowed), value)
