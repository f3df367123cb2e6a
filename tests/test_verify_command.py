"""The command that puts the suites on trial, and what grading says of a family that cannot be read."""

import json

from autograder.cli import run


def test_verify_ends_with_0_where_every_suite_holds(small_course, capfd):
    assert run(["verify", "--course", str(small_course().root), "--jobs", "2"]) == 0
    assert capfd.readouterr().out.strip().endswith("every suite holds")


def test_verify_names_what_survives_and_ends_with_1(small_course, capfd):
    course = small_course({"suites/test_double.py": {"for number in (-1.0, -200.0):": "for number in (-1.0,):"}})
    assert run(["verify", "double", "--course", str(course.root), "--checks"]) == 1
    told = capfd.readouterr().out
    assert "cut_below: survives" in told
    assert "numbers_below_zero_are_doubled" in told
    assert told.strip().endswith("to be mended: double")


def test_verify_tells_programs_everything(small_course, capfd):
    run(["verify", "--course", str(small_course().root), "--json", "--thorough", "--jobs", "1"])
    (verdict,) = json.loads(capfd.readouterr().out)
    assert (verdict["exercise"], verdict["problems"]) == ("double", [])
    assert verdict["pairs"]["count"] == verdict["named_pairs"]["count"] > 0


def test_verify_says_in_one_line_what_keeps_it_from_trying(small_course, capfd):
    course = small_course()
    course.family_of(course.exercise("double")).write_text("1 / 0")
    assert run(["verify", "--course", str(course.root)]) == 2
    assert capfd.readouterr().err.endswith("double.py: ZeroDivisionError: division by zero\n")


def test_a_broken_family_keeps_grading_from_beginning(small_course, tmp_path, capfd):
    course = small_course()
    course.family_of(course.exercise("double")).write_text("1 / 0")
    (tmp_path / "class" / "amara").mkdir(parents=True)
    (tmp_path / "class" / "amara" / "double.py").write_text("double = None\n")
    command = ["grade", str(tmp_path / "class"), "--course", str(course.root), "--out", str(tmp_path / "out")]
    assert run(command) == 2
    assert "double.py: ZeroDivisionError: division by zero; mend it, or take the file away" in capfd.readouterr().err
    assert list((tmp_path / "out" / "reports").iterdir()) == []
