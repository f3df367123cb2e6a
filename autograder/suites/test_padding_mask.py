"""The hidden checks of padding_mask, 20 points."""

import numpy as np

from autograder.checks import assert_equal, assert_unshared, assert_untouched, hint, points, promise, raises, seen_in

FLOATS = (np.float64, np.float32, np.float16)


def bits(*rows):
    """A boolean array written as rows of 0 and 1: `bits("10", "11")`."""
    return np.array([[digit == "1" for digit in row] for row in rows])


def as_bool(result):
    """Leave the dtype of the result to the check that is about it."""
    return result.astype(bool) if isinstance(result, np.ndarray) else result


@points(1)
@promise("names", "padding", "side")
@hint("padding_mask.lengths")
def test_padding_on_the_right_leaves_the_first_keys(learner):
    assert_equal(as_bool(learner.padding_mask(np.array([2]), 3)), bits("110"))
    assert_equal(as_bool(learner.padding_mask(np.array([2, 4, 1]), 5)), bits("11000", "11110", "10000"))
    assert_equal(as_bool(learner.padding_mask(np.array([3, 1, 2]), 4, "right")), bits("1110", "1000", "1100"))


@points(1)
@promise("padding")
@hint("padding_mask.off_by_one")
@seen_in("ajhalthor/Transformer-Neural-Network#15", "d2l-ai/d2l-en#2423")
def test_lengths_at_both_ends_of_the_range_count_exactly(learner):
    assert_equal(as_bool(learner.padding_mask(np.array([0, 1]), 1, "right")), bits("0", "1"))
    right = learner.padding_mask(np.array([0, 1, 3, 4]), 4, "right")
    assert_equal(as_bool(right), bits("0000", "1000", "1110", "1111"))
    assert_equal(as_bool(learner.padding_mask(np.array([0, 3, 4]), 4, "left")), bits("0000", "0111", "1111"))


@points(1)
@promise("side")
@hint("padding_mask.side")
@seen_in("huggingface/transformers#26572", "pytorch/pytorch#110213", "allenai/OLMo#322")
def test_padding_on_the_left_leaves_the_last_keys(learner):
    assert_equal(as_bool(learner.padding_mask(np.array([2]), 3, "left")), bits("011"))
    lengths = np.array([2, 4, 1])
    assert_equal(as_bool(learner.padding_mask(lengths, 5, side="left")), bits("00011", "01111", "00001"))


@points(1)
@promise("length_error")
@hint("padding_mask.length_error")
def test_a_length_that_does_not_fit_is_refused(learner):
    for lengths in ([-1], [4], [2, -1], [4, 2], [3, 5, 1]):
        with raises(ValueError, naming=("lengths", "n_keys")):
            learner.padding_mask(np.array(lengths), 3, "right")
    with raises(ValueError, naming=("lengths", "n_keys")):
        learner.padding_mask(np.array([1, 4]), 3, side="left")
    assert_equal(as_bool(learner.padding_mask(np.array([1, 2]), 3, "right")), bits("100", "110"))


@points(1)
@promise("side_error")
@hint("padding_mask.side_error")
def test_an_unknown_side_is_refused(learner):
    for side in ("top", "", "Left", "both"):
        with raises(ValueError, naming=("side",)):
            learner.padding_mask(np.array([1, 2]), 3, side)
    assert_equal(as_bool(learner.padding_mask(np.array([1, 2]), 3, side="right")), bits("100", "110"))


@points(1)
@promise("as_allowed", "allowed")
@hint("padding_mask.conventions")
@seen_in("harvard-edge/cs249r_book#1785", "rasbt/LLMs-from-scratch#1061", "pytorch/pytorch#170415")
def test_a_mask_of_what_is_allowed_means_the_same_in_every_dtype(learner):
    for dtype in (np.int64, np.uint8, np.float32, np.bool_):
        for readable in (bits("10"), bits("100", "011"), bits("1001", "0110").reshape(2, 1, 2, 2)):
            # Strictly boolean: handing the numbers back is no answer.
            assert_equal(learner.as_allowed(readable.astype(dtype), "allowed"), readable)


@points(1)
@promise("as_allowed", "blocked")
@hint("padding_mask.conventions")
@seen_in("pytorch/pytorch#24180", "NVIDIA/flowtron#27", "ZikangZhou/HiVT#44", "deepspeedai/DeepSpeed#3319")
def test_a_mask_of_what_is_blocked_is_inverted_in_every_dtype(learner):
    for dtype in (np.bool_, np.int64, np.uint8, np.float32):
        for readable in (bits("10"), bits("100", "011"), bits("1001", "0110").reshape(2, 1, 2, 2)):
            blocked = np.logical_not(readable).astype(dtype)
            assert_equal(as_bool(learner.as_allowed(blocked, "blocked")), readable)


@points(1)
@promise("as_allowed", "additive")
@hint("padding_mask.additive")
@seen_in("pytorch/pytorch#92554", "mlverse/torch#1205", "huggingface/transformers#27114", "NVIDIA-NeMo/Automodel#2658")
def test_an_additive_mask_blocks_with_minus_infinity_or_the_lowest_number(learner):
    for dtype in FLOATS:
        lowest = np.finfo(dtype).min
        for numbers, expected in (
            ([[0.0, -np.inf]], bits("10")),
            ([[0.0, lowest]], bits("10")),
            ([[0.0, -np.inf, lowest], [lowest, 0.0, -0.0]], bits("100", "011")),
        ):
            assert_equal(as_bool(learner.as_allowed(np.array(numbers, dtype), "additive")), expected)


@points(1)
@promise("additive_error")
@hint("padding_mask.bias")
@seen_in("karpathy/minGPT#75", "huggingface/transformers#3181", "pytorch/pytorch#21518")
def test_any_other_number_in_an_additive_mask_is_refused(learner):
    highest, lowest_of_float32 = np.finfo(np.float64).max, float(np.finfo(np.float32).min)
    for number in (1.0, -1e9, np.nan, np.inf, -1e-3, highest, lowest_of_float32):
        with raises(ValueError, naming=("mask", "convention")):
            learner.as_allowed(np.array([0.0, -np.inf, number]), "additive")
    for number in (-1e4, np.finfo(np.float16).min):
        with raises(ValueError, naming=("mask", "convention")):
            learner.as_allowed(np.array([[0.0, number]], np.float32), "additive")
    assert_equal(as_bool(learner.as_allowed(np.array([[0.0, -np.inf]]), "additive")), bits("10"))


@points(1)
@promise("binary_error")
@hint("padding_mask.binary")
def test_anything_but_zero_and_one_in_a_boolean_convention_is_refused(learner):
    for convention in ("allowed", "blocked"):
        for numbers in ([0, 1, 2], [-1, 0], [0.0, 0.5], [1.0, np.nan], [0.0, -np.inf], [1.0, np.inf]):
            with raises(ValueError, naming=("mask", "convention")):
                learner.as_allowed(np.array(numbers), convention)
    assert_equal(as_bool(learner.as_allowed(bits("01"), "blocked")), bits("10"))


@points(1)
@promise("convention_error")
@hint("padding_mask.convention_error")
def test_an_unknown_convention_is_refused(learner):
    for convention in ("keep", "", "Allowed"):
        with raises(ValueError, naming=("convention",)):
            # A legal mask in every convention.
            learner.as_allowed(np.zeros(2), convention)
    assert_equal(as_bool(learner.as_allowed(np.array([[False, True]]), "blocked")), bits("10"))


@points(2)
@promise("merge", "heads")
@hint("padding_mask.merge")
@seen_in(
    "keras-team/keras#23040", "huggingface/candle#3632", "lucidrains/local-attention#5", "NVIDIA-NeMo/Automodel#2658"
)
def test_a_key_is_readable_when_both_masks_allow_it(learner):
    merged = learner.merge_masks(bits("10", "11"), bits("01"))
    assert_equal(as_bool(merged), bits("00", "01").reshape(1, 1, 2, 2))
    merged = learner.merge_masks(bits("100", "110", "111"), bits("110"))
    assert_equal(as_bool(merged), bits("100", "110", "110").reshape(1, 1, 3, 3))
    merged = learner.merge_masks(bits("1010", "0110", "1111"), bits("1100", "0011"))
    expected = bits("1000", "0100", "1100", "0010", "0010", "0011")
    assert_equal(as_bool(merged), expected.reshape(2, 1, 3, 4))
    # Beyond 256 equal sizes are no longer the same object.
    many = np.arange(257)[None] % 2 == 0
    assert_equal(as_bool(learner.merge_masks(many, many)), many.reshape(1, 1, 1, 257))


@points(1)
@promise("key_axis")
@hint("padding_mask.key_axis")
@seen_in(
    "hyunwoongko/transformer#40", "hyunwoongko/transformer#32", "lucidrains/vit-pytorch#71", "huggingface/candle#1920"
)
def test_the_padding_lies_on_the_keys_also_where_all_sizes_agree(learner):
    everything = np.ones((3, 3), dtype=bool)
    merged = learner.merge_masks(everything, bits("111", "110", "100"))
    expected = bits("111", "111", "111", "110", "110", "110", "100", "100", "100")
    assert_equal(as_bool(merged), expected.reshape(3, 1, 3, 3))


@points(1)
@promise("merge_error")
@hint("padding_mask.merge_error")
@seen_in("karpathy/nanoGPT#473")
def test_masks_with_different_numbers_of_keys_are_refused(learner):
    for causal, keys_allowed in (
        ((3, 3), (2, 4)),
        ((3, 3), (1, 1)),
        ((3, 3), (3, 1)),
        ((3, 1), (2, 3)),
        ((2, 3), (3, 2)),
        ((3, 4), (4, 3)),
    ):
        with raises(ValueError, naming=("causal", "keys_allowed")):
            learner.merge_masks(np.ones(causal, dtype=bool), np.ones(keys_allowed, dtype=bool))
    merged = learner.merge_masks(bits("11", "10"), bits("11"))
    assert_equal(as_bool(merged), bits("11", "10").reshape(1, 1, 2, 2))


@points(1)
@promise("fully_masked")
@hint("padding_mask.fully_masked")
@seen_in("pytorch/pytorch#27968", "huggingface/transformers#26572", "pytorch/pytorch#24816")
def test_rows_without_a_single_readable_key_are_found(learner):
    assert_equal(as_bool(learner.fully_masked_rows(bits("00", "10"))), np.array([True, False]))
    padded_on_the_left = bits("000", "010", "011")
    assert_equal(as_bool(learner.fully_masked_rows(padded_on_the_left)), np.array([True, False, False]))
    batch = bits("0010", "0000", "1111", "0000", "1000", "0000").reshape(2, 1, 3, 4)
    expected = np.array([[[False, True, False]], [[True, False, True]]])
    assert_equal(as_bool(learner.fully_masked_rows(batch)), expected)


@points(1)
@promise("no_keys")
@hint("padding_mask.no_keys")
def test_with_no_keys_every_query_has_nothing_to_read(learner):
    for n_queries in (2, 3):
        nothing = np.zeros((n_queries, 0), dtype=bool)
        assert_equal(as_bool(learner.fully_masked_rows(nothing)), np.ones(n_queries, dtype=bool))
    assert_equal(as_bool(learner.fully_masked_rows(bits("0", "1"))), np.array([True, False]))


@points(1)
@promise("bool")
@hint("padding_mask.bool")
@seen_in("nlpyang/PreSumm#54", "Eurus-Holmes/MNMT#4")
def test_every_function_returns_booleans(learner):
    assert_equal(learner.padding_mask(np.array([1]), 2, "right"), bits("10"))
    assert_equal(learner.padding_mask(np.array([1, 2]), 2, "left"), bits("01", "11"))
    assert_equal(learner.as_allowed(bits("10"), "allowed"), bits("10"))
    assert_equal(learner.as_allowed(np.array([[1, 0]]), "blocked"), bits("01"))
    assert_equal(learner.as_allowed(np.array([[0.0, -np.inf]]), "additive"), bits("10"))
    assert_equal(learner.merge_masks(bits("11", "11"), bits("11")), bits("11", "11").reshape(1, 1, 2, 2))
    assert_equal(learner.fully_masked_rows(bits("00", "11")), np.array([True, False]))


@points(1)
@promise("untouched", "unshared")
@hint("padding_mask.memory")
@seen_in("huggingface/transformers#31008", "exercism/python#1874")
def test_the_arguments_stay_as_they_were_and_every_result_is_new(learner):
    additive = np.array([[0.0, -np.inf, 0.0]])
    causal, keys_allowed = bits("10", "11"), bits("10")
    for function, arguments, expected in (
        ("as_allowed", (bits("10"), "allowed"), bits("10")),
        ("as_allowed", (bits("10"), "allowed"), bits("10")),
        ("as_allowed", (bits("01"), "blocked"), bits("10")),
        ("as_allowed", (additive, "additive"), bits("101")),
        ("padding_mask", (np.array([2, 1]), 3, "right"), bits("110", "100")),
        ("padding_mask", (np.array([3, 1]), 3, "left"), bits("111", "001")),
        ("merge_masks", (causal, bits("11")), causal.reshape(1, 1, 2, 2)),
        ("merge_masks", (causal, keys_allowed), bits("10", "10").reshape(1, 1, 2, 2)),
        ("fully_masked_rows", (bits("00", "11"),), np.array([True, False])),
        ("fully_masked_rows", (bits("00", "11"),), np.array([True, False])),
    ):
        result = getattr(learner, function)(*arguments)
        assert_untouched(learner)
        assert_unshared(learner)
        assert_equal(as_bool(result), expected)


@points(1)
@promise("layout")
@hint("padding_mask.layout")
@seen_in("ByteDance-Seed/Depth-Anything-3#268")
def test_arguments_in_any_memory_layout_are_read_right(learner):
    lengths = np.array([1, 9, 2, 9])
    assert_equal(as_bool(learner.padding_mask(lengths[::2], 3, "right")), bits("100", "110"))
    assert_equal(as_bool(learner.padding_mask(np.broadcast_to(lengths[:1], (2,)), 2, "right")), bits("10", "10"))
    blocked = bits("01", "10", "11").T
    assert_equal(as_bool(learner.as_allowed(blocked, "blocked")), bits("100", "010"))
    additive = np.broadcast_to(np.array([0.0, -np.inf]), (3, 2))
    assert_equal(as_bool(learner.as_allowed(additive, "additive")), bits("10", "10", "10"))
    merged = learner.merge_masks(bits("01", "11")[:, ::-1], np.broadcast_to(bits("11"), (2, 2)))
    assert_equal(as_bool(merged), bits("10", "11", "10", "11").reshape(2, 1, 2, 2))
    expanded = np.broadcast_to(bits("0", "1"), (2, 3))
    assert_equal(as_bool(learner.fully_masked_rows(expanded)), np.array([True, False]))
