"""The hidden checks of attention, 20 points.

Where the scale is not the question `d_k` is 1, or all scores are 0, so that a wrong scale costs few checks and not
all. The values 1, 4 and 16 tell by their mean which keys were read: 2.5 is the first two, 7 all three.
"""

import math

import torch

from autograder.checks import (
    assert_close,
    assert_equal,
    assert_no_runtime_warning,
    assert_unshared,
    assert_untouched,
    hint,
    insist,
    points,
    promise,
    raises,
    say,
    seen_in,
    stays,
)

DTYPES = (torch.float64, torch.float32, torch.bfloat16, torch.float16)
HUGE = {torch.float32: 1e30, torch.bfloat16: 1e30, torch.float64: 1e300, torch.float16: 1e3}
VALUES = torch.tensor([[1.0], [4.0], [16.0]], dtype=torch.float64)
FLAT = torch.zeros(3, 1, dtype=torch.float64)


def normal(rng, *shape):
    return torch.from_numpy(rng.normal(size=shape))


def mask(*rows):
    """Read a mask from words of 1 (may be read) and 0."""
    return torch.tensor([[cell == "1" for cell in row] for row in rows])


def in_dtype(result, dtype):
    """Leave the dtype of a result to the check that is about it."""
    return result.to(dtype) if isinstance(result, torch.Tensor) and result.is_floating_point() else result


def assert_roughly(actual, expected, scale=None):
    """Six digits are enough where accuracy is not the question, so that a slip costs one check."""
    assert_close(in_dtype(actual, torch.float32), expected, dtype=torch.float32, terms=16, scale=scale)


def both(returned):
    """Take `(output, weights)` apart."""
    is_many = isinstance(returned, tuple | list)
    insist(is_many, say("attention returns (output, weights), not {kind}", kind=type(returned).__name__))
    insist(len(returned) == 2, say("attention returns two things, (output, weights), not {count}", count=len(returned)))
    return returned


def assert_attends(returned, expected):
    """Compare output and weights with those expected."""
    for actual, right in zip(both(returned), expected, strict=True):
        assert_roughly(actual, right, scale=largest(right))


def largest(tensor):
    return max(1.0, tensor.abs().max().item()) if tensor.numel() else 1.0


def gradients(function, arguments, cotangents):
    """Calculate the gradient of sum(result * cotangent) for each argument in this process."""
    leaves = [argument.detach().double().requires_grad_() for argument in arguments]
    pairs = [(r, c) for r, c in zip(function(*leaves), cotangents, strict=True) if c is not None]
    return torch.autograd.grad(sum((result * cotangent).sum() for result, cotangent in pairs), leaves)


def assert_gradients(found, expected):
    """Compare the gradients of query, key and value, one after the other."""
    for actual, right in zip(found.arguments, expected, strict=True):
        assert_roughly(actual, right, scale=largest(right))


@points(1)
@promise("names", "returns")
@hint("attention.weighted_sum")
@stays("the worked example of the course, the first to be shown and the only call by keyword")
def test_the_row_of_the_tutorial_and_what_a_larger_value_changes(learner):
    query = torch.tensor([[1.0, 0.0]], dtype=torch.float64)
    key = torch.tensor([[1.0, 0.0], [0.0, 1.0]], dtype=torch.float64)
    weights = torch.tensor([[0.6697615493266569, 0.3302384506733431]], dtype=torch.float64)
    for first_value in (10.0, 100.0):
        value = torch.tensor([[first_value, 0.0], [0.0, 20.0]], dtype=torch.float64)
        output = torch.tensor([[0.6697615493266569 * first_value, 6.604769013466862]], dtype=torch.float64)
        assert_attends(learner.attention(query, key, value), (output, weights))
    named = learner.attention(value=value, key=key, query=query, allowed=mask("11"))
    assert_attends(named, (output, weights))


@points(1.5)
@promise("scale")
@hint("attention.scale")
@seen_in(
    "lucidrains/vit-pytorch#65",
    "esceptico/perceiver-io#9",
    "delzac/cntkx#10",
    "mkara44/transunet_pytorch#4",
    "juho-lee/set_transformer#18",
)
@stays("the only check whose question is the scale; gradients and dtypes notice a wrong one too")
def test_scores_are_divided_by_the_root_of_the_key_width(learner, reference, rng):
    # Beyond 256 equal sizes are no longer the same object.
    for d_k, weight in ((2, 0.9441928), (5, 0.8567868), (289, 0.5585536)):
        query = 2.0 * torch.eye(1, d_k, dtype=torch.float64)
        key = torch.cat([query, torch.zeros_like(query)])
        value = torch.eye(2, 7, dtype=torch.float64)
        weights = torch.tensor([[weight, 1.0 - weight]], dtype=torch.float64)
        assert_roughly(both(learner.attention(query, key, value))[1], weights)
    query, key, value = normal(rng, 2, 3, 4, 5), normal(rng, 2, 3, 6, 5), normal(rng, 2, 3, 6, 7)
    assert_attends(learner.attention(query, key, value), reference.attention(query, key, value))


@points(1)
@promise("rows", "sizes")
@hint("attention.softmax_axis")
@seen_in("labmlai/annotated_deep_learning_paper_implementations#146", "spdlearn/spd_learn#28")
@stays("the smallest counterexample for a wrong axis, which every check without a mask notices")
def test_each_query_shares_its_weight_among_the_keys(learner, reference, rng):
    counting = torch.arange(4, dtype=torch.float64)[:, None]
    for n_queries, n_keys in ((1, 2), (2, 2), (3, 2), (2, 3)):
        query, key, value = counting[:n_queries], counting[:n_keys], counting[:n_keys]
        _, weights = both(learner.attention(query, key, value))
        assert_roughly(weights, reference.attention(query, key, value)[1])
        assert_roughly(weights.sum(dim=-1), torch.ones(n_queries, dtype=torch.float64))
    query, key, value = normal(rng, 3, 3, 3, 1), normal(rng, 3, 3, 3, 1), normal(rng, 3, 3, 3, 1)
    assert_roughly(both(learner.attention(query, key, value))[1], reference.attention(query, key, value)[1])


@points(0.5)
@promise("shapes", "sizes")
@hint("attention.shapes")
@seen_in("allenai/allennlp#3599", "lucidrains/flash-attention-jax#15", "AlphaGPU/leetgpu-challenges#69")
def test_every_size_may_be_one_and_may_differ_from_the_others(learner, reference, rng):
    sizes = [((), 1, 1, 1, 1), ((), 1, 2, 1, 3), ((), 2, 1, 1, 3), ((), 2, 3, 1, 1)]
    sizes += [
        ((1,), 2, 3, 1, 4),
        ((1, 2), 1, 3, 1, 4),
        ((2, 3), 4, 6, 1, 7),
        ((2, 3), 4, 6, 5, 7),
        ((1, 2, 1), 3, 4, 6, 5),
    ]
    for leading, n_queries, n_keys, d_k, d_v in sizes:
        query = normal(rng, *leading, n_queries, d_k) * (d_k == 1)
        key, value = normal(rng, *leading, n_keys, d_k), normal(rng, *leading, n_keys, d_v)
        assert_attends(learner.attention(query, key, value), reference.attention(query, key, value))


@points(1)
@promise("leading", "mask_shape")
@hint("attention.leading_dimensions")
@seen_in("pytorch/pytorch#64888")
def test_leading_dimensions_are_broadcast_together(learner, reference, rng):
    shapes = [
        ((2,), (), ()),
        ((), (2,), ()),
        ((), (), (2,)),
        ((3, 1), (4,), ()),
        ((), (4,), (3, 1)),
        ((1, 2), (3, 1), (2,)),
    ]
    for of_query, of_key, of_value in shapes:
        query, key, value = normal(rng, *of_query, 4, 1), normal(rng, *of_key, 6, 1), normal(rng, *of_value, 6, 7)
        assert_attends(learner.attention(query, key, value), reference.attention(query, key, value))
    query, key, value = normal(rng, 2, 3, 4, 1), normal(rng, 2, 3, 6, 1), normal(rng, 2, 3, 6, 7)
    keys_allowed = mask("111000", "111111")[:, None, None, :]
    per_head = mask("100000", "110000", "111111")[:, None, :]
    for allowed in (mask("111110"), keys_allowed, per_head, keys_allowed & per_head):
        assert_attends(learner.attention(query, key, value, allowed), reference.attention(query, key, value, allowed))


@points(1.5)
@promise("polarity", "mask_shape")
@hint("attention.polarity")
@seen_in(
    "rasbt/LLMs-from-scratch#1061",
    "pytorch/pytorch#170415",
    "lucidrains/x-transformers#174",
    "hyunwoongko/transformer#32",
    "OpenNMT/OpenNMT-py#120",
)
def test_true_means_that_the_query_may_read_the_key(learner, reference):
    cases = [(mask("10"), [1.0]), (mask("011"), [10.0]), (mask("110", "011"), [2.5, 10.0])]
    cases += [(mask("100", "110", "111"), [1.0, 2.5, 7.0]), (mask("011", "101", "110"), [10.0, 8.5, 2.5])]
    cases += [(torch.tensor([True, False, True]), [8.5, 8.5]), (torch.tensor(True), [7.0, 7.0]), (None, [7.0, 7.0])]
    for allowed, means in cases:
        n_keys = 3 if allowed is None or allowed.dim() == 0 else allowed.shape[-1]
        query, key, value = FLAT[: len(means)], FLAT[:n_keys], VALUES[:n_keys]
        output, _ = both(learner.attention(query, key, value, allowed))
        assert_roughly(output, torch.tensor(means, dtype=torch.float64)[:, None])
    # As many sequences as queries: a mask of the keys must not be read as one of the queries.
    keys_allowed = mask("111", "110", "100")[:, None, :]
    output, _ = both(learner.attention(FLAT.expand(3, 3, 1), FLAT, VALUES, keys_allowed))
    means = torch.tensor([7.0, 2.5, 1.0], dtype=torch.float64)[:, None, None]
    assert_roughly(output, means.expand(3, 3, 1))


@points(1.5)
@promise("masked", "rows")
@hint("attention.before_softmax")
@seen_in(
    "huggingface/pytorch-image-models#2236",
    "georg-wolflein/good-features#1",
    "huggingface/transformers#41443",
    "pytorch/pytorch#21518",
    "lucidrains/flamingo-pytorch#10",
)
@stays("names what is zeroed or added after the softmax, at its smallest; other masks show it too")
def test_the_weights_of_a_row_are_shared_among_the_keys_it_may_read(learner, reference):
    one = torch.ones(1, 1, dtype=torch.float64)
    cases = [
        ([0.0, 0.0, 0.0], mask("110")),
        ([1.0, -1.0, 0.0, 0.5], mask("1100")),
        ([3.0, 0.0, 1.0, 2.0], mask("0110")),
    ]
    for scores, allowed in cases:
        key = torch.tensor(scores, dtype=torch.float64)[:, None]
        value = torch.tensor([1.0, 4.0, 16.0, 64.0], dtype=torch.float64)[: len(scores), None]
        _, weights = returned = both(learner.attention(one, key, value, allowed))
        assert_attends(returned, reference.attention(one, key, value, allowed))
        assert_equal(weights[~allowed], torch.zeros(int((~allowed).sum()), dtype=weights.dtype))


@points(1)
@promise("masked")
@hint("attention.fill")
@seen_in("karpathy/minGPT#75", "huggingface/transformers#3181", "nntrainer/nntrainer#4333")
def test_no_legal_score_lies_below_a_masked_one(learner):
    first_only = mask("10")
    for legal in (0.0, -200.0, -3e4, -3e10, -3e15):
        key = torch.tensor([[legal], [0.0]])
        output, weights = both(learner.attention(torch.ones(1, 1), key, torch.tensor([[1.0], [4.0]]), first_only))
        assert_roughly(output, torch.tensor([[1.0]], dtype=torch.float64))
        assert_equal(in_dtype(weights, torch.float32), torch.tensor([[1.0, 0.0]]))


@points(1.5)
@promise("fully_masked", "fully_masked_warning", "rows")
@hint("attention.fully_masked")
@seen_in(
    "pytorch/pytorch#103963",
    "pytorch/pytorch#25110",
    "patrick-kidger/equinox#274",
    "nerfstudio-project/nerfstudio#1891",
    "huggingface/transformers#27114",
)
def test_a_fully_masked_row_has_neither_weights_nor_output(learner, reference, rng):
    cases = [mask("0"), mask("00"), mask("110", "000"), mask("000", "010", "011"), torch.tensor(False)]
    for allowed in cases:
        n_queries, n_keys = allowed.shape if allowed.dim() else (2, 3)
        query, key, value = FLAT[:n_queries], FLAT[:n_keys], VALUES[:n_keys]
        expected = reference.attention(query, key, value, allowed)
        assert_attends(learner.attention(query, key, value, allowed), expected)
        assert_no_runtime_warning(learner)
    query, key, value = normal(rng, 2, 3, 4, 1), normal(rng, 2, 3, 6, 1), normal(rng, 2, 3, 6, 7)
    allowed = torch.ones(4, 6, dtype=torch.bool).tril(-2) & mask("011111", "111000")[:, None, None, :]
    output, weights = returned = both(learner.attention(query, key, value, allowed))
    assert_attends(returned, reference.attention(query, key, value, allowed))
    dead = ~allowed.any(dim=-1).expand(2, 3, 4)
    assert_equal(output[dead], torch.zeros(int(dead.sum()), 7, dtype=output.dtype))
    assert_equal(weights[dead], torch.zeros(int(dead.sum()), 6, dtype=weights.dtype))


@points(1)
@promise("huge", "masked")
@hint("attention.huge_masked")
@seen_in("pytorch/pytorch#101967", "onnx/onnx#8068")
def test_what_is_masked_may_be_huge(learner, reference):
    allowed = mask("101", "001")
    query = torch.tensor([[1.0], [-1.0]], dtype=torch.float64)
    key = torch.tensor([[0.25], [0.0], [-0.5]], dtype=torch.float64)
    expected = reference.attention(query, key, VALUES, allowed)
    hidden = torch.tensor([[0.0], [1.0], [0.0]], dtype=torch.float64)
    for dtype, huge in HUGE.items():
        for of_key, of_value in ((0.0, huge), (huge, 0.0), (-huge, -huge)):
            arguments = query, key + of_key * hidden, VALUES + of_value * hidden
            returned = both(learner.attention(*(argument.to(dtype) for argument in arguments), allowed))
            for actual, right in zip(returned, expected, strict=True):
                assert_close(in_dtype(actual, dtype), right, dtype=dtype, terms=3, scale=largest(right))


@points(1.5)
@promise("gradients")
@hint("attention.gradients")
@seen_in("pytorch/pytorch#8659", "r9y9/tacotron_pytorch#16")
@stays("the only gradients without a mask and with dimensions that are broadcast")
def test_gradients_match_for_query_key_and_value(learner, reference, rng):
    causal = torch.ones(4, 6, dtype=torch.bool).tril(2)
    cases = [(((2, 1), (2, 1), (2, 1)), None), (((4, 1), (6, 1), (6, 7)), None), (((4, 1), (6, 1), (6, 7)), causal)]
    cases += [(((2, 3, 4, 5), (2, 3, 6, 5), (2, 3, 6, 7)), causal), (((2, 1, 4, 5), (3, 6, 5), (6, 7)), causal)]
    for shapes, allowed in cases:
        arguments = [normal(rng, *shape) for shape in shapes]
        output, weights = reference.attention(*arguments, allowed)
        to_output, to_weights = normal(rng, *output.shape), normal(rng, *weights.shape)
        for cotangents in ((to_output, None), (to_output, to_weights)):
            found = learner.gradients("attention", *arguments, allowed, cotangents=cotangents, wrt=(0, 1, 2))
            assert_attends(found.result, (output, weights))
            expected = gradients(lambda q, k, v, m=allowed: reference.attention(q, k, v, m), arguments, cotangents)
            assert_gradients(found, expected)


@points(1.5)
@promise("fully_masked_gradients", "gradients")
@hint("attention.fully_masked_gradients")
@seen_in("pytorch/pytorch#41508", "pytorch/pytorch#189045", "Xilinx/brevitas#1591", "pytorch/pytorch#23156")
def test_a_fully_masked_row_leaves_the_gradients_alone(learner, reference, rng):
    query, key = torch.ones(2, 1, dtype=torch.float64), torch.arange(3, dtype=torch.float64)[:, None]
    allowed = mask("110", "000")
    d_query, d_key = [[0.5898357997244456], [0.0]], [[-0.5898357997244456], [0.5898357997244456], [0.0]]
    expected = [torch.tensor(rows, dtype=torch.float64) for rows in (d_query, d_key, [[0.2689414], [0.7310586], [0.0]])]
    for of_dead_row in (0.0, 1.0):
        cotangents = (torch.tensor([[1.0], [of_dead_row]], dtype=torch.float64), None)
        found = learner.gradients("attention", query, key, VALUES, allowed, cotangents=cotangents, wrt=(0, 1, 2))
        assert_attends(found.result, reference.attention(query, key, VALUES, allowed))
        assert_gradients(found, expected)
    arguments = normal(rng, 2, 3, 4, 1), normal(rng, 2, 3, 6, 1), normal(rng, 2, 3, 6, 7)
    allowed = torch.ones(4, 6, dtype=torch.bool).tril(-2) & mask("111111", "011000")[:, None, None, :]
    cotangents = normal(rng, 2, 3, 4, 7), normal(rng, 2, 3, 4, 6)
    found = learner.gradients("attention", *arguments, allowed, cotangents=cotangents, wrt=(0, 1, 2))
    assert_attends(found.result, reference.attention(*arguments, allowed))
    assert_gradients(found, gradients(lambda q, k, v: reference.attention(q, k, v, allowed), arguments, cotangents))
    of_query = found.arguments[0]
    dead = ~allowed.any(dim=-1).expand(2, 3, 4)
    assert_equal(of_query[dead], torch.zeros(int(dead.sum()), 1, dtype=of_query.dtype))


@points(1)
@promise("masked", "huge", "gradients")
@hint("attention.masked_gradients")
@seen_in("HomebrewML/Olmax#78", "keras-team/keras#15390", "pytorch/pytorch#41508")
def test_no_gradient_reaches_what_a_row_may_not_read(learner, reference, rng):
    causal = torch.ones(5, 5, dtype=torch.bool).tril()
    arguments = normal(rng, 5, 1), normal(rng, 5, 1), normal(rng, 5, 3)
    for row in range(5):
        to_output = torch.zeros(5, 3, dtype=torch.float64)
        to_output[row] = torch.tensor([1.0, -2.0, 0.5])
        cotangents = (to_output, None)
        found = learner.gradients("attention", *arguments, causal, cotangents=cotangents, wrt=(0, 1, 2))
        assert_attends(found.result, reference.attention(*arguments, causal))
        assert_gradients(found, gradients(lambda q, k, v: reference.attention(q, k, v, causal), arguments, cotangents))
        for future in (gradient[row + 1 :] for gradient in found.arguments[1:]):
            assert_equal(future, torch.zeros_like(future))
    query, key, value = arguments
    hidden = torch.zeros(5, 1, dtype=torch.float64)
    hidden[3] = 1.0
    allowed = causal & mask("11101")
    cotangents = normal(rng, 5, 3), normal(rng, 5, 5)
    expected = gradients(lambda q, k, v: reference.attention(q, k, v, allowed), arguments, cotangents)
    for dtype in (torch.float32, torch.float64):
        huge = query, key + HUGE[dtype] * hidden, value - HUGE[dtype] * hidden
        huge = [argument.to(dtype) for argument in huge]
        found = learner.gradients("attention", *huge, allowed, cotangents=cotangents, wrt=(0, 1, 2))
        assert_gradients(found, expected)


@points(0.5)
@promise("dtype", "accuracy")
@hint("attention.dtype")
@seen_in("facebookresearch/fairseq#3575", "NVIDIA/apex#1052", "netket/netket#1218")
def test_each_floating_dtype_comes_back_with_its_own_accuracy(learner, reference, rng):
    causal = torch.ones(4, 6, dtype=torch.bool).tril(2)
    for dtype in DTYPES:
        arguments = [normal(rng, *shape).to(dtype) for shape in ((2, 3, 4, 5), (2, 3, 6, 5), (2, 3, 6, 7))]
        query, key, value = (argument.double() for argument in arguments)
        logits = (query @ key.mT).abs().max().item() / math.sqrt(5)
        output, weights = reference.attention(query, key, value, causal)
        own_output, own_weights = both(learner.attention(*arguments, causal))
        assert_close(own_weights, weights, dtype=dtype, terms=6, logits=logits)
        assert_close(own_output, output, dtype=dtype, terms=6, logits=logits, scale=value.abs().max().item())


@points(0.5)
@promise("accuracy")
@hint("attention.large_scores")
@seen_in("tensorflow/tensorflow#10142", "linxiaow/EECS498-Deep-Learning-for-Vision#2", "sonos/tract#2586")
def test_large_scores_and_long_rows_are_accurate_too(learner, reference):
    # Exponentials that overflow, rows far apart from each other, and a sum of small numbers that could stall.
    key, value = torch.tensor([[1000.0], [1001.0], [-1000.0]]), VALUES.float()
    for query in (torch.tensor([[1.0]]), torch.tensor([[-1.0], [0.0], [1.0]])):
        expected = reference.attention(query.double(), key.double(), VALUES)[1]
        assert_close(both(learner.attention(query, key, value))[1], expected, dtype=torch.float32, logits=1001.0)
    equal = torch.zeros(512, 1, dtype=torch.bfloat16)
    _, weights = both(learner.attention(equal[:1], equal, equal))
    expected = torch.full((1, 512), 1 / 512, dtype=torch.float64)
    assert_close(in_dtype(weights, torch.bfloat16), expected, dtype=torch.bfloat16, terms=512)


@points(1)
@promise("overflow")
@hint("attention.overflow")
@seen_in("patrick-kidger/equinox#274", "openai/improved-diffusion#54", "bytedance/lightseq#91")
def test_in_half_precision_the_dot_product_does_not_overflow_before_scaling(learner):
    for dtype, element, d_k in ((torch.float16, 40.0, 64), (torch.float16, 160.0, 5), (torch.bfloat16, 6.2e18, 64)):
        query = torch.full((2, d_k), element, dtype=dtype)
        key = torch.full((3, d_k), element, dtype=dtype)
        key[0], key[2] = 0.9 * element, -element
        output, weights = both(learner.attention(query, key, VALUES.to(dtype)))
        expected = torch.tensor([[0.0, 1.0, 0.0]], dtype=torch.float64).expand(2, 3)
        assert_close(in_dtype(weights, dtype), expected, dtype=dtype)
        assert_close(in_dtype(output, dtype), torch.full((2, 1), 4.0, dtype=torch.float64), dtype=dtype)


@points(0.5)
@promise("no_keys", "shapes")
@hint("attention.no_keys")
@seen_in("pytorch/pytorch#174950", "pytorch/pytorch#141218", "Dao-AILab/flash-attention#2568")
def test_without_keys_the_output_is_zero(learner, reference):
    for leading, n_keys, allowed in (((), 1, None), ((), 0, None), ((2, 3), 0, None), ((), 0, torch.ones(4, 0) > 0)):
        query, key = FLAT[:1].expand(*leading, 4, 1), FLAT[:1].expand(*leading, n_keys, 1)
        value = VALUES[1:2].expand(*leading, n_keys, 7)
        expected = reference.attention(query, key, value, allowed)
        assert_attends(learner.attention(query, key, value, allowed), expected)


@points(0.5)
@promise("mask_error", "polarity")
@hint("attention.mask_error")
@seen_in("pytorch/pytorch#24180", "pytorch/pytorch#92554", "harvard-edge/cs249r_book#1785")
def test_a_mask_that_is_not_boolean_is_a_type_error(learner):
    for dtype in (torch.float64, torch.float32, torch.uint8, torch.int64):
        with raises(TypeError, naming=("allowed",)):
            learner.attention(FLAT[:2], FLAT, VALUES, torch.ones(2, 3, dtype=dtype))
    output, _ = both(learner.attention(FLAT[:2], FLAT, VALUES, mask("110", "111")))
    assert_roughly(output, torch.tensor([[2.5], [7.0]], dtype=torch.float64))


@points(0.5)
@promise("shape_error")
@hint("attention.shape_error")
@seen_in("pytorch/pytorch#193728")
def test_widths_or_numbers_of_keys_that_differ_are_value_errors(learner):
    def blank(*shape):
        return torch.zeros(shape, dtype=torch.float64)

    for leading in ((), (2,)):
        for d_query, d_key in ((2, 3), (3, 2), (1, 3), (3, 1)):
            with raises(ValueError, naming=("query", "key", "d_k")):
                learner.attention(blank(*leading, 4, d_query), blank(*leading, 6, d_key), blank(*leading, 6, 7))
        for n_keys, n_values in ((2, 3), (3, 2), (1, 3), (3, 1)):
            with raises(ValueError, naming=("key", "value", "n_keys")):
                learner.attention(blank(*leading, 4, 5), blank(*leading, n_keys, 5), blank(*leading, n_values, 7))
    output, _ = both(learner.attention(FLAT[:2], FLAT, VALUES))
    assert_roughly(output, torch.tensor([[7.0], [7.0]], dtype=torch.float64))


@points(0.5)
@promise("layout")
@hint("attention.layout")
@seen_in("facebookresearch/fairseq#2598", "NVIDIA/Megatron-LM#875", "ByteDance-Seed/Depth-Anything-3#268")
def test_any_memory_layout_is_legal(learner, reference, rng):
    transposed = (
        normal(rng, 3, 1, 4).mT,
        normal(rng, 2, 6, 3).transpose(0, 2)[..., :1],
        normal(rng, 6, 3, 7).transpose(0, 1),
    )
    sliced = normal(rng, 8, 2)[::2, 1:], normal(rng, 12, 2)[1::2, :1], normal(rng, 6, 14)[:, ::2]
    expanded = normal(rng, 1, 1).expand(2, 4, 1), normal(rng, 6, 1).expand(2, 6, 1), normal(rng, 1, 7).expand(2, 6, 7)
    allowed = mask("1").expand(4, 6)
    for query, key, value in (sliced, transposed, expanded):
        expected = reference.attention(query, key, value, allowed)
        assert_attends(learner.attention(query, key, value, allowed), expected)


@points(0.5)
@promise("untouched", "unshared")
@hint("attention.memory")
@seen_in("exercism/python#1874", "huggingface/transformers#31008")
def test_arguments_stay_as_they_are_and_results_are_new(learner, reference, rng):
    cases = [(((1, 1), (1, 1), (1, 2)), None), (((1, 1), (1, 1), (1, 2)), mask("1"))]
    cases += [(((4, 5), (6, 5), (6, 7)), mask("111110")), (((4, 5), (6, 5), (6, 7)), mask("111110"))]
    cases += [(((2, 4, 5), (2, 6, 5), (2, 6, 7)), mask("111100", "111110", "000001", "111111"))]
    for shapes, allowed in cases:
        query, key, value = (normal(rng, *shape) for shape in shapes)
        # All scores are 0, but not all that goes into them.
        for arguments in ((query * 0.0, key, value, allowed), (query, key * 0.0, value, allowed)):
            assert_attends(learner.attention(*arguments), reference.attention(*arguments))
            assert_untouched(learner)
            assert_unshared(learner)
