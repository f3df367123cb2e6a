"""The feedback policy: what it leaves of a result, and that nothing else is left in any output."""

import msgspec
import pytest

from autograder.course import FEEDBACK
from autograder.language import Phrase
from autograder.policy import allowed, allowed_check, allowed_report
from autograder.report import CheckResult, Diagnosis, ExerciseResult, Figure, Outcome, Report

SECRET = "4711.25"
FIGURE = Figure(f"scores {SECRET}", "numbers", f"rows {SECRET}", f"columns {SECRET}", [[SECRET]])


def check(**fields):
    given = {"name": "test_ties", "title": "ties", "outcome": Outcome.FAILED, "points": 2.0, "earned": 0.0}
    return CheckResult(**given | fields)


FAILED = check(
    message=f"returned {SECRET}",
    hint="softmax.shift",
    counterexample=f"softmax([{SECRET}])",
    phrase=Phrase("returned {value}", {"value": SECRET}),
    figures=[FIGURE],
)
RESULT = ExerciseResult(
    "softmax",
    20.0,
    18.0,
    diagnosis=[Diagnosis("no_shift", {"en": "No maximum.", "zh": "没有减最大值。"}, f"softmax([{SECRET}])", [FIGURE])],
    checks=[check(name="test_sums", title="sums", outcome=Outcome.PASSED, earned=2.0), FAILED],
)


def texts(result):
    return msgspec.json.encode(result).decode()


def test_full_shows_everything():
    assert allowed(RESULT, "full") == RESULT


def test_hint_shows_titles_hints_and_the_words_of_the_diagnosis():
    shown = allowed(RESULT, "hint")
    assert shown.checks == [RESULT.checks[0], check(hint="softmax.shift")]
    assert shown.diagnosis == [Diagnosis("no_shift", {"en": "No maximum.", "zh": "没有减最大值。"})]


def test_title_shows_titles_and_how_each_check_ended():
    shown = allowed(RESULT, "title")
    assert shown.checks == [RESULT.checks[0], check()]
    assert shown.diagnosis == []


def test_none_shows_the_marks_and_how_many_checks_passed():
    shown = allowed(RESULT, "none")
    assert shown.checks == [CheckResult("", "", outcome, 0, 0) for outcome in (Outcome.PASSED, Outcome.FAILED)]
    assert (shown.points, shown.earned, shown.diagnosis) == (20, 18, [])
    assert not shown.passed


@pytest.mark.parametrize("policy", [policy for policy in FEEDBACK if policy != "full"] + ["", "FULL"])
def test_no_input_and_no_value_is_left_below_full(policy):
    assert SECRET in texts(RESULT)
    assert SECRET not in texts(allowed(RESULT, policy))
    report = Report(submission="ada", status="graded", points=20, exercises=[RESULT])
    assert SECRET not in texts(allowed_report(report, policy))


def test_a_word_that_is_no_policy_shows_as_little_as_none():
    assert allowed(RESULT, "al") == allowed(RESULT, "none")


def test_what_is_given_stays_as_it_was():
    before = texts(RESULT)
    allowed(RESULT, "none")
    assert texts(RESULT) == before


@pytest.mark.parametrize("policy", FEEDBACK)
def test_that_nothing_is_written_yet_is_always_said(policy):
    stub = check(message=f"a ValueError should be raised, not NotImplementedError: {SECRET}", hint="softmax.shift")
    shown = allowed_check(stub, policy)
    assert shown.is_stub
    assert (SECRET in shown.message) == (policy == "full")


@pytest.mark.parametrize("policy", FEEDBACK)
def test_public_tests_are_shown_in_full_whatever_the_policy(policy):
    public = msgspec.structs.replace(RESULT, points=0, public=True)
    assert allowed(public, policy) == public


def test_hidden_checks_of_an_exercise_that_is_worth_nothing_are_hidden_all_the_same():
    assert SECRET not in texts(allowed(msgspec.structs.replace(RESULT, points=0), "title"))
