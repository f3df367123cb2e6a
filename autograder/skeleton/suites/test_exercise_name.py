"""The hidden checks of exercise_name, 2 points."""

import numpy as np

from autograder.checks import assert_close, hint, points, promise


@points(2)
@promise("names", "doubled")
@hint("exercise_name.doubled")
def test_each_number_is_doubled(learner, reference, rng):
    # The smallest input first: the first that fails is the one that the learner is shown.
    for x in (np.array([3.0]), rng.normal(size=(2, 3))):
        assert_close(learner.exercise_name(x), reference.exercise_name(x))
