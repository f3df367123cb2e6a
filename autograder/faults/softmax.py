"""Wrong softmaxes: each fault is a switch at the line where it bites."""

from typing import Any

import numpy as np

from autograder.faults.family import NONE, Family, Fault, Faults, Probe, Same

NO_SHIFT = Fault(
    "no_shift",
    place="shift",
    en="The largest score is not subtracted before the exponential, so large scores overflow. "
    "What may be added to a row without changing its softmax?",
    zh="没有先减去最大值就取指数，分数一大就会溢出。想一想：给一行同时加上什么，softmax 不会变？",
    seen_in=("tensorflow/tensorflow#10142", "dwavesystems/dwave-optimization#555"),
)
SHIFTED_BY_THE_WHOLE = Fault(
    "shifted_by_the_whole",
    place="shift",
    en="The largest score of the whole array is subtracted, not the largest of each slice. A slice far below it "
    "vanishes: which maximum does each slice need?",
    zh="减去的是整个数组的最大值，而不是每个切片自己的最大值。比它低很多的切片会全部变成 0：每个切片该减哪个最大值？",
    seen_in=("linxiaow/EECS498-Deep-Learning-for-Vision#2",),
)
SHIFT_FLOORED_AT_ZERO = Fault(
    "shift_floored_at_zero",
    place="shift",
    en="The maximum is taken together with 0, so it is never below 0, and a slice of very negative scores vanishes. "
    "What is the largest of [-1000, -1001]?",
    zh="求最大值时把 0 也算了进去，所以它永远不小于 0，分数全都很低的切片就消失了。[-1000, -1001] 里最大的是几？",
    seen_in=("open-edge-platform/geti#1507",),
)
SHIFTED_BY_THE_MEAN = Fault(
    "shifted_by_the_mean",
    place="shift",
    en="The mean is subtracted instead of the maximum, so a score far above the mean still overflows. "
    "What must the largest exponent be to be safe?",
    zh="减去的是平均值而不是最大值，远高于平均值的分数仍会溢出。要取指数的数里，最大的那个应该是多少才安全？",
)
TEMPERATURE_MULTIPLIED = Fault(
    "temperature_multiplied",
    place="temperature",
    en="The scores are multiplied by the temperature, so a high one sharpens the weights. "
    "Should a high temperature bring the scores closer together or drive them apart?",
    zh="分数乘上了温度，于是温度越高，权重反而越集中。温度升高时，分数之间应该靠近还是拉开？",
)
TEMPERATURE_IGNORED = Fault(
    "temperature_ignored",
    place="temperature",
    en="The temperature has no effect on the weights. Where in the formula does it belong?",
    zh="温度对权重没有任何影响。公式里它应该出现在哪里？",
)
DIVIDED_BY_ITS_ROOT = Fault(
    "divided_by_the_root_of_the_temperature",
    place="temperature",
    en="The scores are divided by the square root of the temperature. That root belongs to d_k in attention, not here.",
    zh="分数除以了温度的平方根。开平方的是 attention 里的 d_k，不是温度。",
)
WHOLE_NUMBERS_ONLY = Fault(
    "whole_quotients",
    place="temperature",
    en="The division by the temperature drops what is behind the decimal point (`//`). Which division keeps it?",
    zh="除以温度时丢掉了小数部分（`//`）。哪一种除法会保留小数？",
)
DIVIDED_BEFORE_THE_SHIFT = Fault(
    "divided_before_the_shift",
    place="temperature",
    en="The scores are divided by the temperature before the maximum is subtracted. With a tiny temperature the "
    "quotients overflow first. What changes when you subtract first?",
    zh="先除以温度，再减最大值。温度很小时，商先溢出了。把减法放到前面，结果会怎样？",
)
TEMPERATURE_IN_THE_DTYPE_OF_THE_SCORES = Fault(
    "temperature_in_the_dtype_of_the_scores",
    place="temperature",
    en="The temperature is turned into the dtype of the scores, where a tiny one becomes 0 and a huge one infinite. "
    "Which dtype can hold both?",
    zh="温度被转换成了分数的 dtype：很小的温度变成 0，很大的变成无穷。哪种 dtype 两头都装得下？",
)
AXIS_IGNORED = Fault(
    "axis_ignored",
    place="axis",
    en="The weights are always made along the last axis, whatever `axis` says. Which lines should look at it?",
    zh="不管 `axis` 是什么，总是沿最后一个轴计算。哪几行应该用到它？",
    seen_in=("PetrochukM/PyTorch-NLP#2", "FudanNLP/fastNLP#254"),
)
ALWAYS_THE_FIRST_AXIS = Fault(
    "always_the_first_axis",
    place="axis",
    en="The weights are always made along axis 0, so it is the columns that sum to 1. Which axis holds the scores "
    "that compete with each other?",
    zh="总是沿第 0 轴计算，所以和为 1 的是列。互相竞争的分数在哪个轴上？",
    seen_in=("jadore801120/attention-is-all-you-need-pytorch#52",),
)
NORMALISED_OVER_EVERYTHING = Fault(
    "normalised_over_everything",
    place="axis",
    en="One sum is taken over the whole array, so all weights together make 1 instead of each slice. "
    "What does `np.sum` need to be told?",
    zh="对整个数组只求了一个和，于是所有权重加起来才是 1，而不是每个切片各为 1。要告诉 `np.sum` 什么？",
    seen_in=("stackoverflow.com/questions/34968722",),
)
SUM_DROPS_THE_AXIS = Fault(
    "sum_drops_the_axis",
    place="axis",
    en="The sum loses its axis, so the division lines it up with the wrong one: an error for most shapes, and wrong "
    "weights for square ones. What does `keepdims` do?",
    zh="求和时丢掉了那个轴，除法就对到了别的轴上：多数形状会报错，方阵则悄悄算错。`keepdims` 有什么用？",
    seen_in=("stackoverflow.com/questions/34968722",),
)
LAST_OF_TWO_AXES = Fault(
    "axis_one_by_default",
    place="axis",
    en="The last axis is taken to be axis 1, which is true of matrices only. How is the last axis of any array named?",
    zh="把最后一个轴当成了第 1 轴，这只对矩阵成立。怎样表示任意数组的最后一个轴？",
)
EPSILON_IN_THE_DENOMINATOR = Fault(
    "epsilon_in_the_denominator",
    place="denominator",
    en="A small constant is added to the sum, so no row sums to exactly 1. After the maximum is subtracted, how small "
    "can the sum of a row with a readable entry be?",
    zh="给总和加上了一个小常数，于是没有一行的和正好是 1。减去最大值之后，一行只要还有可读的项，总和最小会是多少？",
)
DIVIDED_BY_THE_LARGEST = Fault(
    "divided_by_the_largest",
    place="denominator",
    en="The exponentials are divided by the largest of them, not by their sum. What should the weights add up to?",
    zh="指数除以的是其中最大的一个，而不是它们的和。权重加起来应该等于几？",
)
UNIFORM_WHERE_NOTHING_IS_LEFT = Fault(
    "uniform_where_nothing_is_left",
    place="fully masked slice",
    en="A slice that is all -inf becomes uniform weights, as if everything in it could be read. "
    "What is read when nothing may be?",
    zh="全是 -inf 的切片得到了均匀的权重，好像每一项都能读。什么都不许读的时候，读到的是什么？",
    seen_in=("pytorch/pytorch#24816",),
)
NAN_WHERE_NOTHING_IS_LEFT = Fault(
    "nan_where_nothing_is_left",
    place="fully masked slice",
    en="A slice that is all -inf becomes NaN: -inf minus -inf, or 0 divided by 0. Which of them happens in your code?",
    zh="全是 -inf 的切片变成了 NaN：要么是 -inf 减 -inf，要么是 0 除以 0。你的代码里发生的是哪一个？",
    seen_in=("pytorch/pytorch#25110",),
)
WARNS_WHERE_NOTHING_IS_LEFT = Fault(
    "warns_where_nothing_is_left",
    place="fully masked slice",
    en="A slice that is all -inf is put right only after NaN has appeared, and NumPy warns on the way. "
    "How can the NaN be kept from appearing?",
    zh="全是 -inf 的切片是在出现 NaN 之后才补救的，NumPy 已经发出了警告。怎样才能让 NaN 根本不出现？",
)
MINUS_INFINITY_MADE_FINITE = Fault(
    "minus_infinity_made_finite",
    place="masked entries",
    en="-inf is replaced by a large negative number, which a high temperature brings back towards 0, so that masked "
    "entries get weight. Which value stays put whatever it is divided by?",
    zh="把 -inf 换成了一个很大的负数，温度一高它又回到 0 附近，被遮住的项就得到了权重。除以多少都不会变的是哪个值？",
)
WEIGHTS_NEVER_QUITE_ZERO = Fault(
    "weights_never_quite_zero",
    place="masked entries",
    en="Every weight is kept above a tiny positive number, also where the score is -inf. Masked means exactly 0.",
    zh="每个权重都至少留了一个很小的正数，分数是 -inf 的地方也不例外。被遮住，就是恰好等于 0。",
    seen_in=("scipy/scipy#8872",),
)
LOWEST_SCORE_TAKEN_FOR_MASKED = Fault(
    "lowest_score_taken_for_masked",
    place="masked entries",
    en="The lowest finite score of the dtype is treated like -inf. It is a score like any other.",
    zh="把 dtype 能表示的最小有限分数当成了 -inf。它和别的分数一样，是可以读的。",
)
INTEGERS_KEPT = Fault(
    "integers_kept",
    place="dtype",
    en="Integer scores give integer weights, so all but a certain one are cut to 0. In which dtype can 0.67 be held?",
    zh="分数是整数，权重也成了整数，除了恰好是 1 的那一项，其余都被截成了 0。0.67 要用什么 dtype 才装得下？",
    seen_in=("rsokl/MyGrad#193",),
)
INTEGERS_TO_FLOAT32 = Fault(
    "integers_to_float32",
    place="dtype",
    en="Integer scores are computed in float32; the exercise asks for float64.",
    zh="整数分数是按 float32 计算的，题目要求的是 float64。",
    seen_in=("pymc-devs/pytensor#857",),
)
ALWAYS_FLOAT64 = Fault(
    "always_float64",
    place="dtype",
    en="float64 comes back whatever came in. What should the dtype of the result depend on?",
    zh="不管输入是什么，返回的都是 float64。结果的 dtype 应该由什么决定？",
    seen_in=("netket/netket#1218",),
)
DTYPE_OF_THE_TEMPERATURE = Fault(
    "dtype_of_the_temperature",
    place="dtype",
    en="A temperature that is a NumPy number changes the dtype of the result. Only the scores should have a say in it.",
    zh="温度如果是 NumPy 的数，结果的 dtype 就跟着它变了。dtype 应该只由分数决定。",
    seen_in=("numpy/numpy#21103",),
)
HALF_THE_DIGITS = Fault(
    "half_the_digits",
    place="precision",
    en="float64 scores pass through float32 on the way and lose half of their digits.",
    zh="float64 的分数中途经过了 float32，丢掉了一半的有效数字。",
)
ADDED_ONE_BY_ONE_IN_HALF_PRECISION = Fault(
    "added_one_by_one_in_half_precision",
    place="precision",
    en="The exponentials are added one after the other in the dtype of the scores. In float16 such a sum stalls: what "
    "is 2048 + 1 there?",
    zh="指数是按分数自己的 dtype 一个一个加起来的。在 float16 里，这样加着加着就不动了：2048 + 1 等于多少？",
    seen_in=("sonos/tract#2586",),
)
SCORES_OVERWRITTEN = Fault(
    "scores_overwritten",
    place="arguments",
    en="The caller's scores are changed (`-=` or `out=` on the argument itself). Which line should make a copy?",
    zh="调用者的分数被改掉了（对参数本身用了 `-=` 或 `out=`）。哪一行应该先复制一份？",
    seen_in=("exercism/python#1874",),
)
ONE_BUFFER_FOR_ALL_RESULTS = Fault(
    "one_buffer_for_all_results",
    place="arguments",
    en="Results are written into an array that is kept between calls, so the next call changes an earlier result.",
    zh="结果写进了一个在多次调用之间保留的数组，下一次调用会改掉上一次的结果。",
)
MEMORY_ORDER = Fault(
    "memory_order",
    place="arguments",
    en="The scores are read in the order in which they lie in memory, which for a transposed array is not the order "
    "of its rows.",
    zh="分数是按内存里的顺序读的，而转置过的数组在内存里并不是按行排的。",
)
TEMPERATURE_NOT_CHECKED = Fault(
    "temperature_not_checked",
    place="refusal",
    en="A temperature of 0 or below is accepted. What would it mean to divide by it?",
    zh="温度为 0 或负数时没有报错。除以它意味着什么？",
)
ZERO_TEMPERATURE_ACCEPTED = Fault(
    "zero_temperature_accepted",
    place="refusal",
    en="A negative temperature is refused, but 0 is not.",
    zh="负的温度被拒绝了，0 却没有。",
)
NOTHING_HAS_NO_MAXIMUM = Fault(
    "nothing_has_no_maximum",
    place="empty axis",
    en="An axis of size 0 ends in an error: the maximum of nothing. What may the maximum start from?",
    zh="大小为 0 的轴会报错：没有元素就没有最大值。求最大值可以从什么值开始？",
    seen_in=("TheAlgorithms/Python#13409",),
)
LOGARITHM_OF_THE_WEIGHTS = Fault(
    "logarithm_of_the_weights",
    place="result",
    en="What comes back is the logarithm of the weights. Which step undoes it?",
    zh="返回的是权重的对数。还差哪一步才是权重？",
)
POWERS_OF_TWO = Fault(
    "powers_of_two",
    place="result",
    en="The weights are powers of 2 where the formula has powers of e.",
    zh="公式里是 e 的幂，这里用成了 2 的幂。",
)

_buffer: dict[tuple[int, ...], np.ndarray] = {}


def softmax(scores: np.ndarray, axis: int = -1, temperature: float = 1.0, *, faults: Faults = NONE) -> np.ndarray:
    """Return the weights, wrong in the ways of `faults`."""
    refuse(temperature, faults)
    dtype = dtype_of(scores, temperature, faults)
    axes = axis_of(scores, axis, faults)
    logits = logits_of(scores, axes, temperature, faults)
    if SCORES_OVERWRITTEN in faults and np.issubdtype(scores.dtype, np.floating) and scores.flags.writeable:
        with np.errstate(invalid="ignore"):
            scores -= np.max(scores, initial=0.0)
    exponentials = np.exp2(logits) if POWERS_OF_TWO in faults else np.exp(logits)
    weights = normalised(exponentials, axes, scores.dtype, faults)
    weights = finished(weights, faults).astype(dtype)
    return kept(weights) if ONE_BUFFER_FOR_ALL_RESULTS in faults else weights


def refuse(temperature: float, faults: Faults) -> None:
    """Refuse what cannot be a temperature."""
    if TEMPERATURE_NOT_CHECKED in faults or (ZERO_TEMPERATURE_ACCEPTED in faults and temperature == 0):
        return
    if not temperature > 0:
        raise ValueError(f"temperature must be above 0, not {temperature}")


def dtype_of(scores: np.ndarray, temperature: float, faults: Faults) -> np.dtype[Any]:
    """Choose the dtype of the result."""
    floating = np.issubdtype(scores.dtype, np.floating)
    if ALWAYS_FLOAT64 in faults:
        return np.dtype(np.float64)
    if INTEGERS_KEPT in faults or (DTYPE_OF_THE_TEMPERATURE not in faults and floating):
        return scores.dtype
    if INTEGERS_TO_FLOAT32 in faults:
        return np.dtype(np.float32)
    return np.result_type(scores.dtype, temperature) if floating else np.dtype(np.float64)


def axis_of(scores: np.ndarray, axis: int, faults: Faults) -> int | None:
    """Choose the axis along which the weights are made; None is all of them."""
    if NORMALISED_OVER_EVERYTHING in faults:
        return None
    if AXIS_IGNORED in faults:
        return -1
    if ALWAYS_THE_FIRST_AXIS in faults:
        return 0
    if LAST_OF_TWO_AXES in faults and axis == -1:
        return min(1, scores.ndim - 1)
    return axis


def logits_of(scores: np.ndarray, axis: int | None, temperature: float, faults: Faults) -> np.ndarray:
    """Shift and divide, so that the largest exponent is 0."""
    exact = in_order(scores, faults).astype(np.float32 if HALF_THE_DIGITS in faults else np.float64)
    exact = exact.astype(np.float64)
    masked = exact == -np.inf
    if LOWEST_SCORE_TAKEN_FOR_MASKED in faults and np.issubdtype(scores.dtype, np.floating):
        masked = masked | (exact == np.finfo(scores.dtype).min)
    if MINUS_INFINITY_MADE_FINITE in faults:
        exact, masked = np.where(masked, -1e9, exact), np.zeros_like(masked)
    if TEMPERATURE_IN_THE_DTYPE_OF_THE_SCORES in faults and np.issubdtype(scores.dtype, np.floating):
        with np.errstate(over="ignore"):
            temperature = float(scores.dtype.type(temperature))
    with np.errstate(all="ignore"):
        if DIVIDED_BEFORE_THE_SHIFT in faults:
            # As in code that computes in the dtype of the scores throughout.
            exact = np.divide(exact, temperature).astype(dtype_of(scores, 1.0, NONE)).astype(np.float64)
            temperature = 1.0
        logits = divided(exact, peak_of(exact, axis, faults), temperature, faults)
    return np.where(masked, -np.inf, logits)


def in_order(scores: np.ndarray, faults: Faults) -> np.ndarray:
    """Read the scores."""
    return scores.ravel(order="K").reshape(scores.shape) if MEMORY_ORDER in faults else scores


def peak_of(exact: np.ndarray, axis: int | None, faults: Faults) -> np.ndarray:
    """Choose what is subtracted."""
    if NO_SHIFT in faults:
        return np.zeros(())
    if SHIFTED_BY_THE_MEAN in faults:
        readable = np.where(exact == -np.inf, 0.0, exact)
        return np.mean(readable, axis=axis, keepdims=True)
    if SHIFTED_BY_THE_WHOLE in faults:
        axis = None
    start = 0.0 if SHIFT_FLOORED_AT_ZERO in faults else -np.inf
    if NOTHING_HAS_NO_MAXIMUM in faults:
        peak = np.maximum(np.max(exact, axis=axis, keepdims=True), start)
    else:
        peak = np.max(exact, axis=axis, keepdims=True, initial=start)
    return np.where(peak == -np.inf, 0.0, peak)


def divided(exact: np.ndarray, peak: np.ndarray, temperature: float, faults: Faults) -> np.ndarray:
    """Divide the shifted scores by the temperature; halves, since a difference may be twice the largest number."""
    half = 0.5 if temperature > 1 else 1.0
    shifted = half * exact - half * peak
    if TEMPERATURE_IGNORED in faults:
        return shifted / half
    if TEMPERATURE_MULTIPLIED in faults:
        return shifted / half * temperature
    if DIVIDED_BY_ITS_ROOT in faults:
        return shifted / (half * temperature**0.5)
    if WHOLE_NUMBERS_ONLY in faults:
        return exact // temperature - peak // temperature
    return shifted / (half * temperature)


def normalised(exponentials: np.ndarray, axis: int | None, dtype: np.dtype[Any], faults: Faults) -> np.ndarray:
    """Divide the exponentials by their sum, or by what a fault takes for it."""
    keep = SUM_DROPS_THE_AXIS not in faults
    if ADDED_ONE_BY_ONE_IN_HALF_PRECISION in faults and dtype == np.float16 and exponentials.size and axis is not None:
        total = np.take(np.cumsum(exponentials, axis=axis, dtype=np.float16), [-1], axis=axis).astype(np.float64)
        total = total if keep else total.squeeze(axis)
    elif DIVIDED_BY_THE_LARGEST in faults:
        total = np.max(exponentials, axis=axis, keepdims=keep, initial=0.0)
    else:
        total = np.sum(exponentials, axis=axis, keepdims=keep)
    if EPSILON_IN_THE_DENOMINATOR in faults:
        total = total + 1e-6
    if WARNS_WHERE_NOTHING_IS_LEFT in faults:
        return np.nan_to_num(exponentials / total, nan=0.0) if not np.all(total) else exponentials / total
    return divided_where_something_is_left(exponentials, total, axis, faults)


def divided_where_something_is_left(
    exponentials: np.ndarray, total: np.ndarray, axis: int | None, faults: Faults
) -> np.ndarray:
    """Divide, and choose what a slice without anything readable becomes."""
    empty = total == 0
    with np.errstate(invalid="ignore"):
        weights = exponentials / np.where(empty, 1.0, total)
    if NAN_WHERE_NOTHING_IS_LEFT in faults:
        # With the warning that 0 / 0 gives.
        return exponentials / total
    if UNIFORM_WHERE_NOTHING_IS_LEFT in faults:
        count = exponentials.size if axis is None else exponentials.shape[axis]
        return np.where(empty, 1.0 / max(1, count), weights)
    return weights


def finished(weights: np.ndarray, faults: Faults) -> np.ndarray:
    """Give the weights, or what a fault makes of them."""
    if WEIGHTS_NEVER_QUITE_ZERO in faults:
        weights = np.clip(weights, 1e-12, None)
    if LOGARITHM_OF_THE_WEIGHTS in faults:
        with np.errstate(divide="ignore"):
            return np.log(weights)
    return weights


def kept(weights: np.ndarray) -> np.ndarray:
    """Give the weights in the one array that all results of this shape share."""
    buffer = _buffer.setdefault((*weights.shape, weights.dtype.num), np.empty_like(weights))
    buffer[...] = weights
    return buffer


ROWS = np.array([[0.5, -1.0, 2.0], [3.0, 1.5, -2.0]])
INF = np.inf

WHERE_NOTHING_IS_LEFT = (UNIFORM_WHERE_NOTHING_IS_LEFT, NAN_WHERE_NOTHING_IS_LEFT, WARNS_WHERE_NOTHING_IS_LEFT)
NEVER_ZERO = "with the constant in it no sum is 0"
NEVER_MASKED = "no score is -inf any more, so no slice is fully masked"


def _refused(module: Any, temperature: float) -> bool:
    try:
        module.softmax(np.array([0.0, 1.0]), temperature=temperature)
    except ValueError:
        return True
    return False


def _is_exact(module: Any) -> list[bool]:
    weights = module.softmax(np.array([0.1, 0.3]))
    exact = np.exp([0.1, 0.3]) / np.exp([0.1, 0.3]).sum()
    return [bool(abs(weights[0] - exact[0]) < 1e-14), bool(abs(weights.sum() - 1) < 1e-14)]


def _warned(module: Any) -> bool:
    module.softmax(np.array([[1.0, 2.0], [-INF, -INF]]))
    return any(category == "RuntimeWarning" for category, _ in module.last.warnings)


def _modified(module: Any) -> list[str]:
    module.softmax(ROWS.copy())
    return list(module.last.modified)


def _shared(module: Any) -> list[str]:
    module.softmax(np.array([0.0, 1.0]))
    module.softmax(np.array([0.0, 1.0]))
    return list(module.last.shared)


FAMILY = Family(
    "softmax",
    {"softmax": softmax},
    faults=tuple(value for value in list(globals().values()) if isinstance(value, Fault)),
    probes=(
        Probe("two scores", lambda module: module.softmax(np.array([0.0, 1.0]))),
        Probe("a temperature", lambda module: module.softmax(np.array([0.0, 1.0]), temperature=4.0)),
        Probe("two rows", lambda module: module.softmax(ROWS)),
        Probe("columns", lambda module: module.softmax(ROWS, axis=0)),
        Probe("three axes", lambda module: module.softmax(ROWS[None])),
        Probe("ties high up", lambda module: module.softmax(np.array([1000.0, 1000.0]))),
        Probe("one score high up", lambda module: module.softmax(np.array([2000.0, 0.0]))),
        Probe("ties far down", lambda module: module.softmax(np.array([-1000.0, -1000.0]))),
        Probe("rows far apart", lambda module: module.softmax(np.array([[0.0, 0.0], [-1000.0, -1000.0]]))),
        Probe("one of two masked", lambda module: module.softmax(np.array([0.0, -INF])) == 0),
        Probe("a mask and heat", lambda module: module.softmax(np.array([0.0, -INF]), temperature=1e17)),
        Probe("everything masked", lambda module: module.softmax(np.array([-INF, -INF]))),
        Probe("a warning", _warned),
        Probe("the lowest score", lambda module: module.softmax(np.array([np.finfo(np.float64).min, -INF]))),
        Probe("integers", lambda module: module.softmax(np.array([1, 2]))),
        Probe("float32", lambda module: module.softmax(np.array([0.0, 1.0], np.float32))),
        Probe(
            "a temperature with a dtype",
            lambda module: module.softmax(np.array([0.0, 1.0], np.float32), temperature=np.float64(2.0)),
        ),
        Probe("cold", lambda module: module.softmax(np.array([30.0, 10.0]), temperature=1e-307)),
        Probe("cold in float16", lambda module: module.softmax(np.array([3.0, 1.0], np.float16), temperature=1e-300)),
        Probe("nothing", lambda module: module.softmax(np.zeros((2, 0)))),
        Probe("a negative temperature", lambda module: _refused(module, -1.0)),
        Probe("a temperature of zero", lambda module: _refused(module, 0.0)),
        Probe("the last digits", _is_exact),
        Probe("a long sum", lambda module: module.softmax(np.zeros(4096, np.float16))[:1]),
        Probe("transposed", lambda module: module.softmax(ROWS.T)),
        Probe("the argument afterwards", _modified),
        Probe("two results", _shared),
    ),
    same=(
        *(
            Same(frozenset([EPSILON_IN_THE_DENOMINATOR, other]), frozenset([EPSILON_IN_THE_DENOMINATOR]), NEVER_ZERO)
            for other in WHERE_NOTHING_IS_LEFT
        ),
        *(
            Same(frozenset([MINUS_INFINITY_MADE_FINITE, other]), frozenset([MINUS_INFINITY_MADE_FINITE]), NEVER_MASKED)
            for other in WHERE_NOTHING_IS_LEFT
        ),
        *(
            Same(frozenset([shift, NOTHING_HAS_NO_MAXIMUM]), frozenset([shift]), "no maximum is taken")
            for shift in (NO_SHIFT, SHIFTED_BY_THE_MEAN)
        ),
    ),
)
