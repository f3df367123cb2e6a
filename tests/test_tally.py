"""A class is counted from its reports: what was tried, what was lost and why, and who is missing."""

import pytest

from autograder.report import CheckResult, Diagnosis, ExerciseResult, Outcome, Report
from autograder.roster import Learner, recogniser
from autograder.tally import Tally


def check(name, outcome=Outcome.PASSED, message=""):
    earned = 5 if outcome is Outcome.PASSED else 0
    return CheckResult(name, name, outcome, 5, earned, message)


def graded(id, *checks, reason="", mistakes=(), **facts):
    earned = sum(each.earned for each in checks)
    found = [Diagnosis(fault, {"en": f"about {fault}"}) for fault in mistakes]
    double = ExerciseResult("double", 10, earned, reason, found, list(checks))
    bonus = ExerciseResult("triple", 4, 4, bonus=True, checks=[check("t")])
    return Report(submission=id, status="graded", points=10, exercises=[double, bonus], **facts)


def tally_of(*reports):
    tally = Tally()
    for report in reports:
        tally.add(report)
    return tally


def test_a_check_is_counted_for_those_whose_module_could_be_tried():
    stub = "NotImplementedError: write it"
    tally = tally_of(
        graded("ada", check("a"), check("b", Outcome.FAILED)),
        graded("bea", check("a"), check("b", Outcome.TIMED_OUT)),
        graded("cy", reason="not handed in"),
        graded("di", reason="double.py cannot be loaded"),
        graded("ed", check("a", Outcome.FAILED, stub), check("b", Outcome.FAILED, stub)),
    ).exercises["double"]

    assert {name: (each.done, each.share_passed) for name, each in tally.checks.items()} == {"a": (2, 1), "b": (2, 0)}
    assert tally.checks["b"].outcomes == {Outcome.FAILED: 1, Outcome.TIMED_OUT: 1}
    assert (tally.n_not_handed_in, tally.n_unwritten, tally.earned) == (1, 1, [5, 5, 0, 0])
    assert {reason: loss.ids for reason, loss in tally.lost.items()} == {"double.py cannot be loaded": ["di"]}


def test_mistakes_come_with_those_who_made_them_the_most_common_first():
    tally = tally_of(
        graded("ada", check("a", Outcome.FAILED), mistakes=["rare", "common"]),
        graded("bea", check("a", Outcome.FAILED), mistakes=["common"]),
    )

    assert [(each.exercise, each.fault, each.ids) for each in tally.mistakes] == [
        ("double", "common", ["ada", "bea"]),
        ("double", "rare", ["ada"]),
    ]
    assert tally.rows["ada"].n_mistakes == 2


def test_a_row_has_core_and_bonus_apart_and_what_was_lost():
    row = tally_of(graded("ada", check("a"), late=True, handed_in="2026-03-01T10:00:00+00:00", seconds=2.5)).rows["ada"]

    assert (row.earned, row.points, row.bonus, row.marks) == (5, 10, 4, {"double": 5, "triple": 4})
    assert (row.late, row.handed_in, row.seconds, row.lost) == (True, "2026-03-01T10:00:00+00:00", 2.5, {})


def test_what_was_not_graded_has_its_reason_and_no_part_in_the_counts():
    refused = Report(submission="torn", status="not_graded", reason="torn.zip is not whole", points=10)
    tally = tally_of(graded("ada", check("a")), refused)

    assert [(row.id, row.reason) for row in tally.of("not_graded")] == [("torn", "torn.zip is not whole")]
    assert tally.exercises["double"].earned == [5]


def test_the_roll_is_called_by_id_and_name():
    roster = [Learner("ada", "Ada Lovelace"), Learner("bea", "Bea Novak"), Learner("cy", "Cy Ito")]
    tally = tally_of(graded("ada"), graded("77", learner_name="Novak Bea"), graded("stranger"))

    tally.call_the_roll(roster, recogniser(roster))

    assert [(row.id, row.name) for row in tally.of("missing")] == [("cy", "Cy Ito")]
    assert (tally.unknown, tally.rows["ada"].name, tally.rows["77"].name) == (["stranger"], "Ada Lovelace", "Novak Bea")


@pytest.mark.parametrize("n_checks", [0, 1])
def test_the_order_of_the_class_list_is_that_of_names_else_ids(n_checks):
    checks = [check("a")] * n_checks
    tally = tally_of(
        graded("zed", *checks), graded("1", *checks, learner_name="bea"), graded("2", *checks, learner_name="Ada")
    )

    assert [row.id for row in tally.sorted_rows()] == ["2", "1", "zed"]
