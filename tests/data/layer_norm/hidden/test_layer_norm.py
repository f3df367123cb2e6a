"""The hidden checks of layer_norm, 10 points.

Only the first check has rows whose mean is not 0 already, so that keeping the mean costs one check and not all.
"""

import numpy as np

from autograder.checks import assert_close, assert_unshared, assert_untouched, hint, points, promise

ROW = np.array([-1.0, 1.0])
ONES, ZEROS = np.ones(2), np.zeros(2)


@points(3)
@promise("names", "shapes", "rows")
@hint("layer_norm.rows")
def test_the_features_of_a_row_get_mean_zero_and_variance_one(learner, reference, rng):
    for x in (np.array([1.0, 3.0]), np.array([0.0, 0.0, 3.0]), rng.normal(5.0, size=16)):
        arguments = x, np.ones(x.size), np.zeros(x.size), 0.0
        assert_close(learner.layer_norm(*arguments), reference.layer_norm(*arguments), terms=x.size, scale=8.0)


@points(2)
@promise("shapes", "axis")
@hint("layer_norm.axis")
def test_each_row_is_normalised_by_itself(learner):
    x = np.array([[1.0, -1.0], [-2.0, 2.0], [3.0, -3.0]])
    normalised = np.array([[1.0, -1.0], [-1.0, 1.0], [1.0, -1.0]])
    assert_close(learner.layer_norm(x, ONES, ZEROS, 0.0), normalised)
    assert_close(learner.layer_norm(x[:, None], ONES, ZEROS, 0.0), normalised[:, None])


@points(1)
@promise("epsilon")
@hint("layer_norm.epsilon")
def test_epsilon_is_added_to_the_variance(learner):
    assert_close(learner.layer_norm(ROW, ONES, ZEROS, epsilon=3.0), ROW / 2)
    assert_close(learner.layer_norm(ZEROS, ONES, ZEROS), ZEROS)


@points(2)
@promise("gain")
@hint("layer_norm.gain")
def test_each_feature_has_its_own_gain_and_shift(learner):
    given = learner.layer_norm(ROW, np.array([2.0, 3.0]), np.array([10.0, 20.0]), 0.0)
    assert_close(given, np.array([8.0, 23.0]))


@points(1)
@promise("dtype")
@hint("layer_norm.dtype")
def test_float32_comes_back_as_float32(learner):
    given = learner.layer_norm(ROW.astype(np.float32), 2 * ONES, ZEROS, 0.0)
    assert_close(given, np.array([-2.0, 2.0]), dtype=np.float32)


@points(1)
@promise("untouched")
@hint("layer_norm.untouched")
def test_the_argument_stays_as_it_is(learner):
    assert_close(learner.layer_norm(2 * ROW, ONES, ZEROS, 0.0), ROW)
    assert_untouched(learner)
    assert_unshared(learner)
