"""Wrong layer normalisations: each fault is a switch at the line where it bites."""

from typing import Any

import numpy as np

from autograder.faults.family import NONE, Family, Fault, Faults, Probe

MEAN_KEPT = Fault(
    "mean_kept",
    place="mean",
    en="The mean is not subtracted. What is the mean of [1, 3] after the division?",
    zh="没有减去均值。[1, 3] 除完之后，均值是多少？",
)
UNBIASED_VARIANCE = Fault(
    "unbiased_variance",
    place="variance",
    en="The squares are divided by n - 1, as for a sample. Here the row is all there is: by what is its mean divided?",
    zh="平方和除以了 n - 1，像估计样本方差那样。这里这一行就是全部：求它的均值时除以的是几？",
)
EPSILON_OUTSIDE_THE_ROOT = Fault(
    "epsilon_outside_the_root",
    place="epsilon",
    en="Epsilon is added to the standard deviation. Which of the two lines of the formula has it?",
    zh="epsilon 加到了标准差上。公式里它出现在哪一步？",
)
OVER_THE_FIRST_AXIS = Fault(
    "over_the_first_axis",
    place="axis",
    en="Mean and variance are taken over the rows, as in batch normalisation. Which axis holds the features?",
    zh="均值和方差是对各行求的，那是 batch normalisation。特征在哪个轴上？",
)
GAIN_IGNORED = Fault(
    "gain_ignored",
    place="gain and shift",
    en="The gain has no effect. Where in the formula does it stand?",
    zh="gain 没有起作用。公式里它出现在哪里？",
)
SHIFTED_BEFORE_THE_GAIN = Fault(
    "shifted_before_the_gain",
    place="gain and shift",
    en="The shift is added first and multiplied by the gain, too. Which of the two comes last?",
    zh="先加了 shift，于是它也被 gain 乘了。两者之中哪一个在最后？",
)
ALWAYS_FLOAT64 = Fault(
    "always_float64",
    place="dtype",
    en="float64 comes back whatever came in. What should the dtype of the result depend on?",
    zh="不管输入是什么，返回的都是 float64。结果的 dtype 应该由什么决定？",
)
ARGUMENT_OVERWRITTEN = Fault(
    "argument_overwritten",
    place="argument",
    en="The caller's array is normalised in place. Which line should make a new one?",
    zh="调用者的数组被原地改掉了。哪一行应该新建一个数组？",
)


def layer_norm(
    x: np.ndarray, gain: np.ndarray, shift: np.ndarray, epsilon: float = 1e-5, *, faults: Faults = NONE
) -> np.ndarray:
    """Return `(..., n_features)`, wrong in the ways of `faults`."""
    axis = 0 if OVER_THE_FIRST_AXIS in faults else -1
    numbers = x.astype(np.float64)
    centred = numbers - numbers.mean(axis=axis, keepdims=True)
    squares = (centred**2).sum(axis=axis, keepdims=True)
    variance = squares / (x.shape[axis] - (1 if UNBIASED_VARIANCE in faults else 0))
    root = np.sqrt(variance) + epsilon if EPSILON_OUTSIDE_THE_ROOT in faults else np.sqrt(variance + epsilon)
    normalised = (numbers if MEAN_KEPT in faults else centred) / root
    if ARGUMENT_OVERWRITTEN in faults:
        x[...] = normalised
    result = finished(normalised, gain, shift, faults)
    return result if ALWAYS_FLOAT64 in faults else result.astype(x.dtype)


def finished(normalised: np.ndarray, gain: np.ndarray, shift: np.ndarray, faults: Faults) -> np.ndarray:
    """Give each feature its gain and shift."""
    if SHIFTED_BEFORE_THE_GAIN in faults:
        return (normalised + shift) * gain
    return normalised + shift if GAIN_IGNORED in faults else normalised * gain + shift


ROW = np.array([-1.0, 1.0])
ONES, ZEROS = np.ones(2), np.zeros(2)


def _afterwards(module: Any) -> Any:
    module.layer_norm(2 * ROW, ONES, ZEROS, 0.0)
    return bool(module.last.modified)


FAMILY = Family(
    "layer_norm",
    {"layer_norm": layer_norm},
    faults=tuple(value for value in list(globals().values()) if isinstance(value, Fault)),
    probes=(
        Probe("a row", lambda module: module.layer_norm(ROW, ONES, ZEROS, 0.0)),
        Probe("a row with another mean", lambda module: module.layer_norm(2 + ROW, ONES, ZEROS, 0.0)),
        Probe("a large epsilon", lambda module: module.layer_norm(ROW, ONES, ZEROS, epsilon=3.0)),
        Probe("gain and shift", lambda module: module.layer_norm(ROW, 3 * ONES, 1 + ROW, 0.0)),
        Probe("two rows", lambda module: module.layer_norm(np.array([[1.0, -1.0], [2.0, -2.0]]), ONES, ZEROS, 0.0)),
        Probe("float32", lambda module: module.layer_norm(ROW.astype(np.float32), ONES, ZEROS, 0.0)),
        Probe("the argument afterwards", _afterwards),
    ),
)
