"""The hidden checks of causal_mask, 15 points."""

import numpy as np

from autograder.checks import (
    assert_equal,
    assert_unshared,
    hint,
    insist,
    points,
    promise,
    raises,
    say,
    seen_in,
    stays,
)


def bits(*rows):
    """A boolean array written as rows of 0 and 1: `bits("10", "11")`."""
    return np.array([[digit == "1" for digit in row] for row in rows])


def as_bool(allowed):
    """Leave the dtype of the result to the check that is about it."""
    return allowed.astype(bool) if isinstance(allowed, np.ndarray) else allowed


@points(2)
@promise("names", "polarity", "rule")
@hint("causal_mask.rule")
@seen_in("pbloem/former#10", "pytorch/tutorials#2250", "karpathy/nanoGPT#170", "rasbt/LLMs-from-scratch#1061")
@stays("the smallest and plainest case; its matrix is the counterexample to begin with")
def test_three_tokens_each_read_themselves_and_what_came_before(learner):
    assert_equal(as_bool(learner.causal_mask(3)), bits("100", "110", "111"))


@points(1)
@promise("shape", "rule")
@hint("causal_mask.rule")
@seen_in("karpathy/nanoGPT#473", "facebookresearch/xformers#655", "TransformerLensOrg/TransformerLens#284")
def test_every_square_mask_is_the_corner_of_the_largest(learner):
    largest = bits("100000", "110000", "111000", "111100", "111110", "111111")
    for size in (1, 2, 5, 3, 6):
        assert_equal(as_bool(learner.causal_mask(size, size)), largest[:size, :size])
    # More positions than a table for 128 or one byte has room for.
    assert_equal(as_bool(learner.causal_mask(130, 130)), np.tri(130, dtype=bool))


@points(2)
@promise("rule", "shape", "last_query")
@hint("causal_mask.anchor")
@seen_in("pytorch/pytorch#108108", "ml-explore/mlx#2967", "openvinotoolkit/openvino#36680", "NVIDIA/cudnn-frontend#493")
@stays("shows the alignment as a matrix; whatever breaks it also breaks reading in chunks")
def test_with_more_keys_than_queries_the_triangle_stands_at_the_right(learner):
    assert_equal(as_bool(learner.causal_mask(2, 3)), bits("110", "111"))
    assert_equal(as_bool(learner.causal_mask(2, 6)), bits("111110", "111111"))
    assert_equal(as_bool(learner.causal_mask(4, 6)), bits("111000", "111100", "111110", "111111"))


@points(1)
@promise("last_query")
@hint("causal_mask.anchor")
@seen_in("pytorch/pytorch#115111", "karpathy/nanochat#456")
def test_one_new_query_reads_every_key_in_the_cache(learner):
    for n_keys in (1, 3, 5):
        whole = np.tri(n_keys, dtype=bool)
        assert_equal(as_bool(learner.causal_mask(1, n_keys)), whole[-1:])
        assert_equal(as_bool(learner.causal_mask(n_keys, n_keys)), whole)


@points(1)
@promise("rule", "last_query")
@hint("causal_mask.anchor")
@seen_in("hyprstream/hyprstream#1521", "tinygrad/tinygrad#15949", "meta-llama/llama#899", "meta-llama/llama#900")
@stays("says what the alignment is for: chunk by chunk must give the rows of the whole")
def test_a_sequence_read_in_chunks_has_the_rows_of_the_whole(learner):
    whole = np.tri(5, dtype=bool)
    for start in (1, 2, 3):
        first = as_bool(learner.causal_mask(start, start))
        assert_equal(first, whole[:start, :start])
        assert_equal(as_bool(learner.causal_mask(5 - start, 5)), whole[start:])


@points(2)
@promise("fewer_keys", "rule", "shape")
@hint("causal_mask.fewer_keys")
def test_with_fewer_keys_than_queries_the_first_rows_are_empty(learner):
    assert_equal(as_bool(learner.causal_mask(2, 1)), bits("0", "1"))
    assert_equal(as_bool(learner.causal_mask(3, 2)), bits("00", "10", "11"))
    assert_equal(as_bool(learner.causal_mask(6, 3)), bits("000", "000", "000", "100", "110", "111"))


@points(1)
@promise("default", "shape")
@hint("causal_mask.default")
def test_without_a_number_of_keys_there_are_as_many_as_queries(learner):
    whole = bits("1000", "1100", "1110", "1111")
    assert_equal(as_bool(learner.causal_mask(4)), whole)
    assert_equal(as_bool(learner.causal_mask(4, None)), whole)
    assert_equal(as_bool(learner.causal_mask(4, n_keys=None)), whole)
    assert_equal(as_bool(learner.causal_mask(n_queries=4, n_keys=4)), whole)


@points(1)
@promise("zero")
@hint("causal_mask.zero")
@seen_in("pytorch/pytorch#192651")
def test_zero_is_a_size(learner):
    for n_queries, n_keys in ((0, 0), (0, 3), (3, 0)):
        assert_equal(as_bool(learner.causal_mask(n_queries, n_keys)), np.zeros((n_queries, n_keys), dtype=bool))
    assert_equal(as_bool(learner.causal_mask(0)), np.zeros((0, 0), dtype=bool))
    assert_equal(as_bool(learner.causal_mask(2)), bits("10", "11"))


@points(1)
@promise("negative")
@hint("causal_mask.negative")
def test_a_negative_size_is_refused(learner):
    for sizes, names in (((-1,), ("n_queries", "n_keys")), ((-1, 2), ("n_queries",)), ((2, -1), ("n_keys",))):
        with raises(ValueError, naming=names):
            learner.causal_mask(*sizes)
    assert_equal(as_bool(learner.causal_mask(2)), bits("10", "11"))


@points(1)
@promise("dtype")
@hint("causal_mask.dtype")
@seen_in("pytorch/pytorch#21518", "pytorch/pytorch#117939", "cerebroai/reformers#3")
def test_the_mask_is_boolean(learner):
    assert_equal(learner.causal_mask(2), bits("10", "11"))
    assert_equal(learner.causal_mask(3, 3), bits("100", "110", "111"))


@points(1)
@promise("writeable")
@hint("causal_mask.writeable")
def test_the_mask_may_be_written_to(learner):
    for sizes in ((2, 2), (1, 3), (3, 1)):
        learner.causal_mask(*sizes)
        said = say("the array that {call} returned is read-only", call=f"causal_mask{sizes}")
        insist(learner.last.writeable, said)
    assert_equal(as_bool(learner.causal_mask(2)), bits("10", "11"))


@points(1)
@promise("unshared")
@hint("causal_mask.unshared")
@seen_in("facebookresearch/xformers#655", "facebookresearch/xformers#66")
def test_every_call_makes_a_mask_of_its_own(learner):
    for size in (2, 3, 2, 2):
        allowed = learner.causal_mask(size)
        assert_unshared(learner)
        assert_equal(as_bool(allowed), np.tri(size, dtype=bool))
