"""One fork server with the jail and one without for the whole run, and a course of three checks.

What the server without a jail runs is harmless by itself: it reaches for folders, processes and sockets made by a test.
"""

import subprocess
import textwrap

import pytest

from autograder import grade
from autograder.course import load_course
from autograder.sandbox import starting
from autograder.sandbox.jail import readable_paths
from autograder.sandbox.learner import Budget, Learner, Limits, Module
from autograder.sandbox.starting import ForkServer
from autograder.submission import Submission

WITHOUT_A_JAIL = """
from autograder.sandbox import jail, zygote
jail.enter = lambda settings: jail.Held(("process",), {"jail": "left out by a test"})
zygote.main()
"""

COURSE = """
name = "small"
title = "Small"
languages = ["en"]
feedback = "full"
[limits]
call_seconds = 1
memory_mib = 128
[[exercises]]
name = "softmax"
title = "Softmax"
points = 3
functions = ["softmax"]
libraries = ["numpy"]
banned = ["torch.*softmax*"]
"""

SUITE = """
import numpy as np
from autograder.checks import assert_close, assert_untouched, hint, points, raises

@points(1)
@hint("softmax.values")
def test_values(learner, reference):
    assert_close(learner.softmax(np.array([1.0, 2.0, 4.0])), reference.softmax(np.array([1.0, 2.0, 4.0])))

@points(1)
@hint("softmax.untouched")
def test_the_scores_are_left_alone(learner, reference):
    scores = np.array([0.5, -1.0])
    assert_close(learner.softmax(scores), reference.softmax(scores))
    assert_untouched(learner)

@points(1)
@hint("softmax.error")
def test_an_empty_axis_is_refused(learner, reference):
    with raises(ValueError, naming=("scores",)):
        learner.softmax(np.zeros((2, 0)))
    assert_close(learner.softmax(np.ones((2, 3))), reference.softmax(np.ones((2, 3))))
"""

SOLUTION = """
import numpy as np

def softmax(scores):
    if scores.shape[-1] == 0:
        raise ValueError("scores are empty")
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)
"""


@pytest.fixture(scope="session")
def fork_server():
    server = ForkServer(("numpy", "torch"))
    yield server
    server.close()


@pytest.fixture(scope="session")
def open_server():
    """Give a fork server like the other, whose workers give nothing up."""
    start = subprocess.Popen

    def without_a_jail(command, **options):
        at = command.index("-m")
        return start([*command[:at], "-c", WITHOUT_A_JAIL, *command[at + 2 :]], **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(starting.subprocess, "Popen", without_a_jail)
        server = ForkServer(("numpy",))
    yield server
    server.close()


@pytest.fixture
def learner_of(fork_server):
    """Give a function that puts source text into a learner's process, jailed unless another server is named."""
    opened = []

    def open_learner(source, *, server=fork_server, banned=(), also_readable=(), call_seconds=1.0, budget=None):
        learner = Learner(
            server,
            Module("exercise", textwrap.dedent(source).encode(), banned=tuple(banned)),
            limits=Limits(call_seconds=call_seconds, cpu_seconds=20, memory=128 << 20, output=1000, value=8 << 20),
            readable=(*readable_paths(), *also_readable),
            budget=budget or Budget(60.0, "exercise"),
            trust=server is not fork_server,
        )
        opened.append(learner)
        return learner

    yield open_learner
    for learner in opened:
        learner.close()


@pytest.fixture(scope="session")
def solution():
    return SOLUTION


@pytest.fixture(scope="session")
def small_course(tmp_path_factory):
    """Give a course with one exercise and three checks, one point each."""
    root = tmp_path_factory.mktemp("course")
    (root / "course.toml").write_text(COURSE)
    for folder, name, text in (
        ("autograder/suites", "test_softmax.py", SUITE),
        ("solutions", "softmax.py", SOLUTION),
        ("exercises", "softmax.py", "def softmax(scores):\n    raise NotImplementedError\n"),
    ):
        (root / folder).mkdir(parents=True)
        (root / folder / name).write_text(text)
    return load_course(root)


@pytest.fixture
def graded(small_course, fork_server, monkeypatch):
    """Give a function that grades modules in one run, with the fork server of all tests, and gives their reports."""
    monkeypatch.setattr(fork_server, "close", lambda: None)
    monkeypatch.setattr(grade, "starter_for", lambda libraries: fork_server)

    def grade_sources(*sources):
        submissions = [
            Submission(str(number), {"softmax": textwrap.dedent(source).encode()}, (), {})
            for number, source in enumerate(sources)
        ]
        reports = []
        grade.grade_all(submissions, small_course, receive=reports.append)
        return reports

    return grade_sources
