"""What `double` has to do."""

import numpy as np

from autograder.checks import assert_close, assert_untouched, hint, points, promise


@points(1)
@promise("more")
@hint("double.more")
def test_more_is_added(learner, reference):
    assert_close(learner.double(np.array([1.0]), more=1.0), reference.double(np.array([1.0]), more=1.0))


@points(2)
@promise("sign")
@hint("double.sign")
def test_numbers_below_zero_are_doubled(learner, reference):
    for number in (-1.0, -200.0):
        assert_close(learner.double(np.array([number])), reference.double(np.array([number])))


@points(1)
@promise("large")
@hint("double.large")
def test_large_numbers_are_doubled(learner, reference):
    assert_close(learner.double(np.array([200.0])), reference.double(np.array([200.0])))


@points(1)
@promise("untouched")
@hint("double.untouched")
def test_the_numbers_stay_as_they_are(learner, reference):
    assert_close(learner.double(np.array([1.0])), reference.double(np.array([1.0])))
    assert_untouched(learner)
