"""A mark is a decimal number of at most two decimals, and nothing where nothing was graded."""

from decimal import Decimal

import pytest

from autograder.exports.marks import mark_of, read_number, written

from .conftest import graded, not_graded


@pytest.mark.parametrize(
    ("earned", "mark"),
    [(18.0, "18"), (0.1 + 0.2, "0.3"), (0.0, "0"), (17.125, "17.13"), (2.675, "2.68"), (1 / 3, "0.33")],
)
def test_halves_are_rounded_up_as_they_are_on_paper(earned, mark):
    assert written(mark_of(graded("amara", earned), with_bonus=False)) == mark


def test_the_bonus_is_added_only_where_it_was_asked_for():
    report = graded("amara", 18.0, bonus=3.5)
    assert mark_of(report, with_bonus=False) == Decimal("18")
    assert mark_of(report, with_bonus=True) == Decimal("21.5")


def test_a_mark_can_be_made_to_fit_another_maximum():
    assert mark_of(graded("amara", 17.0), with_bonus=False, maximum=Decimal("15")) == Decimal("12.75")


def test_what_was_not_graded_has_no_mark_not_even_zero():
    assert mark_of(not_graded("torn"), with_bonus=True) is None


@pytest.mark.parametrize(
    ("text", "number"), [("12.5", "12.5"), (" 12,50 ", "12.5"), ("EX", None), ("", None), ("nan", None)]
)
def test_numbers_are_read_with_point_or_comma(text, number):
    assert read_number(text) == (None if number is None else Decimal(number))
