"""One collection, many runs: the checks of a suite against whatever module lies on the desk."""

from types import ModuleType

import numpy as np
import pytest

from autograder.checks import served_with
from autograder.compare import SuiteMistake
from autograder.report import Figure, Outcome
from autograder.sandbox.ended import as_exception
from autograder.sandbox.learner import (
    Crashed,
    Exited,
    LastCall,
    NotStarted,
    OutOfMemory,
    TimedOut,
    Transcript,
    UnfitResult,
)
from autograder.sandbox.wire import Facts, Frame, Raised
from autograder.session import SessionError, explain, outcome_of, raised, with_checks

SUITE = """
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from autograder.checks import assert_close, hint, points


@points(2)
@hint("double.value")
def test_one_is_doubled(learner, reference):
    assert_close(learner.double(np.array([1.0])), reference.double(np.array([1.0])))


@points(1)
def test_the_random_numbers_are_doubled(learner, reference, rng):
    numbers = rng.normal(size=2)
    assert_close(learner.double(numbers), reference.double(numbers))


@points(1)
@settings(derandomize=True, database=None, deadline=None, max_examples=10, suppress_health_check=list(HealthCheck))
@given(st.floats(-4, 4, width=16))
def test_any_number_is_doubled(learner, reference, number):
    assert_close(learner.double(np.array([number])), reference.double(np.array([number])))
"""


class FakeLearner:
    """Calls a function in this process, and keeps what the session reads."""

    def __init__(self, function):
        self._function = function
        self.last_call = None
        self.seconds = 0.0
        self.time_outs = 0
        self.out_of_time = ""
        self.calls = []
        self.violations = []
        # Without a process there is nobody to be asked ahead of a check.
        self.is_running = False

    def give_back(self):
        pass

    def begin(self, check):
        self.last_call = None
        self.transcript = Transcript()

    def double(self, *arguments):
        self.last_call = LastCall("double", arguments, {})
        self.calls.append(arguments[0].tolist())
        self.seconds += 0.25
        try:
            return self._function(*arguments)
        except TimedOut:
            self.time_outs += 1
            raise


class FakeDesk:
    def __init__(self, function):
        self.fake = FakeLearner(function)

    def learner(self, exercise):
        return self.fake

    def reference(self, exercise):
        module = ModuleType(exercise)
        module.double = lambda numbers: numbers * 2
        return module


@pytest.fixture
def suite_of(tmp_path):
    def write(text, name="double"):
        path = tmp_path / "suites" / f"test_{name}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        return path

    return write


def run(suites, *functions, exercise="double"):
    """Run the checks of an exercise once for each function; give the results of each run."""
    runs = []

    def body(checks):
        runs.extend(checks.run(exercise, FakeDesk(function)) for function in functions)

    with_checks(suites, body)
    return runs


def right(numbers):
    return numbers * 2


def raising(error):
    def function(numbers):
        raise error

    return function


def test_the_checks_run_again_for_each_submission_and_never_remember_the_last(suite_of):
    first, second, third = run([suite_of(SUITE)], right, lambda numbers: numbers * 3, right)
    assert [result.outcome for result in first] == [Outcome.PASSED] * 3
    assert [result.outcome for result in second] == [Outcome.FAILED] * 3
    assert [(result.outcome, result.earned) for result in third] == [(Outcome.PASSED, points) for points in (2, 1, 1)]


def test_each_submission_is_asked_the_same(suite_of):
    desks = [FakeDesk(right), FakeDesk(right)]
    with_checks([suite_of(SUITE)], lambda checks: [checks.run("double", desk) for desk in desks])
    assert desks[0].fake.calls == desks[1].fake.calls
    assert len(desks[0].fake.calls) == 12


def test_a_result_says_what_the_check_says_of_itself(suite_of):
    ((result, *_),) = run([suite_of(SUITE)], right)
    assert (result.name, result.title) == ("test_one_is_doubled", "one is doubled")
    assert (result.points, result.earned, result.hint) == (2, 2, "double.value")
    assert (result.message, result.counterexample, result.seconds) == ("", "", 0.25)


def test_a_failure_shows_the_last_call(suite_of):
    ((result, _, of_hypothesis),) = run([suite_of(SUITE)], lambda numbers: numbers * 3)
    assert result.message == "returned [3.], right is [2.]"
    assert result.counterexample == "double([1.])"
    assert (result.earned, result.points) == (0, 2)
    # Hypothesis replays the smallest example last, so that is the call to show.
    assert of_hypothesis.counterexample == "double([1.])"


def test_the_figures_of_a_failure_are_drawn_from_its_last_call_and_of_a_passed_check_there_are_none(suite_of):
    asked = []

    def draw(call, failure):
        asked.append((call.function, str(failure)))
        return [Figure("numbers", "numbers", "", "column", [["1"]])], "double(numbers)"

    results = []
    desk = FakeDesk(lambda numbers: numbers * 3 if numbers.size == 1 and numbers[0] == 1 else numbers * 2)
    with_checks([suite_of(SUITE)], lambda checks: results.extend(checks.run("double", desk, draw)))
    assert asked[0] == ("double", "returned [3.], right is [2.]")
    assert [(len(result.figures), result.call) for result in results[:2]] == [(1, "double(numbers)"), (0, "")]


def test_the_exercise_of_a_suite_is_in_its_name(suite_of):
    suites = [suite_of(SUITE), suite_of("def test_other(learner):\n    pass\n", "other")]
    ((result,),) = run(suites, right, exercise="other")
    assert (result.name, result.points, result.outcome) == ("test_other", 0, Outcome.PASSED)
    assert run(suites, right, exercise="unknown") == [[]]


def test_a_case_of_a_check_has_the_name_of_the_check(suite_of):
    text = "import pytest\n@pytest.mark.parametrize('n', [1, 2])\ndef test_a_case(learner, n):\n    pass\n"
    (results,) = run([suite_of(text)], right)
    assert [result.name for result in results] == ["test_a_case", "test_a_case"]


def test_checks_that_are_not_run_are_lost_for_one_reason(suite_of):
    lost = []
    with_checks([suite_of(SUITE)], lambda checks: lost.extend(checks.unrun("double", Outcome.FAILED, "not handed in")))
    assert [(result.message, result.outcome, result.earned) for result in lost] == [
        ("not handed in", Outcome.FAILED, 0)
    ] * 3
    assert [result.points for result in lost] == [2, 1, 1]


def test_what_is_used_up_is_the_reason_that_the_rest_is_not_run(suite_of):
    desk = FakeDesk(raising(TimedOut("one call took longer than 1 s")))
    desk.learner("double").out_of_time = "the 60 s for the exercise are used up"
    results = []
    with_checks([suite_of(SUITE)], lambda checks: results.extend(checks.run("double", desk)))
    assert {result.message for result in results} == {"not run: the 60 s for the exercise are used up"}
    assert {result.outcome for result in results} == {Outcome.TIMED_OUT}


def test_after_two_time_outs_the_rest_is_not_run(suite_of):
    desk = FakeDesk(raising(TimedOut("one call took longer than 1 s")))
    results = []
    with_checks([suite_of(SUITE)], lambda checks: results.extend(checks.run("double", desk)))
    assert [result.message for result in results] == [
        "one call took longer than 1 s",
        "one call took longer than 1 s",
        "not run: two checks before it ran out of time",
    ]
    assert {result.outcome for result in results} == {Outcome.TIMED_OUT}
    assert len(desk.fake.calls) == 2


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (TimedOut("slow"), Outcome.TIMED_OUT),
        (OutOfMemory("large"), Outcome.OUT_OF_MEMORY),
        (Exited("left"), Outcome.CRASHED),
        (Crashed("signal 9"), Outcome.CRASHED),
        (UnfitResult("a set came back"), Outcome.FAILED),
        (AssertionError("no"), Outcome.FAILED),
    ],
)
def test_the_end_of_a_check_has_its_outcome_and_its_words(suite_of, error, outcome):
    ((result, *_),) = run([suite_of(SUITE)], raising(error))
    assert (result.outcome, result.message, result.earned) == (outcome, str(error), 0)
    assert outcome_of(error) is outcome


@pytest.mark.parametrize("error", [NotStarted("no process"), SuiteMistake("says nothing")])
def test_a_failure_of_ours_is_no_failure_of_the_check(suite_of, error):
    with pytest.raises(type(error)) as caught:
        run([suite_of(SUITE)], raising(error))
    assert caught.value is error


def test_a_failure_of_ours_leaves_the_session_ready_for_the_next_run(suite_of):
    suites = [suite_of(SUITE), suite_of(SUITE, "other")]
    results = []

    def body(checks):
        with pytest.raises(NotStarted):
            checks.run("double", FakeDesk(raising(NotStarted("no process"))))
        results.extend(checks.run("other", FakeDesk(right)))

    with_checks(suites, body)
    assert [result.outcome for result in results] == [Outcome.PASSED] * 3


def test_a_check_that_cannot_be_set_up_is_a_failure_of_ours(suite_of):
    text = (
        "import pytest\n@pytest.fixture\ndef broken():\n    raise OSError('no disk')\ndef test_it(broken):\n    pass\n"
    )
    with pytest.raises(SessionError, match="test_it: setup failed: no disk"):
        run([suite_of(text)], right)


@pytest.mark.parametrize(
    ("text", "trouble"),
    [
        ("import no_such_module", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("def test_(:", "SyntaxError: invalid syntax"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
    ],
)
def test_a_suite_that_cannot_be_collected_is_named_with_the_reason_on_one_line(suite_of, text, trouble):
    with pytest.raises(SessionError) as caught:
        run([suite_of(SUITE), suite_of(text, "broken")], right)
    assert str(caught.value) == f"the suites cannot be collected (pytest status 1): test_broken.py: {trouble}"


def test_what_is_wrong_with_a_value_is_said_for_the_learner():
    learner = FakeLearner(right)
    assert str(explain(TypeError("'NoneType' object is not iterable"), learner)) == (
        "what the module returned cannot be used: TypeError: 'NoneType' object is not iterable"
    )
    learner.double(np.ones(1))
    assert str(explain(ValueError("too many values"), learner)) == (
        "what double returned cannot be used: ValueError: too many values"
    )
    assert explain(AssertionError("assert 1 == 2"), learner) == "assert 1 == 2"
    assert explain(AssertionError("the weights\nassert False"), learner) == "the weights"
    assert str(explain(AssertionError(), learner)) == "the check does not hold"


def learner_raised(name, message, frames=()):
    return as_exception(Raised("ValueError", name, message, frames, Facts()))


def test_what_the_learner_raised_is_said_with_its_line():
    frames = (Frame(3, "f", "return g(x)"), Frame(7, "g", "raise Mine"))
    assert str(raised(learner_raised("Mine", "no", frames))) == "Mine: no (line 7: raise Mine)"
    assert str(raised(learner_raised("ValueError", "", (Frame(7, "g", ""),)))) == "ValueError (line 7)"
    assert str(raised(learner_raised("ValueError", "no"))) == "ValueError: no"
    assert str(raised(learner_raised("NotImplementedError", "", frames))) == "not written yet (NotImplementedError)"
    assert str(raised(learner_raised("NotDefined", "softmax.py does not define softmax"))) == (
        "softmax.py does not define softmax"
    )


def test_an_interruption_reaches_the_one_who_started_the_run(suite_of):
    def body(checks):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        with_checks([suite_of(SUITE)], body)


SERVED = """
import pytest
from autograder.checks import points


@points(1)
def test_plain(learner, rng):
    pass


@points(1)
@pytest.mark.parametrize("number", [1, 2])
def test_with_a_parameter(learner, number):
    assert number


@points(1)
def test_with_a_fixture_of_pytest_s(learner, tmp_path):
    assert tmp_path.exists()


@points(1)
@pytest.mark.xfail(strict=True)
def test_that_must_fail(learner):
    pass


@points(1)
def test_that_asks_for_the_request(learner, request):
    assert request.function is test_that_asks_for_the_request
"""

WITH_FIXTURES = """
import pytest
from autograder.checks import points

@pytest.fixture
def rng():
    return 7

@pytest.fixture(autouse=True)
def before(request):
    request.module.SEEN.append(request.function.__name__)

SEEN = []

@points(1)
def test_own_numbers(learner, rng):
    assert rng == 7
    assert SEEN == ["test_own_numbers"]
"""


def by_pytest(tmp_path, source):
    """Run a suite, and name the checks that went through pytest's own steps, and those that passed."""
    suite = tmp_path / "test_double.py"
    suite.write_text(source)
    found = {}

    def body(checks):
        slow = [item.name for item in checks._items["double"] if served_with(item) is None]
        results = checks.run("double", FakeDesk(lambda numbers: 2 * numbers))
        found.update(slow=slow, passed=[result.name for result in results if result.outcome is Outcome.PASSED])

    with_checks([suite], body)
    return found["slow"], found["passed"]


def test_a_check_that_asks_for_more_than_our_fixtures_goes_through_pytest(tmp_path):
    slow, passed = by_pytest(tmp_path, SERVED)
    assert slow == [
        "test_with_a_parameter[1]",
        "test_with_a_parameter[2]",
        "test_with_a_fixture_of_pytest_s",
        "test_that_must_fail",
        "test_that_asks_for_the_request",
    ]
    assert set(passed) == {
        "test_plain",
        "test_with_a_parameter",
        "test_with_a_fixture_of_pytest_s",
        "test_that_must_fail",
        "test_that_asks_for_the_request",
    }


def test_fixtures_of_a_suite_s_own_are_obeyed(tmp_path):
    assert by_pytest(tmp_path, WITH_FIXTURES) == (["test_own_numbers"], ["test_own_numbers"])
