"""Wrong causal masks: each fault is a switch at the line where it bites."""

from typing import Any

import numpy as np

from autograder.faults.family import NONE, Family, Fault, Faults, Probe, Same

DIAGONAL_BLOCKED = Fault(
    "diagonal_blocked",
    place="comparison",
    en="A query may not read its own position, so the first of them has nothing to read at all. "
    "Does a token belong to what is known at its position?",
    zh="查询不能读自己所在的位置，于是第一个查询什么都读不到。在某个位置上，这个位置自己的 token 算不算已知？",
    seen_in=("pbloem/former#10", "pytorch/pytorch#24816"),
)
NEXT_TOKEN_READ = Fault(
    "next_token_read",
    place="comparison",
    en="A query may also read the key right after its own position: the diagonal is one step too far. "
    "That key is the answer the model is asked to predict.",
    zh="查询还能读到自己后面的那一个 key，对角线多移了一格。而那个 key 正是模型要预测的答案。",
    seen_in=("TransformerLensOrg/TransformerLens#284",),
)
UPPER_TRIANGLE = Fault(
    "upper_triangle",
    place="comparison",
    en="The triangle is the upper one: a query reads itself and what comes after, not what came before. "
    "Which way does time run along a row?",
    zh="取的是上三角：查询读到的是自己和后面的 key，而不是前面的。沿着一行往右走，时间是向前还是向后？",
    seen_in=("karpathy/nanoGPT#170", "pytorch/tutorials#2250"),
)
TRUE_MEANS_BLOCKED = Fault(
    "true_means_blocked",
    place="comparison",
    en="True and False have changed places: the mask says what must not be read. "
    "In this course True means 'may be read'.",
    zh="True 和 False 正好反了：这个遮罩说的是不许读什么。在本课程里，True 表示“可以读”。",
    seen_in=("rasbt/LLMs-from-scratch#1061", "pytorch/pytorch#170415", "lucidrains/halonet-pytorch#4"),
)
EVERYTHING_READABLE = Fault(
    "everything_readable",
    place="comparison",
    en="Every query may read every key, the later ones too. Which keys must stay hidden from the first query?",
    zh="每个查询都能读所有的 key，连后面的也能。对第一个查询来说，哪些 key 必须遮住？",
    seen_in=("keras-team/keras#23038", "pytorch/pytorch#99282"),
)
TOP_LEFT = Fault(
    "top_left",
    place="anchor",
    en="The triangle starts in the top left corner, as if the queries were the first positions. "
    "They are the last ones: which key belongs to the last query?",
    zh="三角形从左上角开始，好像查询是最前面的几个位置。其实它们是最后面的几个：最后一个查询对应的是哪个 key？",
    seen_in=("pytorch/pytorch#108108", "ml-explore/mlx#2967", "openvinotoolkit/openvino#36680"),
)
TOP_LEFT_UNLESS_ONE = Fault(
    "top_left_unless_one",
    place="anchor",
    en="A single new query sees the whole cache, but with several the triangle starts in the top left corner and hides "
    "the history. Several new queries, too, are the last positions.",
    zh="只有一个新查询时，它能看到整个缓存；有好几个时，三角形却从左上角开始，把历史遮住了。几个新查询同样是最后面的几个位置。",
    seen_in=("meta-llama/llama#899", "meta-llama/llama#900", "tinygrad/tinygrad#15949"),
)
OFFSET_WITH_THE_WRONG_SIGN = Fault(
    "offset_with_the_wrong_sign",
    place="anchor",
    en="The triangle is moved the wrong way when there are not as many keys as queries: the two sizes are subtracted "
    "in the wrong order. With more keys, should a query read more or less?",
    zh="key 和查询不一样多时，三角形移错了方向：两个大小相减的顺序反了。key 变多了，一个查询能读的应该变多还是变少？",
)
OFFSET_NEVER_NEGATIVE = Fault(
    "offset_never_negative",
    place="anchor",
    en="With fewer keys than queries the triangle is not moved, so the first queries read keys that come after them. "
    "Is the last query still the one that belongs to the last key?",
    zh="key 比查询少的时候，三角形没有移动，前面的查询就读到了排在自己后面的 key。这时和最后一个 key 对应的，"
    "还是最后一个查询吗？",
)
OFFSET_ONE_TOO_SMALL = Fault(
    "offset_one_too_small",
    place="anchor",
    en="With more keys than queries the triangle stands one step too far to the left, and the last query cannot read "
    "the last key. Count how many keys lie before the first query.",
    zh="key 比查询多的时候，三角形偏左了一格，最后一个查询读不到最后一个 key。数一数，第一个查询之前有几个 key？",
)
HISTORY_HIDDEN = Fault(
    "history_hidden",
    place="history",
    en="The keys before the first query cannot be read: the new tokens see one another and nothing of the cache. "
    "What is the cache kept for?",
    zh="第一个查询之前的 key 全都读不到：新的 token 只看得到彼此，看不到缓存里的任何内容。那留着缓存做什么？",
    seen_in=("hyprstream/hyprstream#1521",),
)
ONE_QUERY_NEEDS_NO_MASK = Fault(
    "one_query_needs_no_mask",
    place="one query",
    en="A single query gets a mask with one cell, whatever the number of keys. "
    "It may read them all, but the mask still needs a column for each key.",
    zh="只有一个查询时，不管有几个 key，遮罩都只有一格。它确实什么都能读，但每个 key 仍然要占一列。",
    seen_in=("karpathy/nanochat#456",),
)
KEYS_IGNORED = Fault(
    "keys_ignored",
    place="shape",
    en="The mask is always square, with as many columns as rows, whatever `n_keys` says. "
    "What are the rows for, and what the columns?",
    zh="不管 `n_keys` 是多少，遮罩总是方的，行数和列数一样多。行对应的是什么，列对应的又是什么？",
)
ROWS_FOR_ALL_KEYS = Fault(
    "rows_for_all_keys",
    place="shape",
    en="The mask has a row for every key, although only the last few positions ask. "
    "Which rows of the whole mask are theirs?",
    zh="遮罩给每个 key 都留了一行，其实只有最后几个位置在提问。整张遮罩里，哪几行是它们的？",
)
SIZES_SWAPPED = Fault(
    "sizes_swapped",
    place="shape",
    en="The two sizes have changed places: the mask has a row for each key and a column for each query. "
    "Which of the two asks and which is read?",
    zh="两个大小放反了：每个 key 占了一行，每个查询占了一列。是谁在提问，谁被读？",
)
LAST_ROWS_OF_NONE = Fault(
    "last_rows_of_none",
    place="shape",
    en="With 0 queries the whole mask comes back: the last 0 rows were taken with a slice that starts at -0. "
    "Where does such a slice begin?",
    zh="查询为 0 个时，返回的却是整张遮罩：取“最后 0 行”的切片是从 -0 开始的。这样的切片到底从哪里开始？",
)
ZERO_KEYS_TAKEN_FOR_NONE = Fault(
    "zero_keys_taken_for_none",
    place="default",
    en="With `n_keys=0` the mask gets as many columns as rows: 0 is treated as if no number had been given. "
    "How are 0 and None told apart?",
    zh="`n_keys=0` 时，遮罩的列数却和行数一样多：0 被当成了“没有给”。怎样区分 0 和 None？",
)
NONE_NOT_UNDERSTOOD = Fault(
    "none_not_understood",
    place="default",
    en="Leaving out `n_keys` works, passing None ends in an error. A caller who hands its own default on passes None.",
    zh="省略 `n_keys` 没问题，明着传入 None 却会报错。别的函数把自己的默认值原样往下传时，传来的就是 None。",
)
NEGATIVE_ACCEPTED = Fault(
    "negative_accepted",
    place="refusal",
    en="A negative size is not refused: an empty mask comes back, and the mistake shows up somewhere else, later.",
    zh="大小为负数却没有报错，返回了一个空遮罩；这个错误要到后来、在别的地方才暴露出来。",
)
NEGATIVE_KEYS_ACCEPTED = Fault(
    "negative_keys_accepted",
    place="refusal",
    en="A negative number of queries is refused, a negative number of keys is not.",
    zh="查询的个数为负会报错，key 的个数为负却不会。",
)
ZERO_REFUSED = Fault(
    "zero_refused",
    place="refusal",
    en="0 is refused like a negative size. What should the mask of no tokens look like?",
    zh="0 和负数一样被拒绝了。一个 token 都没有的时候，遮罩应该是什么样子？",
    seen_in=("pytorch/pytorch#192651",),
)
FEWER_KEYS_REFUSED = Fault(
    "fewer_keys_refused",
    place="fewer keys",
    en="Fewer keys than queries end in an error. The rule still says which key may be read; some rows have none.",
    zh="key 比查询少就报错。这种情况下规则照样说得清哪个 key 可以读，只是有些行一个也没有。",
)
ROOM_FOR_128 = Fault(
    "room_for_128",
    place="room",
    en="The mask is cut out of a table made for 128 positions, and what is longer comes back too small. "
    "Who says how long a sequence may be?",
    zh="遮罩是从一张只有 128 个位置的表里切出来的，更长的序列得到的遮罩就小了。序列最长可以有多长，由谁来定？",
    seen_in=("karpathy/nanoGPT#473", "huggingface/transformers#28215"),
)
POSITIONS_IN_A_BYTE = Fault(
    "positions_in_a_byte",
    place="positions",
    en="The positions are counted in int8, where 127 is followed by -128. Which dtype holds every position?",
    zh="位置是用 int8 数的，127 的下一个是 -128。什么 dtype 才装得下所有的位置？",
)
INTEGERS = Fault(
    "integers",
    place="dtype",
    en="The mask holds the integers 0 and 1. Printed it looks right, but `~` turns both into numbers "
    "that count as True.",
    zh="遮罩里是整数 0 和 1。打印出来看着没错，可是用 `~` 取反以后，得到的两个数都算 True。",
    seen_in=("pytorch/pytorch#24180", "NVIDIA/flowtron#27"),
)
FLOATS = Fault(
    "floats",
    place="dtype",
    en="The mask holds the floating-point numbers 0 and 1, which other code will add to the scores. "
    "What does adding 1 to a score do?",
    zh="遮罩里是浮点数 0 和 1，别的代码会把它们加到分数上。给分数加 1 有什么效果？",
    seen_in=("pytorch/pytorch#21518", "pytorch/pytorch#117939"),
)
ADDED_TO_SCORES = Fault(
    "added_to_scores",
    place="dtype",
    en="What comes back is meant to be added to the scores: 0 where a key may be read, -inf where not. "
    "Asked for is an answer to 'may it be read?'.",
    zh="返回的是要加到分数上的数：能读的地方是 0，不能读的地方是 -inf。题目要的是对“能不能读”的回答。",
)
ZERO_TIMES_INFINITY = Fault(
    "zero_times_infinity",
    place="dtype",
    en="Something is multiplied by -inf, and wherever it is 0 the product is NaN. "
    "Is any arithmetic needed to say yes or no?",
    zh="有个数乘了 -inf，凡是它等于 0 的地方，积都是 NaN。回答“能”或“不能”，需要算术吗？",
    seen_in=("cerebroai/reformers#3",),
)
READ_ONLY = Fault(
    "read_only",
    place="writeable",
    en="The mask cannot be written to, like every array that `np.broadcast_to` makes. "
    "What makes an array of its own out of a view?",
    zh="这个遮罩不能写，`np.broadcast_to` 得到的数组都是这样。怎样才能把视图变成一个独立的数组？",
)
ONE_MASK_FOR_ALL_CALLS = Fault(
    "one_mask_for_all_calls",
    place="kept",
    en="Calls with the same sizes get the same array, kept from the first of them. "
    "What does the second caller see when the first has written to it?",
    zh="大小相同的调用拿到的是同一个数组，它从第一次调用一直留到现在。前一个调用者往里面写了东西，后一个会看到什么？",
    seen_in=("facebookresearch/xformers#66",),
)
MASK_OF_THE_LAST_CALL = Fault(
    "mask_of_the_last_call",
    place="kept",
    en="The mask of the call before is used again when the number of queries is the same, also when the number of keys "
    "is not. What does a mask depend on?",
    zh="只要查询的个数没变，就接着用上一次调用的遮罩，key 的个数变了也照用。遮罩由哪些东西决定？",
    seen_in=("facebookresearch/xformers#655",),
)

_kept: dict[tuple[Any, ...], np.ndarray] = {}
_last: dict[int, np.ndarray] = {}


def causal_mask(n_queries: int, n_keys: Any = ..., *, faults: Faults = NONE) -> np.ndarray:
    """Return the mask, wrong in the ways of `faults`."""
    n_keys = keys_meant(n_queries, n_keys, faults)
    refuse(n_queries, n_keys, faults)
    rows, columns = shape_of(n_queries, n_keys, faults)
    allowed = in_dtype(readable(rows, columns, faults), faults)
    if ROOM_FOR_128 in faults:
        allowed = allowed[:128, :128]
    return handed_out(allowed, n_queries, faults)


def keys_meant(n_queries: int, n_keys: Any, faults: Faults) -> Any:
    """Put the number of queries where no number of keys is given."""
    left_out = n_keys is ... or (n_keys is None and NONE_NOT_UNDERSTOOD not in faults)
    if left_out or (ZERO_KEYS_TAKEN_FOR_NONE in faults and not n_keys):
        return n_queries
    return n_keys


def refuse(n_queries: int, n_keys: int, faults: Faults) -> None:
    """Refuse what cannot be a size."""
    least = 1 if ZERO_REFUSED in faults else 0
    if n_queries < least and NEGATIVE_ACCEPTED not in faults:
        raise ValueError(f"n_queries must be {least} or more, not {n_queries}")
    if n_keys < least and NEGATIVE_ACCEPTED not in faults and NEGATIVE_KEYS_ACCEPTED not in faults:
        raise ValueError(f"n_keys must be {least} or more, not {n_keys}")
    if FEWER_KEYS_REFUSED in faults and n_keys < n_queries:
        raise ValueError(f"n_keys must be n_queries = {n_queries} or more, not {n_keys}")


def shape_of(n_queries: int, n_keys: int, faults: Faults) -> tuple[int, int]:
    """Choose the number of rows and columns."""
    if KEYS_IGNORED in faults:
        return n_queries, n_queries
    if ROWS_FOR_ALL_KEYS in faults or (LAST_ROWS_OF_NONE in faults and n_queries == 0):
        return n_keys, n_keys
    if SIZES_SWAPPED in faults:
        return n_keys, n_queries
    return n_queries, n_keys


def readable(n_queries: int, n_keys: int, faults: Faults) -> np.ndarray:
    """Compare the position of each key with that of each query."""
    if ONE_QUERY_NEEDS_NO_MASK in faults and n_queries == 1:
        return np.ones((1, 1), dtype=bool)
    first = offset_of(n_queries, n_keys, faults)
    query = first + positions(n_queries, faults)[:, None]
    key = positions(n_keys, faults)[None, :]
    allowed = compared(key, query, faults)
    return allowed & (key >= first) if HISTORY_HIDDEN in faults else allowed


def offset_of(n_queries: int, n_keys: int, faults: Faults) -> int:
    """Choose the position of the first query among the keys."""
    if TOP_LEFT in faults or (TOP_LEFT_UNLESS_ONE in faults and n_queries != 1):
        return 0
    if OFFSET_WITH_THE_WRONG_SIGN in faults:
        return n_queries - n_keys
    if OFFSET_NEVER_NEGATIVE in faults:
        return max(0, n_keys - n_queries)
    if OFFSET_ONE_TOO_SMALL in faults and n_keys > n_queries:
        return n_keys - n_queries - 1
    return n_keys - n_queries


def positions(n: int, faults: Faults) -> np.ndarray:
    """Count from 0."""
    counted = np.arange(n)
    return counted.astype(np.int8).astype(np.int64) if POSITIONS_IN_A_BYTE in faults else counted


def compared(key: np.ndarray, query: np.ndarray, faults: Faults) -> np.ndarray:
    """Choose which keys a query may read."""
    if DIAGONAL_BLOCKED in faults:
        return key < query
    if NEXT_TOKEN_READ in faults:
        return key <= query + 1
    if UPPER_TRIANGLE in faults:
        return key >= query
    if TRUE_MEANS_BLOCKED in faults:
        return key > query
    if EVERYTHING_READABLE in faults:
        return np.ones(np.broadcast_shapes(key.shape, query.shape), dtype=bool)
    return key <= query


def in_dtype(allowed: np.ndarray, faults: Faults) -> np.ndarray:
    """Give the mask as booleans, or as what a fault makes of them."""
    if INTEGERS in faults:
        return allowed.astype(np.int64)
    if FLOATS in faults:
        return allowed.astype(np.float64)
    if ADDED_TO_SCORES in faults:
        return np.where(allowed, 0.0, -np.inf)
    if ZERO_TIMES_INFINITY in faults:
        with np.errstate(invalid="ignore"):
            return (1.0 - allowed) * -np.inf
    return allowed


def handed_out(allowed: np.ndarray, n_queries: int, faults: Faults) -> np.ndarray:
    """Give an array that nobody else has, or what a fault gives."""
    if MASK_OF_THE_LAST_CALL in faults:
        allowed = _last.get(n_queries, allowed).copy()
        _last.clear()
        _last[n_queries] = allowed.copy()
    if ONE_MASK_FOR_ALL_CALLS in faults:
        kept = _kept.setdefault((*allowed.shape, faults), np.empty_like(allowed))
        kept[...] = allowed
        allowed = kept[...]
    if READ_ONLY in faults:
        allowed.flags.writeable = False
    return allowed


_ANCHORS = (TOP_LEFT, TOP_LEFT_UNLESS_ONE, OFFSET_WITH_THE_WRONG_SIGN, OFFSET_NEVER_NEGATIVE, OFFSET_ONE_TOO_SMALL)
_SQUARE = "a square mask has nothing before its first query, and its corners are one"


def _shared(module: Any) -> list[str]:
    module.causal_mask(3)
    module.causal_mask(3)
    return list(module.last.shared)


def _writeable(module: Any) -> bool:
    module.causal_mask(2)
    return bool(module.last.writeable)


_HIDES = (
    (EVERYTHING_READABLE, (*_ANCHORS, POSITIONS_IN_A_BYTE), "no position is compared with another"),
    (KEYS_IGNORED, (*_ANCHORS, HISTORY_HIDDEN, ONE_QUERY_NEEDS_NO_MASK), _SQUARE),
    (ROWS_FOR_ALL_KEYS, (*_ANCHORS, HISTORY_HIDDEN, ONE_QUERY_NEEDS_NO_MASK), _SQUARE),
    (
        KEYS_IGNORED,
        (ZERO_KEYS_TAKEN_FOR_NONE, MASK_OF_THE_LAST_CALL),
        "the number of keys makes no difference, so it may be mistaken",
    ),
    (UPPER_TRIANGLE, (HISTORY_HIDDEN,), "what lies before a query is not read anyway"),
    (TRUE_MEANS_BLOCKED, (HISTORY_HIDDEN,), "what lies before a query is False anyway"),
    (TOP_LEFT, (HISTORY_HIDDEN,), "the first query is taken for the first position, with no history"),
    (ZERO_REFUSED, (LAST_ROWS_OF_NONE,), "0 queries never get that far"),
    (FEWER_KEYS_REFUSED, (OFFSET_NEVER_NEGATIVE,), "the offset is never negative"),
    (FEWER_KEYS_REFUSED, (NEGATIVE_KEYS_ACCEPTED,), "a negative number of keys is below that of the queries"),
    (ROOM_FOR_128, (POSITIONS_IN_A_BYTE,), "the positions that int8 cannot hold are cut off"),
)
_SAME = (
    *(Same(frozenset({one, other}), frozenset({one}), why) for one, hidden, why in _HIDES for other in hidden),
    Same(
        frozenset({ONE_QUERY_NEEDS_NO_MASK, TOP_LEFT}),
        frozenset({ONE_QUERY_NEEDS_NO_MASK, TOP_LEFT_UNLESS_ONE}),
        "the anchors differ for one query only, and that has a mask of one cell",
    ),
)

FAMILY = Family(
    "causal_mask",
    {"causal_mask": causal_mask},
    faults=tuple(value for value in list(globals().values()) if isinstance(value, Fault)),
    # Two in a row never ask for the same number of queries, so that no answer depends on the probe before.
    probes=(
        Probe("one token", lambda module: module.causal_mask(1)),
        Probe("two tokens", lambda module: module.causal_mask(2)),
        Probe("one query, three keys", lambda module: module.causal_mask(1, 3)),
        Probe("two queries, five keys", lambda module: module.causal_mask(2, 5)),
        Probe("three queries, two keys", lambda module: module.causal_mask(3, 2)),
        Probe("four queries, one key", lambda module: module.causal_mask(4, 1)),
        Probe("no keys", lambda module: module.causal_mask(2, 0)),
        Probe("no queries", lambda module: module.causal_mask(0, 3)),
        Probe("None for the keys", lambda module: module.causal_mask(4, None)),
        Probe("fewer than no queries", lambda module: module.causal_mask(-1, 2)),
        Probe("fewer than no keys", lambda module: module.causal_mask(2, -1)),
        Probe("called twice", _shared),
        Probe("written to", _writeable),
        Probe("other keys", lambda module: [module.causal_mask(3, 3), module.causal_mask(3, 4)]),
        Probe("130 tokens", lambda module: module.causal_mask(130)),
    ),
    same=_SAME,
)
