"""Whose row is whose submission."""

from autograder.exports.matching import Row, match
from autograder.roster import Learner

from .conftest import graded

AMARA = Row(1, "Amara", ["7"], ["amara"], ["amara@uni.example"])
CHIDI = Row(2, "Chidi", ["8"], ["7"], ["chidi@uni.example"])
BEA = Row(3, "Bea", ["9"], ["bea"], ["8"])


def paired(reports, roster=()):
    return {report.submission: row.name for row, report in match([AMARA, CHIDI, BEA], reports, roster).pairs}


def test_an_id_counts_before_a_login_and_a_login_before_an_address():
    assert paired([graded("7"), graded("8")]) == {"7": "Amara", "8": "Chidi"}


def test_capitals_spaces_and_the_way_letters_are_composed_do_not_count():
    row = Row(1, "Zoë", [" zoë "])
    assert match([row], [graded("ZOE\u0308")]).pairs[0][0] is row


def test_an_address_of_the_roster_leads_to_its_row():
    assert paired([graded("b1")], [Learner("b1", "", "AMARA@uni.example")]) == {"b1": "Amara"}


def test_a_cell_that_is_empty_is_nobodys_id():
    matches = match([Row(1, "Amara", [""], [""], [""])], [graded("x")], [Learner("x")])
    assert (matches.pairs, matches.submissions, [row.name for row in matches.rows]) == ([], ["x"], ["Amara"])


def test_two_rows_that_one_submission_fits_leave_it_undecided():
    twins = [Row(1, "Amara", ["7"]), Row(2, "Amara again", ["7"])]
    matches = match(twins, [graded("7")])
    assert (matches.pairs, matches.undecided, matches.complete) == ([], ["7"], False)
