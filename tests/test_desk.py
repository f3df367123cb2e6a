"""What a learner's process is asked for: the libraries that its module may need, and no others."""

from pathlib import Path

import pytest

from autograder.course import load_course
from autograder.desk import References, SubmissionDesk
from autograder.submission import Submission

COURSE = load_course(Path(__file__).resolve().parents[1])


@pytest.mark.parametrize(
    ("exercise", "source", "libraries"),
    [
        ("softmax", b"import numpy as np", ("numpy",)),
        ("softmax", b"import numpy as np\nimport torch", ("numpy", "torch")),
        ("softmax", b"def softmax(scores):\n    import torch.nn", ("numpy", "torch")),
        ("causal_mask", b"", ("numpy",)),
        ("attention", b"", ("numpy", "torch")),
        ("multi_head", b"from attention import attention", ("numpy", "torch")),
    ],
)
def test_a_process_has_the_libraries_of_its_exercise_and_those_that_its_module_names(exercise, source, libraries):
    submission = Submission("amara", {exercise: source})
    desk = SubmissionDesk(submission, COURSE, None, References(COURSE), trust=False)
    assert desk.learner(exercise)._module.libraries == libraries
