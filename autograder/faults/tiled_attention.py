"""Wrong tiled attentions: each fault is a switch at the line where it bites."""

import math
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from autograder.faults.family import NONE, Family, Fault, Faults, Probe, Same

BLOCK_SIZE_IGNORED = Fault(
    "block_size_ignored",
    place="blocks",
    en="The blocks always hold 64 keys, whatever `block_size` says. Which line should look at it?",
    zh="不管 `block_size` 是多少，每块总是 64 个 key。哪一行应该用到它？",
)
ONE_BLOCK = Fault(
    "one_block",
    place="blocks",
    en="All keys are read at once, so the whole matrix of scores is made and `block_size` changes nothing. How many "
    "columns may a tile have?",
    zh="所有 key 一次读完，整个分数矩阵都建了出来，`block_size` 不起作用。一块分数最多可以有几列？",
)
BLOCKS_OF_QUERIES = Fault(
    "blocks_of_queries",
    place="blocks",
    en="It is the queries that come in blocks, and each of them meets all keys at once. Which axis grows with what is "
    "remembered, and must be cut?",
    zh="被分块的是查询，每个查询仍然一次面对所有的 key。要切开的应该是哪个轴？",
    seen_in=("vllm-project/semantic-router#3737",),
)
NUMBER_OF_BLOCKS = Fault(
    "number_of_blocks",
    place="blocks",
    en="`block_size` is used as the number of blocks: a small one makes large tiles. Does it count the blocks, or the "
    "keys in one of them?",
    zh="`block_size` 被当成了块的个数，于是它越小，每块反而越大。它数的是块，还是一块里的 key？",
)
LAST_BLOCK_DROPPED = Fault(
    "last_block_dropped",
    place="blocks",
    en="Only full blocks are read, and the keys that are left over at the end are forgotten. What does a slice do that "
    "reaches beyond the end?",
    zh="只读了装满的块，最后剩下的几个 key 被忘掉了。切片超出末尾时会怎样？",
    seen_in=("jax-ml/jax#27224", "66RING/tiny-flash-attention#12"),
)
LAST_BLOCK_FILLED_UP = Fault(
    "last_block_filled_up",
    place="blocks",
    en="The last block is moved back so that it is full, and the keys it shares with the block before count twice.",
    zh="最后一块往前挪，凑满了一整块，于是和前一块重叠的 key 被算了两次。",
)
STEP_OF_ZERO = Fault(
    "step_of_zero",
    place="blocks",
    en="Without any keys the block size becomes 0, and there is no counting in steps of 0. What is the output when "
    "there is nothing to read?",
    zh="一个 key 都没有时，块的大小变成了 0，而步长不能是 0。没有东西可读的时候，输出是什么？",
    seen_in=("pytorch/pytorch#174950",),
)
WHOLE_BLOCKS_ONLY = Fault(
    "whole_blocks_only",
    place="refusal of a block size",
    en="A block size that does not divide the number of keys ends in an error. The last block may be shorter.",
    zh="块的大小不能整除 key 的个数时就报错。最后一块短一些是可以的。",
    seen_in=("pytorch/xla#8671",),
)
LARGER_BLOCK_REFUSED = Fault(
    "larger_block_refused",
    place="refusal of a block size",
    en="A block size above the number of keys ends in an error. One block that holds everything is legal.",
    zh="块的大小超过 key 的个数时就报错。一块装下全部是允许的。",
)
BLOCK_SIZE_NOT_CHECKED = Fault(
    "block_size_not_checked",
    place="refusal of a block size",
    en="A block size below 1 is not refused by name: a negative one gives no block at all, and an output of zeros.",
    zh="没有检查小于 1 的块大小：负数的时候一块也没有，输出全是 0。",
)
PIECES_KEPT = Fault(
    "pieces_kept",
    place="memory",
    en="The tiles are made one by one, but all of them are kept, so that in the end the whole matrix of scores is "
    "there in pieces. What has to be remembered of a block that has been read?",
    zh="分数虽然是一块一块算的，却全都留着，最后整个矩阵还是以碎片的形式占满了内存。一块读完之后，需要记住的是什么？",
)
MASK_OF_THE_WHOLE = Fault(
    "mask_of_the_whole",
    place="memory of the mask",
    en="The causal mask is made for the whole matrix and then cut into blocks. It has as many entries as the matrix "
    "that should never exist: what does one tile need of it?",
    zh="先为整个矩阵建好因果遮罩，再切成块。它的元素和那个不该存在的矩阵一样多：一块需要的是哪一部分？",
)
PRODUCT_BY_BROADCASTING = Fault(
    "product_by_broadcasting",
    place="product",
    en="Queries and keys are multiplied element by element and then added up, which takes a tensor d_k times as large "
    "as the tile. Which operation multiplies and adds in one?",
    zh="query 和 key 先逐元素相乘再求和，中间的张量是一块分数的 d_k 倍大。哪种运算能把乘和加一次做完？",
    seen_in=("mymusise/gpt2-quickly#5",),
)
NO_SHIFT = Fault(
    "no_shift",
    place="shift",
    en="The exponential is taken of the scores as they are, and large ones overflow. What may be subtracted from a "
    "whole row without changing its softmax?",
    zh="直接对分数取指数，分数一大就会溢出。从一整行里减去什么，softmax 不会变？",
    seen_in=("tensorflow/tensorflow#10142",),
)
SHIFTED_BY_THE_FIRST_BLOCK = Fault(
    "shifted_by_the_first_block",
    place="shift",
    en="The largest score of the first block is subtracted to the end. What happens when a later block holds a score "
    "that is a thousand higher?",
    zh="自始至终减去的都是第一块里的最大值。如果后面某一块的分数比它高出一千，会怎样？",
)
LARGEST_STARTS_AT_ZERO = Fault(
    "largest_starts_at_zero",
    place="shift",
    en="The largest score so far begins at 0, so a row of very negative scores vanishes. What is the largest of no "
    "scores at all?",
    zh="到目前为止的最大值从 0 开始，于是分数全都很低的行就消失了。一个分数都还没有的时候，最大值是什么？",
    seen_in=("flashinfer-ai/flashinfer#4401",),
)
ONE_LARGEST_FOR_ALL_ROWS = Fault(
    "one_largest_for_all_rows",
    place="shift",
    en="One largest score is kept for all queries together. A row that lies far below it vanishes: which maximum "
    "does each row need?",
    zh="所有查询共用一个最大值，比它低很多的行就消失了。每一行该用哪个最大值？",
    seen_in=("linxiaow/EECS498-Deep-Learning-for-Vision#2",),
)
LARGEST_FORGOTTEN = Fault(
    "largest_forgotten",
    place="shift",
    en="Each block takes its own largest score for the largest so far, also where an earlier one was higher; what was "
    "added up then grows without bound. May the largest so far ever fall?",
    zh="每一块都把自己的最大值当成到目前为止的最大值，哪怕前面有更大的，于是已经加好的和会无限放大。到目前为止的最大值会变小吗？",
)
TILE_SHIFTED_BY_ITSELF = Fault(
    "tile_shifted_by_itself",
    place="shift",
    en="The exponentials of a block use the largest score of that block, the sums use the largest so far. Numbers that "
    "are added up must be shifted alike.",
    zh="一块里的指数减的是这一块的最大值，累加的和减的却是到目前为止的最大值。要加在一起的数，减去的必须是同一个值。",
    seen_in=("carlushuang/gcnasm#21",),
)
SUM_NOT_CORRECTED = Fault(
    "sum_not_corrected",
    place="correction",
    en="When the largest score rises, the weighted values are corrected but the sum is not.",
    zh="最大值变大时，加权的 value 修正了，总和却没有修正。",
)
VALUES_NOT_CORRECTED = Fault(
    "values_not_corrected",
    place="correction",
    en="When the largest score rises, the sum is corrected but the weighted values are not.",
    zh="最大值变大时，总和修正了，加权的 value 却没有修正。",
)
NOTHING_CORRECTED = Fault(
    "nothing_corrected",
    place="correction",
    en="When the largest score rises, what was added up before stays as it is, though it was made with another shift. "
    "By which factor do exp(s - old) and exp(s - new) differ?",
    zh="最大值变大时，之前加好的数原样不动，可它们减去的是另一个值。exp(s - 旧) 和 exp(s - 新) 相差几倍？",
)
CORRECTION_UPSIDE_DOWN = Fault(
    "correction_upside_down",
    place="correction",
    en="The correction is exp(new - old), so that what was added up before grows when a larger score appears. Should "
    "its share grow or shrink?",
    zh="修正因子用成了 exp(新 - 旧)，出现更大的分数时，之前的和反而变大了。它的份额应该变大还是变小？",
)
CORRECTED_TOO_LATE = Fault(
    "corrected_too_late",
    place="correction",
    en="The new block is added first and corrected together with the old sums, although it already uses the new shift.",
    zh="先把新的一块加进去，再和旧的和一起修正，可新的一块本来就已经用了新的最大值。",
)
MEAN_OF_THE_BLOCKS = Fault(
    "mean_of_the_blocks",
    place="division",
    en="Each block has a softmax of its own, and the output is the mean of the blocks. A block of low scores then "
    "counts as much as one of high scores: what is a block's share?",
    zh="每一块各做一次 softmax，再对各块取平均。这样分数低的块和分数高的块一样重要：一块应占多大的份额？",
)
NEVER_DIVIDED = Fault(
    "never_divided",
    place="division",
    en="The weighted values are never divided by the sum of the exponentials. What should the weights of a row "
    "add up to?",
    zh="加权的 value 始终没有除以指数的总和。一行的权重加起来应该等于几？",
)
DIVIDED_BY_THE_LAST_SUM = Fault(
    "divided_by_the_last_sum",
    place="division",
    en="The division uses the sum of the last block alone. Over which keys does the sum of a softmax run?",
    zh="除的时候只用了最后一块的和。softmax 的分母应该对哪些 key 求和？",
)
DIVIDED_IN_EVERY_BLOCK = Fault(
    "divided_in_every_block",
    place="division",
    en="The weighted values are divided after every block, and the next block is added to them as if they were not. "
    "When is the sum complete?",
    zh="每读完一块就除一次，而下一块又直接加到已经除过的结果上。总和什么时候才算完整？",
)
EPSILON_IN_THE_DENOMINATOR = Fault(
    "epsilon_in_the_denominator",
    place="division",
    en="A small constant is added to the sum, so every output is a little too small. How small can the sum of a row be "
    "that has something to read?",
    zh="给总和加上了一个小常数，所有输出都偏小了一点。一行只要有东西可读，总和最小会是多少？",
)
NEVER_CAUSAL = Fault(
    "never_causal",
    place="whether causal",
    en="`causal=True` has no effect: every query reads every key.",
    zh="`causal=True` 没有作用：每个查询都读了所有的 key。",
)
ALWAYS_CAUSAL = Fault(
    "always_causal",
    place="whether causal",
    en="The causal mask is applied although `causal` is False.",
    zh="`causal` 是 False，却仍然用了因果遮罩。",
)
CORNER_OF_EACH_TILE = Fault(
    "corner_of_each_tile",
    place="positions",
    en="The triangle begins anew in each tile, as if each block held the first keys, so later keys are read across the "
    "border of a block. At which position of the sequence does this block begin?",
    zh="三角形在每一块里都重新开始，好像每块装的都是最前面的 key，于是跨过块的边界读到了后面的 key。"
    "这一块是从序列的哪个位置开始的？",
    seen_in=("zhuzilin/ring-flash-attention#54",),
)
WHOLE_BLOCKS_READ = Fault(
    "whole_blocks_read",
    place="positions",
    en="A block is read as a whole or not at all, so a query also reads the later keys of its own block. Where does "
    "the border run through a block?",
    zh="一块要么整块读，要么整块不读，于是查询也读到了自己那一块里后面的 key。边界会从块的中间穿过吗？",
)
OWN_BLOCK_ONLY = Fault(
    "own_block_only",
    place="positions",
    en="A query reads the keys of its own block only; what stands in earlier blocks is lost. May a query read what "
    "came long before it?",
    zh="查询只读自己那一块里的 key，前面各块的内容都丢了。排在很前面的 key，查询可以读吗？",
    seen_in=("zhuzilin/ring-flash-attention#15",),
)
STOPS_TOO_SOON = Fault(
    "stops_too_soon",
    place="skipped blocks",
    en="The loop ends at the first block that the first query may not read, although later queries still may. Which "
    "query decides when nothing is left to read?",
    zh="遇到第一个查询不能读的块，循环就结束了，可后面的查询还能读。要等哪个查询也读不到了才能停？",
)
TOP_LEFT = Fault(
    "top_left",
    place="alignment",
    en="The triangle hangs from the top left corner, so with more keys than queries the last query misses the newest "
    "keys. Which positions do the queries stand for?",
    zh="三角形对齐到了左上角，key 比查询多时，最后一个查询就读不到最新的 key。这些查询对应的是哪些位置？",
    seen_in=("Dao-AILab/flash-attention#517", "gittensor-ai-lab/sparkinfer#3"),
)
NEVER_FULLY_MASKED = Fault(
    "never_fully_masked",
    place="alignment",
    en="With more queries than keys the triangle hangs from the top left corner, so that no row is left without keys. "
    "The last query stands at the last key, always.",
    zh="查询比 key 多时，三角形改成了对齐左上角，好让每行都有东西可读。可最后一个查询总是对着最后一个 key 的。",
    seen_in=("Dao-AILab/flash-attention#1778",),
)
DIAGONAL_EXCLUDED = Fault(
    "diagonal_excluded",
    place="diagonal",
    en="A query may not read the key at its own position. What can the first query read then?",
    zh="查询不能读自己所在位置的 key。那么第一个查询还能读什么？",
    seen_in=("pbloem/former#10",),
)
FILLED_WITH_TEN_THOUSAND = Fault(
    "filled_with_ten_thousand",
    place="fill",
    en="Masked scores become -10000, and a legal score can be lower than that; rows without keys to read are put right "
    "afterwards. Which value is below every score?",
    zh="被遮住的分数填成了 -10000，没有 key 可读的行事后再补成 0，可正常的分数也可能比它更低。哪个值低于所有分数？",
    seen_in=("ohdearquant/lattice#373",),
)
FILLED_WITH_A_BILLION = Fault(
    "filled_with_a_billion",
    place="fill",
    en="Masked scores become -1e9, an ordinary number: a row without keys to read becomes a mean of all values.",
    zh="被遮住的分数填成了 -1e9，而这只是一个普通的数：没有 key 可读的行会变成所有 value 的平均值。",
)
NAN_WHERE_NOTHING_IS_LEFT = Fault(
    "nan_where_nothing_is_left",
    place="fully masked row",
    en="A row that has nothing to read is divided by its sum of 0 and becomes NaN. What is read when nothing may be?",
    zh="没有 key 可读的行除以了等于 0 的总和，变成了 NaN。什么都不许读的时候，读到的是什么？",
    seen_in=("flashinfer-ai/flashinfer#4401", "tracel-ai/burn#4697"),
)
MEAN_WHERE_NOTHING_IS_LEFT = Fault(
    "mean_where_nothing_is_left",
    place="fully masked row",
    en="A row that has nothing to read gets the mean of all values, as if it could read every key.",
    zh="没有 key 可读的行得到了所有 value 的平均，好像每个 key 都能读。",
)
SCALE_MISSING = Fault(
    "scale_missing",
    place="scale",
    en="The scores are not divided by sqrt(d_k).",
    zh="分数没有除以 d_k 的平方根。",
    seen_in=("delzac/cntkx#10",),
)
SCALED_BY_D_K = Fault(
    "scaled_by_d_k",
    place="scale",
    en="The scores are divided by d_k instead of by its root.",
    zh="分数除以的是 d_k，而不是它的平方根。",
)
SCALED_BY_THE_ROOT_OF_D_V = Fault(
    "scaled_by_the_root_of_d_v",
    place="scale",
    en="The scale comes from the width of the values. Which two things go into the dot product?",
    zh="缩放用的是 value 的宽度。点积是哪两样东西相乘得到的？",
    seen_in=("juho-lee/set_transformer#18",),
)
FLOAT32_FOR_HALF_PRECISION = Fault(
    "float32_for_half_precision",
    place="dtype of the output",
    en="float32 comes back where half precision came in. Adding up in float32 is right, but what comes back?",
    zh="输入是半精度，返回的却是 float32。用 float32 累加没有错，但返回时应该是什么？",
    seen_in=("NVIDIA/apex#1052",),
)
SUMS_IN_HALF_PRECISION = Fault(
    "sums_in_half_precision",
    place="dtype of the sums",
    en="The running sums are kept in half precision, where they soon stop growing: in bfloat16 256 + 1 is 256.",
    zh="累加用的是半精度，很快就加不动了：在 bfloat16 里 256 + 1 还是 256。",
    seen_in=("zhuzilin/ring-flash-attention#22", "Dao-AILab/flash-attention#1088"),
)
HALF_THE_DIGITS = Fault(
    "half_the_digits",
    place="dtype of the sums",
    en="float64 inputs pass through float32 on the way and lose half of their digits. Which dtype does `torch.zeros` "
    "make?",
    zh="float64 的输入中途经过了 float32，丢掉了一半的有效数字。`torch.zeros` 默认的 dtype 是什么？",
)
QUERY_OVERWRITTEN = Fault(
    "query_overwritten",
    place="arguments",
    en="The caller's query is changed when it is scaled in place. Which line should make a new tensor?",
    zh="原地缩放时改掉了调用者的 query。哪一行应该得到一个新的张量？",
)
ONE_BUFFER_FOR_ALL_RESULTS = Fault(
    "one_buffer_for_all_results",
    place="arguments",
    en="Results are written into a tensor that is kept between calls, so the next call changes an earlier result.",
    zh="结果写进了一个在多次调用之间保留的张量，下一次调用会改掉上一次的结果。",
)
VIEWED = Fault(
    "viewed",
    place="layout",
    en="`view` is asked for on the values as they lie in memory, which fails for many that are transposed or sliced.",
    zh="直接对 value 用了 `view`，转置过或切过片的张量在内存里不连续，往往会报错。",
    seen_in=("facebookresearch/fairseq#2598",),
)
OUTPUT_LIKE_THE_QUERY = Fault(
    "output_like_the_query",
    place="room for the output",
    en="The room for the output is made in the shape of the query. Which of its sizes come from the values?",
    zh="输出的空间是按 query 的形状开的。其中哪些大小其实由 value 决定？",
)
LEADING_DIMENSIONS_OF_THE_QUERY = Fault(
    "leading_dimensions_of_the_query",
    place="room for the output",
    en="The room for the output has the leading dimensions of the query alone. Keys and values may bring others.",
    zh="输出的空间只用了 query 的前导维度。key 和 value 也可能带来别的维度。",
)
SIZES_NOT_CHECKED = Fault(
    "sizes_not_checked",
    place="refusal of sizes",
    en="Sizes that do not match are noticed late or never: with more values than keys the last ones are passed over.",
    zh="大小对不上时很晚才发现，甚至发现不了：value 比 key 多时，多出来的就被悄悄跳过了。",
)

FILLS = {FILLED_WITH_TEN_THOUSAND: -1e4, FILLED_WITH_A_BILLION: -1e9}
# The largest score so far, the sum of the exponentials, and the values weighted by them.
State = tuple[Tensor, Tensor, Tensor]
_buffer: dict[tuple[Any, ...], Tensor] = {}


def tiled_attention(
    query: Tensor, key: Tensor, value: Tensor, block_size: int = 64, causal: bool = False, *, faults: Faults = NONE
) -> Tensor:
    """Return the output `(..., n_queries, d_v)`, wrong in the ways of `faults`."""
    refuse(query, key, value, block_size, faults)
    if VIEWED in faults:
        value = value.view(-1, value.shape[-1]).view(value.shape)
    dtype = dtype_of(query.dtype, faults)
    scaled = scaled_query(query, dtype, value.shape[-1], faults)
    border = border_of(query.shape[-2], key.shape[-2], causal, faults)
    if BLOCKS_OF_QUERIES in faults:
        rows = [slice(start, start + block_size) for start in range(0, query.shape[-2], block_size)]
        parts = [attended(scaled[..., some, :], key, value, 0, part_of(border, some), faults) for some in rows]
        output = torch.cat(parts, dim=-2)
    else:
        output = attended(scaled, key, value, block_size, border, faults)
    if FLOAT32_FOR_HALF_PRECISION in faults and query.dtype in (torch.float16, torch.bfloat16):
        return output.float()
    return handed_over(output.to(query.dtype), faults)


def refuse(query: Tensor, key: Tensor, value: Tensor, block_size: int, faults: Faults) -> None:
    """Refuse block sizes below 1, and sizes that do not fit."""
    n_keys = key.shape[-2]
    if block_size < 1 and BLOCK_SIZE_NOT_CHECKED not in faults:
        raise ValueError(f"block_size must be 1 or more, not {block_size}")
    if WHOLE_BLOCKS_ONLY in faults and n_keys % block_size:
        raise ValueError(f"block_size {block_size} must divide n_keys, {n_keys}")
    if LARGER_BLOCK_REFUSED in faults and block_size > max(64, n_keys):
        raise ValueError(f"block_size {block_size} must not be above n_keys, {n_keys}")
    if SIZES_NOT_CHECKED in faults:
        return
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(f"query and key differ in d_k: {query.shape[-1]} and {key.shape[-1]}")
    if n_keys != value.shape[-2]:
        raise ValueError(f"key and value differ in n_keys: {n_keys} and {value.shape[-2]}")


def dtype_of(given: torch.dtype, faults: Faults) -> torch.dtype:
    """Choose what the sums are kept in."""
    if SUMS_IN_HALF_PRECISION in faults:
        return given
    return torch.float32 if HALF_THE_DIGITS in faults else torch.promote_types(given, torch.float32)


def scaled_query(query: Tensor, dtype: torch.dtype, d_v: int, faults: Faults) -> Tensor:
    """Divide the query, which is smaller than the scores."""
    d_k = query.shape[-1]
    divisor = math.sqrt(d_k)
    if SCALE_MISSING in faults:
        divisor = 1.0
    if SCALED_BY_D_K in faults:
        divisor = float(d_k)
    if SCALED_BY_THE_ROOT_OF_D_V in faults:
        divisor = math.sqrt(d_v)
    return query.to(dtype).div_(divisor) if QUERY_OVERWRITTEN in faults else query.to(dtype) / divisor


def border_of(n_queries: int, n_keys: int, causal: bool, faults: Faults) -> Tensor | None:
    """Give the last key that each query may read, `(n_queries, 1)`, or None without a border."""
    if NEVER_CAUSAL in faults or not (causal or ALWAYS_CAUSAL in faults):
        return None
    ahead = n_keys - n_queries
    if TOP_LEFT in faults:
        ahead = 0
    if NEVER_FULLY_MASKED in faults:
        ahead = max(0, ahead)
    if DIAGONAL_EXCLUDED in faults:
        ahead -= 1
    return torch.arange(n_queries)[:, None] + ahead


def part_of(border: Tensor | None, some: slice) -> Tensor | None:
    """Give the border of some of the queries."""
    return None if border is None else border[some]


def attended(
    query: Tensor, key: Tensor, value: Tensor, block_size: int, border: Tensor | None, faults: Faults
) -> Tensor:
    """Run through the blocks of keys; `query` is scaled already."""
    state = beginning(query, key, value, faults)
    pieces = []
    mask = torch.arange(key.shape[-2]) > border if MASK_OF_THE_WHOLE in faults and border is not None else None
    for start, stop in blocks_of(key.shape[-2], block_size, faults):
        if STOPS_TOO_SOON in faults and border is not None and start > border[0]:
            break
        scores = product(query, key[..., start:stop, :].to(query.dtype), faults)
        if border is not None:
            later = later_keys(border, start, stop, faults) if mask is None else mask[:, start:stop]
            scores = scores.masked_fill(later, fill_of(faults))
        if PIECES_KEPT in faults:
            pieces.append(scores)
        state = updated(state, scores, value[..., start:stop, :].to(query.dtype), faults)
    output = divided(state, value, faults)
    if FILLED_WITH_TEN_THOUSAND in faults and border is not None:
        return output.masked_fill(border < 0, 0.0)
    return output


def beginning(query: Tensor, key: Tensor, value: Tensor, faults: Faults) -> State:
    """Make the state before the first block."""
    # torch.broadcast_shapes would import sympy first.
    leading = torch.broadcast_tensors(*(x.new_empty(x.shape[:-2]) for x in (query, key, value)))[0].shape
    lowest = 0.0 if LARGEST_STARTS_AT_ZERO in faults else -math.inf
    largest = torch.full((*leading, query.shape[-2], 1), lowest, dtype=query.dtype)
    shape: tuple[int, ...] = (*leading, query.shape[-2], value.shape[-1])
    if OUTPUT_LIKE_THE_QUERY in faults:
        shape = tuple(query.shape)
    if LEADING_DIMENSIONS_OF_THE_QUERY in faults:
        shape = (*query.shape[:-1], value.shape[-1])
    return largest, torch.zeros_like(largest), torch.zeros(shape, dtype=query.dtype)


def blocks_of(n_keys: int, block_size: int, faults: Faults) -> Iterator[tuple[int, int]]:
    """Give where each block begins and ends."""
    if ONE_BLOCK in faults or BLOCKS_OF_QUERIES in faults:
        block_size = max(1, n_keys)
    if BLOCK_SIZE_IGNORED in faults:
        block_size = 64
    if NUMBER_OF_BLOCKS in faults:
        block_size = max(1, math.ceil(n_keys / block_size))
    if STEP_OF_ZERO in faults:
        block_size = min(block_size, n_keys)
    last = n_keys // block_size * block_size if LAST_BLOCK_DROPPED in faults and n_keys > block_size else n_keys
    for start in range(0, last, block_size):
        stop = min(start + block_size, n_keys)
        yield (max(0, stop - block_size) if LAST_BLOCK_FILLED_UP in faults else start), stop


def product(query: Tensor, keys: Tensor, faults: Faults) -> Tensor:
    """Give the scores of one tile."""
    if PRODUCT_BY_BROADCASTING in faults:
        return (query[..., :, None, :] * keys[..., None, :, :]).sum(dim=-1)
    return query @ keys.transpose(-2, -1)


def later_keys(border: Tensor, start: int, stop: int, faults: Faults) -> Tensor:
    """Tell for one tile which keys a query may not read."""
    position = torch.arange(start, stop)
    if CORNER_OF_EACH_TILE in faults:
        position = position - start
    if WHOLE_BLOCKS_READ in faults:
        position = torch.full_like(position, start)
    later = position > border
    if OWN_BLOCK_ONLY in faults:
        later = later | (border >= stop)
    return later


def fill_of(faults: Faults) -> float:
    """Choose what a masked score becomes."""
    return next((value for fault, value in FILLS.items() if fault in faults), -math.inf)


def updated(state: State, scores: Tensor, values: Tensor, faults: Faults) -> State:
    """Add one block to what was added up before."""
    largest, total, weighted = state
    new_largest = largest_of(largest, scores, faults)
    shift = finite(new_largest)
    of_tile = finite(scores.amax(dim=-1, keepdim=True)) if TILE_SHIFTED_BY_ITSELF in faults else shift
    exponentials = torch.exp(scores - of_tile)
    to_total, to_weighted = corrections(largest, shift, faults)
    if LARGEST_FORGOTTEN in faults:
        # A tile without readable keys has no largest score; that of the tile before stays.
        new_largest = torch.where(new_largest == -math.inf, largest, new_largest)
    block_total, block_weighted = exponentials.sum(dim=-1, keepdim=True), exponentials @ values
    if MEAN_OF_THE_BLOCKS in faults:
        block_weighted = block_weighted / block_total.masked_fill(block_total == 0.0, 1.0)
        block_total = (block_total > 0.0).to(block_total.dtype)
        to_total = to_weighted = torch.ones_like(to_total)
    if CORRECTED_TOO_LATE in faults:
        begun = largest > -math.inf
        block_total = block_total * torch.where(begun, to_total, 1.0)
        block_weighted = block_weighted * torch.where(begun, to_weighted, 1.0)
    total = block_total if DIVIDED_BY_THE_LAST_SUM in faults else to_total * total + block_total
    weighted = added(to_weighted, weighted, block_weighted, faults)
    if DIVIDED_IN_EVERY_BLOCK in faults:
        weighted = weighted / total.masked_fill(total == 0.0, 1.0)
    return new_largest, total, weighted


def added(correction: Tensor, weighted: Tensor, block_weighted: Tensor, faults: Faults) -> Tensor:
    """Add the values of one block to the corrected ones, in the room made for them or anew."""
    if OUTPUT_LIKE_THE_QUERY in faults or LEADING_DIMENSIONS_OF_THE_QUERY in faults:
        return weighted.mul_(correction).add_(block_weighted)
    return correction * weighted + block_weighted


def largest_of(largest: Tensor, scores: Tensor, faults: Faults) -> Tensor:
    """Choose what is subtracted from here on."""
    of_block = scores.amax(dim=-1, keepdim=True)
    if NO_SHIFT in faults:
        return torch.zeros_like(largest)
    if SHIFTED_BY_THE_FIRST_BLOCK in faults:
        return torch.where(largest == -math.inf, of_block, largest)
    if ONE_LARGEST_FOR_ALL_ROWS in faults:
        of_block = scores.amax()
    return of_block.expand(largest.shape) if LARGEST_FORGOTTEN in faults else torch.maximum(largest, of_block)


def finite(largest: Tensor) -> Tensor:
    """Put 0 where nothing could be read so far: -inf - -inf would be NaN."""
    return largest.masked_fill(largest == -math.inf, 0.0)


def corrections(largest: Tensor, shift: Tensor, faults: Faults) -> tuple[Tensor, Tensor]:
    """Give the factors for the sum and for the weighted values."""
    nothing = torch.ones_like(largest)
    correction = torch.exp(largest - shift)
    if NO_SHIFT in faults or NOTHING_CORRECTED in faults:
        return nothing, nothing
    if CORRECTION_UPSIDE_DOWN in faults:
        correction = torch.exp(shift - finite(largest)).masked_fill(largest == -math.inf, 0.0)
    to_total = nothing if SUM_NOT_CORRECTED in faults else correction
    return to_total, nothing if VALUES_NOT_CORRECTED in faults else correction


def divided(state: State, value: Tensor, faults: Faults) -> Tensor:
    """Divide at the end, and give a row that has nothing to read its output."""
    _, total, weighted = state
    empty = total == 0.0
    if EPSILON_IN_THE_DENOMINATOR in faults:
        total = total + 1e-6
    if NEVER_DIVIDED in faults or DIVIDED_IN_EVERY_BLOCK in faults:
        total = torch.ones_like(total)
    if NAN_WHERE_NOTHING_IS_LEFT in faults:
        return (weighted / total).masked_fill(empty, math.nan)
    output = weighted / total.masked_fill(empty, 1.0)
    if MEAN_WHERE_NOTHING_IS_LEFT in faults:
        return torch.where(empty, value.to(output.dtype).mean(dim=-2, keepdim=True), output)
    return output


def handed_over(output: Tensor, faults: Faults) -> Tensor:
    """Give the output, or the one tensor that all results of this shape share."""
    if ONE_BUFFER_FOR_ALL_RESULTS not in faults:
        return output
    return _buffer.setdefault((tuple(output.shape), output.dtype), torch.empty_like(output)).copy_(output)


def float64(*rows: Any) -> Tensor:
    """Make a matrix (or more) of rows."""
    return torch.tensor(rows, dtype=torch.float64)


ONE = float64([1.0])
TWO = float64([0.0], [1.0])
VALUES = float64([1.0], [4.0], [16.0])
RISING = float64([0.0], [1.0], [3.0])


def _asked(module: Any, *arguments: Any, **keywords: Any) -> Any:
    """Call the function, and keep what it answers now."""
    return module.tiled_attention(*arguments, **keywords).clone()


def _evenly(module: Any, n_queries: int, n_keys: int, block_size: int, causal: bool = True) -> Any:
    """Ask which keys each query reads when all scores are equal."""
    query, key = (torch.zeros(size, n_keys).double() for size in (n_queries, n_keys))
    return _asked(module, query, key, torch.eye(n_keys).double(), block_size, causal=causal)


def _low(module: Any, legal: float) -> Any:
    """Ask what is read where the only key that may be read has a lower score than the other."""
    return _asked(module, float64([1.0], [1.0]), float64([legal], [0.0]), VALUES[:2], 1, causal=True)


def _largest(module: Any, n_queries: int, n_keys: int, d_k: int, block_size: int, causal: bool = False) -> Any:
    """Ask for the bytes of the largest tensor made."""
    query, key, value = (torch.zeros(size, d_k).double() for size in (n_queries, n_keys, n_keys))
    module.measured.tiled_attention(query, key, value, block_size, causal=causal)
    return module.last.largest_tensor


def _more_than_64(module: Any) -> Any:
    """Ask two queries about the first size that a block of 64 does not hold, one key for each query more."""
    key = (torch.arange(66)[:, None] >= 64).double()
    value = torch.arange(66.0).double()[:, None]
    return _asked(module, torch.ones(2, 1).double(), key, value, 22, causal=True)


def _as_exact_as_float64(module: Any) -> Any:
    output = module.tiled_attention(ONE, TWO, float64([1.0], [0.0]), 2)
    found = abs(output[0, 0] - 0.2689414213699951)
    return [bool(found < 1e-12), bool(found < 1e-7)]


def _one_by_one(module: Any) -> Any:
    """Add a hundred small shares to a large one; each of them is lost where 1.0 and 1.004 are the same number."""
    key = torch.tensor([[5.75]] + 100 * [[0.0]]).bfloat16()
    return _asked(module, ONE.bfloat16(), key, (key == 0).bfloat16(), 1)


def _modified(module: Any) -> Any:
    query = torch.tensor([[1.0, 2.0]])
    module.tiled_attention(query, torch.eye(2), torch.eye(2), 2)
    return bool(module.last.modified)


def _kept(module: Any) -> Any:
    """Tell whether a result outlives the next call."""
    first = module.tiled_attention(ONE, TWO, VALUES[:2], 2)
    before = first.clone()
    module.tiled_attention(ONE, TWO, VALUES[1:], 2)
    return bool((first == before).all()) and not module.last.shared


ALL = tuple(fault for fault in list(globals().values()) if isinstance(fault, Fault))
CORRECTIONS = tuple(
    fault
    for fault in ALL
    if fault in {SUM_NOT_CORRECTED, VALUES_NOT_CORRECTED, NOTHING_CORRECTED, CORRECTION_UPSIDE_DOWN, CORRECTED_TOO_LATE}
)
DIVISIONS = (MEAN_OF_THE_BLOCKS, DIVIDED_BY_THE_LAST_SUM, DIVIDED_IN_EVERY_BLOCK)
BETWEEN_BLOCKS = (SHIFTED_BY_THE_FIRST_BLOCK, LARGEST_FORGOTTEN, TILE_SHIFTED_BY_ITSELF, *CORRECTIONS, *DIVISIONS)
BETWEEN_TILES = (CORNER_OF_EACH_TILE, OWN_BLOCK_ONLY, MASK_OF_THE_WHOLE)
OF_THE_BORDER = (*BETWEEN_TILES, WHOLE_BLOCKS_READ, STOPS_TOO_SOON, TOP_LEFT, NEVER_FULLY_MASKED, DIAGONAL_EXCLUDED)
WITHOUT_EMPTY_ROWS = (NEVER_CAUSAL, TOP_LEFT, NEVER_FULLY_MASKED, FILLED_WITH_TEN_THOUSAND, FILLED_WITH_A_BILLION)
EMPTY_ROWS = (NAN_WHERE_NOTHING_IS_LEFT, MEAN_WHERE_NOTHING_IS_LEFT)
IN_MEMORY_ONLY = "the answers are the same, and so is the largest tensor: only the limit of memory tells"


def _hidden(behind: Fault, faults: tuple[Fault, ...], why: str) -> list[Same]:
    """Say of each of these faults that it makes no difference where another is made."""
    return [Same(frozenset({behind, fault}), frozenset({behind}), why) for fault in faults]


def _alike(fault: Fault, one: Fault, other: Fault, why: str) -> Same:
    """Say of two faults that they come to the same where a third is made."""
    return Same(frozenset({fault, one}), frozenset({fault, other}), why)


FAMILY = Family(
    "tiled_attention",
    {"tiled_attention": tiled_attention},
    faults=ALL,
    probes=(
        Probe("two keys", lambda module: _asked(module, ONE, TWO, VALUES[:2], 2)),
        Probe("two keys, one by one", lambda module: _asked(module, ONE, TWO, VALUES[:2], 1)),
        Probe("the larger score first", lambda module: _asked(module, ONE, TWO.flip(0), VALUES[:2], 1)),
        Probe("three keys in blocks of two", lambda module: _asked(module, ONE, RISING, VALUES, 2)),
        Probe("three keys, one by one", lambda module: _asked(module, ONE, RISING, VALUES, 1)),
        Probe("a large block", lambda module: _asked(module, ONE, TWO, VALUES[:2], 100)),
        Probe(
            "vectors of two",
            lambda module: _asked(
                module, float64([1.0, 0.0]), torch.eye(2).double(), float64([9.0, 0.0], [0.0, 1.0]), 2
            ),
        ),
        Probe(
            "vectors of five",
            lambda module: _asked(
                module,
                float64([1.0, 0.0, 2.0, 0.0, 0.0]),
                float64([1.0, 0.0, 1.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0, 0.0]),
                float64([1.0, 0.0, 2.0], [0.0, 3.0, 1.0]),
                2,
            ),
        ),
        Probe("a causal call in one block", lambda module: _evenly(module, 3, 3, 3)),
        Probe("a causal call in blocks of two", lambda module: _evenly(module, 4, 4, 2)),
        Probe("a causal call, one by one", lambda module: _evenly(module, 3, 3, 1)),
        Probe("more keys than queries", lambda module: _evenly(module, 2, 3, 3)),
        Probe("more queries than keys", lambda module: _evenly(module, 3, 2, 1)),
        Probe("no border", lambda module: _evenly(module, 2, 2, 1, causal=False)),
        Probe("a low score", lambda module: _low(module, -3e4)),
        Probe("the lowest of scores", lambda module: _low(module, -3e10)),
        Probe("large scores", lambda module: _asked(module, ONE, 1e3 * TWO, VALUES[:2], 1)),
        Probe("large scores first", lambda module: _asked(module, ONE, 1e3 * TWO.flip(0), VALUES[:2], 1)),
        Probe("very negative scores", lambda module: _asked(module, ONE, TWO - 1e3, VALUES[:2], 2)),
        Probe("rows far apart", lambda module: _asked(module, TWO, float64([1e3], [1001.0]), VALUES[:2], 2)),
        Probe("a batch of values", lambda module: _asked(module, ONE, TWO, torch.stack([TWO, VALUES[1:]]), 2)),
        Probe("the largest tensor", lambda module: _largest(module, 16, 80, 1, 10)),
        Probe("the largest tensor, causal", lambda module: _largest(module, 80, 80, 1, 8, causal=True)),
        Probe("the largest tensor of wide vectors", lambda module: _largest(module, 16, 16, 3, 8)),
        Probe("two more than 64 keys", _more_than_64),
        Probe("float16", lambda module: _asked(module, ONE.half(), TWO.half(), VALUES[:2].half(), 2)),
        Probe("a hundred keys in bfloat16, one by one", _one_by_one),
        Probe("accuracy", _as_exact_as_float64),
        Probe("no keys", lambda module: _asked(module, ONE, ONE[:0], ONE[:0])),
        Probe("a negative block", lambda module: _asked(module, ONE, TWO, VALUES[:2], -1)),
        Probe("one value too many", lambda module: _asked(module, ONE, TWO, VALUES, 2)),
        Probe(
            "transposed values",
            lambda module: _asked(
                module,
                ONE.repeat(2, 1, 1),
                TWO.repeat(2, 1, 1),
                float64([[1.0], [2.0]], [[3.0], [4.0]]).transpose(0, 1),
                2,
            ),
        ),
        Probe("the query afterwards", _modified),
        Probe("an earlier result", _kept),
    ),
    same=(
        Same(frozenset({PIECES_KEPT}), NONE, IN_MEMORY_ONLY),
        *(
            Same(frozenset({PIECES_KEPT, fault}), frozenset({fault}), IN_MEMORY_ONLY)
            for fault in ALL
            if fault != PIECES_KEPT
        ),
        *_hidden(ONE_BLOCK, BETWEEN_BLOCKS + BETWEEN_TILES, "there is one block, and none before it"),
        *_hidden(BLOCKS_OF_QUERIES, BETWEEN_BLOCKS + BETWEEN_TILES, "there is one block of keys, and none before it"),
        *_hidden(WHOLE_BLOCKS_ONLY, (LAST_BLOCK_DROPPED, LAST_BLOCK_FILLED_UP), "the last block is always full"),
        *_hidden(NEVER_CAUSAL, (*OF_THE_BORDER, *FILLS), "there is no border"),
        *_hidden(NO_SHIFT, (*CORRECTIONS, *FILLS), "the shift is 0 from first to last"),
        *_hidden(SHIFTED_BY_THE_FIRST_BLOCK, CORRECTIONS, "the shift never changes"),
        *_hidden(LARGEST_STARTS_AT_ZERO, tuple(FILLS), "so far below 0 every exponential is 0"),
        *_hidden(
            MASK_OF_THE_WHOLE, (CORNER_OF_EACH_TILE, WHOLE_BLOCKS_READ, OWN_BLOCK_ONLY), "this mask knows no blocks"
        ),
        *_hidden(SCALE_MISSING, (QUERY_OVERWRITTEN,), "nothing is divided, in place or not"),
        *_hidden(MEAN_OF_THE_BLOCKS, CORRECTIONS, "each block is divided by itself, with nothing left to correct"),
        *_hidden(NEVER_DIVIDED, (SUM_NOT_CORRECTED,), "the sum is not used"),
        *_hidden(DIVIDED_BY_THE_LAST_SUM, (SUM_NOT_CORRECTED,), "no sum but the last is used"),
        *_hidden(OUTPUT_LIKE_THE_QUERY, (SCALED_BY_THE_ROOT_OF_D_V,), "an answer comes only where d_v is d_k"),
        _alike(NEVER_DIVIDED, VALUES_NOT_CORRECTED, NOTHING_CORRECTED, "the sum is not used"),
        _alike(DIVIDED_BY_THE_LAST_SUM, VALUES_NOT_CORRECTED, NOTHING_CORRECTED, "no sum but the last is used"),
        _alike(NOTHING_CORRECTED, LARGEST_FORGOTTEN, TILE_SHIFTED_BY_ITSELF, "each block has a shift of its own"),
        _alike(MEAN_OF_THE_BLOCKS, LARGEST_FORGOTTEN, TILE_SHIFTED_BY_ITSELF, "each block has a shift of its own"),
        *(
            _alike(fault, *EMPTY_ROWS, "only without keys is a row empty, and then both are NaN")
            for fault in WITHOUT_EMPTY_ROWS
        ),
    ),
)
