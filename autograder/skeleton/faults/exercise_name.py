"""Wrong exercise_name: each fault is a switch at the line where it bites."""

import numpy as np

from autograder.faults.family import NONE, Family, Fault, Faults, Probe

SQUARED = Fault(
    "squared",
    place="what is done to each number",
    en="Each number is multiplied by itself. 2 becomes 4 either way: what becomes of 3?",
    zh="每个数乘的是它自己。对 2 来说结果都是 4，那么 3 会变成多少？",
)


def exercise_name(x: np.ndarray, *, faults: Faults = NONE) -> np.ndarray:
    """Return twice each number of `x`, wrong in the ways of `faults`."""
    return x * x if SQUARED in faults else 2 * x


FAMILY = Family(
    "exercise_name",
    {"exercise_name": exercise_name},
    faults=(SQUARED,),
    # Questions that tell the faults apart, the shortest first.
    probes=(Probe("one number", lambda module: module.exercise_name(np.array([3.0]))),),
)
