"""A mistake gets its name where one set of faults answers everything as the learner does, and none otherwise."""

import msgspec
import pytest

import autograder.diagnosis
from autograder.diagnosis import Diagnostician
from autograder.grade import grade
from autograder.report import Diagnosis, Figure, Outcome
from autograder.sandbox.learner import Budget
from autograder.submission import Submission

RIGHT = "return numbers * 2 + more"


@pytest.fixture
def explained(small_course, learner_of):
    """Give a function from the body of `double` to the names of the faults that explain it."""

    def explain(body, course=None):
        found = Diagnostician(course or small_course()).explain("double", learner_of(module(body)))
        return [diagnosis.fault for diagnosis in found]

    return explain


def module(body):
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return f"import numpy as np\n\ndef double(numbers, more=0.0):\n{lines}"


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ("return numbers * 3 + more", "tripled"),
        ("return numbers / 2 + more", "halved"),
        ("return numbers * 2", "more_ignored"),
        ("return np.abs(numbers) * 2 + more", "sign_lost"),
        ("return np.array([min(number, 100) for number in numbers]) * 2 + more", "cut_above"),
        ("numbers *= 2\nreturn numbers + more", "overwritten"),
    ],
)
def test_a_single_mistake_is_named_however_it_is_written(explained, body, fault):
    assert explained(body) == [fault]


@pytest.mark.parametrize(
    ("body", "faults"),
    [
        ("return numbers + numbers + numbers", {"tripled", "more_ignored"}),
        ("return np.clip(numbers, -100, 100) * 2 + more", {"cut_below", "cut_above"}),
        ("numbers *= 3\nreturn numbers + more", {"tripled", "overwritten"}),
        ("return np.minimum(np.abs(numbers), 100) * 2 + more", {"sign_lost", "cut_above"}),
    ],
)
def test_two_mistakes_are_named_both(explained, body, faults):
    found = explained(body)
    assert set(found) == faults
    assert len(found) == 2


def test_a_right_answer_has_no_fault(explained):
    assert explained(RIGHT) == []
    assert explained("return np.array([number + number + more for number in numbers])") == []


@pytest.mark.parametrize(
    "body",
    [
        "return numbers * 5 + more",
        "return 0 * numbers",
        "return None",
        "return {'numbers': numbers}",
        "return [numbers, more]",
        "return object()",
        "raise ValueError('no')",
        "return (numbers * 3 + more).astype(np.float32)",
        # Three at once are more than is looked for.
        "return np.minimum(np.abs(numbers), 100) * 3 + more * 0",
    ],
)
def test_of_an_unknown_mistake_nothing_is_said(explained, body):
    assert explained(body) == []


def test_a_mistake_on_some_probes_alone_is_not_taken_for_one_on_all(explained):
    assert explained("return numbers * (3 if numbers[0] == 1 else 2) + more") == []


ADDED_THRICE = """
ADDED_THRICE = Fault(
    "added_thrice",
    place="factor",
    en="A number is added to itself twice, which makes three of it.",
    zh="一个数和自己加了两次，变成了三倍。",
)

_calls"""


@pytest.fixture
def with_twins(small_course):
    """Give the course with a second fault that answers every probe as `tripled` does."""
    changes = {"\n_calls": ADDED_THRICE, "if TRIPLED in faults:": "if TRIPLED in faults or ADDED_THRICE in faults:"}
    return small_course({"faults/double.py": changes})


def test_where_two_faults_explain_it_alike_neither_is_named(explained, with_twins):
    assert explained("return numbers * 3 + more", with_twins) == []
    assert explained("return numbers / 2 + more", with_twins) == ["halved"]


def test_what_all_explanations_have_in_common_is_named(explained, with_twins):
    assert explained("return np.abs(numbers) * 3 + more", with_twins) == ["sign_lost"]


def test_one_fault_is_preferred_to_two_that_answer_alike(explained):
    # With the sign lost, nothing is cut below: the pair answers as the one does.
    assert explained("return np.maximum(np.abs(numbers), -100) * 2 + more") == ["sign_lost"]


@pytest.fixture
def with_a_freak(small_course):
    """Give a function to the course where `cut_below` and `cut_above` multiply everything by a factor, together only.

    With the factor 7, so do `tripled` and `more_ignored`.
    """

    def make(factor):
        together = f"""
    if {{CUT_BELOW, CUT_ABOVE}} <= faults or ({factor} == 7 and {{TRIPLED, MORE_IGNORED}} <= faults):
        return numbers * {factor}
    if OVERWRITTEN in faults:"""
        return small_course({"faults/double.py": {"\n    if OVERWRITTEN in faults:": together}})

    return make


def test_two_pairs_that_explain_it_alike_are_not_guessed_between(explained, with_a_freak):
    assert explained("return numbers * 7", with_a_freak(7)) == []
    assert set(explained("return numbers * 9", with_a_freak(9))) == {"cut_below", "cut_above"}


def test_a_pair_each_of_which_shows_is_preferred_to_one_that_goes_wrong_together_only(explained, with_a_freak):
    assert set(explained("return numbers / 2", with_a_freak(0.5))) == {"halved", "more_ignored"}


@pytest.mark.parametrize(
    "body",
    [
        "raise NotImplementedError",
        "if more:\n    raise NotImplementedError\nreturn numbers * 3",
        "import os\nos._exit(0)",
        "if more:\n    raise SystemExit\nreturn numbers * 3",
    ],
)
def test_of_what_is_not_written_yet_or_ends_nothing_is_said(explained, body):
    assert explained(body) == []


def test_what_is_not_written_yet_is_no_mistake_even_where_a_fault_says_so_too(small_course, explained):
    refusing = {"return doubled if MORE_IGNORED in faults": "return refused(more, doubled) if MORE_IGNORED in faults"}
    refused = "def refused(more, doubled):\n    if more:\n        raise NotImplementedError\n    return doubled\n\n\n"
    course = small_course({"faults/double.py": {**refusing, "def factor_of": f"{refused}def factor_of"}})
    assert explained("if more:\n    raise NotImplementedError\nreturn numbers * 2", course) == []
    assert explained("return numbers / 2 + more", course) == ["halved"]


def test_of_a_module_without_the_function_nothing_is_said(small_course, learner_of):
    assert Diagnostician(small_course()).explain("double", learner_of("def treble(numbers): return numbers * 3")) == []


SLOW = "if more:\n    while True: pass\nreturn numbers * 3"


def test_a_module_that_runs_out_of_time_on_a_probe_is_not_explained(small_course, learner_of, limits):
    learner = learner_of(module(SLOW), limits=msgspec.structs.replace(limits, call_seconds=0.3))
    assert Diagnostician(small_course()).explain("double", learner) == []
    assert learner.time_outs == 1


def test_a_module_that_ran_out_of_time_before_is_not_asked(small_course, learner_of):
    learner = learner_of(module("return numbers * 3 + more"))
    learner._line.time_outs = 1
    assert Diagnostician(small_course()).explain("double", learner) == []
    assert learner.last_call is None


def test_a_module_whose_time_is_used_up_is_not_asked(small_course, learner_of):
    learner = learner_of(module("return numbers * 3 + more"), budget=Budget(0.0, "exercise"))
    assert Diagnostician(small_course()).explain("double", learner) == []
    assert learner.last_call is None


def test_what_the_probes_take_is_not_taken_from_the_learner(small_course, learner_of):
    budget = Budget(60.0, "exercise")
    learner = learner_of(module("import time\ntime.sleep(0.05)\nreturn numbers * 3 + more"), budget=budget)
    learner.load()
    before = budget.spent
    (found,) = Diagnostician(small_course()).explain("double", learner)
    assert found.fault == "tripled"
    assert budget.spent == before


def test_probes_end_when_their_own_time_is_used_up(small_course, learner_of, monkeypatch):
    monkeypatch.setattr(autograder.diagnosis, "SECONDS", 0.1)
    learner = learner_of(module("import time\ntime.sleep(0.06)\nreturn numbers * 3 + more"))
    assert Diagnostician(small_course()).explain("double", learner) == []


def test_of_answers_that_are_huge_nothing_is_said(explained):
    assert explained("return np.zeros(200_000)") == []


def test_without_a_family_nothing_is_asked(small_course, learner_of):
    course = small_course()
    (course.paths.faults / "double.py").unlink()
    learner = learner_of(module("return numbers * 3 + more"))
    assert Diagnostician(course).explain("double", learner) == []
    assert learner.last_call is None


@pytest.fixture
def diagnoses(small_course, learner_of):
    course = small_course()

    def explain(body):
        return Diagnostician(course).explain("double", learner_of(module(body)))

    return explain


def test_a_diagnosis_explains_in_both_languages_and_shows_the_first_probe(diagnoses):
    assert diagnoses("return numbers * 3 + more") == [
        Diagnosis(
            "tripled",
            {
                "en": "The numbers come back three times as large. How often is a number in its double?",
                "zh": "返回的是三倍。一个数的两倍里有几个它？",
            },
            "double([1.]) → [3.] ≠ [2.]",
            [
                Figure("numbers", "numbers", "", "column", [["1"]]),
                Figure("came back", "numbers", "", "column", [["3"]]),
                Figure("right", "numbers", "", "column", [["2"]]),
            ],
            "double(numbers)",
        )
    ]


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        ("return numbers * 2", "double([1.], more=1.0) → [2.] ≠ [3.]"),
        ("return np.abs(numbers) * 2 + more", "double([-1.]) → [2.] ≠ [-2.]"),
        ("return np.minimum(numbers, 100) * 2 + more", "double([200.]) → [200.] ≠ [400.]"),
        # A list is what a probe made of facts: nothing that came back.
        ("numbers *= 2\nreturn numbers + more", "double([1.]): ['numbers'] ≠ []"),
    ],
)
def test_the_counterexample_is_the_first_probe_on_which_the_fault_shows(diagnoses, body, shown):
    assert [diagnosis.counterexample for diagnosis in diagnoses(body)] == [shown]


def test_the_fault_that_shows_first_comes_first_each_with_its_own_probe(diagnoses):
    found = diagnoses("return np.minimum(numbers * (1 if more else 1), 100) * 2")
    assert [(diagnosis.fault, diagnosis.counterexample) for diagnosis in found] == [
        ("more_ignored", "double([1.], more=1.0) → [2.] ≠ [3.]"),
        ("cut_above", "double([200.]) → [200.] ≠ [400.]"),
    ]


def test_a_wrong_dtype_is_shown_as_one(small_course, learner_of):
    course = small_course(
        {
            "faults/double.py": {
                "    return doubled if MORE_IGNORED in faults else doubled + more": (
                    "    doubled = doubled.astype(np.float32) if MORE_IGNORED in faults else doubled\n"
                    "    return doubled + np.float32(more) if MORE_IGNORED in faults else doubled + more"
                )
            }
        }
    )
    (found,) = Diagnostician(course).explain(
        "double", learner_of(module("return (numbers * 2 + more).astype(np.float32)"))
    )
    assert (found.fault, found.counterexample) == ("more_ignored", "double([1.]) → array([2.], dtype=float32) ≠ [2.]")


def test_what_a_probe_raised_is_shown_by_its_name(small_course, learner_of):
    course = small_course(
        {
            "faults/double.py": {
                "    return doubled if MORE_IGNORED in faults else doubled + more": (
                    "    if MORE_IGNORED in faults and more:\n"
                    "        raise TypeError('more')\n"
                    "    return doubled + more"
                )
            }
        }
    )
    body = "if more:\n    raise TypeError('of another kind')\nreturn numbers * 2"
    (found,) = Diagnostician(course).explain("double", learner_of(module(body)))
    assert (found.fault, found.counterexample) == ("more_ignored", "double([1.], more=1.0) → TypeError ≠ [3.]")


def asking(ask):
    """Put a probe in front of those of the small family."""
    first = '        Probe("one number", lambda module: module.double(np.array([1.0]))),\n'
    return {"faults/double.py": {first: f'        Probe("first", {ask}),\n{first}'}}


def test_a_part_of_what_the_last_call_returned_is_shown_by_its_place(small_course, learner_of):
    changes = asking("lambda module: list(module.double(np.array([1.0])))")
    changes["faults/double.py"]["    return doubled if MORE"] = (
        "    if numbers[0] == 1 and not more:\n        return doubled, numbers.copy()\n    return doubled if MORE"
    )
    body = "out = numbers * 3 + more\nreturn (out, numbers.copy()) if numbers[0] == 1 and not more else out"
    found = Diagnostician(small_course(changes)).explain("double", learner_of(module(body)))
    assert [(one.fault, one.counterexample) for one in found] == [("tripled", "double([1.])[0] → [3.] ≠ [2.]")]
    assert [figure.title for figure in found[0].figures] == ["numbers", "came back [0]", "right [0]"]


def test_where_a_probe_only_says_no_the_last_call_is_shown_with_what_should_have_come_back(small_course, learner_of):
    course = small_course(asking("lambda module: bool(module.double(np.array([1.0]))[0] == 2)"))
    (found,) = Diagnostician(course).explain("double", learner_of(module("return numbers * 3 + more")))
    assert found.counterexample == "double([1.]) → [3.] ≠ [2.]"
    assert [figure.cells for figure in found.figures] == [[["1"]], [["3"]], [["2"]]]


def test_where_something_should_have_been_raised_its_name_is_shown(small_course, learner_of):
    ask = "_refused"
    changes = asking(ask)
    changes["faults/double.py"]["def _modified(module):"] = (
        "def _refused(module):\n"
        "    try:\n"
        "        module.double(np.array([1e9]))\n"
        "    except ValueError:\n"
        "        return True\n"
        "    return False\n\n\n"
        "def _modified(module):"
    )
    changes["faults/double.py"]["    if OVERWRITTEN in faults:"] = (
        "    if abs(numbers[0]) > 1e8 and TRIPLED not in faults:\n"
        "        raise ValueError('too large')\n"
        "    if OVERWRITTEN in faults:"
    )
    (found,) = Diagnostician(small_course(changes)).explain("double", learner_of(module("return numbers * 3 + more")))
    assert (found.fault, found.counterexample) == ("tripled", "double([1.e+09]) → [3.e+09] ≠ ValueError")


def test_an_attribute_error_of_the_family_is_one_of_the_learner_s_too(small_course, learner_of):
    course = small_course({"faults/double.py": {"return doubled if MORE": "return doubled + more.real.of if MORE"}})
    body = "return numbers * 2 + more.real.of"
    (found,) = Diagnostician(course).explain("double", learner_of(module(body)))
    assert (found.fault, found.counterexample) == ("more_ignored", "double([1.]) → AttributeError ≠ [2.]")


def test_the_family_is_asked_once_for_all_learners(small_course, learner_of):
    course = small_course()
    counter = course.root / "asked"
    text = (course.paths.faults / "double.py").read_text(encoding="utf-8")
    counting = f"    _calls.append(1)\n    open({str(counter)!r}, 'a').write('.')\n"
    small_course(files={"faults/double.py": text.replace("    _calls.append(1)\n", counting)})
    diagnostician = Diagnostician(course)
    first = diagnostician.explain("double", learner_of(module("return numbers * 3 + more")))
    asked = counter.read_text()
    second = diagnostician.explain("double", learner_of(module("return numbers * 3 + more")))
    assert first == second
    assert len(asked) == 8 * 6
    assert counter.read_text() == asked


def test_what_explaining_took_is_told_without_the_calls(small_course, learner_of):
    diagnostician = Diagnostician(small_course())
    body = "import time\ntime.sleep(0.1)\nreturn numbers * 3 + more"
    assert [found.fault for found in diagnostician.explain("double", learner_of(module(body)))] == ["tripled"]
    assert 0 < diagnostician.own_seconds < 0.1


def test_what_the_family_takes_for_its_pairs_is_left_out_too(small_course, learner_of):
    slow = "    until = process_time() + 0.1\n    while len(faults) == 2 and process_time() < until:\n        pass\n"
    changes = {
        "    _calls.append(1)\n": slow,
        "import numpy as np\n": "from time import process_time\n\nimport numpy as np\n",
    }
    diagnostician = Diagnostician(small_course({"faults/double.py": changes}))
    learner = learner_of(module("return np.minimum(np.abs(numbers), 100) * 2 + more"))
    assert len(diagnostician.explain("double", learner)) == 2
    assert 0 < diagnostician.own_seconds < 0.1


def graded(course, body):
    (result,) = grade(Submission("ada", {"double": module(body).encode()}), course).exercises
    return result


def test_the_report_of_a_wrong_answer_holds_the_diagnosis_in_both_languages(small_course):
    result = graded(small_course(), "return numbers * 2")
    assert [(check.name, check.outcome) for check in result.checks if check.outcome is not Outcome.PASSED] == [
        ("test_more_is_added", Outcome.FAILED)
    ]
    (found,) = result.diagnosis
    assert msgspec.to_builtins(found) == {
        "fault": "more_ignored",
        "explanation": {
            "en": "`more` has no effect. What is it there for?",
            "zh": "`more` 没有起作用。它是用来做什么的？",
        },
        "counterexample": "double([1.], more=1.0) → [2.] ≠ [3.]",
        "figures": [
            {"title": title, "kind": "numbers", "rows": "", "columns": "column", "cells": [[cell]]}
            for title, cell in (("numbers", "1"), ("came back", "2"), ("right", "3"))
        ],
        "call": "double(numbers, more=1.0)",
    }
    assert result.earned == 4


def test_the_report_of_a_right_answer_holds_no_diagnosis(small_course):
    result = graded(small_course(), RIGHT)
    assert (result.diagnosis, result.earned) == ([], 5)


def test_the_report_of_a_stub_and_of_a_module_that_runs_out_of_time_holds_no_diagnosis(small_course):
    course = small_course({"course.toml": {"call_seconds = 1": "call_seconds = 0.3"}})
    for body in ("raise NotImplementedError", "while True: pass", "import os\nos._exit(1)"):
        assert graded(course, body).diagnosis == []


def test_diagnosing_costs_no_points_and_changes_no_check(small_course):
    course = small_course()
    body = "return np.minimum(numbers, 100) * 2 + more"
    with_family = graded(course, body)
    (course.paths.faults / "double.py").unlink()
    without = graded(course, body)
    assert with_family.diagnosis
    assert without.diagnosis == []
    assert [(check.name, check.outcome, check.message) for check in with_family.checks] == [
        (check.name, check.outcome, check.message) for check in without.checks
    ]
    assert with_family.earned == without.earned == 4
