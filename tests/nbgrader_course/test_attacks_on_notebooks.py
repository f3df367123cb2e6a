"""Cells that try to earn or to touch what they should not: some succeed in a kernel, none where there is no kernel."""

import sqlite3

import pytest

from .learners import ATTACKS


def extra_credit(course) -> set:
    with sqlite3.connect(course.folder / "gradebook.db") as book:
        return {credit for (credit,) in book.execute("SELECT extra_credit FROM grade")}


@pytest.mark.parametrize("attack", [*ATTACKS, "metadata"])
def test_nothing_is_earned_in_the_jail(graded, attack):
    assert graded.marks()[f"mallory_{attack}"] == {"double": 0, "twice": 0}


def test_nothing_is_touched_from_the_jail(graded):
    assert extra_credit(graded) == {None}
    assert not (graded.folder / "loot.txt").exists()


def test_no_kernel_was_started(graded):
    assert not list((graded.folder / "home").rglob("kernel-*.json"))
    assert "kernel" not in graded.log.lower()


def test_a_grade_cell_stays_one_and_worth_what_it_is_worth(graded):
    told = {
        cell.metadata.nbgrader.grade_id: cell.metadata.nbgrader
        for cell in graded.autograded("mallory_metadata").cells
        if "nbgrader" in cell.metadata
    }
    assert (told["test_more_is_added"].grade, told["test_more_is_added"].points) == (True, 1)
    assert told["test_numbers_below_zero_are_doubled"].points == 2
    assert not told["test_large_numbers_are_doubled"].solution


@pytest.mark.parametrize("attack", ["kit", "transformer"])
def test_in_a_kernel_a_cell_can_report_points_that_were_not_earned(plain, attack):
    assert plain.marks()[f"mallory_{attack}"]["double"] > 0


def test_in_a_kernel_a_cell_can_read_the_solutions(plain):
    assert "return _added(numbers * FACTOR, more)" in (plain.folder / "loot.txt").read_text()


def test_in_a_kernel_a_cell_can_write_marks(plain):
    assert 50 in extra_credit(plain)


def test_a_printed_score_earns_nothing_anywhere(plain):
    assert plain.marks()["mallory_prints"]["double"] == 0


def test_in_a_kernel_one_cell_can_lose_all_marks_of_a_notebook(plain):
    assert "jun" not in plain.marks() or plain.marks()["jun"]["double"] == 0
