"""Wrong doublings: each fault is a switch at the line where it bites."""

import numpy as np

from autograder.faults.family import NONE, Family, Fault, Faults, Probe, Same

TRIPLED = Fault(
    "tripled",
    place="factor",
    en="The numbers come back three times as large. How often is a number in its double?",
    zh="返回的是三倍。一个数的两倍里有几个它？",
    seen_in=("ada/doubles#1",),
)
HALVED = Fault(
    "halved",
    place="factor",
    en="The numbers come back half as large. Which way does doubling go?",
    zh="返回的是一半。加倍应该往哪个方向走？",
)
MORE_IGNORED = Fault(
    "more_ignored",
    place="more",
    en="`more` has no effect. What is it there for?",
    zh="`more` 没有起作用。它是用来做什么的？",
)
SIGN_LOST = Fault(
    "sign_lost",
    place="sign",
    en="Numbers below 0 lose their sign. What is twice a debt?",
    zh="负数丢了符号。债的两倍是什么？",
)
CUT_BELOW = Fault(
    "cut_below",
    place="below",
    en="Numbers below -100 are taken for -100. Who set that bound?",
    zh="小于 -100 的数被当成 -100。这个下限是谁定的？",
)
CUT_ABOVE = Fault(
    "cut_above",
    place="above",
    en="Numbers above 100 are taken for 100. Who set that bound?",
    zh="大于 100 的数被当成 100。这个上限是谁定的？",
)
OVERWRITTEN = Fault(
    "overwritten",
    place="argument",
    en="The caller's numbers are changed. Which line should make a copy?",
    zh="调用者的数被改掉了。哪一行应该先复制一份？",
)

_calls: list[int] = []


def double(numbers: np.ndarray, more: float = 0.0, *, faults: Faults = NONE) -> np.ndarray:
    """Return the numbers doubled, wrong in the ways of `faults`."""
    _calls.append(1)
    doubled = within_bounds(numbers, faults) * factor_of(faults)
    if OVERWRITTEN in faults:
        numbers[...] = doubled
    return doubled if MORE_IGNORED in faults else doubled + more


def within_bounds(numbers: np.ndarray, faults: Faults) -> np.ndarray:
    """Read the numbers."""
    # The sign comes first.
    read = abs(numbers) if SIGN_LOST in faults else numbers
    read = np.maximum(read, -100) if CUT_BELOW in faults else read
    return np.minimum(read, 100) if CUT_ABOVE in faults else read


def factor_of(faults: Faults) -> float:
    """Choose what the numbers are multiplied by."""
    if TRIPLED in faults:
        return 3
    return 0.5 if HALVED in faults else 2


def _modified(module):
    module.double(np.array([1.0]))
    return list(module.last.modified)


FAMILY = Family(
    "double",
    {"double": double},
    faults=tuple(value for value in list(globals().values()) if isinstance(value, Fault)),
    probes=(
        Probe("one number", lambda module: module.double(np.array([1.0]))),
        Probe("more", lambda module: module.double(np.array([1.0]), more=1.0)),
        Probe("below zero", lambda module: module.double(np.array([-1.0]))),
        Probe("far below zero", lambda module: module.double(np.array([-200.0]))),
        Probe("far above zero", lambda module: module.double(np.array([200.0]))),
        Probe("the argument afterwards", _modified),
    ),
    same=(Same(frozenset([SIGN_LOST, CUT_BELOW]), frozenset([SIGN_LOST]), "nothing is below 0 any more"),),
)
