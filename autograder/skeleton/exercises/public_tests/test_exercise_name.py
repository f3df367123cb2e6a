"""Try exercise_name: run `pytest public_tests/test_exercise_name.py` in the folder that holds exercise_name.py."""

import numpy as np
import pytest
from exercise_name import exercise_name


@pytest.mark.contract("doubled")
def test_each_number_is_doubled():
    np.testing.assert_allclose(exercise_name(np.array([1.0, 2.5])), [2.0, 5.0])
