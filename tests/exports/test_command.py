"""`attend export` and `attend gradescope`: what they print, where they write, and the status they end with."""

import shutil
from pathlib import Path

import pytest

from autograder.cli import run
from autograder.report import write_report

from .conftest import graded, not_graded

SHEET = "Student,ID,SIS Login ID,Section,Attention (12)\n    Points Possible,,,,20\nOkafor,4711,amara,A,\n"


@pytest.fixture
def grades(course, tmp_path, monkeypatch):
    """Give the folder of a class of one, with a sheet beside it."""
    monkeypatch.chdir(tmp_path)
    Path("canvas.csv").write_text(SHEET)
    write_report(graded("amara", 17.5), Path("grades", "reports"))
    return Path("grades")


def test_it_says_what_was_done_and_where_it_is(grades, course, capsys):
    assert run(["export", "grades", "--to", "canvas", "--template", "canvas.csv", "--course", str(course.root)]) == 0
    assert capsys.readouterr().out == "Attention (12): 1 mark\nWritten: grades/exports/canvas.csv\n"
    assert (grades / "exports" / "canvas.csv").read_text() == SHEET.replace("amara,A,", "amara,A,17.5")


def test_the_status_tells_that_something_has_no_mark(grades, course, capsys):
    write_report(not_graded("torn"), grades / "reports")
    assert run(["export", "grades", "--to", "csv", "--out", "marks.csv", "--course", str(course.root)]) == 3
    assert capsys.readouterr().out == "Not graded, so without a mark: torn\nWritten: marks.csv\n"


def test_of_many_files_their_folder_is_named(grades, course, capsys):
    for id in ("bea", "chidi"):
        write_report(graded(id), grades / "reports")
    assert run(["export", "grades", "--to", "gradescope", "--course", str(course.root)]) == 0
    assert capsys.readouterr().out == "Written: 3 files in grades/exports/gradescope\n"


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--to", "word"], "attend: --to word: there is no such form; ask for one of canvas, moodle"),
        (
            ["--to", "canvas"],
            "attend: --to canvas fills the gradebook that Canvas exported: name it with --template FILE",
        ),
        (["--to", "csv", "--template", "canvas.csv"], "attend: --template is for canvas and moodle"),
        (["--to", "csv", "--out", "grades"], "attend: grades cannot be written: Is a directory"),
    ],
)
def test_what_cannot_be_done_is_one_line_and_status_2(grades, course, capsys, arguments, line):
    assert run(["export", "grades", *arguments, "--course", str(course.root)]) == 2
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 1)
    assert said.err.startswith(line)


def test_a_report_that_is_none_is_named_and_nothing_is_written(grades, course, capsys):
    (grades / "reports" / "bad.json").write_text("{")
    assert run(["export", "grades", "--to", "csv", "--course", str(course.root)]) == 2
    assert "grades/reports/bad.json: not a report" in capsys.readouterr().err
    assert not (grades / "exports").exists()


def test_an_archive_for_gradescope_is_written_or_refused_in_one_line(grades, course, capsys):
    assert run(["gradescope", "archive", "--course", str(course.root)]) == 0
    assert capsys.readouterr().out.startswith("archive.zip: ")
    shutil.copy("canvas.csv", "mine.zip")
    assert run(["gradescope", "mine.zip", "--course", str(course.root)]) == 2
    assert "mine.zip is there and no former archive for Gradescope" in capsys.readouterr().err
