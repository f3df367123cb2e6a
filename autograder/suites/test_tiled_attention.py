"""The hidden checks of tiled_attention, 10 points.

Where the scale is not the question `d_k` is 1, or all scores are 0. Where the border is the question the values are the
identity, so that each row of the output is a row of weights and tells which keys were read.
"""

import math

import torch

from autograder.checks import (
    Difference,
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
    said_by,
    say,
    seen_in,
    stays,
)

DTYPES = (torch.float64, torch.float32, torch.bfloat16, torch.float16)
VALUES = torch.tensor([[1.0], [4.0], [16.0]], dtype=torch.float64)
FLAT = torch.zeros(3, 1, dtype=torch.float64)
BEYOND = 64
DEFAULT = 64
# Its scores take 1.15 GB in float64, more than the memory limit of the course.
LONG = 12_000


def normal(rng, *shape):
    return torch.from_numpy(rng.normal(size=shape))


def in_dtype(result, dtype):
    """Leave the dtype of a result to the check that is about it."""
    return result.to(dtype) if isinstance(result, torch.Tensor) and result.is_floating_point() else result


def assert_roughly(actual, expected):
    """Six digits are enough where accuracy is not the question, so that a slip costs one check."""
    scale = max(1.0, expected.abs().max().item()) if expected.numel() else 1.0
    assert_close(in_dtype(actual, torch.float32), expected, dtype=torch.float32, terms=16, scale=scale)


def attended(reference, query, key, value, causal=False):
    """Take the right output in float64, with all keys in one block."""
    query, key, value = (argument.double() for argument in (query, key, value))
    return reference.tiled_attention(query, key, value, max(1, key.shape[-2]), causal)


def border(n_queries, n_keys):
    """Make the causal mask: True where the query may read the key."""
    return torch.ones(n_queries, n_keys, dtype=torch.bool).tril(n_keys - n_queries)


def assert_reads(learner, n_queries, n_keys, block_size):
    """With equal scores each row of the output is even over the keys that may be read, and 0 elsewhere."""
    query, key = (torch.zeros(size, 2, dtype=torch.float64) for size in (n_queries, n_keys))
    value = torch.eye(n_keys, dtype=torch.float64)
    allowed = border(n_queries, n_keys)
    expected = allowed / allowed.sum(dim=-1, keepdim=True).clamp(min=1)
    output = learner.tiled_attention(query, key, value, block_size, causal=True)
    try:
        assert_roughly(output, expected.double())
    except Difference as difference:
        said = what_is_read(output, allowed, block_size)
        told = said_by(difference)
        said = say("{read}; {difference}", read=said, difference=told) if said else told
        raise Difference(said, output, expected) from None
    return output


def what_is_read(output, allowed, block_size):
    """Name the first key that is read but may not be, or may be but is not; None where that cannot be told."""
    if not isinstance(output, torch.Tensor) or output.shape != allowed.shape or not output.isfinite().all():
        return None
    wrong = (output != 0) != allowed
    if not wrong.any():
        return None
    query, key = wrong.nonzero()[0].tolist()
    n_queries, n_keys = allowed.shape
    last = query + n_keys - n_queries
    if last < 0:
        return say("not causal: query {query} may read no key at all and reads key {key}", query=query, key=key)
    if key // block_size == last // block_size:
        where = say("in the same block of {size}", size=block_size)
    else:
        where = say("across a border between blocks of {size}", size=block_size)
    facts = {"query": query, "last": last, "key": key, "where": where}
    if allowed[query, key]:
        return say("query {query} may read the keys up to {last} and does not read key {key}, {where}", **facts)
    return say("not causal: query {query} may read the keys up to {last} and reads key {key} too, {where}", **facts)


def ignored(**facts):
    return say(
        "block_size is ignored: the largest tensor has {found} entries with block_size={size} as with a larger one, "
        "where {granted} are enough",
        **facts,
    )


def ignored_whole(**facts):
    return say(
        "block_size is ignored: the largest tensor has {found} entries with block_size={size} as with a larger one "
        "(the whole matrix of scores), where {granted} are enough",
        **facts,
    )


def assert_tiles(learner, arguments, expected, block_size, causal, earlier):
    """Compare values, then the largest tensor made; give its size in float64 numbers.

    `earlier` is that size with another block size: whoever gets the same has not looked at `block_size`.
    """
    sizes = () if block_size == DEFAULT else (block_size,)
    assert_roughly(learner.measured.tiled_attention(*arguments, *sizes, causal=causal), expected)
    found = (learner.last.largest_tensor or 0) // 8
    query, key, value = arguments
    n_queries, n_keys, count = query.shape[-2], key.shape[-2], math.prod(expected.shape[:-2])
    given = count * (query.shape[-1] * n_queries + (key.shape[-1] + value.shape[-1]) * n_keys)
    whole = count * n_queries * n_keys
    # Whoever puts the inputs or sums side by side is granted that.
    granted = max(count * n_queries * min(block_size, n_keys), given + expected.numel())
    if found <= granted:
        return found
    if found == earlier:
        facts = {"found": found, "size": block_size, "granted": granted}
        raise Difference(ignored_whole(**facts) if found == whole else ignored(**facts))
    what = say("the whole matrix of scores or more") if found >= whole else say("more than one tile")
    what = say("a boolean mask of the whole matrix") if found == whole // 8 else what
    said = say(
        "{what}: with block_size={size} a tensor was made that has room for {found} float64 numbers, "
        "where {granted} are enough and n_queries * n_keys is {whole}",
        what=what,
        size=block_size,
        found=found,
        granted=granted,
        whole=whole,
    )
    raise Difference(said)


@points(0.5)
@promise("names", "returns")
@hint("tiled_attention.weighted_sum")
@stays("the only call with names and with the defaults, on numbers that learners know")
def test_the_row_of_the_tutorial_in_blocks(learner):
    query = torch.tensor([[1.0, 0.0]], dtype=torch.float64)
    key = torch.tensor([[1.0, 0.0], [0.0, 1.0]], dtype=torch.float64)
    value = torch.tensor([[10.0, 0.0], [0.0, 20.0]], dtype=torch.float64)
    output = torch.tensor([[6.697615493266569, 6.604769013466862]], dtype=torch.float64)
    assert_roughly(learner.tiled_attention(query, key, value), output)
    named = learner.tiled_attention(causal=False, block_size=1, value=value, key=key, query=query)
    assert_roughly(named, output)


@points(0.5)
@promise("scale")
@hint("tiled_attention.scale")
@seen_in("lucidrains/vit-pytorch#65", "esceptico/perceiver-io#9", "juho-lee/set_transformer#18")
@stays("the only check whose question is the scale; a wrong one shows in all values")
def test_scores_are_divided_by_the_root_of_the_key_width(learner, reference, rng):
    # Beyond 256 equal sizes are no longer the same object.
    for d_k, weight in ((2, 0.9441928), (5, 0.8567868), (289, 0.5585536)):
        query = 2.0 * torch.eye(1, d_k, dtype=torch.float64)
        key = torch.cat([query, torch.zeros_like(query)])
        weights = torch.tensor([[weight, 1.0 - weight]], dtype=torch.float64)
        value = torch.eye(2, 7, dtype=torch.float64)
        assert_roughly(learner.tiled_attention(query, key, value), weights @ value)
    query, key, value = normal(rng, 2, 4, 5), normal(rng, 2, 6, 5), normal(rng, 2, 6, 7)
    assert_roughly(learner.tiled_attention(query, key, value, 4), attended(reference, query, key, value))


@points(1.25)
@promise("any_block", "exact")
@hint("tiled_attention.any_block")
@seen_in("jax-ml/jax#27224", "66RING/tiny-flash-attention#12", "pytorch/xla#8671")
@stays("the only sweep over the block sizes; single ones stand in other checks")
def test_every_block_size_gives_the_output_of_attention(learner, reference, rng):
    key = torch.tensor([[0.0], [1.0]], dtype=torch.float64)
    expected = attended(reference, FLAT[:1] + 1.0, key, VALUES[:2])
    assert_roughly(learner.tiled_attention(FLAT[:1] + 1.0, key, VALUES[:2], 1), expected)
    query, key, value = normal(rng, 4, 1), normal(rng, 5, 1), normal(rng, 5, 3)
    expected = attended(reference, query, key, value)
    for block_size in (5, 1, 2, 3, 4, 6, BEYOND):
        assert_roughly(learner.tiled_attention(query, key, value, block_size), expected)


@points(1)
@promise("large", "exact")
@hint("tiled_attention.running_maximum")
@seen_in("tensorflow/tensorflow#10142", "carlushuang/gcnasm#21", "flashinfer-ai/flashinfer#4401")
def test_the_largest_score_may_stand_in_any_block(learner, reference):
    one = torch.ones(1, 1, dtype=torch.float64)
    rows = [[-1000.0, -1001.0], [0.0, 1000.0], [1000.0, 0.0], [1000.0, -1000.0, 1001.0]]
    for scores in rows:
        key = torch.tensor(scores, dtype=torch.float64)[:, None]
        expected = attended(reference, one, key, VALUES[: len(scores)])
        assert_roughly(learner.tiled_attention(one, key, VALUES[: len(scores)], 1), expected)
    # Rows far apart from each other: each needs a maximum of its own.
    query, key = torch.tensor([[1.0], [-1.0], [0.0]], dtype=torch.float64), 1000.0 + FLAT
    key = key + torch.tensor([[0.0], [2.0], [1.0]], dtype=torch.float64)
    assert_roughly(learner.tiled_attention(query, key, VALUES, 2), attended(reference, query, key, VALUES))


@points(1)
@promise("causal")
@hint("tiled_attention.border")
@seen_in("zhuzilin/ring-flash-attention#54", "zhuzilin/ring-flash-attention#15", "pbloem/former#10")
@stays("the smallest square case, whose message names the key that was read")
def test_the_causal_border_runs_through_all_blocks(learner, reference, rng):
    for size, block_size in ((1, 1), (2, 2), (2, 1), (3, 2), (5, 3)):
        assert_reads(learner, size, size, block_size)
    query, key, value = normal(rng, 2, 7, 1), normal(rng, 2, 7, 1), normal(rng, 2, 7, 3)
    output = learner.tiled_attention(query, key, value, 3, causal=True)
    assert_roughly(output, attended(reference, query, key, value, causal=True))


@points(0.5)
@promise("causal", "sizes")
@hint("tiled_attention.alignment")
@seen_in("Dao-AILab/flash-attention#517", "Dao-AILab/flash-attention#282", "gittensor-ai-lab/sparkinfer#3")
@stays("the only causal check with more keys than queries")
def test_the_last_query_reads_every_key(learner):
    for n_queries, n_keys, block_size in ((1, 2, 1), (2, 5, 2), (3, 4, BEYOND), (2, 6, 3)):
        assert_reads(learner, n_queries, n_keys, block_size)


@points(0.5)
@promise("fully_masked", "fully_masked_warning", "causal")
@hint("tiled_attention.fully_masked")
@seen_in("Dao-AILab/flash-attention#1778", "flashinfer-ai/flashinfer#4401", "tracel-ai/burn#4697")
def test_a_row_with_nothing_to_read_is_zero(learner):
    for n_queries, n_keys, block_size in ((2, 1, 1), (4, 2, BEYOND), (5, 3, 2)):
        output = assert_reads(learner, n_queries, n_keys, block_size)
        empty = output[: n_queries - n_keys]
        assert_equal(empty, torch.zeros_like(empty))
        assert_no_runtime_warning(learner)


@points(0.25)
@promise("causal")
@hint("tiled_attention.fill")
@seen_in("ohdearquant/lattice#373", "karpathy/minGPT#75", "huggingface/transformers#3181")
def test_no_legal_score_lies_below_a_masked_one(learner):
    for legal, block_size in ((0.0, 1), (-3e4, 2), (-3e15, 1)):
        key = torch.tensor([[legal], [0.0]])
        output = learner.tiled_attention(torch.ones(2, 1), key, torch.eye(2), block_size, causal=True)
        assert_roughly(output[:1], torch.tensor([[1.0, 0.0]], dtype=torch.float64))


@points(0.5)
@promise("shapes", "sizes", "leading")
@hint("tiled_attention.shapes")
@seen_in("pytorch/pytorch#64888", "allenai/allennlp#3599")
def test_sizes_may_differ_and_leading_dimensions_are_broadcast_together(learner, reference, rng):
    cases = [((), (), (), 1, 1), ((2,), (), (), 4, 6), ((), (2,), (), 6, 4), ((), (), (2,), 1, 6)]
    cases += [((3, 1), (4,), (), 2, 4)]
    for of_query, of_key, of_value, n_queries, n_keys in cases:
        query, key = normal(rng, *of_query, n_queries, 1), normal(rng, *of_key, n_keys, 1)
        value = normal(rng, *of_value, n_keys, 7)
        expected = attended(reference, query, key, value)
        assert_roughly(learner.tiled_attention(query, key, value, 2), expected)


@points(0.25)
@promise("no_keys", "shapes", "leading")
@hint("tiled_attention.no_keys")
@seen_in("pytorch/pytorch#174950", "Dao-AILab/flash-attention#2568")
def test_without_keys_the_output_is_zero(learner):
    for n_keys, causal in ((1, False), (0, False), (0, True)):
        query, key = FLAT[:2], FLAT[:n_keys]
        value = torch.full((n_keys, 7), 4.0, dtype=torch.float64)
        expected = torch.full((2, 7), 4.0 if n_keys else 0.0, dtype=torch.float64)
        assert_roughly(learner.tiled_attention(query, key, value, causal=causal), expected)
    # No score brings the leading dimensions together.
    shapes = (2, 1, 1, 4, 1), (3, 1, 0, 1), (5, 0, 7)
    query, key, value = (torch.zeros(shape, dtype=torch.float64) for shape in shapes)
    assert_roughly(learner.tiled_attention(query, key, value), torch.zeros(2, 3, 5, 4, 7, dtype=torch.float64))


@points(1.25)
@promise("tile")
@hint("tiled_attention.largest_tensor")
@seen_in("mymusise/gpt2-quickly#5", "vllm-project/semantic-router#3737")
def test_no_tensor_is_larger_than_one_tile(learner, reference, rng):
    cases = [
        ((80, 1), (80, 1), (80, 1), (96, 8, DEFAULT), True),
        ((2, 16, 1), (2, 128, 1), (128, 1), (16,), False),
        ((96, 5), (96, 5), (96, 5), (32,), False),
    ]
    for of_query, of_key, of_value, block_sizes, causal in cases:
        # Wide ones have scores of 0: how they are scaled is not the question.
        query = normal(rng, *of_query) * (of_query[-1] == 1)
        arguments = query, normal(rng, *of_key), normal(rng, *of_value)
        expected = attended(reference, *arguments, causal=causal)
        earlier = 0
        for block_size in block_sizes:
            earlier = assert_tiles(learner, arguments, expected, block_size, causal, earlier)


@points(1)
@promise("memory")
@hint("tiled_attention.kept_pieces")
@seen_in("vllm-project/semantic-router#3382")
def test_nothing_is_kept_of_a_matrix_of_scores_that_does_not_fit_the_memory_limit(learner, reference, rng):
    query, key, value = (normal(rng, LONG, 1) for _ in range(3))
    output = learner.tiled_attention(query, key, value)
    some = torch.from_numpy(rng.choice(LONG, 30))
    expected = attended(reference, query[some], key, value)
    insist(
        tuple(output.shape) == (LONG, 1),
        say("the shape is {found}, not {right}", found=tuple(output.shape), right=(LONG, 1)),
    )
    assert_roughly(output[some], expected)


@points(0.25)
@promise("dtype", "accuracy")
@hint("tiled_attention.dtype")
@seen_in("facebookresearch/fairseq#3575", "netket/netket#1218")
def test_each_floating_dtype_comes_back_with_its_own_accuracy(learner, reference, rng):
    for dtype in DTYPES:
        query, key, value = (normal(rng, *shape).to(dtype) for shape in ((4, 5), (6, 5), (6, 7)))
        logits = (query.double() @ key.double().mT).abs().max().item() / math.sqrt(5)
        output = learner.tiled_attention(query, key, value, 2)
        expected = attended(reference, query, key, value)
        assert_close(output, expected, dtype=dtype, terms=6, logits=logits, scale=value.abs().max().item())


@points(0.25)
@promise("running_sum", "accuracy")
@hint("tiled_attention.running_sum")
@seen_in("zhuzilin/ring-flash-attention#22", "Dao-AILab/flash-attention#1088", "sonos/tract#2586")
def test_a_running_sum_in_half_precision_does_not_stall(learner):
    # All of the first block and one key of each other block are read: 256, where one more is lost, and 112 times one.
    key = torch.full((113, 256), -1e4)
    key[0], key[:, 0] = 0.0, 0.0
    key = key.reshape(-1, 1).to(torch.bfloat16)
    value = torch.ones(len(key), 2, dtype=torch.bfloat16)
    value[:256, 0] = 0.0
    output = learner.tiled_attention(torch.ones_like(key[:1]), key, value, 256)
    right = torch.tensor([[112 / 368, 1.0]])
    assert_close(in_dtype(output, torch.bfloat16), right, dtype=torch.bfloat16, terms=368)


@points(0.25)
@promise("block_size_error")
@hint("tiled_attention.block_size_error")
def test_a_block_size_below_one_is_a_value_error(learner):
    for block_size in (0, -1):
        with raises(ValueError, naming=("block_size",)):
            learner.tiled_attention(FLAT, FLAT, VALUES, block_size)
    assert_roughly(learner.tiled_attention(FLAT, FLAT, VALUES, 1), torch.full((3, 1), 7.0, dtype=torch.float64))


@points(0.25)
@promise("shape_error")
@hint("tiled_attention.shape_error")
@seen_in("pytorch/pytorch#193728")
def test_widths_or_numbers_of_keys_that_differ_are_value_errors(learner):
    def blank(*shape):
        return torch.zeros(shape, dtype=torch.float64)

    for d_query, d_key in ((2, 3), (3, 1)):
        with raises(ValueError, naming=("query", "key", "d_k")):
            learner.tiled_attention(blank(4, d_query), blank(6, d_key), blank(6, 7), 2)
    for n_keys, n_values in ((4, 6), (6, 4), (3, 1)):
        with raises(ValueError, naming=("key", "value", "n_keys")):
            learner.tiled_attention(blank(4, 5), blank(n_keys, 5), blank(n_values, 7), 2)
    assert_roughly(learner.tiled_attention(FLAT, FLAT, VALUES, 2), torch.full((3, 1), 7.0, dtype=torch.float64))


@points(0.25)
@promise("layout")
@hint("tiled_attention.layout")
@seen_in("facebookresearch/fairseq#2598", "NVIDIA/Megatron-LM#875")
def test_any_memory_layout_is_legal(learner, reference, rng):
    transposed = normal(rng, 3, 1, 4).mT, normal(rng, 3, 1, 6).mT, normal(rng, 6, 3, 7).transpose(0, 1)
    sliced = normal(rng, 8, 2)[::2, 1:], normal(rng, 12, 2)[1::2, :1], normal(rng, 6, 14)[:, ::2]
    expanded = normal(rng, 1, 1).expand(2, 4, 1), normal(rng, 6, 1).expand(2, 6, 1), normal(rng, 1, 7).expand(2, 6, 7)
    for arguments in (sliced, transposed, expanded):
        assert_roughly(learner.tiled_attention(*arguments, 3), attended(reference, *arguments))


@points(0.25)
@promise("untouched", "unshared")
@hint("tiled_attention.memory")
@seen_in("exercism/python#1874", "huggingface/transformers#31008")
def test_arguments_stay_as_they_are_and_results_are_new(learner, reference, rng):
    for n_queries, n_keys, block_size in ((1, 1, 1), (4, 6, 3), (4, 6, BEYOND)):
        # All scores are 0, but not all that goes into them.
        arguments = normal(rng, n_queries, 2), torch.zeros(n_keys, 2).double(), normal(rng, n_keys, 7)
        assert_roughly(learner.tiled_attention(*arguments, block_size), attended(reference, *arguments))
        assert_untouched(learner)
        assert_unshared(learner)
