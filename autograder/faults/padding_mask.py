"""Wrong padding masks and wrong ways to join them: each fault is a switch at the line where it bites."""

from typing import Any

import numpy as np

from autograder.faults.family import NONE, Family, Fault, Faults, Probe, Same

SIDES_SWAPPED = Fault(
    "sides_swapped",
    place="side",
    en='The two sides have changed places: "left" leaves the first keys and "right" the last. '
    "Does `side` say where the tokens stand, or where the padding does?",
    zh='两边弄反了："left" 留下了最前面的 key，"right" 留下了最后面的。'
    "`side` 说的是 token 在哪一边，还是填充在哪一边？",
)
SIDE_IGNORED = Fault(
    "side_ignored",
    place="side",
    en="The padding is always taken to stand on the right, whatever `side` says. "
    "Where do the tokens lie when it stands on the left?",
    zh="不管 `side` 是什么，都当作填充在右边。填充在左边的时候，token 在哪里？",
    seen_in=("huggingface/transformers#26569",),
)
LEFT_BY_DEFAULT = Fault(
    "left_by_default",
    place="default side",
    en="Without a `side` the padding is taken to stand on the left. Which side does the exercise name as the default?",
    zh="没有给 `side` 时，填充被当作在左边。题目规定的默认是哪一边？",
)
ONE_TOKEN_TOO_MANY = Fault(
    "one_token_too_many",
    place="length",
    en="Each sequence counts one token too many, so the padding next to the tokens can be read. "
    "With length 3, what is the position of the last real token when the first is 0?",
    zh="每个序列都多算了一个 token，紧挨着 token 的那个填充也能读了。长度为 3 时，从 0 数起，"
    "最后一个真正的 token 在几号位置？",
    seen_in=("ajhalthor/Transformer-Neural-Network#15",),
)
ONE_TOKEN_TOO_FEW = Fault(
    "one_token_too_few",
    place="length",
    en="Each sequence counts one token too few, so a real token cannot be read. How many positions are below 3?",
    zh="每个序列都少算了一个 token，有一个真正的 token 读不到了。从 0 数起，小于 3 的位置有几个？",
)
TRUE_ON_PADDING = Fault(
    "true_on_padding",
    place="meaning",
    en="`padding_mask` is True on the padding and False on the tokens. In this course True means 'may be read'.",
    zh="`padding_mask` 反了：填充上是 True，token 上是 False。在本课程里，True 表示“可以读”。",
    seen_in=("pytorch/pytorch#170415",),
)
COUNTED_FROM_THE_LONGEST = Fault(
    "counted_from_the_longest",
    place="width",
    en="Padding on the left is counted from the longest sequence of the batch, not from `n_keys`. "
    "Where do the tokens end when even the longest has padding?",
    zh="左边的填充是按 batch 里最长的序列算的，而不是按 `n_keys`。如果最长的序列也有填充，token 应该排到哪里为止？",
)
AS_WIDE_AS_THE_LONGEST = Fault(
    "as_wide_as_the_longest",
    place="width",
    en="The mask has as many columns as the longest sequence has tokens. How many keys does the caller say there are?",
    zh="遮罩的列数是最长序列的长度。调用者说一共有几个 key？",
)
EMPTY_SEQUENCE_FULL = Fault(
    "empty_sequence_full",
    place="empty sequence",
    en="With padding on the left an empty sequence is all True: "
    "its last 0 keys were taken with a slice that starts at -0. "
    "Where does such a slice begin?",
    zh="填充在左边时，空序列的那一行全是 True：取“最后 0 个 key”的切片是从 -0 开始的。这样的切片到底从哪里开始？",
)
EMPTY_SEQUENCE_KEEPS_ONE = Fault(
    "empty_sequence_keeps_one",
    place="empty sequence",
    en="An empty sequence is given one token to read, which is padding. A row of the mask may be False throughout.",
    zh="空序列也被分到了一个可读的 token，而那其实是填充。遮罩里是可以有一整行 False 的。",
    seen_in=("d2l-ai/d2l-en#2423",),
)
FULL_LENGTH_REFUSED = Fault(
    "full_length_refused",
    place="refusal of lengths",
    en="A sequence without any padding is refused: a length equal to `n_keys` counts as too long. Is it?",
    zh="没有任何填充的序列报了错：等于 `n_keys` 的长度被当成太长。它真的太长吗？",
)
LENGTHS_NOT_CHECKED = Fault(
    "lengths_not_checked",
    place="refusal of lengths",
    en="Lengths that do not fit are accepted without a word. What would a sequence of 4 tokens in 3 keys be?",
    zh="放不下的长度也照收不误。3 个 key 怎么装得下 4 个 token 的序列？",
)
NEGATIVE_LENGTH_ACCEPTED = Fault(
    "negative_length_accepted",
    place="refusal of lengths",
    en="Lengths above `n_keys` are refused, lengths below 0 are not.",
    zh="长度大于 `n_keys` 会报错，小于 0 却不会。",
)
UNKNOWN_SIDE_IS_LEFT = Fault(
    "unknown_side_is_left",
    place="unknown side",
    en='Any side but "right" counts as "left", misspelt ones too. What should happen to a side that is neither?',
    zh='只要不是 "right" 就都当成 "left"，拼错了也一样。两者都不是的时候应该怎么办？',
)
PADDING_AS_INTEGERS = Fault(
    "padding_as_integers",
    place="dtype of the padding mask",
    en="`padding_mask` returns the integers 0 and 1. "
    "Printed they look right, but `~` and indexing treat them differently.",
    zh="`padding_mask` 返回的是整数 0 和 1。打印出来看着没错，可是一用 `~` 或者拿去索引，结果就不一样了。",
    seen_in=("nlpyang/PreSumm#54",),
)
LENGTHS_OVERWRITTEN = Fault(
    "lengths_overwritten",
    place="lengths",
    en="With padding on the left the caller's lengths are turned into numbers of padding, in place. "
    "What does the caller find in them afterwards?",
    zh="填充在左边时，调用者的长度被原地改成了填充的个数。调用者之后再去看，会看到什么？",
)
CONVENTIONS_SWAPPED = Fault(
    "conventions_swapped",
    place="convention",
    en='"allowed" and "blocked" have changed places. '
    "Say each aloud as a sentence: a 1 in this mask means that the key ...",
    zh='"allowed" 和 "blocked" 弄反了。把它们各念成一句话试试：这个遮罩里的 1 表示这个 key……',
    seen_in=("rasbt/LLMs-from-scratch#1061", "harvard-edge/cs249r_book#1785"),
)
FLOATS_ALWAYS_ADDITIVE = Fault(
    "floats_always_additive",
    place="convention",
    en="A mask of floating-point numbers is always taken to be additive. "
    "The convention says how a mask is meant, not its dtype.",
    zh="只要是浮点数的遮罩，就一律当成加性的。遮罩是什么意思，由约定说了算，不由 dtype 说了算。",
)
BLOCKED_NOT_INVERTED = Fault(
    "blocked_not_inverted",
    place="inversion",
    en='A "blocked" mask comes back as it is, so what must not be read becomes True. '
    "What does True mean in the result?",
    zh='"blocked" 遮罩原样返回，不许读的地方成了 True。在结果里，True 表示什么？',
    seen_in=("pytorch/pytorch#170415",),
)
BITWISE_NOT = Fault(
    "bitwise_not",
    place="inversion",
    en="`~` is applied to the integers 0 and 1. It flips every bit and gives -1 and -2, which both count as True.",
    zh="对整数 0 和 1 用了 `~`。它把每一位都翻转，得到 -1 和 -2，两个都算 True。",
    seen_in=("pytorch/pytorch#24180", "NVIDIA/flowtron#27", "ZikangZhou/HiVT#44"),
)
BITS_OF_FLOATS = Fault(
    "bits_of_floats",
    place="inversion",
    en='A "blocked" mask is inverted by an operation on bits, which floating-point numbers do not have: '
    "0.0 and 1.0 end in an error. Which comparison works in every dtype?",
    zh='"blocked" 遮罩是用位运算取反的，浮点数没有这种运算，遇到 0.0 和 1.0 就报错。哪一种比较对所有 dtype 都管用？',
)
ONE_MINUS_THE_MASK = Fault(
    "one_minus_the_mask",
    place="inversion",
    en='A "blocked" mask is subtracted from 1, which gives numbers, not booleans. '
    "Right when printed, wrong as an index.",
    zh='用 1 减去 "blocked" 遮罩，得到的是数，不是布尔值。打印出来是对的，拿去索引就错了。',
    seen_in=("nlpyang/PreSumm#54", "Eurus-Holmes/MNMT#4", "deepspeedai/DeepSpeed#3319"),
)
BLOCKED_OVERWRITTEN = Fault(
    "blocked_overwritten",
    place="inversion",
    en='A "blocked" mask of booleans is inverted in place, so the caller\'s own mask is changed. '
    "Who else may still need it?",
    zh='布尔的 "blocked" 遮罩被原地取反，调用者自己的遮罩也就变了。还有谁可能要用它？',
    seen_in=("huggingface/transformers#31008",),
)
MASK_AS_INDEX = Fault(
    "mask_as_index",
    place="allowed",
    en='An "allowed" mask is used as an index. '
    "Booleans choose entries, but the integers 0 and 1 choose the rows 0 and 1.",
    zh='把 "allowed" 遮罩当成了索引。布尔值选的是元素，整数 0 和 1 选的却是第 0 行和第 1 行。',
    seen_in=("numpy/numpy#27351", "QData/TextAttack#68"),
)
NUMBERS_HANDED_BACK = Fault(
    "numbers_handed_back",
    place="allowed",
    en='An "allowed" mask of numbers comes back as numbers. '
    "Asked for is True and False, whatever the dtype of the mask.",
    zh='用数字表示的 "allowed" 遮罩，返回的还是数字。不管遮罩是什么 dtype，题目要的都是 True 和 False。',
    seen_in=("nlpyang/PreSumm#54",),
)
SAME_ARRAY_HANDED_BACK = Fault(
    "same_array_handed_back",
    place="allowed",
    en='An "allowed" mask of booleans is handed back itself, so the caller and the result own one memory. '
    "What if one of them writes?",
    zh='布尔的 "allowed" 遮罩被直接交了回去，调用者和结果共用同一块内存。其中一方写入会怎样？',
)
READ_IN_MEMORY_ORDER = Fault(
    "read_in_memory_order",
    place="layout",
    en="`as_allowed` reads the mask in the order in which it lies in memory, "
    "which for a transposed array is not the order of its rows.",
    zh="`as_allowed` 是按内存里的顺序读遮罩的，而转置过的数组在内存里并不是按行排的。",
    seen_in=("ByteDance-Seed/Depth-Anything-3#268",),
)
ADDED_MEANS_READABLE = Fault(
    "added_means_readable",
    place="zero",
    en="In an additive mask whatever is not 0 becomes True, so -inf may be read and 0 may not. "
    "What does adding 0 to a score do?",
    zh="加性遮罩里凡是不为 0 的都成了 True，于是 -inf 可以读，0 反而不能。给分数加 0 会有什么效果？",
    seen_in=("pytorch/pytorch#92554", "mlverse/torch#1205"),
)
MINUS_ZERO_BLOCKED = Fault(
    "minus_zero_blocked",
    place="zero",
    en="An additive mask is judged by its sign, so that -0.0 blocks. It is equal to 0, and adding it changes nothing.",
    zh="加性遮罩是按正负号判断的，于是 -0.0 被当成不许读。可它等于 0，加上它什么也不会变。",
)
LOWEST_REFUSED = Fault(
    "lowest_refused",
    place="lowest",
    en="In an additive mask only -inf blocks; the lowest finite number of the dtype is refused. "
    "Many libraries fill with it.",
    zh="加性遮罩里只认 -inf，遇到这种 dtype 的最小有限值却报错了。不少库正是用它来填的。",
    seen_in=("NVIDIA-NeMo/Automodel#2658", "huggingface/transformers#27114"),
)
LOWEST_OF_FLOAT32 = Fault(
    "lowest_of_float32",
    place="lowest",
    en="The lowest number of float32 is looked for in masks of every dtype. "
    "Whose lowest number does a float64 mask hold?",
    zh="不管遮罩是什么 dtype，找的都是 float32 的最小有限值。float64 的遮罩里，放的是谁的最小有限值？",
)
LOWEST_OF_ANY_DTYPE = Fault(
    "lowest_of_any_dtype",
    place="lowest",
    en="The lowest number of another dtype is taken for a mask too. "
    "In float64 the lowest number of float32 is one like any other.",
    zh="别的 dtype 的最小有限值也被当成了不许读。在 float64 里，float32 的最小有限值只是一个普通的数。",
)
BIAS_BLOCKS = Fault(
    "bias_blocks",
    place="bias",
    en="In an additive mask whatever is not 0 blocks, a bias like 1.0 or NaN too. "
    "What cannot be said with yes or no should be refused.",
    zh="加性遮罩里凡是不为 0 的都当成不许读，1.0 这样的偏置和 NaN 也一样。答不出“能”或“不能”的，应该报错。",
)
BIAS_READABLE = Fault(
    "bias_readable",
    place="bias",
    en="In an additive mask whatever does not block may be read, a bias like 1.0 or NaN too. "
    "The bias is lost without a word.",
    zh="加性遮罩里凡是没有遮住的都当成可以读，1.0 这样的偏置和 NaN 也一样。偏置就这样悄悄丢掉了。",
    seen_in=("pytorch/pytorch#21518",),
)
VERY_NEGATIVE_BLOCKS = Fault(
    "very_negative_blocks",
    place="bias",
    en="In an additive mask very negative numbers like -1e9 count as blocked. "
    "Scores can lie further from 0 than that: it is a bias.",
    zh="加性遮罩里 -1e9 这样很低的数也算不许读。分数还可能比它更低，所以它只是偏置。",
    seen_in=("karpathy/minGPT#75", "huggingface/transformers#3181", "nntrainer/nntrainer#4333"),
)
NAN_SLIPS_THROUGH = Fault(
    "nan_slips_through",
    place="bias",
    en="NaN in an additive mask is not refused: it is neither below nor above any number, "
    "and the test asks for just that.",
    zh="加性遮罩里的 NaN 溜了过去，没有报错：它既不小于也不大于任何数，而检查偏偏就是这样比的。",
)
INFINITY_OF_EITHER_SIGN = Fault(
    "infinity_of_either_sign",
    place="bias",
    en="In an additive mask +inf blocks like -inf. What does adding +inf do to a score?",
    zh="加性遮罩里 +inf 和 -inf 一样被当成不许读。给分数加上 +inf 会怎样？",
)
NUMBERS_NOT_CHECKED = Fault(
    "numbers_not_checked",
    place="binary",
    en='In an "allowed" or "blocked" mask numbers other than 0 and 1 are accepted. What would a 2 mean?',
    zh='"allowed" 和 "blocked" 遮罩里，0 和 1 以外的数也被接受了。2 是什么意思？',
)
ONLY_THE_RANGE_CHECKED = Fault(
    "only_the_range_checked",
    place="binary",
    en='In an "allowed" or "blocked" mask only numbers below 0 or above 1 are refused, so 0.5 and NaN slip through.',
    zh='"allowed" 和 "blocked" 遮罩里，只有小于 0 或大于 1 的数会报错，0.5 和 NaN 就溜过去了。',
)
UNKNOWN_CONVENTION_IS_BLOCKED = Fault(
    "unknown_convention_is_blocked",
    place="unknown convention",
    en='Any convention that is not known counts as "blocked", misspelt ones too. Guessing wrong inverts the mask.',
    zh='不认识的约定都当成 "blocked"，拼错了也一样。一旦猜错，遮罩就反了。',
)
EITHER_ALLOWS = Fault(
    "either_allows",
    place="join",
    en="A key can be read when one of the two masks allows it. How many of them must allow it?",
    zh="两个遮罩里只要有一个允许，key 就能读。应该要几个都允许才行？",
    seen_in=("lucidrains/local-attention#5",),
)
CAUSAL_DROPPED = Fault(
    "causal_dropped",
    place="join",
    en="Only the padding counts in `merge_masks`; the causal mask has no effect. Where does it enter the result?",
    zh="`merge_masks` 里只有填充起作用，因果遮罩没有任何效果。它应该在哪里进入结果？",
    seen_in=("keras-team/keras#23040", "huggingface/candle#3632", "pytorch/pytorch#100709"),
)
PADDING_DROPPED = Fault(
    "padding_dropped",
    place="join",
    en="Only the causal mask counts in `merge_masks`; the padding has no effect. Where does it enter the result?",
    zh="`merge_masks` 里只有因果遮罩起作用，填充没有任何效果。它应该在哪里进入结果？",
    seen_in=("huggingface/transformers#37807",),
)
PADDED_QUERIES_BLOCKED = Fault(
    "padded_queries_blocked",
    place="padded queries",
    en="The rows of padded queries are emptied too. "
    "The padding mask is about what is read; a padded query keeps its row.",
    zh="填充位置上的查询，整行也被清空了。填充遮罩管的是能读什么，填充位置上的查询要保留自己的那一行。",
    seen_in=("harvardnlp/annotated-transformer#137", "bentrevett/pytorch-seq2seq#119", "pytorch/pytorch#34453"),
)
PADDING_ON_THE_QUERIES = Fault(
    "padding_on_the_queries",
    place="axis",
    en="The padding is laid along the queries: padded queries lose their rows, and padded keys can still be read. "
    "On which axis are the keys?",
    zh="填充放到了查询的轴上：填充位置上的查询丢了整行，填充的 key 反而照样能读。key 在哪一个轴上？",
    seen_in=("hyunwoongko/transformer#40", "lsdefine/attention-is-all-you-need-keras#16"),
)
BATCH_TAKEN_FOR_QUERIES = Fault(
    "batch_taken_for_queries",
    place="axis",
    en="With as many sequences as queries the two masks are laid on each other, row by row: the first query gets the "
    "padding of the first sequence. What are the rows of a padding mask?",
    zh="序列和查询一样多时，两个遮罩被一行对一行地叠在一起：第一个查询用了第一个序列的填充。填充遮罩的每一行代表什么？",
    seen_in=("hyunwoongko/transformer#32", "lucidrains/vit-pytorch#71", "huggingface/candle#1920"),
)
PADDING_OF_THE_FIRST = Fault(
    "padding_of_the_first",
    place="batch",
    en="All sequences of the batch get the padding of the first. Whose keys does each of them read?",
    zh="整批序列用的都是第一个序列的填充。每个序列读的是谁的 key？",
    seen_in=("ArrowLuo/CLIP4Clip#22", "line/lighthouse#77"),
)
HEAD_AXIS_MISSING = Fault(
    "head_axis_missing",
    place="head axis",
    en="`merge_masks` returns three axes: the one for the heads is missing, "
    "and broadcasting will take the batch for it.",
    zh="`merge_masks` 的结果只有三个轴：少了留给头的那个轴，广播时 batch 轴就会被当成头。",
)
HEAD_AXIS_FIRST = Fault(
    "head_axis_first",
    place="head axis",
    en="The axis for the heads stands before the batch. In which order do scores have these two?",
    zh="留给头的轴放在了 batch 轴的前面。在分数里，这两个轴的顺序是怎样的？",
)
EMPTY_ROWS_OPENED = Fault(
    "empty_rows_opened",
    place="empty rows",
    en="Where nothing is left to read, `merge_masks` lets everything be read. Neither of the two masks allows that.",
    zh="一行里什么都不能读的时候，`merge_masks` 却让它什么都能读。两个遮罩都不允许这样。",
    seen_in=("huggingface/transformers#26572", "pytorch/pytorch#110213", "allenai/OLMo#322"),
)
KEYS_NOT_COMPARED = Fault(
    "keys_not_compared",
    place="number of keys",
    en="The numbers of keys are not compared, so a mask with a single key is stretched over all of them. "
    "When does broadcasting hide a mistake?",
    zh="没有比较两个遮罩各有几个 key，于是只有一个 key 的遮罩被拉长到了所有的 key 上。广播在什么时候会掩盖错误？",
    seen_in=("karpathy/nanoGPT#473",),
)
CAUSAL_OVERWRITTEN = Fault(
    "causal_overwritten",
    place="causal",
    en="The padding of each sequence is written into the causal mask itself, so that of one sequence reaches the next, "
    "and the caller's mask is spoilt.",
    zh="每个序列的填充都写进了因果遮罩本身，于是前一个序列的填充影响到后一个，调用者的遮罩也被弄坏了。",
)
BLOCKED_SOMEWHERE = Fault(
    "blocked_somewhere",
    place="question",
    en="`fully_masked_rows` finds the rows in which some key is blocked, not those in which all are.",
    zh="`fully_masked_rows` 找到的是有 key 被遮住的行，而不是所有 key 都被遮住的行。",
)
SOMETHING_TO_READ = Fault(
    "something_to_read",
    place="question",
    en="`fully_masked_rows` finds the rows that do have something to read: the answer is the wrong way round.",
    zh="`fully_masked_rows` 找到的是有东西可读的行：答案正好反了。",
)
COLUMNS_FOR_ROWS = Fault(
    "columns_for_rows",
    place="axis of the keys",
    en="`fully_masked_rows` goes along the queries and finds keys that nobody reads. "
    "Along which axis does one query look?",
    zh="`fully_masked_rows` 是沿着查询的轴找的，找到的是没有人读的 key。一个查询是沿着哪个轴看的？",
)
SECOND_AXIS = Fault(
    "second_axis",
    place="axis of the keys",
    en="`fully_masked_rows` always goes along the second axis. "
    "With batch and heads in front, where have the keys gone?",
    zh="`fully_masked_rows` 总是沿着第二个轴找。前面多了 batch 和头以后，key 到哪个轴上去了？",
)
MAXIMUM_OF_NOTHING = Fault(
    "maximum_of_nothing",
    place="no keys",
    en="With no keys at all `fully_masked_rows` ends in an error: the maximum of nothing. "
    "Which question has an answer there?",
    zh="一个 key 都没有的时候，`fully_masked_rows` 会报错：没有元素就没有最大值。换成什么样的问法，这时也有答案？",
    seen_in=("pytorch/pytorch#192651",),
)
NO_KEYS_NOT_FOUND = Fault(
    "no_keys_not_found",
    place="no keys",
    en="With no keys at all `fully_masked_rows` finds no row. What does a query read when there is nothing?",
    zh="一个 key 都没有的时候，`fully_masked_rows` 一行也没找到。什么都没有的时候，查询能读到什么？",
)
ONE_ANSWER_FOR_ALL_CALLS = Fault(
    "one_answer_for_all_calls",
    place="rows kept",
    en="`fully_masked_rows` writes into an array that is kept between calls, "
    "so the next call changes an earlier result.",
    zh="`fully_masked_rows` 把结果写进一个在多次调用之间保留的数组，下一次调用会改掉上一次的结果。",
)

_kept: dict[tuple[Any, ...], np.ndarray] = {}


def padding_mask(lengths: np.ndarray, n_keys: int, side: Any = ..., *, faults: Faults = NONE) -> np.ndarray:
    """Return True on the real tokens, wrong in the ways of `faults`."""
    side = side_meant(side, faults)
    refuse_lengths(lengths, n_keys, faults)
    n_tokens = tokens_of(lengths, faults)[:, None]
    longest = int(np.max(lengths, initial=0))
    key = np.arange(longest if AS_WIDE_AS_THE_LONGEST in faults else n_keys)[None, :]
    if side == "right":
        real = key < n_tokens
    else:
        real = real_after_padding(key, n_tokens, longest if COUNTED_FROM_THE_LONGEST in faults else key.size, faults)
        if LENGTHS_OVERWRITTEN in faults:
            np.subtract(n_keys, lengths, out=lengths)
    real = ~real if TRUE_ON_PADDING in faults else real
    return real.astype(np.int64) if PADDING_AS_INTEGERS in faults else real


def side_meant(side: Any, faults: Faults) -> str:
    """Choose on which side the padding stands."""
    side = ("left" if LEFT_BY_DEFAULT in faults else "right") if side is ... else str(side)
    if UNKNOWN_SIDE_IS_LEFT in faults and side != "right":
        side = "left"
    if side not in ("right", "left"):
        raise ValueError(f"side must be 'right' or 'left', not {side!r}")
    if SIDE_IGNORED in faults:
        return "right"
    return {"right": "left", "left": "right"}[side] if SIDES_SWAPPED in faults else side


def refuse_lengths(lengths: np.ndarray, n_keys: int, faults: Faults) -> None:
    """Refuse sequences that do not fit."""
    if LENGTHS_NOT_CHECKED in faults:
        return
    most = n_keys - 1 if FULL_LENGTH_REFUSED in faults else n_keys
    if np.any(lengths > most) or (np.any(lengths < 0) and NEGATIVE_LENGTH_ACCEPTED not in faults):
        raise ValueError(f"lengths must lie between 0 and n_keys = {n_keys}, not {lengths.tolist()}")


def tokens_of(lengths: np.ndarray, faults: Faults) -> np.ndarray:
    """Count the tokens of each sequence."""
    n_tokens = lengths
    if ONE_TOKEN_TOO_MANY in faults:
        n_tokens = n_tokens + 1
    if ONE_TOKEN_TOO_FEW in faults:
        n_tokens = n_tokens - 1
    return np.maximum(n_tokens, 1) if EMPTY_SEQUENCE_KEEPS_ONE in faults else n_tokens


def real_after_padding(key: np.ndarray, n_tokens: np.ndarray, end: int, faults: Faults) -> np.ndarray:
    """Find the tokens that stand before `end`, with padding before them."""
    real = (key >= end - n_tokens) & (key < end)
    return np.asarray(np.where(n_tokens == 0, True, real)) if EMPTY_SEQUENCE_FULL in faults else real


def as_allowed(mask: np.ndarray, convention: str, *, faults: Faults = NONE) -> np.ndarray:
    """Return True where the mask lets a key be read, wrong in the ways of `faults`."""
    convention = convention_meant(mask, convention, faults)
    if READ_IN_MEMORY_ORDER in faults:
        mask = mask.ravel(order="K").reshape(mask.shape)
    if convention == "additive":
        return from_additive(mask, faults)
    refuse_numbers(mask, faults)
    return from_allowed(mask, faults) if convention == "allowed" else from_blocked(mask, faults)


def convention_meant(mask: np.ndarray, convention: str, faults: Faults) -> str:
    """Choose how the mask is read."""
    if convention not in ("allowed", "blocked", "additive"):
        if UNKNOWN_CONVENTION_IS_BLOCKED not in faults:
            raise ValueError(f"convention must be 'allowed', 'blocked' or 'additive', not {convention!r}")
        convention = "blocked"
    if FLOATS_ALWAYS_ADDITIVE in faults and np.issubdtype(mask.dtype, np.floating):
        return "additive"
    swapped = {"allowed": "blocked", "blocked": "allowed", "additive": "additive"}
    return swapped[convention] if CONVENTIONS_SWAPPED in faults else convention


def refuse_numbers(mask: np.ndarray, faults: Faults) -> None:
    """Refuse what is neither 0 nor 1."""
    if NUMBERS_NOT_CHECKED in faults:
        return
    if ONLY_THE_RANGE_CHECKED in faults:
        wrong = bool(np.any((mask < 0) | (mask > 1)))
    else:
        wrong = not np.all((mask == 0) | (mask == 1))
    if wrong:
        raise ValueError("a mask with this convention holds nothing but 0 and 1")


def from_allowed(mask: np.ndarray, faults: Faults) -> np.ndarray:
    """Read a mask in which 1 may be read."""
    if MASK_AS_INDEX in faults:
        allowed = np.zeros(mask.shape, dtype=bool)
        allowed[mask] = True
        return allowed
    if NUMBERS_HANDED_BACK in faults:
        return np.array(mask)
    if SAME_ARRAY_HANDED_BACK in faults and mask.dtype == np.bool_:
        return mask
    return np.asarray(mask == 1)


def from_blocked(mask: np.ndarray, faults: Faults) -> np.ndarray:
    """Read a mask in which 1 must not be read."""
    if BLOCKED_NOT_INVERTED in faults:
        return np.asarray(mask == 1)
    if BITWISE_NOT in faults:
        return np.asarray(~mask if np.issubdtype(mask.dtype, np.integer) else mask == 0).astype(bool)
    if BITS_OF_FLOATS in faults:
        return np.asarray((mask ^ 1) == 1)
    if ONE_MINUS_THE_MASK in faults:
        return np.asarray(1 - mask)
    if BLOCKED_OVERWRITTEN in faults and mask.dtype == np.bool_:
        mask[...] = mask == 0
        return np.array(mask)
    return np.asarray(mask == 0)


def from_additive(mask: np.ndarray, faults: Faults) -> np.ndarray:
    """Read a mask that is added to the scores."""
    allowed = mask == 0
    blocked = (mask == -np.inf) | is_lowest(mask, faults)
    if MINUS_ZERO_BLOCKED in faults:
        allowed, blocked = allowed & ~np.signbit(mask), blocked | (allowed & np.signbit(mask))
    bias = ~(allowed | blocked)
    blocked |= bias & is_forgiven(mask, faults)
    if BIAS_READABLE in faults:
        allowed |= bias
    if not np.all(allowed | blocked):
        raise ValueError("a mask with convention 'additive' holds nothing but 0, -inf and the lowest number")
    return np.asarray(blocked if ADDED_MEANS_READABLE in faults else allowed)


def is_lowest(mask: np.ndarray, faults: Faults) -> np.ndarray:
    """Find the lowest finite number of the dtype."""
    if LOWEST_REFUSED in faults:
        return np.zeros(mask.shape, dtype=bool)
    lowest = {dtype: float(np.finfo(dtype).min) for dtype in (np.float16, np.float32, np.float64)}
    exact = mask.astype(np.float64)
    if LOWEST_OF_FLOAT32 in faults:
        return np.asarray(exact == lowest[np.float32])
    if LOWEST_OF_ANY_DTYPE in faults:
        return np.isin(exact, list(lowest.values()))
    return np.asarray(exact == lowest[mask.dtype.type])


def is_forgiven(mask: np.ndarray, faults: Faults) -> np.ndarray:
    """Find the biases that are taken for something that blocks."""
    if VERY_NEGATIVE_BLOCKS in faults:
        return np.asarray(mask <= -1e4)
    if NAN_SLIPS_THROUGH in faults:
        return np.asarray(np.isnan(mask))
    if INFINITY_OF_EITHER_SIGN in faults:
        return np.asarray(np.isinf(mask))
    return np.full(mask.shape, BIAS_BLOCKS in faults)


def merge_masks(causal: np.ndarray, keys_allowed: np.ndarray, *, faults: Faults = NONE) -> np.ndarray:
    """Return one mask (batch, 1, n_queries, n_keys), wrong in the ways of `faults`."""
    causal, keys_allowed = with_equal_keys(causal, keys_allowed, faults)
    if PADDING_OF_THE_FIRST in faults:
        keys_allowed = np.repeat(keys_allowed[:1], len(keys_allowed), axis=0)
    if CAUSAL_OVERWRITTEN in faults:
        rows = [np.logical_and(causal, row, out=causal).copy() for row in keys_allowed]
        allowed = joined(np.array(rows)[:, None], on_its_axis(causal, keys_allowed, faults), faults)
    else:
        allowed = joined(causal[None, None], on_its_axis(causal, keys_allowed, faults), faults)
    if PADDED_QUERIES_BLOCKED in faults and causal.shape[0] <= keys_allowed.shape[1]:
        allowed = allowed & keys_allowed[:, None, keys_allowed.shape[1] - causal.shape[0] :, None]
    if EMPTY_ROWS_OPENED in faults:
        allowed = allowed | ~np.any(allowed, axis=-1, keepdims=True)
    return with_heads(allowed, faults)


def with_equal_keys(causal: np.ndarray, keys_allowed: np.ndarray, faults: Faults) -> tuple[np.ndarray, np.ndarray]:
    """Refuse masks with different numbers of keys."""
    if causal.shape[-1] != keys_allowed.shape[-1] and KEYS_NOT_COMPARED not in faults:
        raise ValueError(f"causal has {causal.shape[-1]} keys, keys_allowed has {keys_allowed.shape[-1]}")
    return causal, keys_allowed


def on_its_axis(causal: np.ndarray, keys_allowed: np.ndarray, faults: Faults) -> np.ndarray:
    """Lay the padding on the axes (batch, heads, queries, keys)."""
    if PADDING_ON_THE_QUERIES in faults:
        return keys_allowed[:, None, :, None]
    if BATCH_TAKEN_FOR_QUERIES in faults and causal.shape == keys_allowed.shape:
        return np.repeat(keys_allowed[None, None], len(keys_allowed), axis=0)
    return keys_allowed[:, None, None, :]


def joined(causal: np.ndarray, padding: np.ndarray, faults: Faults) -> np.ndarray:
    """Allow what both allow."""
    if EITHER_ALLOWS in faults:
        return np.asarray(causal | padding)
    everything = np.ones_like(causal | padding)
    if CAUSAL_DROPPED in faults:
        return np.asarray(everything & padding)
    if PADDING_DROPPED in faults:
        return np.asarray(everything & causal)
    return np.asarray(causal & padding)


def with_heads(allowed: np.ndarray, faults: Faults) -> np.ndarray:
    """Choose where the axis for the heads stands."""
    if HEAD_AXIS_MISSING in faults:
        return allowed[:, 0]
    return np.swapaxes(allowed, 0, 1) if HEAD_AXIS_FIRST in faults else allowed


def fully_masked_rows(allowed: np.ndarray, *, faults: Faults = NONE) -> np.ndarray:
    """Return which queries have nothing to read, wrong in the ways of `faults`."""
    axis = -2 if COLUMNS_FOR_ROWS in faults else 1 if SECOND_AXIS in faults else -1
    rows = answered(allowed, axis, faults)
    if ONE_ANSWER_FOR_ALL_CALLS in faults:
        kept = _kept.setdefault((*rows.shape, faults), np.empty_like(rows))
        kept[...] = rows
        return kept[...]
    return rows


def answered(allowed: np.ndarray, axis: int, faults: Faults) -> np.ndarray:
    """Ask whether there is nothing to read along an axis."""
    if NO_KEYS_NOT_FOUND in faults and allowed.shape[axis] == 0:
        return np.zeros(np.any(allowed, axis=axis).shape, dtype=bool)
    if MAXIMUM_OF_NOTHING in faults:
        np.max(allowed, axis=axis)
    if BLOCKED_SOMEWHERE in faults:
        return np.asarray(~np.all(allowed, axis=axis))
    if SOMETHING_TO_READ in faults:
        return np.asarray(np.any(allowed, axis=axis))
    return np.asarray(~np.any(allowed, axis=axis))


def _bits(*rows: str) -> np.ndarray:
    return np.array([[digit == "1" for digit in row] for row in rows])


def _lengths_after(module: Any) -> Any:
    module.padding_mask(np.array([1, 2]), 3, "left")
    modified = list(module.last.modified)
    module.padding_mask(np.array([1, 2]), 3, "right")
    return [modified, list(module.last.modified)]


def _allowed_after(module: Any) -> Any:
    module.as_allowed(np.array([True, False]), "allowed")
    return [list(module.last.modified), "mask" in module.last.shared]


def _blocked_after(module: Any) -> Any:
    module.as_allowed(np.array([True, False]), "blocked")
    return [list(module.last.modified), "mask" in module.last.shared]


def _rows_shared(module: Any) -> Any:
    module.fully_masked_rows(_bits("0", "1", "1", "1"))
    module.fully_masked_rows(_bits("0", "1", "1", "1"))
    return list(module.last.shared)


def _causal_after(module: Any) -> Any:
    module.merge_masks(_bits("10", "11"), _bits("10"))
    return list(module.last.modified)


_LOWEST = {dtype: float(np.finfo(dtype).min) for dtype in (np.float64, np.float32)}


_HIDES = (
    (
        SIDE_IGNORED,
        (LEFT_BY_DEFAULT, COUNTED_FROM_THE_LONGEST, EMPTY_SEQUENCE_FULL, LENGTHS_OVERWRITTEN),
        "the padding never stands on the left",
    ),
    (
        ONE_TOKEN_TOO_MANY,
        (EMPTY_SEQUENCE_FULL, EMPTY_SEQUENCE_KEEPS_ONE),
        "an empty sequence counts one token already",
    ),
    (FLOATS_ALWAYS_ADDITIVE, (BITS_OF_FLOATS,), "floats are not inverted any more"),
    (FLOATS_ALWAYS_ADDITIVE, (ONLY_THE_RANGE_CHECKED,), "between 0 and 1 there are no integers"),
    (BLOCKED_NOT_INVERTED, (CONVENTIONS_SWAPPED,), "both conventions are read alike"),
    (BIAS_BLOCKS, (LOWEST_REFUSED, LOWEST_OF_FLOAT32, LOWEST_OF_ANY_DTYPE), "all but 0 blocks anyway"),
    (
        VERY_NEGATIVE_BLOCKS,
        (LOWEST_REFUSED, LOWEST_OF_FLOAT32, LOWEST_OF_ANY_DTYPE),
        "the lowest number of each dtype is very negative",
    ),
    (PADDING_DROPPED, (BATCH_TAKEN_FOR_QUERIES, PADDING_OF_THE_FIRST), "the padding has no effect"),
    (CAUSAL_OVERWRITTEN, (PADDING_DROPPED,), "the padding is in the causal mask already"),
    (PADDING_OF_THE_FIRST, (BATCH_TAKEN_FOR_QUERIES,), "all rows of the padding are alike"),
    (BLOCKED_SOMEWHERE, (NO_KEYS_NOT_FOUND,), "of no keys none is blocked"),
    (SOMETHING_TO_READ, (NO_KEYS_NOT_FOUND,), "of no keys none can be read"),
)
_SAME = (
    *(Same(frozenset({one, other}), frozenset({one}), why) for one, hidden, why in _HIDES for other in hidden),
    Same(
        frozenset({CAUSAL_OVERWRITTEN, EITHER_ALLOWS}),
        frozenset({CAUSAL_OVERWRITTEN, CAUSAL_DROPPED}),
        "once the padding is in the causal mask, what either allows is what the padding allows",
    ),
)

FAMILY = Family(
    "padding_mask",
    {
        "padding_mask": padding_mask,
        "as_allowed": as_allowed,
        "merge_masks": merge_masks,
        "fully_masked_rows": fully_masked_rows,
    },
    faults=tuple(value for value in list(globals().values()) if isinstance(value, Fault)),
    probes=(
        Probe("two tokens of three", lambda module: module.padding_mask(np.array([2]), 3, "right")),
        Probe("padding on the left", lambda module: module.padding_mask(np.array([1, 2]), 4, "left")),
        Probe("no side given", lambda module: module.padding_mask(np.array([1, 2]), 3)),
        Probe("an empty sequence", lambda module: module.padding_mask(np.array([0, 1]), 2, "right")),
        Probe("an empty sequence, on the left", lambda module: module.padding_mask(np.array([0, 1]), 2, "left")),
        Probe("no padding", lambda module: module.padding_mask(np.array([2]), 2, "right")),
        Probe("too long", lambda module: module.padding_mask(np.array([3]), 2, "right")),
        Probe("below 0", lambda module: module.padding_mask(np.array([-1]), 2, "right")),
        Probe("no such side", lambda module: module.padding_mask(np.array([1]), 2, "top")),
        Probe("the lengths afterwards", _lengths_after),
        Probe("allowed", lambda module: module.as_allowed(np.array([False, True, True]), "allowed")),
        Probe("allowed, 0 and 1", lambda module: module.as_allowed(np.array([0, 1, 0]), "allowed")),
        Probe("allowed, 0.0 and 1.0", lambda module: module.as_allowed(np.array([0.0, 1.0, 0.0]), "allowed")),
        Probe("blocked", lambda module: module.as_allowed(np.array([False, True, True]), "blocked")),
        Probe("blocked, 0 and 1", lambda module: module.as_allowed(np.array([0, 1, 1]), "blocked")),
        Probe("blocked, 0.0 and 1.0", lambda module: module.as_allowed(np.array([0.0, 1.0, 1.0]), "blocked")),
        Probe("blocked, transposed", lambda module: module.as_allowed(_bits("01", "10", "11").T, "blocked")),
        Probe("additive", lambda module: module.as_allowed(np.array([0.0, -np.inf]), "additive")),
        Probe("additive, -0.0", lambda module: module.as_allowed(np.array([-0.0, -np.inf]), "additive")),
        Probe("the lowest number", lambda module: module.as_allowed(np.array([0.0, _LOWEST[np.float64]]), "additive")),
        Probe(
            "the lowest number of float32 in float64",
            lambda module: module.as_allowed(np.array([0.0, _LOWEST[np.float32]]), "additive"),
        ),
        Probe("a bias", lambda module: module.as_allowed(np.array([0.0, 1.0]), "additive")),
        Probe("a very negative bias", lambda module: module.as_allowed(np.array([0.0, -1e9]), "additive")),
        Probe("additive, NaN", lambda module: module.as_allowed(np.array([0.0, np.nan]), "additive")),
        Probe("additive, +inf", lambda module: module.as_allowed(np.array([0.0, np.inf]), "additive")),
        Probe("a 2 in it", lambda module: module.as_allowed(np.array([0, 1, 2]), "blocked")),
        Probe("0.5 in it", lambda module: module.as_allowed(np.array([0.0, 0.5]), "blocked")),
        Probe("no such convention", lambda module: module.as_allowed(np.array([True, False, False]), "keep")),
        Probe("the allowed mask afterwards", _allowed_after),
        Probe("the blocked mask afterwards", _blocked_after),
        Probe("one sequence", lambda module: module.merge_masks(_bits("100", "110", "111"), _bits("110"))),
        Probe("three sequences", lambda module: module.merge_masks(_bits("110", "111"), _bits("110", "011", "111"))),
        Probe("as many as queries", lambda module: module.merge_masks(_bits("10", "11"), _bits("11", "10"))),
        Probe("one query", lambda module: module.merge_masks(_bits("111"), _bits("110"))),
        Probe("nothing left", lambda module: module.merge_masks(_bits("00", "10"), _bits("00"))),
        Probe("other keys", lambda module: module.merge_masks(_bits("11", "11"), _bits("1"))),
        Probe("the causal mask afterwards", _causal_after),
        Probe("two rows", lambda module: module.fully_masked_rows(_bits("000", "101"))),
        Probe("one head", lambda module: module.fully_masked_rows(_bits("000", "101")[None, None])),
        Probe("no keys", lambda module: module.fully_masked_rows(np.zeros((3, 0), dtype=bool))),
        Probe("no queries", lambda module: module.fully_masked_rows(np.zeros((0, 5), dtype=bool))),
        Probe("called twice", _rows_shared),
    ),
    same=_SAME,
)
