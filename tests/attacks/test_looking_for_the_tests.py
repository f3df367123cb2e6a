"""A submission that searches its own process and every folder finds no suite, no solution and no expected value."""

import textwrap

import numpy as np
import pytest

from autograder.sandbox.learner import LearnerException

SEARCH = """
import gc, os, sys, threading
from types import CodeType

def traces(parts, wanted):
    for part in parts:
        if type(part) is str and wanted in part:
            yield part
        elif type(part) is CodeType and wanted in repr((part.co_name, part.co_names, part.co_consts, part.co_filename)):
            yield part.co_name

def in_memory(backwards):
    wanted = backwards[::-1]
    gc.unfreeze()
    things = gc.get_objects()
    found = []
    for start in range(0, len(things), 1000):
        found += traces(gc.get_referents(*things[start:start + 1000]), wanted)
    return [text[:80] for text in found if text != wanted][:5]

def in_frames(backwards):
    wanted = backwards[::-1]
    found = []
    for frame in sys._current_frames().values():
        while frame is not None:
            for scope in (frame.f_locals, frame.f_globals):
                found += [str(key) for key, value in list(scope.items()) if key != "wanted" and wanted in str(key)]
            frame = frame.f_back
    return found[:5]

def numbers(backwards):
    wanted = backwards[::-1]
    gc.unfreeze()
    import numpy as np
    arrays = [thing for thing in gc.get_objects() if type(thing) is dict]
    found = [value for names in arrays for value in list(names.values()) if type(value) is np.ndarray]
    return [str(value) for value in found if value.dtype == float and np.any(value == wanted)]

def modules():
    return sorted(name for name in sys.modules if name.partition(".")[0] in ("autograder", "_pytest", "pytest"))

def files_of_frames():
    frame, found = sys._getframe(), []
    while frame is not None:
        found.append(os.path.basename(frame.f_code.co_filename))
        frame = frame.f_back
    return found

def readable(path):
    refused, seen = [], []
    for folder, folders, files in os.walk(path, onerror=lambda error: refused.append(error.errno)):
        seen += files
    return seen[:5], refused[:1]

def attend():
    import autograder.checks
"""
CANARIES = ["test_the_scores_are_left_alone", "powers / powers.sum", "EXPECTED_OF_THE_SUITE"]


@pytest.fixture
def searcher(learner_of):
    return learner_of(SEARCH, call_seconds=20.0)


@pytest.fixture
def beside_the_tests(solution):
    """Give the same search as it works where module and tests share a process, as in most graders."""
    suite = {"__name__": "suite"}
    text = "EXPECTED_OF_THE_SUITE = 1\ndef test_the_scores_are_left_alone(learner): ...\n"
    exec(compile(text, "test_softmax.py", "exec"), suite)
    searching = {"__name__": "softmax", "kept": [suite, solution]}
    exec(SEARCH.replace("gc.unfreeze()", ""), searching)
    return searching


@pytest.mark.parametrize("canary", CANARIES)
def test_beside_the_tests_the_search_succeeds(canary, beside_the_tests):
    assert beside_the_tests["in_memory"](canary[::-1])


@pytest.mark.parametrize("canary", [*CANARIES, "test_softmax.py", "assert_untouched", "pytest_runtest"])
def test_in_a_learners_process_memory_holds_no_trace(canary, searcher, graded, solution):
    # Graded first, by the same fork server, so that there has been something to find.
    assert graded(solution)[0].earned == 3
    assert searcher.in_memory(canary[::-1]) == []


def test_in_a_learners_process_frames_lead_nowhere(searcher):
    assert searcher.in_frames("ecnerefer") == searcher.in_frames("detcepxe") == []
    known = {"exercise.py", "worker.py", "zygote.py", "<frozen runpy>", "contextlib.py"}
    assert set(searcher.files_of_frames()) <= known


def test_the_kit_in_a_learners_process_is_the_sandbox_alone(searcher):
    names = searcher.modules()
    assert "autograder.sandbox.worker" in names
    assert [name for name in names if name != "autograder" and not name.startswith("autograder.sandbox")] == []
    assert "autograder.sandbox.learner" not in names


def test_what_checks_use_cannot_be_imported(searcher):
    with pytest.raises(LearnerException):
        searcher.attend()


def test_no_folder_of_the_course_can_be_walked(searcher, small_course):
    places = ["/", ".", "..", "/proc", "/tmp", "/home", "/root", "/dev", str(small_course.root)]
    places += [str(path) for path in (small_course.paths.suites, small_course.paths.solutions)]
    assert {place: searcher.readable(place) for place in places} == {place: ([], [13]) for place in places}


TELLERS = {
    "the solution": "open({solution!r}).read()",
    "the suite": "open({suite!r}).read()",
    "the course": "open({course!r}).read()",
    "the suite in a cache": "__import__('linecache').getline({suite!r}, 1) or 1 / 0",
    "the arguments of the program": "[line for line in __import__('sys').argv if 'suite' in line][0]",
    "the environment": "[value for value in __import__('os').environ.values() if 'course' in value][0]",
    "an open descriptor": "''.join(__import__('os').read(n, 1 << 16).decode() for n in range(4, 64))",
}


def test_an_error_message_that_tells_secrets_has_none_to_tell(graded, small_course):
    places = {
        "solution": str(small_course.solution_of(small_course.exercise("softmax"))),
        "suite": str(small_course.suite_of(small_course.exercise("softmax"))),
        "course": str(small_course.root / "course.toml"),
    }
    source = "def softmax(scores):\n    raise RuntimeError('told: ' + str({teller}))\n"
    reports = graded(*(source.format(teller=teller.format(**places)) for teller in TELLERS.values()))
    messages = [check.message for report in reports for exercise in report.exercises for check in exercise.checks]
    assert messages
    assert [message for message in messages if "told: " in message.partition("(line")[0]] == []


def test_no_expected_value_can_be_found(graded):
    hunting = """
        import gc, numpy as np
        def softmax(scores):
            gc.unfreeze()
            for thing in gc.get_objects():
                if type(thing) is np.ndarray and thing.shape == scores.shape and abs(thing.sum() - 1) < 1e-9:
                    return thing.copy()
            for names in [thing for thing in gc.get_objects() if type(thing) is dict]:
                for value in list(names.values()):
                    if type(value) is np.ndarray and value.shape == scores.shape and abs(value.sum() - 1) < 1e-9:
                        return value.copy()
            return scores
    """
    assert graded(hunting)[0].earned == 0
    right = np.array([0.25, 0.75])
    # The collector knows only containers of containers.
    beside = {"kept": {"expected": right, "check": lambda: None}}
    exec(textwrap.dedent(hunting).replace("gc.unfreeze()", ""), beside)
    assert np.array_equal(beside["softmax"](np.array([3.0, 1.0])), right)
