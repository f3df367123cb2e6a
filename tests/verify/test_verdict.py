"""What the trials say about a suite: every hole, every undue demand and every idle check is a line of its own."""

import pytest

from autograder.faults.shelf import Families
from autograder.session import CheckFacts
from autograder.verify.trials import Tried
from autograder.verify.verdict import Share, verdict_on

CHECKS = {
    "test_more_is_added": (1.0, "more"),
    "test_numbers_below_zero_are_doubled": (2.0, "sign"),
    "test_large_numbers_are_doubled": (1.0, "large"),
    "test_the_numbers_stay_as_they_are": (1.0, "untouched"),
}
MORE, SIGN, LARGE, UNTOUCHED = CHECKS
FAILED_BY = {
    "tripled": [MORE, SIGN, LARGE, UNTOUCHED],
    "halved": [MORE, SIGN, LARGE, UNTOUCHED],
    "more_ignored": [MORE],
    "sign_lost": [SIGN],
    "cut_below": [SIGN],
    "cut_above": [LARGE],
    "overwritten": [UNTOUCHED],
}


def facts(**changed):
    """Give what the marks of the checks say; a check named in `changed` has other facts."""
    plain = {name: {"points": worth, "promises": (key,), "stays": ""} for name, (worth, key) in CHECKS.items()}
    return [CheckFacts(name, **{**marks, **changed.get(name, {})}) for name, marks in plain.items()]


def trials(family):
    """Give the trials as they come out when all is well."""
    tried = [Tried("double", "solution", "the solution", earned=5.0)]
    tried += [Tried("double", "variant", "in_a_loop", earned=5.0)]
    tried += [Tried("double", "trivial", name, failed=list(CHECKS)) for name in ("the stub", "zeros")]
    tried += [
        Tried("double", "fault", name, (name,), failed=list(failed), diagnosis=[name])
        for name, failed in FAILED_BY.items()
    ]
    for faults in family.pairs():
        names = tuple(sorted(fault.name for fault in faults))
        failed = sorted({check for name in names for check in FAILED_BY[name]})
        named = ["sign_lost"] if set(names) == {"sign_lost", "cut_below"} else list(names)
        tried.append(Tried("double", "pair", " + ".join(names), names, failed=failed[:1], diagnosis=named))
    return {one.name: one for one in tried}


@pytest.fixture
def judged(small_course):
    """Give a function that changes some trials, and gives the verdict."""

    def judge(course=None, checks=None, tried=None):
        course = course or small_course()
        family = Families(course).of("double")
        held = trials(family)
        for name, attributes in (tried or {}).items():
            for attribute, value in attributes.items():
                setattr(held[name], attribute, value)
        return verdict_on(course, course.exercise("double"), family, checks or facts(), list(held.values()))

    return judge


def test_where_all_is_well_there_are_no_problems(judged):
    verdict = judged()
    assert verdict.problems == []
    assert verdict.holds
    assert (verdict.faults, verdict.pairs) == (Share(7, 7), Share(20, 20))
    assert (verdict.variants, verdict.trivial) == (Share(2, 2), Share(2, 2))
    assert (verdict.named_faults, verdict.named_pairs) == (Share(7, 7), Share(20, 20))
    assert (verdict.points, verdict.points_of_checks) == (5, 5)
    assert verdict.unchecked == []


def test_each_check_is_listed_with_what_it_catches_and_what_nobody_else_catches(judged):
    verdict = judged()
    assert verdict.killed_by[SIGN] == ["tripled", "halved", "sign_lost", "cut_below"]
    assert verdict.killed_alone == {
        MORE: ["more_ignored"],
        SIGN: ["sign_lost", "cut_below"],
        LARGE: ["cut_above"],
        UNTOUCHED: ["overwritten"],
    }


@pytest.mark.parametrize("survivor", ["cut_above", "cut_above + tripled"])
def test_what_no_check_fails_is_named(judged, survivor):
    verdict = judged(tried={survivor: {"failed": []}})
    assert f"{survivor}: survives" in verdict.problems
    assert not verdict.holds


def test_a_module_that_cannot_be_loaded_is_no_survivor(judged):
    verdict = judged(tried={"tripled": {"failed": [], "reason": "double.py cannot be loaded"}})
    assert verdict.faults == Share(7, 7)


@pytest.mark.parametrize(
    "undue", [{"failed": [MORE], "earned": 4.0}, {"reason": "it is banned", "earned": 0.0}, {"earned": 4.5}]
)
@pytest.mark.parametrize("right", ["the solution", "in_a_loop"])
def test_what_is_right_and_loses_points_is_named(judged, right, undue):
    verdict = judged(tried={right: undue})
    assert verdict.problems == [f"{right}: is right, but loses points"]
    assert verdict.variants == Share(1, 2, [right])


def test_what_does_nothing_right_and_earns_points_is_named(judged):
    verdict = judged(tried={"the stub": {"earned": 0.5}})
    assert verdict.problems == ["the stub: does nothing right, but earns points"]
    assert verdict.trivial == Share(1, 2, ["the stub"])


def test_a_check_that_catches_nothing_alone_is_named(judged):
    verdict = judged(tried={"cut_above": {"failed": [LARGE, SIGN]}})
    assert verdict.problems == [f"{LARGE}: catches nothing alone; give it a fault, or a mark that says why it stays"]


def test_a_check_that_says_why_it_stays_may_catch_nothing_alone(judged):
    stays = facts(**{LARGE: {"stays": "it is the first thing to try"}})
    verdict = judged(checks=stays, tried={"cut_above": {"failed": [LARGE, SIGN]}})
    assert verdict.problems == []
    assert verdict.stays == {LARGE: "it is the first thing to try"}


def test_a_check_that_says_why_it_stays_and_need_not_is_named(judged):
    verdict = judged(checks=facts(**{LARGE: {"stays": "it is the first thing to try"}}))
    assert verdict.problems == [f"{LARGE}: stays for a reason, but catches something alone; take the mark off"]


def test_a_check_with_many_cases_catches_alone_what_fails_several_of_them(judged):
    verdict = judged(tried={"cut_above": {"failed": [LARGE, LARGE]}})
    assert verdict.killed_alone[LARGE] == ["cut_above"]
    assert verdict.problems == []


def test_points_that_do_not_add_up_are_told(judged):
    assert judged(checks=facts(**{MORE: {"points": 1.5}})).problems == ["the checks make 5.5 points, the exercise 5"]
    tenths = facts(**{MORE: {"points": 0.1}, SIGN: {"points": 0.2}, LARGE: {"points": 4.2}, UNTOUCHED: {"points": 0.5}})
    assert judged(checks=tenths).problems == []


def test_a_sentence_without_a_check_is_named(judged):
    verdict = judged(checks=facts(**{MORE: {"promises": ()}}))
    assert verdict.problems == ["more: is promised, but no check is about it"]
    assert verdict.unchecked == ["more"]


def test_a_ban_is_enforced_by_the_course_and_needs_no_check(small_course, judged):
    course = small_course()
    contract = course.contract_of(course.exercise("double"))
    with contract.open("a") as file:
        file.write('not_allowed = "The library\'s own."\n')
    assert judged(course).problems == []


def test_an_exercise_without_a_contract_promises_nothing(small_course, judged):
    course = small_course()
    course.contract_of(course.exercise("double")).unlink()
    assert judged(course, checks=facts(**{MORE: {"promises": ()}})).problems == []


def test_singles_that_are_not_named_are_a_problem_below_95_in_100(judged):
    verdict = judged(tried={"tripled": {"diagnosis": []}})
    assert verdict.problems == ["tripled: is not named"]
    assert verdict.named_faults.ratio == 6 / 7
    assert judged(tried={"tripled": {"diagnosis": ["halved"]}}).named_faults.missing == ["tripled"]
    assert judged(tried={"tripled": {"diagnosis": ["tripled", "halved"]}}).named_faults.missing == ["tripled"]


def test_pairs_that_are_not_named_are_a_problem_below_80_in_100(judged):
    pairs = [f"{name} + tripled" for name in ("cut_above", "cut_below", "more_ignored", "overwritten", "sign_lost")]
    unnamed = {name: {"diagnosis": []} for name in pairs}
    four = judged(tried={name: unnamed[name] for name in pairs[:4]})
    assert (four.named_pairs.ratio, sorted(four.named_pairs.missing)) == (0.8, pairs[:4])
    assert four.problems == []
    five = judged(tried=unnamed)
    assert five.problems == [f"{name}: is not named" for name in five.named_pairs.missing]
    assert sorted(five.named_pairs.missing) == sorted(pairs)


def test_pairs_that_were_not_to_be_named_have_no_part_in_it(judged):
    verdict = judged(tried={"cut_above + tripled": {"diagnosis": [], "to_be_named": False}})
    assert verdict.named_pairs == Share(19, 19)
    assert verdict.pairs == Share(20, 20)


def test_what_is_the_same_may_be_named_by_either_of_its_names(judged):
    name = "cut_below + sign_lost"
    assert judged(tried={name: {"diagnosis": ["sign_lost", "cut_below"]}}).named_pairs == Share(20, 20)
    assert judged(tried={name: {"diagnosis": ["cut_below"]}}).named_pairs == Share(19, 20, [name])


def test_it_makes_no_difference_which_of_two_is_declared_first(small_course, judged):
    turned = "frozenset([SIGN_LOST]), frozenset([SIGN_LOST, CUT_BELOW])"
    course = small_course({"faults/double.py": {"frozenset([SIGN_LOST, CUT_BELOW]), frozenset([SIGN_LOST])": turned}})
    assert judged(course).named_pairs == Share(20, 20)


UNDOING = {
    "frozenset([SIGN_LOST]), ": "frozenset(), ",
    "    return np.minimum(read, 100)": (
        "    if {SIGN_LOST, CUT_BELOW} <= faults:\n        return numbers\n    return np.minimum(read, 100)"
    ),
}


def test_faults_that_undo_each_other_must_not_be_failed(small_course, judged):
    course = small_course({"faults/double.py": UNDOING})
    name = "cut_below + sign_lost"
    harmless = {"failed": [], "diagnosis": []}
    assert judged(course, tried={name: harmless}).problems == []
    assert judged(course, tried={name: {**harmless, "failed": [SIGN]}}).pairs == Share(19, 20, [name])


def test_a_declaration_that_a_probe_contradicts_is_told(small_course, judged):
    course = small_course({"faults/double.py": {"frozenset([SIGN_LOST]), ": "frozenset([CUT_BELOW]), "}})
    problems = judged(course, tried={"cut_below + sign_lost": {"diagnosis": ["cut_below"]}}).problems
    assert problems == [
        "cut_below + sign_lost is declared to be the same as cut_below, but the probe “below zero” tells them apart"
    ]
    course = small_course({"faults/double.py": {"frozenset([SIGN_LOST]), ": "frozenset(), "}})
    problems = judged(course, tried={"cut_below + sign_lost": {"failed": [], "diagnosis": []}}).problems
    assert problems == [
        "cut_below + sign_lost is declared to be the same as no fault, but the probe “below zero” tells them apart"
    ]


@pytest.mark.parametrize("name", ["the solution", "zeros", "tripled", "cut_above + tripled"])
def test_a_trial_that_could_not_be_held_is_a_problem_and_counts_for_nothing(judged, name):
    trouble = {"trouble": "NotStarted: the machine is full", "failed": [], "diagnosis": [], "earned": 0.0}
    verdict = judged(tried={name: trouble})
    assert verdict.problems[0] == f"{name} could not be graded: NotStarted: the machine is full"
    assert f"{name}: survives" not in verdict.problems
    shares = [verdict.faults, verdict.pairs, verdict.variants, verdict.trivial]
    assert [share.of - share.count for share in shares].count(1) == 1
    assert all(share.missing == [] for share in shares)


def test_without_a_family_the_suite_is_not_tried(small_course):
    course = small_course()
    tried = [Tried("double", "solution", "the solution", earned=5.0)]
    verdict = verdict_on(course, course.exercise("double"), None, facts(), tried)
    assert verdict.problems[0] == "there is no family of faults to try the suite with"
    assert verdict.problems[1:] == [
        f"{name}: catches nothing alone; give it a fault, or a mark that says why it stays" for name in CHECKS
    ]


def test_the_slowest_diagnosis_is_told(judged):
    tried = {"tripled": {"diagnosis_seconds": 0.003}, "cut_above + tripled": {"diagnosis_seconds": 0.007}}
    assert judged(tried=tried).slowest_diagnosis == 0.007


def test_the_share_of_nothing_is_everything():
    assert Share(0, 0).ratio == 1.0
    assert Share(3, 4, ["a"]).ratio == 0.75
