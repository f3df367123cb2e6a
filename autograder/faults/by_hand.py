"""Wrong rows of attention: each fault is a switch at the line where it bites."""

from typing import Any

import numpy as np

from autograder.faults.family import NONE, Family, Fault, Faults, Probe, Same

SCALE_MISSING = Fault(
    "scale_missing",
    place="scale",
    en="The dot products go into the softmax as they are. What are they divided by in the table, and why 2 there?",
    zh="点积没有缩放就进了 softmax。表格里它们除以了什么？那里的 2 又是从哪儿来的？",
    seen_in=("delzac/cntkx#10",),
)
SCALED_BY_D_K = Fault(
    "scaled_by_d_k",
    place="scale",
    en="The dot products are divided by d_k itself. Look again at what stands in front of the 2 in the table.",
    zh="点积除以了 d_k 本身。再看看表格里，2 的前面还有什么字。",
)
SCALED_BY_THE_ROOT_OF_TWO = Fault(
    "scaled_by_the_root_of_two",
    place="scale",
    en="The dot products are always divided by the root of 2, as in the example. Where does its 2 come from?",
    zh="不管查询有多宽，点积总是除以根号 2。例子里的这个 2 是从哪儿来的？",
)
SCALED_BY_THE_ROOT_OF_N = Fault(
    "scaled_by_the_root_of_n",
    place="scale",
    en="The dot products are divided by the root of the number of keys. In the example there are as many keys as each "
    "is wide: how many numbers does one dot product add up?",
    zh="点积除以的是 key 的个数的平方根。例子里 key 的个数和宽度恰好相等：一个点积到底加了几个数？",
)
SCALED_BY_THE_ROOT_OF_D_V = Fault(
    "scaled_by_the_root_of_d_v",
    place="scale",
    en="The dot products are divided by the root of the width of the values. Have the values any part in a score?",
    zh="点积除以的是 value 宽度的平方根。算分数的时候，value 参与了吗？",
    seen_in=("juho-lee/set_transformer#18",),
)
VALUES_COMPARED = Fault(
    "values_compared",
    place="what the query is compared with",
    en="The query is compared with the values instead of the keys. What does each of the two say about its position?",
    zh="查询去和 value 比了，而不是和 key 比。key 和 value 各自说明了这个位置的什么？",
)
KEYS_READ_BY_COLUMNS = Fault(
    "keys_read_by_columns",
    place="what the query is compared with",
    en="The query meets the columns of `keys` instead of its rows. In the example both are alike, and as soon as n is "
    "not d_k it is an error: which axis counts the keys?",
    zh="查询乘的是 `keys` 的列，而不是行。例子里行和列恰好一样，n 不等于 d_k 时就会报错：key 是沿哪个轴排的？",
)
NO_SHIFT = Fault(
    "no_shift",
    place="exponentials",
    en="The exponentials are taken of the scores as they are, so large scores overflow. What may be subtracted from "
    "all of them without changing the weights?",
    zh="直接对分数取指数，分数一大就会溢出。给所有分数同时减去什么，权重不会变？",
    seen_in=("tensorflow/tensorflow#10142", "dwavesystems/dwave-optimization#555"),
)
NO_EXPONENTIAL = Fault(
    "no_exponential",
    place="exponentials",
    en="The scores themselves are divided by their sum. Which step before that makes all of them positive?",
    zh="直接用分数除以分数之和。在这之前，哪一步会让它们都变成正数？",
)
NOT_NORMALISED = Fault(
    "not_normalised",
    place="sum",
    en="The exponentials are used as weights before they are shared out. What should the weights add up to?",
    zh="指数还没有归一化就当成了权重。权重加起来应该等于几？",
)
DIVIDED_BY_THE_LARGEST = Fault(
    "divided_by_the_largest",
    place="sum",
    en="The exponentials are divided by the largest of them, so that the best key has the weight 1. What should all "
    "weights together make?",
    zh="指数除以的是其中最大的一个，所以最好的 key 权重成了 1。所有权重加起来应该是几？",
)
ROUNDED_TO_THREE_DECIMALS = Fault(
    "rounded_to_three_decimals",
    place="precision",
    en="The weights are rounded on the way, as they are printed in the table. What is lost there is missing in the "
    "output too.",
    zh="权重在中途就四舍五入了，成了表格里印的三位小数。丢掉的部分，输出里也就没有了。",
)
HALF_THE_DIGITS = Fault(
    "half_the_digits",
    place="precision",
    en="float64 passes through float32 on the way and loses half of its digits.",
    zh="float64 的数中途经过了 float32，丢掉了一半的有效数字。",
)
KEYS_FOR_VALUES = Fault(
    "keys_for_values",
    place="what is read",
    en="The weights are applied to the keys. Keys say where to read: what is it that is read?",
    zh="权重乘到了 key 上。key 决定从哪里读，那么读到的内容是什么？",
)
VALUES_READ_BY_COLUMNS = Fault(
    "values_read_by_columns",
    place="what is read",
    en="Each row of `values` is multiplied by the weights, where each should have one weight for all of it. In the "
    "example that makes no difference, and as soon as n is not d_v it is an error: which axis counts the values?",
    zh="把权重和 `values` 的每一行做了点积，而不是给各行加权再相加。例子里看不出区别，n 不等于 d_v 时就会报错："
    "value 是沿哪个轴排的？",
)
ONLY_THE_BEST_VALUE = Fault(
    "only_the_best_value",
    place="what is read",
    en="The output is the value of the key with the largest weight. What becomes of the 0.330 that the other one has?",
    zh="输出只取了权重最大的那个 key 的 value。另一个 key 的 0.330 到哪里去了？",
)
MEAN_OF_THE_VALUES = Fault(
    "mean_of_the_values",
    place="what is read",
    en="The weighted values are averaged once more, so the output is too small by the factor n. The weights sum to 1: "
    "what is left to divide?",
    zh="加权之后又求了一次平均，输出因此只剩下 1/n。权重的和已经是 1，还需要再除吗？",
)
NOT_SUMMED = Fault(
    "not_summed",
    place="what is read",
    en="The output still has a row for each key: every value with its weight. Which step of the table is missing?",
    zh="输出里每个 key 还各占一行，只是乘上了权重。表格里的哪一步还没有做？",
)
RESULTS_SWAPPED = Fault(
    "results_swapped",
    place="results",
    en="The output comes first and the weights second. The contract asks for the other order.",
    zh="先返回了输出，后返回权重。题目要求的顺序正好相反。",
)
OUTPUT_SQUEEZED = Fault(
    "output_squeezed",
    place="results",
    en="An output of a single number loses its axis (`squeeze`). When the values have one feature, it has the shape "
    "(1,), not ().",
    zh="只有一个数的输出丢掉了自己的轴（`squeeze`）。value 只有一个特征时，输出的形状是 (1,)，不是 ()。",
)
VALUE_HANDED_ON = Fault(
    "value_handed_on",
    place="results",
    en="With one key its value itself is handed on instead of a new array: whoever writes into the output changes the "
    "caller's values.",
    zh="只有一个 key 时，直接把那个 value 交了出去，没有新建数组：以后谁往输出里写东西，调用者的 value 也会跟着变。",
)
INTEGERS_KEPT = Fault(
    "integers_kept",
    place="dtype",
    en="Whole numbers in, whole numbers out: 6.70 is cut to 6. In which dtype can it be held?",
    zh="输入是整数，返回的也成了整数，6.70 被截成了 6。要用什么 dtype 才装得下它？",
    seen_in=("rsokl/MyGrad#193",),
)
ALWAYS_FLOAT64 = Fault(
    "always_float64",
    place="dtype",
    en="float64 comes back whatever came in. What should the dtype of the results depend on?",
    zh="不管输入是什么，返回的都是 float64。结果的 dtype 应该由什么决定？",
    seen_in=("netket/netket#1218",),
)
KEYS_OVERWRITTEN = Fault(
    "keys_overwritten",
    place="arguments",
    en="The caller's keys are changed (`*=` or `out=` on the argument itself). Which line should make a new array?",
    zh="调用者的 key 被改掉了（对参数本身用了 `*=` 或 `out=`）。哪一行应该新建一个数组？",
    seen_in=("exercism/python#1874",),
)
MEMORY_ORDER = Fault(
    "memory_order",
    place="arguments",
    en="The values are read in the order in which they lie in memory, which for a transposed array is not the order of "
    "its rows.",
    zh="value 是按内存里的顺序读的，而转置过的数组在内存里并不是按行排的。",
)
SIZES_NOT_CHECKED = Fault(
    "sizes_not_checked",
    place="refusal",
    en="Sizes that do not fit are left to NumPy: it stretches a size of 1 silently, and its own errors do not say "
    "which argument is wrong.",
    zh="大小对不上时没有自己检查，全交给了 NumPy：大小为 1 的轴会被悄悄拉长，别的情况它报的错也不说是哪个参数。",
)
ONLY_THE_WIDTHS_CHECKED = Fault(
    "only_the_widths_checked",
    place="refusal",
    en="The widths of query and keys are compared, but not the numbers of keys and values.",
    zh="检查了查询和 key 的宽度，却没有检查 key 和 value 的个数。",
)


def attend_one(
    query: np.ndarray, keys: np.ndarray, values: np.ndarray, *, faults: Faults = NONE
) -> tuple[np.ndarray, np.ndarray]:
    """Return the weights `(n,)` and the output `(d_v,)`, wrong in the ways of `faults`."""
    refuse(query, keys, values, faults)
    dtype = dtype_of(values.dtype, faults)
    if VALUE_HANDED_ON in faults and len(keys) == len(values) == 1 and values.dtype == dtype:
        return finished(np.ones(1, dtype), values[0], faults)
    q, k, v = (array.astype(np.float64) for array in (query, keys, in_order(values, faults)))
    weights = rounded(shared_out(scores_of(q, k, v, faults), faults), faults)
    output = read(weights, k, v, faults)
    if KEYS_OVERWRITTEN in faults and np.issubdtype(keys.dtype, np.floating) and keys.flags.writeable:
        keys *= query[:1]
    return finished(weights.astype(dtype), output.astype(dtype), faults)


def refuse(query: np.ndarray, keys: np.ndarray, values: np.ndarray, faults: Faults) -> None:
    """Refuse sizes that do not fit."""
    if SIZES_NOT_CHECKED in faults:
        return
    if query.shape[0] != keys.shape[1]:
        raise ValueError(f"query and keys differ in d_k: {query.shape[0]} and {keys.shape[1]}")
    if keys.shape[0] != values.shape[0] and ONLY_THE_WIDTHS_CHECKED not in faults:
        raise ValueError(f"keys and values differ in n: {keys.shape[0]} and {values.shape[0]}")


def dtype_of(given: np.dtype, faults: Faults) -> np.dtype:
    """Choose the dtype of the results."""
    if ALWAYS_FLOAT64 in faults:
        return np.dtype(np.float64)
    if INTEGERS_KEPT in faults or np.issubdtype(given, np.floating):
        return given
    return np.dtype(np.float64)


def in_order(values: np.ndarray, faults: Faults) -> np.ndarray:
    """Read the values."""
    return values.ravel(order="K").reshape(values.shape) if MEMORY_ORDER in faults else values


def scores_of(query: np.ndarray, keys: np.ndarray, values: np.ndarray, faults: Faults) -> np.ndarray:
    """Compare the query with each key."""
    if KEYS_READ_BY_COLUMNS in faults:
        products = query @ keys
    else:
        products = (query * (values if VALUES_COMPARED in faults else keys)).sum(axis=1)
    return np.asarray(products / divisor_of(query.shape[0], keys.shape[0], values.shape[1], faults))


def divisor_of(d_k: int, n: int, d_v: int, faults: Faults) -> float:
    """Choose what the dot products are divided by."""
    wrong = {
        SCALE_MISSING: 1.0,
        SCALED_BY_D_K: float(d_k),
        SCALED_BY_THE_ROOT_OF_TWO: 2**0.5,
        SCALED_BY_THE_ROOT_OF_N: n**0.5,
        SCALED_BY_THE_ROOT_OF_D_V: d_v**0.5,
    }
    return float(next((divisor for fault, divisor in wrong.items() if fault in faults), d_k**0.5))


def shared_out(scores: np.ndarray, faults: Faults) -> np.ndarray:
    """Make weights of the scores."""
    with np.errstate(all="ignore"):
        if NO_EXPONENTIAL in faults:
            exponentials = scores
        else:
            exponentials = np.exp(scores if NO_SHIFT in faults else scores - np.max(scores))
        if NOT_NORMALISED in faults:
            return scores if NO_EXPONENTIAL in faults else np.asarray(np.exp(scores))
        total = np.max(exponentials) if DIVIDED_BY_THE_LARGEST in faults else np.sum(exponentials)
        return np.asarray(exponentials / total)


def rounded(weights: np.ndarray, faults: Faults) -> np.ndarray:
    """Keep all digits, or what a fault keeps of them."""
    if ROUNDED_TO_THREE_DECIMALS in faults:
        return np.round(weights, 3)
    return weights.astype(np.float32).astype(np.float64) if HALF_THE_DIGITS in faults else weights


def read(weights: np.ndarray, keys: np.ndarray, values: np.ndarray, faults: Faults) -> np.ndarray:
    """Add up the values, each with its weight."""
    if VALUES_READ_BY_COLUMNS in faults:
        return np.asarray(values @ weights)
    if ONLY_THE_BEST_VALUE in faults:
        return np.asarray(values[np.argmax(weights)])
    weighted = weights[:, None] * (keys if KEYS_FOR_VALUES in faults else values)
    if NOT_SUMMED in faults:
        return np.asarray(weighted)
    return np.asarray(weighted.mean(axis=0) if MEAN_OF_THE_VALUES in faults else weighted.sum(axis=0))


def finished(weights: np.ndarray, output: np.ndarray, faults: Faults) -> tuple[np.ndarray, np.ndarray]:
    """Hand both results over."""
    if OUTPUT_SQUEEZED in faults:
        output = np.asarray(output.squeeze())
    return (output, weights) if RESULTS_SWAPPED in faults else (weights, output)


QUERY = np.array([1.0, 0.0])
EXAMPLE = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([[10.0, 0.0], [0.0, 20.0]])
KEYS = np.array([[1.0, 0.0], [0.0, 1.0], [2.0, 1.0]])
VALUES = np.array([[1.0], [4.0], [16.0]])
SQUARE = np.array([[1.0, 0.0, 3.0], [0.0, 2.0, 1.0], [2.0, 1.0, 0.0]])

SCALES = (SCALE_MISSING, SCALED_BY_D_K, SCALED_BY_THE_ROOT_OF_TWO, SCALED_BY_THE_ROOT_OF_N, SCALED_BY_THE_ROOT_OF_D_V)


def _in(module: Any, dtype: Any) -> Any:
    return module.attend_one(*(array.astype(dtype) for array in (QUERY, *EXAMPLE)))


def _digits(module: Any) -> Any:
    """Tell which results have no more digits than float32 holds, or than three decimals."""
    results = module.attend_one(QUERY, KEYS[::2], 0.1 + SQUARE[1:, 1:])
    return [[bool(np.all(some == all_)) for some in (all_.astype(np.float32), all_.round(3))] for all_ in results]


def _afterwards(module: Any) -> Any:
    module.attend_one(2.0 * QUERY, *(array.copy() for array in EXAMPLE))
    return bool(module.last.modified)


def _shared(module: Any) -> Any:
    module.attend_one(QUERY, KEYS[:1], VALUES[:1])
    return bool(module.last.shared)


FAMILY = Family(
    "by_hand",
    {"attend_one": attend_one},
    faults=tuple(value for value in list(globals().values()) if isinstance(value, Fault)),
    probes=(
        Probe("one key", lambda module: module.attend_one(QUERY, KEYS[:1], VALUES[:1])),
        Probe("width one", lambda module: module.attend_one(QUERY[:1], VALUES[:2], VALUES[:2])),
        Probe("the example", lambda module: module.attend_one(QUERY, *EXAMPLE)),
        Probe("three keys", lambda module: module.attend_one(QUERY, KEYS, VALUES)),
        Probe("keys of other rows than columns", lambda module: module.attend_one(QUERY, KEYS[1:], VALUES[:2])),
        Probe("values of other rows than columns", lambda module: module.attend_one(QUERY, EXAMPLE[0], KEYS[1:])),
        Probe("a wider query", lambda module: module.attend_one(np.ones(3), np.eye(2, 3, 1), EXAMPLE[1])),
        Probe("three keys of width three", lambda module: module.attend_one(SQUARE[0], SQUARE, VALUES)),
        Probe("three values of width three", lambda module: module.attend_one(QUERY[:1], VALUES / 4, SQUARE)),
        Probe("digits", _digits),
        Probe("whole numbers", lambda module: _in(module, np.int64)),
        Probe("float32", lambda module: _in(module, np.float32)),
        Probe("large scores", lambda module: module.attend_one(QUERY, 1e4 * EXAMPLE[0], EXAMPLE[1])),
        Probe("large values", lambda module: module.attend_one(QUERY, EXAMPLE[0], 1e3 * EXAMPLE[1])),
        Probe("a query that is too short", lambda module: module.attend_one(QUERY[:1], KEYS, SQUARE)),
        Probe("keys turned round", lambda module: module.attend_one(QUERY, KEYS.T, VALUES)),
        Probe("too few values", lambda module: module.attend_one(QUERY, EXAMPLE[0], np.array([[10.0, 20.0]]))),
        Probe("transposed values", lambda module: module.attend_one(QUERY, EXAMPLE[0], SQUARE[:2, 1:].T)),
        Probe("the keys afterwards", _afterwards),
        Probe("the value of the only key", _shared),
    ),
    same=(
        *(
            Same(frozenset({NO_EXPONENTIAL, scale}), frozenset({NO_EXPONENTIAL}), "a quotient of scores has no scale")
            for scale in SCALES
        ),
        Same(frozenset({NOT_NORMALISED, NO_SHIFT}), frozenset({NOT_NORMALISED}), "there is no shift to be left out"),
        Same(frozenset({KEYS_FOR_VALUES, MEMORY_ORDER}), frozenset({KEYS_FOR_VALUES}), "the values are never read"),
        Same(
            frozenset({KEYS_READ_BY_COLUMNS, SCALED_BY_THE_ROOT_OF_N}),
            frozenset({KEYS_READ_BY_COLUMNS}),
            "it works only where n is d_k",
        ),
        Same(
            frozenset({VALUES_READ_BY_COLUMNS, SCALED_BY_THE_ROOT_OF_N}),
            frozenset({VALUES_READ_BY_COLUMNS, SCALED_BY_THE_ROOT_OF_D_V}),
            "it works only where n is d_v",
        ),
    ),
)
