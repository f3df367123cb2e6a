"""What a suite may use: the judgement of what was raised, of arguments and of memory, and the marks of a check."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from autograder.checks import (
    Difference,
    assert_no_runtime_warning,
    assert_unshared,
    assert_untouched,
    exercise_of,
    hint,
    insist,
    mark_of,
    points,
    promise,
    pytest_configure,
    raises,
    rng,
    say,
    seen_in,
)
from autograder.language import said_by
from autograder.sandbox.ended import as_exception
from autograder.sandbox.learner import Crashed, LearnerException, NotStarted, UnfitResult
from autograder.sandbox.wire import Facts, Raised


def raised(kind, message, name=None):
    return as_exception(Raised(kind, name or kind, message, (), Facts()))


def message_of(block, kind=ValueError, naming=("temperature",)):
    with pytest.raises(Difference) as caught, raises(kind, naming=naming):
        block()
    return str(caught.value)


def raising(error):
    def block():
        raise error

    return block


def test_the_right_type_that_names_the_argument_passes():
    with raises(ValueError, naming=("temperature",)):
        raise raised("ValueError", "temperature must be positive, not 0")


def test_a_type_of_the_learner_s_own_passes_as_its_built_in_type():
    with raises(ValueError, naming=("temperature",)):
        raise raised("ValueError", "temperature must be positive", name="TemperatureError")


def test_a_subclass_passes_for_its_base():
    with raises(ValueError, naming=("mask",)):
        raise raised("UnicodeError", "mask")


def test_any_one_of_the_names_is_enough():
    for message in ("d_k differs", "query is 3 wide", "'key'", "key: 3"):
        with raises(ValueError, naming=("query", "key", "d_k")):
            raise raised("ValueError", message)


@pytest.mark.parametrize("message", ["", "bad input", "temperatures", "my_temperature is 0", "Temperature"])
def test_a_name_must_stand_as_a_word_of_its_own(message):
    said = message_of(raising(raised("ValueError", message)))
    assert said == f"the message of the ValueError should name temperature; it says: {message}"


def test_the_names_to_choose_from_are_told():
    said = message_of(raising(raised("ValueError", "no")), naming=("query", "key"))
    assert said == "the message of the ValueError should name query or key; it says: no"


@pytest.mark.parametrize(
    ("naming", "names"),
    [(("key",), "key"), (("key", "d_k"), "key 或 d_k"), (("query", "key", "d_k"), "query、key 或 d_k")],
)
def test_the_names_to_choose_from_are_a_list_in_chinese_too(naming, names):
    with pytest.raises(Difference) as caught, raises(ValueError, naming=naming):
        raise raised("ValueError", "no")
    assert said_by(caught.value).in_("zh") == f"ValueError 的报错信息里应该写出 {names}，现在写的是：no"


def test_a_name_that_is_not_defined_says_so_itself():
    with pytest.raises(LearnerException) as caught, raises(AttributeError, naming=("axis",)):
        raise raised("AttributeError", "softmax.py does not define softmax", name="NotDefined")
    assert caught.value.name == "NotDefined"


def test_another_type_is_told_by_its_own_name():
    said = message_of(raising(raised("TypeError", "temperature", name="Mine")))
    assert said == "a ValueError should be raised, not Mine: temperature"


@pytest.mark.parametrize("block", [lambda: None, raising(UnfitResult("a value of type set came back"))])
def test_a_value_that_came_back_is_a_failure(block):
    assert message_of(block) == "a ValueError should be raised, but a value came back"


@pytest.mark.parametrize("error", [Crashed("signal 9"), NotStarted("no process"), KeyError("a slip of the suite")])
def test_what_the_learner_did_not_raise_passes_through(error):
    with pytest.raises(type(error)) as caught, raises(KeyError, naming=("suite",)):
        raise error
    assert caught.value is error


def test_what_is_not_written_yet_says_so_itself():
    with pytest.raises(LearnerException) as caught, raises(ValueError, naming=("axis",)):
        raise raised("NotImplementedError", "")
    assert caught.value.name == "NotImplementedError"


def learner_with(**facts):
    return SimpleNamespace(last=Facts(**facts))


def test_arguments_left_as_they_were_pass():
    assert_untouched(learner_with())


@pytest.mark.parametrize(
    ("modified", "said"),
    [
        (("scores",), "the call changed its argument scores"),
        (("query", "key"), "the call changed its argument query and key"),
    ],
)
def test_arguments_that_were_changed_are_named(modified, said):
    with pytest.raises(Difference, match=f"^{said}$"):
        assert_untouched(learner_with(modified=modified))


def test_a_result_of_its_own_passes():
    assert_unshared(learner_with(modified=("scores",)))


def test_what_the_result_shares_memory_with_is_named():
    with pytest.raises(Difference, match=r"^the result shares memory with scores and an earlier result$"):
        assert_unshared(learner_with(shared=("scores", "an earlier result")))


def test_what_has_no_name_of_its_own_is_named_in_the_language_of_the_reader():
    with pytest.raises(Difference) as caught:
        assert_unshared(learner_with(shared=("scores", "argument 3", "an earlier result")))
    assert said_by(caught.value).in_("zh") == "返回的结果与 scores、第 3 个参数和以前的结果共用内存"


def test_a_process_that_names_things_without_end_is_a_failure_and_no_more():
    with pytest.raises(Difference) as caught:
        assert_unshared(learner_with(shared=tuple(f"x{number}" for number in range(5_000))))
    assert str(caught.value) == "the result shares memory with x0, x1, x2, x3, x4, x5, x6 and x7"
    with pytest.raises(Difference) as caught:
        assert_untouched(learner_with(modified=("x" * 1_000_000,)))
    assert len(str(caught.value)) < 3_000


def test_a_warning_about_arithmetic_is_a_failure_and_another_one_is_not():
    assert_no_runtime_warning(learner_with(warnings=(("UserWarning", "old"),)))
    with pytest.raises(Difference, match=r"^the call caused a RuntimeWarning: divide by zero$"):
        assert_no_runtime_warning(learner_with(warnings=(("UserWarning", "old"), ("RuntimeWarning", "divide by zero"))))


def test_what_a_suite_insists_on_is_said_in_its_own_words():
    insist([0], say("{count} things came back", count=1))
    with pytest.raises(Difference, match=r"^0 things came back$") as caught:
        insist([], say("{count} things came back", count=0))
    assert said_by(caught.value) == say("{count} things came back", count=0)


@pytest.fixture
def marks(pytestconfig):
    """Make the marks of the suites known here, where unknown ones are errors."""
    pytest_configure(pytestconfig)


@pytest.mark.usefixtures("marks")
def test_marks_keep_what_they_say():
    assert points(2).mark.args == (2,)
    assert promise("shape", "axis").mark.args == ("shape", "axis")
    assert hint("softmax.shift").mark.args == ("softmax.shift",)
    assert seen_in("a/b#1", "c/d#2").mark.args == ("a/b#1", "c/d#2")


@pytest.mark.usefixtures("marks")
def test_a_mark_that_is_missing_has_a_default():
    marked = SimpleNamespace(get_closest_marker=lambda name: points(3).mark if name == "points" else None)
    assert mark_of(marked, "points", 0.0) == 3
    assert mark_of(marked, "hint", "") == ""


def test_a_suite_is_about_the_exercise_in_its_name():
    assert exercise_of(Path("suites/test_causal_mask.py")) == "causal_mask"


def numbers_of(name):
    request = SimpleNamespace(function=SimpleNamespace(__name__=name))
    return rng.__wrapped__(request).normal(size=3).tolist()


def test_random_numbers_are_the_same_in_every_run_and_differ_from_check_to_check():
    assert numbers_of("test_a") == numbers_of("test_a")
    assert numbers_of("test_a") != numbers_of("test_b")
    assert numbers_of("test_a")[0] == pytest.approx(0.6756272243557023)
