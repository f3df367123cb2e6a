"""Families are read from the course's files, once each; one that cannot be read is told by its file in one line."""

import shutil

import pytest

from autograder.course import CourseError, load_course
from autograder.faults.family import Family
from autograder.faults.mutant import source_of
from autograder.faults.shelf import Families, FamilyError


def test_a_family_is_loaded_once(small_course):
    families = Families(small_course())
    family = families.of("double")
    assert isinstance(family, Family)
    assert [fault.name for fault in family.faults][:2] == ["tripled", "halved"]
    assert families.of("double") is family


def test_families_of_two_courses_keep_apart_though_their_exercises_have_one_name(small_course, tmp_path):
    course = small_course()
    first = Families(course).of("double")
    other = load_course(shutil.copytree(course.root, tmp_path / "other"))
    family = other.family_of(other.exercise("double"))
    family.write_text(family.read_text(encoding="utf-8").replace("tripled", "trebled"), encoding="utf-8")
    second = Families(other).of("double")
    assert (b"tripled" in source_of(first, []), b"trebled" in source_of(first, [])) == (True, False)
    assert (b"tripled" in source_of(second, []), b"trebled" in source_of(second, [])) == (False, True)


def test_an_exercise_may_have_no_family(small_course):
    course = small_course()
    (course.paths.faults / "double.py").unlink()
    assert Families(course).of("double") is None


def test_an_exercise_that_the_course_does_not_have_is_an_error(small_course):
    with pytest.raises(CourseError, match="there is no exercise named 'treble'"):
        Families(small_course()).of("treble")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def double(:\n", "SyntaxError: invalid syntax"),
        ("import no_such_module\n", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("1 / 0\n", "ZeroDivisionError: division by zero"),
        ("x = 1\n", 'give it FAMILY = Family("double", ...)'),
        ("FAMILY = 3\n", 'give it FAMILY = Family("double", ...)'),
        (
            "from autograder.faults.family import Family\nFAMILY = Family('treble', {}, faults=(), probes=())\n",
            'give it FAMILY = Family("double", ...)',
        ),
        (
            "from autograder.faults.family import Family, Fault\n"
            "FAULT = Fault('one', place='here', en='', zh='')\n"
            "FAMILY = Family('double', {}, faults=(FAULT, FAULT), probes=())\n",
            "ValueError: double: two faults have the same name",
        ),
    ],
)
def test_a_family_that_cannot_be_read_is_told_by_its_file(small_course, text, said):
    course = small_course(files={"faults/double.py": text})
    with pytest.raises(FamilyError) as caught:
        Families(course).of("double")
    assert str(caught.value).startswith(f"{course.paths.faults / 'double.py'}: {said}")
    assert "\n" not in str(caught.value)


def test_a_family_that_was_mended_is_read_again(small_course):
    families = Families(small_course(files={"faults/double.py": "1 / 0"}))
    with pytest.raises(FamilyError):
        families.of("double")
    small_course()
    assert families.of("double").exercise == "double"
