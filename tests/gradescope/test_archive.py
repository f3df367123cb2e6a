"""What is in the archive, and where it may be written."""

import re
import zipfile
from pathlib import Path

import pytest

from autograder.course import load_course
from autograder.grade import GradingError
from autograder.gradescope import ArchiveError
from autograder.gradescope.archive import archive_files, requirements, write_archive
from autograder.gradescope.settings import Settings

ROOT = Path(__file__).parents[2]


def test_both_programs_lie_at_the_root_and_can_be_run(small_course, tmp_path):
    write_archive(small_course(), tmp_path / "a.zip")
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        modes = {info.filename: info.external_attr >> 16 & 0o777 for info in archive.infolist()}
        assert archive.read("setup.sh").startswith(b"#!/usr/bin/env bash\n")
        assert archive.read("run_autograder").startswith(b"#!/bin/sh\n")
    assert (modes["setup.sh"], modes["run_autograder"]) == (0o755, 0o755)
    assert {mode for name, mode in modes.items() if name not in ("setup.sh", "run_autograder")} == {0o644}


def test_the_kits_own_course_lies_where_it_lay_with_all_that_grading_needs():
    files = archive_files(load_course(ROOT), Settings())
    needed = ["kit/course.toml", "kit/solutions/softmax.py", "kit/autograder/suites/test_softmax.py"]
    needed += ["kit/autograder/faults/softmax.py", "kit/autograder/stand_ins/attention.py", "kit/constraints.txt"]
    needed += ["kit/exercises/contract/softmax.en.toml", "kit/autograder/locale/zh/exports.po"]
    assert [name for name in needed if name not in files] == []
    assert [name for name in files if re.search(r"__pycache__|\.pyc$|/\.|/labs/.*ipynb|^kit/tests", name)] == []


def test_what_is_installed_is_what_grading_needs_and_no_gradebook():
    names = [
        re.split(r"[<>=;\[ ]", line)[0] for line in requirements((ROOT / "pyproject.toml").read_text()).splitlines()
    ]
    assert {"numpy", "torch", "pytest", "msgspec", "hypothesis", "landlock", "pyseccomp"} <= set(names)
    assert not {"nbgrader", "copydetect", "psycopg"} & set(names)
    # pip asks where it is set up to ask.
    assert not [name for name in names if name.startswith("-")]


def test_a_former_archive_is_replaced_and_anything_else_stays(small_course, tmp_path):
    course = small_course()
    write_archive(course, tmp_path / "a")
    assert "upload it to Gradescope, and only there" in write_archive(course, tmp_path / "a.zip")
    (tmp_path / "b.zip").write_bytes(b"mine")
    with pytest.raises(ArchiveError, match=r"b\.zip is there and no former archive for Gradescope; name another place"):
        write_archive(course, tmp_path / "b.zip")
    assert (tmp_path / "b.zip").read_bytes() == b"mine"


def test_a_copy_without_solutions_makes_no_archive(small_course, tmp_path):
    course = small_course()
    course.paths.solutions.rename(tmp_path / "elsewhere")
    with pytest.raises(GradingError, match="solutions is not there: grading needs the instructor's copy"):
        write_archive(course, tmp_path / "a.zip")


def test_a_course_that_reaches_outside_its_folder_is_one_line(small_course, tmp_path):
    course = small_course({"course.toml": {'faults = "faults"': 'faults = "../faults"'}})
    (course.root / "faults").rename(tmp_path / "faults")
    with pytest.raises(ArchiveError, match=r"lies outside .*; an archive holds one folder, so move it below that"):
        write_archive(course, tmp_path / "a.zip")
