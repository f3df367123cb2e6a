"""Whole trials of a small course, through the real grader: whatever is wrong with a suite or a family shows."""

import pytest

from autograder.verify.court import VerifyError, verify
from autograder.verify.verdict import Share

SUITE, FAMILY, SOLUTION = "suites/test_double.py", "faults/double.py", "solutions/double.py"
MORE = "test_more_is_added"
SIGN = "test_numbers_below_zero_are_doubled"
LARGE = "test_large_numbers_are_doubled"
UNTOUCHED = "test_the_numbers_stay_as_they_are"
IDLE = "catches nothing alone; give it a fault, or a mark that says why it stays"

HOLE_ABOVE = {
    "learner.double(np.array([200.0])), reference.double(np.array([200.0]))": (
        "learner.double(np.array([50.0])), reference.double(np.array([50.0]))"
    )
}
HOLE_BELOW = {"(-1.0, -200.0)": "(-1.0, -2.0)"}
LAST_CHECK = '@points(1)\n@promise("untouched")'


@pytest.fixture
def tried(small_course):
    """Give a function that changes the small course and gives the verdict on its one suite."""

    def try_suite(changes=None, files=None, *, jobs=1, progress=lambda held, known: None):
        course = small_course(changes, files)
        (verdict,) = verify(course, course.exercises, jobs=jobs, progress=progress, all_named=True)
        return verdict

    return try_suite


def in_any_order(killed):
    return {name: sorted(faults) for name, faults in killed.items()}


@pytest.mark.parametrize("jobs", [1, 2])
def test_the_small_course_holds_on_one_process_and_on_two(tried, jobs):
    verdict = tried(jobs=jobs)
    assert verdict.problems == []
    assert (verdict.faults, verdict.pairs) == (Share(7, 7), Share(20, 20))
    assert (verdict.variants, verdict.trivial) == (Share(3, 3), Share(5, 5))
    assert (verdict.named_faults, verdict.named_pairs) == (Share(7, 7), Share(20, 20))
    assert in_any_order(verdict.killed_by) == {
        MORE: ["halved", "more_ignored", "tripled"],
        SIGN: ["cut_below", "halved", "sign_lost", "tripled"],
        LARGE: ["cut_above", "halved", "tripled"],
        UNTOUCHED: ["halved", "overwritten", "tripled"],
    }
    assert 0 < verdict.slowest_diagnosis < 1


def test_progress_is_told_up_to_the_last_of_all_trials(tried):
    told = []
    tried(progress=lambda held, known: told.append((held, known)))
    assert told[0] == (1, 35)
    assert told[-1] == (35, 35)
    assert told == sorted(told)


def test_a_suite_with_a_hole_lets_a_fault_survive_and_names_it(tried):
    verdict = tried({SUITE: HOLE_ABOVE})
    assert verdict.problems == ["cut_above: survives", f"{LARGE}: {IDLE}", "cut_above: is not named"]
    assert verdict.faults == Share(6, 7, ["cut_above"])


def test_two_faults_that_survive_together_are_named_together(tried):
    verdict = tried({SUITE: {**HOLE_ABOVE, **HOLE_BELOW}})
    assert sorted(verdict.faults.missing) == ["cut_above", "cut_below"]
    assert verdict.pairs == Share(19, 20, ["cut_above + cut_below"])
    assert "cut_above + cut_below: survives" in verdict.problems


def test_a_suite_that_is_too_strict_is_told_what_it_holds_against_whom(tried):
    quiet = {
        SUITE: {"    assert_untouched(learner)": "    assert_untouched(learner)\n    assert not learner.last.output"}
    }
    talking = '"""Says what it does."""\n\n\ndef double(numbers, more=0.0):\n    print(numbers)\n'
    files = {"variants/double/talking.py": talking + "    return numbers * 2 + more\n"}
    assert tried(files=files).variants == Share(4, 4)
    verdict = tried(quiet, files)
    assert verdict.problems == ["talking: is right, but loses points"]
    assert verdict.variants == Share(3, 4, ["talking"])


def test_a_solution_that_its_own_suite_does_not_accept_is_told(tried):
    verdict = tried({SOLUTION: {"    return numbers * 2 + more": "    numbers *= 2\n    return numbers + more"}})
    assert "the solution: is right, but loses points" in verdict.problems


ONE_MORE_CHECK = """
@points(0)
def test_one_is_doubled(learner, reference):
    assert_close(learner.double(np.array([1.0])), reference.double(np.array([1.0])))


"""


def test_a_check_that_catches_nothing_alone_is_told_unless_it_says_why_it_stays(tried):
    verdict = tried({SUITE: {LAST_CHECK: ONE_MORE_CHECK + LAST_CHECK}})
    assert verdict.problems == [f"test_one_is_doubled: {IDLE}"]
    staying = '@stays("it is the first thing to try")' + ONE_MORE_CHECK
    verdict = tried({SUITE: {LAST_CHECK: staying + LAST_CHECK, "points, promise": "points, promise, stays"}})
    assert verdict.problems == []
    assert verdict.stays == {"test_one_is_doubled": "it is the first thing to try"}


def test_a_check_that_stays_for_a_reason_and_catches_something_alone_is_told(tried):
    staying = '@stays("it is the first thing to try")\n'
    verdict = tried({SUITE: {LAST_CHECK: staying + LAST_CHECK, "points, promise": "points, promise, stays"}})
    assert verdict.problems == [f"{UNTOUCHED}: stays for a reason, but catches something alone; take the mark off"]


CASES = {
    "def test_large_numbers_are_doubled(learner, reference):": (
        '@pytest.mark.parametrize("number", [200.0, 300.0])\n'
        "def test_large_numbers_are_doubled(learner, reference, number):"
    ),
    "learner.double(np.array([200.0])), reference.double(np.array([200.0]))": (
        "learner.double(np.array([number])), reference.double(np.array([number]))"
    ),
    "import numpy as np": "import numpy as np\nimport pytest",
    '@points(1)\n@promise("large")': '@points(0.5)\n@promise("large")',
}


def test_a_check_of_several_cases_is_one_check(tried):
    verdict = tried({SUITE: CASES})
    assert verdict.killed_alone[LARGE] == ["cut_above"]
    assert verdict.problems == []


def test_points_that_do_not_add_up_are_told(tried):
    verdict = tried({"course.toml": {"points = 5": "points = 6"}})
    assert "the checks make 5 points, the exercise 6" in verdict.problems
    assert "the solution: is right, but loses points" in verdict.problems


def test_a_sentence_without_a_check_is_told(tried):
    verdict = tried({"exercises/contract/double.en.toml": {"more =": 'quick = "It is over soon."\nmore ='}})
    assert verdict.problems == ["quick: is promised, but no check is about it"]


def test_a_stub_that_earns_is_told(tried):
    kind = {SUITE: {LAST_CHECK: ONE_MORE_CHECK.partition("    assert")[0] + '    assert "double"\n\n\n' + LAST_CHECK}}
    assert tried(kind).trivial == Share(5, 5)
    earning = {SUITE: {LAST_CHECK: kind[SUITE][LAST_CHECK].replace("points(0)", "points(1)")}}
    verdict = tried({**earning, "course.toml": {"points = 5": "points = 6"}})
    everything = ["the stub", "zeros", "ones", "NaN", "the first argument"]
    assert verdict.trivial == Share(0, 5, everything)
    assert verdict.problems[:5] == [f"{name}: does nothing right, but earns points" for name in everything]


def test_a_wrong_declaration_is_told_with_the_probe_that_contradicts_it(tried):
    verdict = tried({FAMILY: {"frozenset([SIGN_LOST]), ": "frozenset([CUT_BELOW]), "}})
    assert verdict.problems == [
        "cut_below + sign_lost is declared to be the same as cut_below, but the probe “below zero” tells them apart"
    ]


def test_faults_that_no_probe_tells_apart_are_not_named(tried):
    verdict = tried({FAMILY: {"return 0.5 if HALVED in faults else 2": "return 3 if HALVED in faults else 2"}})
    assert {"tripled: is not named", "halved: is not named"} <= set(verdict.problems)


def test_without_a_family_that_is_told(small_course):
    course = small_course()
    (course.paths.faults / "double.py").unlink()
    (verdict,) = verify(course, course.exercises, jobs=1, progress=lambda held, known: None)
    assert verdict.problems[0] == "there is no family of faults to try the suite with"
    assert (verdict.faults, verdict.variants, verdict.trivial) == (Share(0, 0), Share(2, 2), Share(5, 5))


def test_a_family_that_cannot_be_read_ends_it_before_anything_is_tried(tried):
    told = []
    with pytest.raises(VerifyError, match=r"^.*faults/double\.py: ZeroDivisionError: division by zero$"):
        tried(files={FAMILY: "1 / 0"}, progress=lambda held, known: told.append(held))
    assert told == []


@pytest.mark.parametrize("missing", ["exercises/double.py", "solutions/double.py", "suites/test_double.py"])
def test_a_file_that_is_missing_ends_it_with_its_name(small_course, missing):
    course = small_course()
    (course.root / missing).unlink()
    with pytest.raises(
        VerifyError, match=rf"^.*{missing} is not there: put it back, or take double out of the course$"
    ):
        verify(course, course.exercises, jobs=1, progress=lambda held, known: None)


def test_a_mistake_in_a_suite_is_told_of_every_trial_it_spoils(tried):
    spoiled = {"np.array([200.0])))": "np.array([200.0])), logits=1e20)"}
    verdict = tried({SUITE: spoiled})
    assert "the solution could not be graded: SuiteMistake: " in verdict.problems[0]
    assert not verdict.holds


def test_a_trial_that_ends_the_process_that_grades_it_is_told_and_costs_no_other(tried):
    deadly = {
        "    assert_close(learner.double(np.array([200.0])), reference.double(np.array([200.0])))": (
            "    if learner.double(np.array([1.0, 200.0])).tolist() == [2.0, 200.0]:\n"
            "        import os\n        os._exit(1)\n"
            "    assert_close(learner.double(np.array([200.0])), reference.double(np.array([200.0])))"
        )
    }
    verdict = tried({SUITE: deadly}, jobs=2)
    assert "cut_above could not be graded: the process that graded it died, twice" in verdict.problems
    assert verdict.faults == Share(6, 7)
    assert (verdict.variants, verdict.trivial) == (Share(3, 3), Share(5, 5))


LOOPING = {
    "    return doubled if MORE_IGNORED in faults else doubled + more": (
        "    while MORE_IGNORED in faults and more == 1:\n        pass\n"
        "    return doubled if MORE_IGNORED in faults else doubled + more"
    ),
    # Families answer the probes in this process, where nothing would end the loop.
    "more=1.0": "more=2.0",
}


def test_pairs_that_run_out_of_time_are_no_excuse_for_the_next(tried):
    quick = {"course.toml": {"call_seconds = 1": "call_seconds = 0.3"}}
    verdict = tried({SUITE: {**HOLE_ABOVE, **HOLE_BELOW}, FAMILY: LOOPING, **quick})
    assert "cut_above + cut_below: survives" in verdict.problems


ENDING = {
    "    return np.minimum(read, 100) if CUT_ABOVE in faults else read": (
        "    if CUT_ABOVE in faults and read[0] == 200:\n        import os\n        os._exit(1)\n"
        "    return np.minimum(read, 100) if CUT_ABOVE in faults else read"
    ),
    "module.double(np.array([200.0]))": "module.double(np.array([300.0]))",
}


def test_a_pair_that_ends_its_process_in_a_check_is_named_all_the_same(tried):
    verdict = tried({FAMILY: ENDING})
    assert verdict.named_faults == Share(7, 7)
    # With the sign lost, -200 ends the process in a probe as well, where no answer can come from.
    assert verdict.named_pairs == Share(19, 20, ["cut_above + sign_lost"])
