"""The table of marks opens in a spreadsheet, and says only what was graded."""

import csv
import os
from pathlib import Path

import pytest

from autograder.outputs.csv import write_csv
from autograder.report import ExerciseResult, Report, ReportError
from autograder.roster import Learner

EXERCISES = ("by_hand", "softmax", "attention")


def graded(id: str, **reasons: str) -> Report:
    exercises = [
        ExerciseResult("by_hand", 5, 3.5, bonus=True),
        ExerciseResult("softmax", 20, 18, reason=reasons.get("softmax", "")),
        ExerciseResult("attention", 20, 0.1 + 0.2, reason=reasons.get("attention", "")),
    ]
    return Report(submission=id, status="graded", points=40, earned=21.8, exercises=exercises)


def rows(reports: list[Report], folder: Path) -> list[dict[str, str]]:
    path = write_csv(reports, EXERCISES, folder / "grades.csv")
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_a_row_holds_the_marks_core_and_bonus_apart(tmp_path):
    assert rows([graded("amara")], tmp_path) == [
        {
            "submission": "amara",
            "status": "graded",
            "points": "40",
            "earned": "18.3",
            "bonus": "3.5",
            "by_hand": "3.5",
            "softmax": "18",
            "attention": "0.3",
            "reason": "",
            "handed_in": "",
            "late": "",
        }
    ]


@pytest.mark.parametrize(("late", "said"), [(True, "yes"), (False, "no"), (None, "")])
def test_when_it_was_handed_in_and_whether_that_was_late_stand_at_the_end(tmp_path, late, said):
    report = graded("amara")
    report.handed_in, report.late = "2026-03-02T00:09:00+01:00", late
    assert list(rows([report], tmp_path)[0].items())[-2:] == [("handed_in", report.handed_in), ("late", said)]


def test_what_was_not_graded_has_no_marks_at_all_not_even_zero(tmp_path):
    report = Report(submission="amara", status="not_graded", reason="the jail is missing", points=40, earned=0)
    row = rows([report], tmp_path)[0]
    assert (row["status"], row["reason"]) == ("not_graded", "the jail is missing")
    assert [row[key] for key in ("points", "earned", "bonus", *EXERCISES)] == [""] * 6


def test_nothing_handed_in_is_graded_with_zeros_and_reasons(tmp_path):
    exercises = [ExerciseResult("softmax", 20, 0, reason="not handed in")]
    report = Report(submission="amara", status="graded", points=40, exercises=exercises)
    row = rows([report], tmp_path)[0]
    assert (row["earned"], row["softmax"], row["attention"]) == ("0", "0", "")
    assert row["reason"] == "softmax: not handed in"


def test_a_bonus_that_was_not_handed_in_needs_no_reason(tmp_path):
    exercises = [ExerciseResult("by_hand", 5, 0, "not handed in", bonus=True), ExerciseResult("softmax", 20, 20)]
    row = rows([Report(submission="amara", status="graded", points=40, exercises=exercises)], tmp_path)[0]
    assert (row["earned"], row["bonus"], row["by_hand"], row["reason"]) == ("20", "0", "0", "")


def test_rows_are_sorted_as_a_class_list_is(tmp_path):
    names = [row["submission"] for row in rows([graded(id) for id in ("zoë", "Bea", "amara", "李雷")], tmp_path)]
    assert names == ["amara", "Bea", "zoë", "李雷"]


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "＝", " ="])
def test_no_cell_is_run_as_a_formula(tmp_path, start):
    formula = f'{start}HYPERLINK("http://evil","marks")'
    row = rows([graded(formula, softmax=formula)], tmp_path)[0]
    assert row["submission"] == f"'{formula}"
    assert row["reason"] == f"softmax: {formula}"


def test_a_reason_that_begins_with_the_module_is_not_given_its_name_twice(tmp_path):
    row = rows([graded("amara", softmax="softmax.py cannot be loaded")], tmp_path)[0]
    assert row["reason"] == "softmax.py cannot be loaded"


def test_a_reason_of_ours_is_not_run_as_a_formula_either(tmp_path):
    report = Report(submission="amara", status="not_graded", reason="=1+1", points=40)
    assert rows([report], tmp_path)[0]["reason"] == "'=1+1"


def test_every_submission_is_one_line_whatever_its_name(tmp_path):
    rows([graded('a\n"b",c'), graded("\x1b[31m\u202ed")], tmp_path)
    lines = (tmp_path / "grades.csv").read_text(encoding="utf-8").split("\n")
    assert lines[1].startswith("\\x1b[31m\\u202ed,graded,")
    assert lines[2].startswith('"a\\n""b"",c",graded,')
    assert lines[3:] == [""]


def test_the_file_replaces_the_old_one_and_leaves_no_other(tmp_path):
    rows([graded("amara")], tmp_path)
    rows([], tmp_path)
    assert os.listdir(tmp_path) == ["grades.csv"]
    assert (tmp_path / "grades.csv").read_bytes() == (
        b"submission,status,points,earned,bonus,by_hand,softmax,attention,reason,handed_in,late\n"
    )


def test_a_file_that_cannot_be_written_is_one_clear_line(tmp_path):
    (tmp_path / "grades.csv").mkdir()
    with pytest.raises(ReportError, match=r"grades\.csv cannot be written: Is a directory$"):
        rows([graded("amara")], tmp_path)


def test_who_handed_nothing_in_has_a_row_in_its_place_and_no_marks(tmp_path):
    path = write_csv([graded("amara"), graded("zoë")], EXERCISES, tmp_path / "grades.csv", [Learner("=li", "Li Lei")])
    with open(path, encoding="utf-8", newline="") as file:
        table = list(csv.DictReader(file))
    assert [row["submission"] for row in table] == ["'=li", "amara", "zoë"]
    assert (table[0]["status"], table[0]["reason"]) == ("not_handed_in", "nothing was handed in")
    assert [table[0][key] for key in ("points", "earned", "bonus", *EXERCISES)] == [""] * 6
