"""Wrong ablations: each fault is a switch at the line where it bites."""

import math
from typing import Any

import torch
from torch import Tensor

from autograder.faults.family import NONE, Family, Fault, Faults, Probe, Same

SCALE_MISSING = Fault(
    "scale_missing",
    place="scale",
    en="The scores are not divided by the root of d_k, so these are not the weights that attention has.",
    zh="分数没有除以 d_k 的平方根，得到的就不是注意力真正的权重。",
    seen_in=("delzac/cntkx#10",),
)
SCALED_BY_D_K = Fault(
    "scaled_by_d_k",
    place="scale",
    en="The scores are divided by d_k itself, or twice by its root. How does the spread of a dot product grow with "
    "d_k?",
    zh="分数除以了 d_k 本身，或者除了两次平方根。点积的波动随 d_k 怎样增长？",
)
SCALED_BY_THE_ROOT_OF_D_V = Fault(
    "scaled_by_the_root_of_d_v",
    place="scale",
    en="The scale comes from the width of the values. Which two things go into the dot product?",
    zh="缩放用的是 value 的宽度。点积是哪两样东西相乘得到的？",
    seen_in=("juho-lee/set_transformer#18",),
)
SOFTMAX_OVER_QUERIES = Fault(
    "softmax_over_queries",
    place="softmax axis",
    en="The softmax runs along the queries, so that they compete for a key. Who shares out a weight of 1 among whom?",
    zh="softmax 沿着查询的轴计算，成了各个查询争抢同一个 key。总和为 1 的权重，是谁分给谁的？",
    seen_in=("spdlearn/spd_learn#28",),
)
MAXIMUM_KEPT = Fault(
    "maximum_kept",
    place="shift",
    en="The exponentials of the first reading are used again, shifted by a score that may be gone. If it was far above "
    "the others, all that is left of them is 0: which score is the largest now?",
    zh="直接沿用第一次的指数，而当时减去的最大分数可能已经被拿走了。如果它远高于其他分数，剩下的指数就全是 0："
    "现在最大的是哪个分数？",
    seen_in=("tensorflow/tensorflow#10142",),
)
MAXIMUM_OF_ALL_KEYS = Fault(
    "maximum_of_all_keys",
    place="shift",
    en="The score that is subtracted is the largest of all keys, also of those that may not be read. If a masked one "
    "is far above the others, nothing is left of them.",
    zh="减去的是所有 key 的最大分数，连不许读的也算在内。被遮住的分数要是远高于其他分数，剩下的指数就全成了 0。",
)
NOT_RENORMALISED = Fault(
    "not_renormalised",
    place="removal",
    en="The weight of the key is set to 0 and the others stay as they are (or its value is set to 0, which is the "
    "same). When a key is gone, who gets its share?",
    zh="只把这个 key 的权重置零，其余的都没有变（或者把它的 value 置零，结果一样）。key 被拿走之后，它那一份该归谁？",
    seen_in=("huggingface/pytorch-image-models#2236",),
)
DIVIDED_BY_WHAT_IS_LEFT = Fault(
    "divided_by_what_is_left",
    place="removal",
    en="The rest is renormalised by 1 - w. Where w is nearly 1 that difference has hardly a digit left, and where w is "
    "1 to the last bit it is 0: the scores still know what the weights have forgotten.",
    zh="用 1 - w 来重新归一化。w 接近 1 时，这个差几乎没有有效数字；w 直到最后一位都是 1 时，这个差就是 0。"
    "权重里已经丢掉的，分数里还留着。",
)
KEY_ZEROED = Fault(
    "key_zeroed",
    place="removal",
    en="The key is replaced by zeros, which gives it the score 0, and its value is still read. Which score "
    "has no weight?",
    zh="把 key 换成了零向量，它的分数就是 0，value 照样会被读到。什么样的分数才没有权重？",
)
KEY_AND_VALUE_ZEROED = Fault(
    "key_and_value_zeroed",
    place="removal",
    en="Key and value are replaced by zeros, but a score of 0 still takes its share of the weight from the others. "
    "Which score takes none?",
    zh="把 key 和 value 都换成了零，可是 0 分照样会从别的 key 那里分走一份权重。什么样的分数一份也不分？",
)
WEIGHT_FOR_EFFECT = Fault(
    "weight_for_effect",
    place="removal",
    en="What comes back are the weights. The exercise asks what each key does to the output, which depends on the "
    "values.",
    zh="返回的是权重。题目问的是每个 key 对输出有多大影响，而这还要看 value。",
)
WEIGHT_TIMES_DISTANCE = Fault(
    "weight_times_distance",
    place="removal",
    en="The effect is taken to be the weight times the distance of the value from the output. That is how far the "
    "output moves when the share of the key is handed to the output itself. Who should get it?",
    zh="把权重乘以 value 到输出的距离当成了影响。那等于把空出来的一份交给了原来的输出。这一份其实应该由谁来分？",
)
ONE_AFTER_ANOTHER = Fault(
    "one_after_another",
    place="removal",
    en="Keys that were tried before stay away, so that each is missed together with all before it. What must happen to "
    "the mask before the next key is tried?",
    zh="前面试过的 key 没有放回去，于是每次少掉的不止一个。试下一个 key 之前，遮罩要先怎样？",
)
PUT_BACK_AS_READABLE = Fault(
    "put_back_as_readable",
    place="removal",
    en="After a key was tried its column becomes True for every query, also for those that could not read it before.",
    zh="试完一个 key，就把它那一列全部设成 True，原来不许读它的查询也能读了。",
)
MASK_FORGOTTEN = Fault(
    "mask_forgotten",
    place="removal",
    en="The second reading leaves out the key but forgets `allowed`, so that a query suddenly reads what it may not.",
    zh="第二次读的时候只去掉了那个 key，却忘了 `allowed`，查询突然读到了本来不许读的内容。",
)
ONLY_KEY_WITHOUT_EFFECT = Fault(
    "only_key_without_effect",
    place="nothing left",
    en="Where the key was the only one, the output is taken to stay as it is. What does a query read that may read "
    "nothing?",
    zh="拿走唯一可读的 key 时，把输出当成没有变。什么都读不到的查询，输出是什么？",
)
NAN_WITHOUT_THE_ONLY_KEY = Fault(
    "nan_without_the_only_key",
    place="nothing left",
    en="Taking away the only readable key makes a row of nothing but -inf, and its softmax is NaN.",
    zh="唯一可读的 key 被拿走后，那一行全是 -inf，它的 softmax 是 NaN。",
    seen_in=("pytorch/pytorch#25110",),
)
UNIFORM_WITHOUT_THE_ONLY_KEY = Fault(
    "uniform_without_the_only_key",
    place="nothing left",
    en="Taking away the only readable key leaves a row of equal scores (filled with a finite number), and the query "
    "reads the mean of all values, which it may not.",
    zh="唯一可读的 key 被拿走后，一行分数全填成了同一个有限的数，于是查询读到了所有 value 的平均值，可这些它都不许读。",
    seen_in=("pytorch/pytorch#103963",),
)
NAN_IN_FULLY_MASKED_ROWS = Fault(
    "nan_in_fully_masked_rows",
    place="fully masked row",
    en="A row in which nothing may be read comes back as NaN. How far can an output move that was 0 from the start?",
    zh="整行都不许读的查询得到了 NaN。输出一开始就是 0，还能移动多远？",
    seen_in=("patrick-kidger/equinox#274",),
)
SQUARED_DISTANCE = Fault(
    "squared_distance",
    place="norm",
    en="The squares are added up, and the root is missing. How long is [3, 4]?",
    zh="平方加起来之后没有开方。[3, 4] 有多长？",
)
SUM_OF_ABSOLUTE_DIFFERENCES = Fault(
    "sum_of_absolute_differences",
    place="norm",
    en="The absolute differences are added up. That is another norm than the Euclidean one: how long is [3, 4]?",
    zh="把差的绝对值加了起来，那是另一种范数，不是欧几里得范数。[3, 4] 有多长？",
)
LARGEST_DIFFERENCE = Fault(
    "largest_difference",
    place="norm",
    en="Only the largest difference counts. The Euclidean norm takes all features into account: how long is [3, 4]?",
    zh="只取了最大的一个差。欧几里得范数要算上所有特征：[3, 4] 有多长？",
)
ROOT_OF_THE_MEAN = Fault(
    "root_of_the_mean",
    place="norm",
    en="The squares are averaged instead of added up, so the effect shrinks as the values get wider.",
    zh="平方取了平均而不是求和，value 越宽，结果就越小。",
)
DIFFERENCE_OF_NORMS = Fault(
    "difference_of_norms",
    place="norm",
    en="The two norms are subtracted. An output that turns without getting longer would not have moved: which comes "
    "first, the difference or the norm?",
    zh="先各自求范数再相减。输出要是只转了方向、长度没变，就成了没有移动：先求差，还是先求范数？",
)
ONE_NORM_FOR_ALL_QUERIES = Fault(
    "one_norm_for_all_queries",
    place="norm",
    en="One norm is taken of all queries together. Along which axis is a single output row measured?",
    zh="对所有查询一起只求了一个范数。单独一行输出应该沿哪个轴来量？",
)
KEYS_BY_QUERIES = Fault(
    "keys_by_queries",
    place="result",
    en="The effects come back with the keys in the rows. The contract asks for a row for each query.",
    zh="返回的结果里，行是 key，列是查询。题目要求每个查询占一行。",
)
RELATIVE_TO_THE_OUTPUT = Fault(
    "relative_to_the_output",
    place="result",
    en="The effects are divided by the length of the output. The exercise asks how far it moves, not by how many per "
    "cent.",
    zh="结果除以了输出的长度。题目问的是移动了多远，而不是移动了百分之几。",
)
POLARITY_INVERTED = Fault(
    "polarity_inverted",
    place="mask",
    en="The mask is read the other way round. In this course True means that the query may read the key.",
    zh="遮罩读反了。本课程里 True 表示这个查询可以读这个 key。",
    seen_in=("rasbt/LLMs-from-scratch#1061", "lucidrains/x-transformers#174"),
)
MASK_WITHOUT_EFFECT = Fault(
    "mask_without_effect",
    place="mask",
    en="The mask has no effect. `masked_fill` and `&` return something new: which of the two goes into the softmax?",
    zh="遮罩没有起任何作用。`masked_fill` 和 `&` 都返回新的张量：送进 softmax 的是哪一个？",
)
MASK_MUST_BE_A_MATRIX = Fault(
    "mask_must_be_a_matrix",
    place="mask",
    en="A mask with fewer than two axes ends in an error. `allowed` need only be broadcastable to the result.",
    zh="遮罩不到两个轴时会报错。题目只要求 `allowed` 能广播到结果的形状。",
)
DEFAULT_DTYPE = Fault(
    "default_dtype",
    place="dtype",
    en="float32 comes back whatever came in, as from `torch.zeros(...)` without a dtype.",
    zh="不管输入是什么，返回的都是 float32，比如用了没有指定 dtype 的 `torch.zeros(...)`。",
    seen_in=("netket/netket#1218",),
)
ALWAYS_FLOAT64 = Fault(
    "always_float64",
    place="dtype",
    en="float64 comes back whatever came in. It is good to calculate in, but which step is missing at the end?",
    zh="不管输入是什么，返回的都是 float64。中间这样计算没有问题，最后还差哪一步？",
)
HALF_THE_DIGITS = Fault(
    "half_the_digits",
    place="precision",
    en="The weights are always calculated in float32. That is good for half precision, but float64 loses half of its "
    "digits.",
    zh="权重一律用 float32 计算。这对半精度有好处，float64 却因此丢掉了一半的有效数字。",
)
LEADING_DIMENSIONS_OF_THE_QUERY = Fault(
    "leading_dimensions_of_the_query",
    place="leading dimensions",
    en="The result has room for the leading dimensions of the query only. Keys and values may have more of them.",
    zh="结果只按 query 的前导维度留了位置，而 key 和 value 的前导维度可以更多。",
)
MASK_OVERWRITTEN = Fault(
    "mask_overwritten",
    place="arguments",
    en="The caller's mask is changed in place. `expand` and `contiguous` do not always copy: what always gives a new "
    "tensor?",
    zh="调用者的遮罩被原地改掉了。`expand` 和 `contiguous` 不一定会复制：哪种写法总会得到一个新张量？",
)
QUERY_OVERWRITTEN = Fault(
    "query_overwritten",
    place="arguments",
    en="The caller's query is scaled in place, so the next call starts from another one.",
    zh="缩放时直接改了调用者的 query，下一次调用时它就不是原来的了。",
    seen_in=("exercism/python#1874",),
)
VIEWED = Fault(
    "viewed",
    place="arguments",
    en="`view` fails for tensors that do not lie in order in memory, such as transposed or expanded ones.",
    zh="数据在内存里不一定按顺序排列（比如转置或 expand 之后），这时用 `view` 会报错。",
    seen_in=("NVIDIA/Megatron-LM#875",),
)
ONE_BUFFER_FOR_ALL_RESULTS = Fault(
    "one_buffer_for_all_results",
    place="arguments",
    en="Results are written into a tensor that is kept between calls, so the next call changes an earlier result.",
    zh="结果写进了一个在多次调用之间保留的张量，下一次调用会改掉上一次的结果。",
)
MASK_DTYPE_NOT_CHECKED = Fault(
    "mask_dtype_not_checked",
    place="refusal",
    en="A mask that is not boolean is taken as one. An additive mask of 0 and -inf means the opposite of what it is "
    "taken for.",
    zh="不是布尔型的遮罩也照收不误。由 0 和 -inf 组成的加性遮罩，意思正好会被读反。",
    seen_in=("pytorch/pytorch#92554",),
)
SIZES_NOT_CHECKED = Fault(
    "sizes_not_checked",
    place="refusal",
    en="Sizes that do not fit are left to the matrix product, whose error is no ValueError and does not say whether "
    "d_k or n_keys is wrong.",
    zh="大小对不上时全靠矩阵乘法自己报错，既不是 ValueError，也说不清错的是 d_k 还是 n_keys。",
)

_buffer: dict[tuple[Any, ...], Tensor] = {}


def ablation_effect(
    query: Tensor, key: Tensor, value: Tensor, allowed: Tensor | None = None, *, faults: Faults = NONE
) -> Tensor:
    """Return how far each output moves without each key, `(..., n_queries, n_keys)`, wrong in the ways of `faults`."""
    refuse(query, key, value, allowed, faults)
    if VIEWED in faults:
        key, value = (tensor.view(-1, tensor.shape[-1]).view(tensor.shape) for tensor in (key, value))
    scores = scores_of(query, key, value, faults)
    readable = readable_of(allowed, scores.shape, faults)
    values = value.to(scores.dtype)
    weights = weights_of(scores, readable, readable, faults)
    if WEIGHT_FOR_EFFECT in faults:
        effect = weights
    else:
        columns = [moved(j, scores, readable, weights, values, faults) for j in range(scores.shape[-1])]
        effect = torch.stack(columns, dim=-1)
    return finished(effect, readable, weights @ values, query, faults)


def refuse(query: Tensor, key: Tensor, value: Tensor, allowed: Tensor | None, faults: Faults) -> None:
    """Refuse masks that are not boolean, and sizes that do not fit."""
    if allowed is not None and allowed.dtype != torch.bool and MASK_DTYPE_NOT_CHECKED not in faults:
        raise TypeError(f"allowed must be boolean, not {allowed.dtype}")
    if SIZES_NOT_CHECKED in faults:
        return
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(f"query and key differ in d_k: {query.shape[-1]} and {key.shape[-1]}")
    if key.shape[-2] != value.shape[-2]:
        raise ValueError(f"key and value differ in n_keys: {key.shape[-2]} and {value.shape[-2]}")


def scores_of(query: Tensor, key: Tensor, value: Tensor, faults: Faults) -> Tensor:
    """Give query @ key^T / sqrt(d_k), at least in float32."""
    d_k = query.shape[-1]
    wrong = {SCALE_MISSING: 1.0, SCALED_BY_D_K: float(d_k), SCALED_BY_THE_ROOT_OF_D_V: math.sqrt(value.shape[-1])}
    divisor = next((divisor for fault, divisor in wrong.items() if fault in faults), math.sqrt(d_k))
    scaled = query.div_(divisor) if QUERY_OVERWRITTEN in faults else query / divisor
    # torch.broadcast_shapes would import sympy first.
    leading = torch.broadcast_tensors(*(x.new_empty(x.shape[:-2]) for x in (query, key, value)))[0].shape
    wide = torch.promote_types(query.dtype, torch.float32)
    return scaled.to(wide).expand(*leading, -1, -1) @ key.to(wide).transpose(-2, -1)


def readable_of(allowed: Tensor | None, shape: torch.Size, faults: Faults) -> Tensor:
    """Give the mask the shape of the scores."""
    if allowed is None or MASK_WITHOUT_EFFECT in faults:
        return torch.ones(shape, dtype=torch.bool)
    if MASK_MUST_BE_A_MATRIX in faults and allowed.dim() < 2:
        raise IndexError("tuple index out of range")
    if MASK_OVERWRITTEN in faults and allowed.is_contiguous():
        return ~allowed.logical_not_().bool().broadcast_to(shape) ^ (POLARITY_INVERTED in faults)
    return allowed.bool().broadcast_to(shape) ^ (POLARITY_INVERTED in faults)


def weights_of(scores: Tensor, keep: Tensor, readable: Tensor, faults: Faults) -> Tensor:
    """Share out 1 among the keys that are kept."""
    dim = -2 if SOFTMAX_OVER_QUERIES in faults else -1
    counted = readable if MAXIMUM_KEPT in faults else keep
    if MAXIMUM_OF_ALL_KEYS in faults:
        counted = keep | ~readable
    peak = scores.masked_fill(~counted, -math.inf).amax(dim=dim, keepdim=True)
    peak = peak.masked_fill(peak == -math.inf, 0.0)
    exponentials = (scores - peak).masked_fill(~keep, -math.inf).exp()
    total = exponentials.sum(dim=dim, keepdim=True)
    weights = exponentials / total.masked_fill(total == 0, 1.0)
    return weights.float().to(weights.dtype) if HALF_THE_DIGITS in faults else weights


def moved(j: int, scores: Tensor, readable: Tensor, weights: Tensor, values: Tensor, faults: Faults) -> Tensor:
    """Tell how far each output row moves without key j."""
    output = weights @ values
    weight = weights[..., j, None]
    if NOT_RENORMALISED in faults:
        less = output - weight * values[..., j, None, :]
    elif DIVIDED_BY_WHAT_IS_LEFT in faults:
        rest = output - weight * values[..., j, None, :]
        less = torch.where(weight < 1, rest / (1 - weight), torch.zeros_like(rest))
    elif WEIGHT_TIMES_DISTANCE in faults:
        less = output - weight * (values[..., j, None, :] - output)
    else:
        less = read_without(j, scores, readable, values, faults)
    return distance(output, without_the_only_key(j, less, output, readable, values, faults), faults)


def read_without(j: int, scores: Tensor, readable: Tensor, values: Tensor, faults: Faults) -> Tensor:
    """Read again, without key j."""
    if KEY_ZEROED in faults or KEY_AND_VALUE_ZEROED in faults:
        scores = scores.clone()
        scores[..., j] = 0.0
        if KEY_AND_VALUE_ZEROED in faults:
            values = values.clone()
            values[..., j, :] = 0.0
        return weights_of(scores, readable, readable, faults) @ values
    keep = torch.ones_like(readable) if MASK_FORGOTTEN in faults else readable.clone()
    if PUT_BACK_AS_READABLE in faults:
        keep[..., :j] = True
    keep[..., slice(0, j + 1) if ONE_AFTER_ANOTHER in faults else j] = False
    return weights_of(scores, keep, readable, faults) @ values


def without_the_only_key(
    j: int, less: Tensor, output: Tensor, readable: Tensor, values: Tensor, faults: Faults
) -> Tensor:
    """Give the output, or what a fault takes for it, where key j was the only one."""
    only = (readable[..., j] & (readable.sum(dim=-1) == 1))[..., None]
    if ONLY_KEY_WITHOUT_EFFECT in faults:
        return torch.where(only, output, less)
    if NAN_WITHOUT_THE_ONLY_KEY in faults:
        return less.masked_fill(only, math.nan)
    if UNIFORM_WITHOUT_THE_ONLY_KEY in faults:
        return torch.where(only, values.mean(dim=-2, keepdim=True), less)
    return less


def distance(output: Tensor, less: Tensor, faults: Faults) -> Tensor:
    """Measure the way from one output to the other, row by row."""
    if DIFFERENCE_OF_NORMS in faults:
        way = output.norm(dim=-1, keepdim=True) - less.norm(dim=-1, keepdim=True)
    else:
        way = output - less
    order = 1 if SUM_OF_ABSOLUTE_DIFFERENCES in faults else math.inf if LARGEST_DIFFERENCE in faults else 2
    lengths: Tensor = torch.linalg.vector_norm(way, order, dim=-1)
    if SQUARED_DISTANCE in faults:
        return lengths * lengths
    if ROOT_OF_THE_MEAN in faults:
        return lengths / math.sqrt(way.shape[-1])
    return torch.full_like(lengths, float(lengths.norm())) if ONE_NORM_FOR_ALL_QUERIES in faults else lengths


def finished(effect: Tensor, readable: Tensor, output: Tensor, query: Tensor, faults: Faults) -> Tensor:
    """Set to 0 what was not readable, and hand the result over."""
    effect = effect.masked_fill(~readable, 0.0)
    if LEADING_DIMENSIONS_OF_THE_QUERY in faults and effect.shape[:-2] != query.shape[:-2]:
        raise RuntimeError("the expanded size of the tensor must match the existing size")
    if RELATIVE_TO_THE_OUTPUT in faults:
        length = output.norm(dim=-1, keepdim=True)
        effect = effect / length.masked_fill(length == 0, 1.0)
    if NAN_IN_FULLY_MASKED_ROWS in faults:
        effect = effect.masked_fill(~readable.any(dim=-1, keepdim=True), math.nan)
    if KEYS_BY_QUERIES in faults:
        effect = effect.transpose(-2, -1)
    dtype = torch.float32 if DEFAULT_DTYPE in faults else torch.float64 if ALWAYS_FLOAT64 in faults else query.dtype
    return kept(effect.to(dtype)) if ONE_BUFFER_FOR_ALL_RESULTS in faults else effect.to(dtype)


def kept(effect: Tensor) -> Tensor:
    """Give the effect in the one tensor that all results of this shape share."""
    return _buffer.setdefault((*effect.shape, effect.dtype), torch.empty_like(effect)).copy_(effect)


def float64(*rows: Any) -> Tensor:
    """Make a matrix of rows."""
    return torch.tensor(rows, dtype=torch.float64)


def mask(*rows: str) -> Tensor:
    """Read a mask from words of 1 (may be read) and 0."""
    return torch.tensor([[cell == "1" for cell in row] for row in rows])


ONE = float64([1.0])
TWO = float64([1.0], [-1.0])
THREE = float64([0.0], [1.0], [0.5])
VALUES = float64([1.0], [4.0], [16.0])
WIDE = float64([1.0, 0.0, 2.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0, 1.0])
PLANE = float64([3.0, 4.0], [4.0, -3.0], [0.0, 1.0])


def _ask(module: Any, query: Tensor, *others: Tensor) -> Tensor:
    """Ask for the effects, and keep the query and the mask from being written to."""
    effect: Tensor = module.ablation_effect(query.clone(), *others[:2], *(other.clone() for other in others[2:]))
    return effect


def _tiny_weights(module: Any) -> Any:
    """Tell whether keys have an effect whose weight is too small for float32."""
    keys = float64([220.0], [110.0])
    huge_second = _ask(module, ONE, keys, float64([0.0], [1e48]))
    second_query = _ask(module, float64([1.0], [0.5]), keys, float64([1.0], [0.0]))
    return [bool(effect > 0) for effect in (*huge_second.flatten(), *second_query.flatten())]


def _far_above(module: Any, gap: float) -> Any:
    """Ask for the effect of a key whose score lies far above the others."""
    return _ask(module, ONE, float64([0.0], [-gap], [-gap - 1.0]), VALUES)


def _afterwards(module: Any, *arguments: Tensor) -> Any:
    copies = [argument.clone() for argument in arguments]
    module.ablation_effect(*copies)
    return bool(module.last.modified)


def _shared(module: Any) -> Any:
    _ask(module, ONE, THREE, VALUES)
    _ask(module, ONE, THREE, VALUES)
    return bool(module.last.shared)


def alone(hiding: Fault, hidden: tuple[Fault, ...], why: str) -> list[Same]:
    """Declare that one fault hides the others."""
    return [Same(frozenset({hiding, fault}), frozenset({hiding}), why) for fault in hidden]


FAMILY = Family(
    "ablation",
    {"ablation_effect": ablation_effect},
    faults=tuple(value for value in list(globals().values()) if isinstance(value, Fault)),
    probes=(
        Probe("one key", lambda module: _ask(module, ONE, ONE, float64([3.0]))),
        Probe("two keys", lambda module: _ask(module, ONE, THREE[:2], VALUES[:2])),
        Probe("three keys", lambda module: _ask(module, ONE, THREE, VALUES)),
        Probe("two queries", lambda module: _ask(module, TWO, THREE, VALUES)),
        Probe("values with two features", lambda module: _ask(module, ONE, THREE, PLANE)),
        Probe("vectors of five", lambda module: _ask(module, WIDE, WIDE[:1], float64([3.0]))),
        Probe("two vectors of five", lambda module: _ask(module, WIDE, WIDE, PLANE[:2])),
        Probe("a mask", lambda module: _ask(module, TWO, THREE, VALUES, mask("110", "011"))),
        Probe("a mask of the keys", lambda module: _ask(module, TWO, THREE, VALUES, mask("110"))),
        Probe("the only readable key", lambda module: _ask(module, ONE, THREE, VALUES, mask("010"))),
        Probe("a row with nothing to read", lambda module: _ask(module, TWO, THREE, VALUES, mask("110", "000"))),
        Probe("a score 40 above the others", lambda module: _far_above(module, 40.0)),
        Probe("a score 800 above the others", lambda module: _far_above(module, 800.0)),
        Probe(
            "a masked score 800 above the others",
            lambda module: _ask(module, ONE, float64([800.0], [1.0], [0.0]), VALUES, mask("011")),
        ),
        Probe(
            "a readable score 800 above the masked ones",
            lambda module: _ask(module, ONE, float64([800.0], [1.0], [0.0]), VALUES, mask("100")),
        ),
        Probe(
            "a masked score 800 above another query's",
            lambda module: _ask(module, float64([800.0], [0.0]), TWO, VALUES[:2], mask("01", "11")),
        ),
        Probe("a mask that hides nothing", lambda module: _ask(module, ONE, THREE, VALUES, mask("111"))),
        Probe("a batch of values", lambda module: _ask(module, ONE, THREE, torch.stack([VALUES, THREE]))),
        Probe("float16", lambda module: _ask(module, ONE.half(), THREE.half(), VALUES.half())),
        Probe("a mask of numbers", lambda module: _ask(module, ONE, THREE, VALUES, mask("110").double())),
        Probe("one value too few", lambda module: _ask(module, ONE, THREE, VALUES[:2])),
        Probe("a mask of one axis", lambda module: _ask(module, ONE, THREE, VALUES, mask("110")[0])),
        Probe("tiny weights", _tiny_weights),
        Probe(
            "transposed values",
            lambda module: _ask(
                module, ONE.expand(3, 1, 1), THREE[:2], torch.stack([PLANE, 2 * PLANE]).transpose(0, 1)
            ),
        ),
        Probe("the query afterwards", lambda module: _afterwards(module, WIDE, WIDE, PLANE[:2])),
        Probe("the mask afterwards", lambda module: _afterwards(module, ONE, THREE, VALUES, mask("110"))),
        Probe("two results", _shared),
    ),
    same=(
        Same(frozenset({SCALE_MISSING, QUERY_OVERWRITTEN}), frozenset({SCALE_MISSING}), "a query divided by 1 stays"),
        *alone(
            SOFTMAX_OVER_QUERIES,
            (MAXIMUM_KEPT, NOT_RENORMALISED, KEY_AND_VALUE_ZEROED),
            "no key gives its share to another, so the others keep their weights",
        ),
        *(
            Same(frozenset({removal, MAXIMUM_KEPT}), frozenset({removal}), "no key is masked for a second reading")
            for removal in (
                NOT_RENORMALISED,
                DIVIDED_BY_WHAT_IS_LEFT,
                KEY_ZEROED,
                KEY_AND_VALUE_ZEROED,
                WEIGHT_FOR_EFFECT,
                WEIGHT_TIMES_DISTANCE,
            )
        ),
        *alone(KEY_ZEROED, (ONLY_KEY_WITHOUT_EFFECT,), "the only key has all the weight whatever its score"),
        *alone(WEIGHT_TIMES_DISTANCE, (ONLY_KEY_WITHOUT_EFFECT,), "the value of the only key is the output"),
        *alone(
            WEIGHT_FOR_EFFECT,
            (
                ONLY_KEY_WITHOUT_EFFECT,
                NAN_WITHOUT_THE_ONLY_KEY,
                UNIFORM_WITHOUT_THE_ONLY_KEY,
                SQUARED_DISTANCE,
                SUM_OF_ABSOLUTE_DIFFERENCES,
                LARGEST_DIFFERENCE,
                ROOT_OF_THE_MEAN,
                DIFFERENCE_OF_NORMS,
                ONE_NORM_FOR_ALL_QUERIES,
            ),
            "no second output is ever measured",
        ),
        *alone(
            MASK_WITHOUT_EFFECT,
            (MAXIMUM_OF_ALL_KEYS, PUT_BACK_AS_READABLE, MASK_FORGOTTEN, NAN_IN_FULLY_MASKED_ROWS, MASK_OVERWRITTEN),
            "the mask is never looked at",
        ),
        Same(
            frozenset({MASK_WITHOUT_EFFECT, ONLY_KEY_WITHOUT_EFFECT}),
            frozenset({MASK_WITHOUT_EFFECT, UNIFORM_WITHOUT_THE_ONLY_KEY}),
            "a key is the only one where there is one, and then it is the mean of all",
        ),
    ),
)
