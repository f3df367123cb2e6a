"""A check that has passed is not computed again for whoever answers alike, and nobody's mark is another for it."""

import tracemalloc
from pathlib import Path
from types import ModuleType

import msgspec
import numpy as np
import pytest

from autograder.course import find_course, load_course
from autograder.faults.mutant import source_of
from autograder.faults.shelf import Families
from autograder.grade import grade_all
from autograder.remembered import MOST_WAYS
from autograder.report import Outcome
from autograder.sandbox import ahead
from autograder.session import with_checks
from autograder.submission import Submission

SUITE = """
import numpy as np
from autograder.checks import assert_close, assert_untouched, insist, points, raises, say

runs = []

@points(1)
def test_three_numbers(learner):
    runs.append("numbers")
    for number in (1.0, 2.0, 3.0):
        assert_close(learner.double(np.array([number])), np.array([2 * number]))
        assert_untouched(learner)

@points(1)
def test_a_word_is_refused(learner):
    runs.append("word")
    with raises(TypeError, naming=("number",)):
        learner.double("one")
    assert_close(learner.double(np.ones(1)), np.full(1, 2.0))

@points(1)
def test_what_comes_of_chance(learner):
    runs.append("chance")
    insist(learner.drawn() < 1.0, say("too much"))
"""
RIGHT = """
import numpy as np, random
ASKED = []
def double(number):
    ASKED.append(1)
    if isinstance(number, str):
        raise TypeError("a number, please")
    return {double}
def asked():
    return len(ASKED)
def drawn():
    return random.random()
"""


def module(double="number * 2"):
    return RIGHT.format(double=double)


class DeskOfOne:
    def __init__(self, learner):
        self._learner = learner

    def learner(self, exercise):
        return self._learner

    def reference(self, exercise):
        return ModuleType(exercise)


@pytest.fixture
def graded(tmp_path, learner_of):
    """Give a function that runs the suite for one module after the other, and tells what it did itself for each."""
    suite = tmp_path / "test_double.py"

    def run(*sources, text=SUITE, at_once=True, **options):
        suite.write_text(text)
        told = []

        def body(checks):
            checks.asks_at_once = at_once
            runs = checks._items["double"][0].module.runs
            for source in sources:
                runs.clear()
                learner = learner_of(source, **options)
                learner.load()
                results = checks.run("double", DeskOfOne(learner))
                told.append((results, list(runs), learner))

        with_checks([suite], body)
        return told

    return run


def outcomes(results):
    return [result.outcome for result in results]


PASSED = [Outcome.PASSED] * 3


def test_who_answers_alike_passes_without_the_check(graded):
    (first, ran, _), (second, again, learner) = graded(module(), module("number + number"))
    assert outcomes(first) == outcomes(second) == PASSED
    assert ran == ["numbers", "word", "chance"]
    assert again == []
    assert [result.earned for result in second] == [1, 1, 1]
    assert learner.asked() == 5


def test_what_is_asked_costs_its_time_all_the_same(graded):
    slow = module("(time.sleep(0.05), number * 2)[1]").replace("import", "import time,", 1)
    (_, _, _), (results, ran, learner) = graded(module(), slow)
    assert (outcomes(results), ran) == (PASSED, [])
    assert results[0].seconds > 0.15
    assert learner.seconds > 0.2


@pytest.mark.parametrize(
    ("double", "message"),
    [
        ("number * 3", "returned [3.], right is [2.]"),
        ("number * 2 if number < 3 else number", "returned [3.], right is [6.]"),
        ("number.__imul__(2)", "the call changed its argument number"),
        ("(number * 2).astype('f4')", "the dtype is float32, not float64"),
    ],
)
def test_at_another_answer_the_check_is_run_and_nothing_is_asked_twice(graded, double, message):
    ((alone, _, _),) = graded(module(double))
    (_, _, _), (results, ran, learner) = graded(module(), module(double))
    assert ran[0] == "numbers"
    assert results[0].message == message
    for result, other in zip(results, alone, strict=True):
        assert msgspec.structs.replace(result, seconds=0) == msgspec.structs.replace(other, seconds=0)
    # Three numbers, a word and one more number: all of it is asked before the first answer is judged.
    assert learner.asked() == 5


def test_another_right_answer_is_known_from_then_on_and_so_is_the_first(graded):
    rounded = module("number * 2 * (1 + 2e-16)")
    told = graded(module(), rounded, rounded, module())
    assert [outcomes(results) for results, _, _ in told] == [PASSED] * 4
    assert [ran for _, ran, _ in told] == [["numbers", "word", "chance"], ["numbers", "word"], [], []]


def test_an_exception_is_the_same_on_whatever_line_it_is_raised(graded):
    lower = module().replace("    ASKED.append(1)\n", "    ASKED.append(1)\n\n    # A word is no number.\n")
    otherwise = module().replace("a number, please", "not a number")
    told = graded(module(), lower, otherwise)
    assert [outcomes(results) for results, _, _ in told] == [PASSED] * 3
    assert [ran for _, ran, _ in told[1:]] == [[], ["word"]]


def test_an_exception_without_the_name_is_no_more_right_than_before(graded):
    _, (results, _, _) = graded(module(), module().replace("a number, please", "no"))
    assert outcomes(results) == [Outcome.PASSED, Outcome.FAILED, Outcome.PASSED]
    assert results[1].message == "the message of the TypeError should name number; it says: no"


@pytest.mark.parametrize(
    ("double", "outcome"),
    [
        ("number * 2 if number < 2 else os._exit(3)", Outcome.CRASHED),
        ("number * 2 if number < 2 else exit()", Outcome.CRASHED),
        ("number * 2 if number < 2 else time.sleep(9)", Outcome.TIMED_OUT),
        ("number * 2 if number < 2 else bytearray(1 << 40)", Outcome.OUT_OF_MEMORY),
    ],
)
def test_a_process_that_ends_on_the_way_is_told_as_ever(graded, limits, double, outcome):
    ending = module(double).replace("import", "import os, time,", 1)
    brief = msgspec.structs.replace(limits, call_seconds=0.4)
    ((alone, _, _),) = graded(ending, limits=brief)
    _, (results, ran, learner), (after, again, _) = graded(module(), ending, module(), limits=brief)
    assert outcomes(results) == [outcome, Outcome.PASSED, Outcome.PASSED]
    assert [result.message for result in results] == [result.message for result in alone]
    assert results[0].counterexample == "double([2.])"
    assert ran[0] == "numbers"
    assert learner.time_outs == (outcome is Outcome.TIMED_OUT)
    assert (outcomes(after), again) == (PASSED, [])


def test_what_is_asked_again_costs_its_time_once(graded, limits):
    hanging = module("number * 2 if number < 2 else time.sleep(9)").replace("import", "import time,", 1)
    brief = msgspec.structs.replace(limits, call_seconds=1.0)
    _, (results, _, learner) = graded(module(), hanging, limits=brief)
    assert outcomes(results) == [Outcome.TIMED_OUT, Outcome.PASSED, Outcome.PASSED]
    assert 1.0 <= results[0].seconds < 1.9
    assert learner.is_hasty is False


def test_a_module_that_ended_its_process_is_asked_one_thing_at_a_time(graded):
    ending = module("number * 2 if number < 3 else os._exit(3)").replace("import", "import os,", 1)
    _, (results, ran, learner) = graded(module(), ending)
    assert outcomes(results) == [Outcome.CRASHED, Outcome.PASSED, Outcome.PASSED]
    # The check ended its process again, so that there was none to be asked ahead of the next.
    assert ran == ["numbers", "word"]
    assert learner.asked() == 2


def test_what_is_much_is_asked_in_portions(graded):
    text = """
import numpy as np
from autograder.checks import assert_close, points
runs = []
@points(1)
def test_many_numbers(learner):
    runs.append("ran")
    for size in range(1, 400, 5):
        assert_close(learner.double(np.ones(size)), np.full(size, 2.0))
"""
    wrong_at_the_end = module("number * 2 if len(number) < 396 else number")
    told = graded(module(), module(), wrong_at_the_end, text=text)
    assert [(results[0].outcome, ran) for results, ran, _ in told] == [
        (Outcome.PASSED, ["ran"]),
        (Outcome.PASSED, []),
        (Outcome.FAILED, ["ran"]),
    ]
    assert told[2][2].asked() == 80


def test_answers_that_are_known_are_not_taken_apart(graded, monkeypatch):
    taken_apart = []
    monkeypatch.setattr(ahead, "answers_in", taken_apart.append)
    _, (results, ran, _) = graded(module(), module("number + number"), text=COUNTING)
    assert ([result.outcome for result in results], ran, taken_apart) == ([Outcome.PASSED] * 2, [], [])


@pytest.mark.parametrize(
    "said", ["[bytes([byte]) for byte in opening + answer]", "[opening, answer]"], ids=["byte by byte", "in two pieces"]
)
def test_a_known_answer_that_drips_has_the_time_of_one_call_and_no_more(graded, limits, learner_of, said):
    first = learner_of(module())
    first.double(np.ones(9))
    (exchange,) = first.transcript.exchanges
    dripping = f"""
import msgspec, os, struct, time
asked = []
def double(number):
    asked.append(1)
    if len(asked) == 2:
        # The sheet after the one to load the module and that of the first check.
        serial = msgspec.msgpack.encode(3)
        opening = struct.pack("!II", len(serial), 0) + serial
        answer = bytes.fromhex("{exchange.answer.frame(1).hex()}")
        for piece in {said}:
            time.sleep(0.6)
            os.write(3, piece)
    return number * 2
"""
    brief = msgspec.structs.replace(limits, call_seconds=1.0)
    text = COUNTING.replace("range(1, 64)", "range(1, 2)")
    _, (results, _, learner) = graded(module(), dripping, text=text, limits=brief)
    assert outcomes(results) == [Outcome.PASSED, Outcome.TIMED_OUT]
    assert results[1].message == "one call took longer than 1 s"
    assert learner.seconds < 2


def test_a_check_that_changes_what_it_was_given_lets_no_wrong_answer_pass(graded):
    text = """
import numpy as np
from autograder.checks import insist, points, say
runs = []
@points(1)
def test_in_place(learner):
    runs.append("ran")
    doubled = learner.double(np.array([1.0, 2.0]))
    doubled -= np.array([2.0, 4.0])
    insist(abs(doubled).max() < 0.5, say("another number"))
"""
    told = graded(module(), module("np.zeros(2)"), module("number + number"), text=text)
    assert [results[0].outcome for results, _, _ in told] == [Outcome.PASSED, Outcome.FAILED, Outcome.PASSED]
    assert [ran for _, ran, _ in told] == [["ran"], ["ran"], []]


def test_a_check_that_has_asked_otherwise_after_the_same_answers_is_always_run(graded):
    text = SUITE.replace("runs = []", "runs, every = [], []").replace("(1.0, 2.0, 3.0)", "(1.0, 2.0, 3.0 + len(every))")
    text = text.replace('runs.append("numbers")', "runs.append('numbers'); every.append(1)")
    rounded = module("number * 2 if number < 3 else number * 2 * (1 + 2e-16)")
    told = graded(module(), rounded, module(), module(), text=text)
    assert [results[0].outcome for results, _, _ in told] == [Outcome.PASSED] * 4
    assert [ran[:1] for _, ran, _ in told] == [["numbers"]] * 4


def test_a_forbidden_call_is_noticed_where_the_answer_is_right(graded):
    cheating = module("np.add(number, number)")
    _, (results, _, learner) = graded(module(), cheating, banned=("numpy.add",))
    assert outcomes(results) == PASSED
    assert {violation.name for violation in learner.violations} == {"numpy.add"}


def test_what_a_forbidden_call_answered_is_not_remembered(graded):
    cheating = module("np.add(number, number)")
    _, (_, ran, learner) = graded(cheating, cheating, banned=("numpy.add",))
    assert ran == ["numbers", "word", "chance"]
    assert learner.violations


def test_a_check_that_asks_something_else_each_time_is_run(graded):
    text = SUITE.replace("runs = []", "runs, every = [], []").replace(
        "(1.0, 2.0, 3.0)", "(1.0, float(len(every)), 3.0)"
    )
    text = text.replace('runs.append("numbers")', "runs.append('numbers'); every.append(1)")
    wrong_there = module("number * (2 if number < 3 else 2.5)")
    _, (results, ran, _) = graded(module(), wrong_there, text=text)
    assert (results[0].outcome, ran[0]) == (Outcome.FAILED, "numbers")
    assert results[0].message == "returned [7.5], right is [6.]"


def test_only_so_many_ways_to_pass_are_kept(graded):
    text = """
from autograder.checks import insist, points, say
runs = []
@points(1)
def test_about_two(learner):
    runs.append("ran")
    insist(abs(learner.double(1.0) - 2.0) < 0.5, say("another number"))
"""
    ways = [module(f"number * 2 + {number} / 1000") for number in range(MOST_WAYS + 1)]
    told = graded(*ways, ways[0], ways[-2], ways[-1], text=text)
    assert {results[0].outcome for results, _, _ in told} == {Outcome.PASSED}
    assert [ran for _, ran, _ in told[-3:]] == [[], [], ["ran"]]


def test_the_numbers_of_chance_are_a_check_s_own(graded):
    alone = SUITE[: SUITE.index("@points(1)\ndef test_three")] + SUITE[SUITE.index("@points(1)\ndef test_what") :]
    ((_, _, learner),) = graded(module(), text=alone)
    learner.begin("test_what_comes_of_chance")
    exactly = f"learner.drawn() == {learner.drawn()!r}"
    for suite in (alone, SUITE):
        ((results, _, _),) = graded(module(), text=suite.replace("learner.drawn() < 1.0", exactly))
        assert results[-1].outcome is Outcome.PASSED


def test_a_module_made_in_one_check_is_not_there_in_the_next(learner_of):
    learner = learner_of("class Made:\n    def __init__(self, n): self.n = n\n    def __call__(self): return self.n")
    learner.begin("one")
    first, second = learner.new("Made", 1), learner.new("Made", 2)
    assert [first(), second()] == [1, 2]
    learner.begin("another")
    third = learner.new("Made", 3)
    assert third() == 3
    for gone in (first, second):
        with pytest.raises(BaseException, match="the process that held this module has ended"):
            gone()


@pytest.mark.parametrize(("exercise", "every"), [("softmax", 5), ("multi_head", 16)])
def test_a_fault_gets_the_same_report_after_right_solutions_as_alone(exercise, every):
    course = load_course(find_course(Path(__file__).parent))
    course = msgspec.structs.replace(course, exercises=(course.exercise(exercise),))
    solution = (course.paths.solutions / f"{exercise}.py").read_bytes()
    family = Families(course).of(exercise)
    wrong = [source_of(family, faults) for faults in family.singles()[::every]]

    def reports(sources):
        found = []
        grade_all([Submission("one", {exercise: source}) for source in sources], course, receive=found.append)
        return [[msgspec.structs.replace(check, seconds=0) for check in report.exercises[0].checks] for report in found]

    together = reports([solution, solution, *wrong, solution])
    assert together[0] == together[1] == together[-1]
    for source, checks in zip(wrong, together[2:-1], strict=True):
        assert reports([source]) == [checks]


COUNTING = """
import numpy as np
from autograder.checks import assert_close, points
runs = []

@points(1)
def test_many_numbers(learner):
    for size in range(1, 64):
        assert_close(learner.double(np.ones(size)), np.full(size, 2.0))

@points(1)
def test_one_more(learner):
    assert_close(learner.double(np.ones(9)), np.full(9, 2.0))
"""


@pytest.mark.parametrize("at_once", [True, False])
def test_a_module_that_counts_its_calls_gets_the_same_marks_whoever_came_before(graded, at_once):
    rounded = "number * 2 * (1 + 2e-16)"
    counting = module(f"{rounded} if len(ASKED) != 33 and len(ASKED) < 60 else number")
    first = [module()] if at_once else []
    *_, (alone, _, _) = graded(*first, counting, text=COUNTING, at_once=at_once)
    *_, (later, _, _) = graded(module(), module(rounded), counting, text=COUNTING, at_once=at_once)
    assert outcomes(alone) == outcomes(later)


def test_what_the_check_did_not_want_to_know_costs_nothing(graded):
    slow = module("(time.sleep(0.6), number)[1]").replace("import", "import time,", 1)
    ((alone, _, _),) = graded(slow)
    _, (later, _, learner) = graded(module(), slow)
    assert [result.seconds for result in later] == pytest.approx([result.seconds for result in alone], abs=0.5)
    assert learner.seconds == pytest.approx(sum(result.seconds for result in later), abs=0.5)


def test_a_module_that_is_asked_too_much_in_vain_is_asked_one_thing_at_a_time(graded):
    slow = module("(time.sleep(0.1), number)[1]").replace("import", "import time,", 1)
    _, (_, _, learner) = graded(module(), slow, text=COUNTING)
    assert learner.is_hasty is False


def test_portions_before_the_one_that_ended_the_process_cost_their_time_once(graded):
    ending = module("(time.sleep(0.05), number * 2)[1] if len(number) < 60 else os._exit(3)")
    ending = ending.replace("import", "import os, time,", 1)
    ((alone, _, _),) = graded(ending, text=COUNTING)
    _, (later, _, _) = graded(module(), ending, text=COUNTING)
    assert later[0].seconds == pytest.approx(alone[0].seconds, abs=0.8)


@pytest.mark.parametrize("size", ["size", "5_000 + size"], ids=["many to a sheet", "one to a sheet"])
def test_answers_that_wait_take_no_more_memory_than_one_may(graded, limits, size):
    text = COUNTING.replace("np.ones(size)", f"np.ones({size})").replace("np.full(size", f"np.full({size}")
    text = text.replace("range(1, 64)", "range(1, 12)")
    huge = module("np.zeros(3 << 20)")
    limits = msgspec.structs.replace(limits, value=32 << 20, memory=1 << 30)
    tracemalloc.start()
    try:
        _, (results, _, learner) = graded(module(), huge, text=text, limits=limits)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (results[0].outcome, learner.is_hasty) == (Outcome.FAILED, False)
    assert peak < 300 << 20
