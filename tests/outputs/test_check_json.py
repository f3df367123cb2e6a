"""`attend check --json`: one document, with no more in it than the policy allows."""

import json

import msgspec
import pytest

from autograder.cli import run
from autograder.outputs.check_json import to_json
from autograder.report import CheckResult, ExerciseResult, Outcome

TRIPLED = "def double(numbers, more=0.0):\n    return numbers * 3 + more\n"
SENTENCE = "The contract says: Numbers below 0 are doubled too."


@pytest.fixture
def checked(small_course, tmp_path, capsys, monkeypatch):
    """Give a function that checks a module of the small course from the shell, for status and what was printed."""
    monkeypatch.setenv("LC_ALL", "en_GB.UTF-8")

    def check(source, feedback="full"):
        course = small_course({"course.toml": {'feedback = "full"': f'feedback = "{feedback}"'}})
        (tmp_path / "mine").mkdir()
        (tmp_path / "mine" / "double.py").write_text(source)
        capsys.readouterr()
        status = run(["check", "--json", "--in", str(tmp_path / "mine"), "--course", str(course.root)])
        return status, capsys.readouterr().out

    return check


def test_a_check_is_one_document_with_what_failed_why_and_its_figures(checked):
    status, printed = checked(TRIPLED)
    document = json.loads(printed)
    (exercise,) = document["exercises"]
    below_zero = exercise["checks"][1]
    assert status == 1
    assert (document["schema"], document["course"], document["feedback"]) == (1, "small", "full")
    assert (exercise["name"], exercise["earned"], exercise["passed"]) == ("double", 0, False)
    assert exercise["diagnosis"][0]["fault"] == "tripled"
    assert (below_zero["outcome"], below_zero["counterexample"]) == ("failed", "double([-1.])")
    assert below_zero["message"] == "returned [-3.], right is [-2.]"
    assert [figure["cells"] for figure in below_zero["figures"]] == [[["-1"]], [["-3"]], [["-2"]]]


def test_a_right_module_has_passed_and_the_status_says_so(checked):
    status, printed = checked(TRIPLED.replace("3", "2"))
    assert status == 0
    assert json.loads(printed)["exercises"][0]["passed"] is True


@pytest.mark.parametrize("feedback", ["hint", "title", "none"])
def test_the_policy_holds_here_too(checked, feedback):
    _, printed = checked(TRIPLED, feedback)
    exercise = json.loads(printed)["exercises"][0]
    assert exercise["earned"] == 0
    assert "-3" not in printed
    assert "double([" not in printed
    assert all(check["figures"] == [] and check["message"] == "" for check in exercise["checks"])
    assert (exercise["diagnosis"] != []) == (feedback == "hint")
    assert (exercise["checks"][0]["title"] != "") == (feedback != "none")


def test_the_sentence_of_the_contract_stands_beside_its_key(small_course):
    result = ExerciseResult("double", 5, 0, checks=[CheckResult("a", "a", Outcome.FAILED, 1, 0, hint="double.sign")])
    asked = []
    document = json.loads(to_json([result], small_course(), lambda key: asked.append(key) or SENTENCE))
    assert asked == ["double.sign"]
    assert document["exercises"][0]["checks"][0]["contract"] == SENTENCE


def test_what_no_file_could_hold_is_written_as_escapes(small_course):
    result = ExerciseResult("double", 5, 0, reason="half \ud800 a letter")
    assert json.loads(to_json([result], small_course(), str))["exercises"][0]["reason"] == "half \\ud800 a letter"


def test_the_keys_of_the_document_are_those_that_are_described(small_course):
    from autograder.outputs import check_json

    result = ExerciseResult("double", 5, 0, checks=[CheckResult("a", "a", Outcome.FAILED, 1, 0)])
    exercise = json.loads(to_json([result], small_course(), str))["exercises"][0]
    described = set(check_json.__doc__.replace(",", " ").split())
    assert set(exercise) | set(exercise["checks"][0]) <= described
    assert {field.name for field in msgspec.structs.fields(CheckResult)} - {"phrase"} <= set(exercise["checks"][0])
