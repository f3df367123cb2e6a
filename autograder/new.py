"""A new exercise: all its files in their places, and its entry in `course.toml`.

They are copied from the folder `skeleton`, a course with one tiny exercise, so what is written already works: its
stub can be made, its solution has full points, and its one fault is caught and named.

Exceptions:
    NewError   one line that names what stands in the way
"""

from __future__ import annotations

import keyword
import os
import sys
import tomllib
from pathlib import Path

from autograder.course import (
    FILE_NAME,
    Course,
    Exercise,
    course_file,
    load_course,
    parse_course,
    parse_toml,
    read_course,
)
from autograder.release import stub_text

SKELETON = Path(__file__).parent / "skeleton"
NAME = "exercise_name"
TITLE = "Exercise name"
ENTRY = "[[exercises]]"
# A learner's module of such a name would be imported in the place of the library.
TAKEN = sys.stdlib_module_names | {"autograder", "hypothesis", "numpy", "pytest", "torch"}


class NewError(Exception):
    """An exercise cannot be added."""


def add_exercise(path: Path, name: str) -> list[Path]:
    """Add the exercise `name` to the course at `path`, a course.toml or its folder; returns the files written.

    Nothing is written where the exercise, or any file of its own, is there already. What all exercises of a course
    share is written where it is missing.

    Raises:
        NewError: when the exercise cannot be added.
        CourseError: when the course cannot be read.

    """
    _require_fit(name)
    file = course_file(path)
    text = read_course(file)
    added = _entry(text, file, name)
    course = parse_course(text + added, file)
    own = _own_files(course, course.exercise(name))
    for there in filter(os.path.lexists, own):
        raise NewError(f"{there} is there already; choose another name, or move it away")
    shared = {path: text for path, text in _shared_files(course).items() if not os.path.lexists(path)}
    _write({**own, **shared}, file, added)
    return [*own, *shared, file]


def _require_fit(name: str) -> None:
    if not name.isidentifier() or keyword.iskeyword(name):
        raise NewError(f"{name!r} is no Python name; use letters, digits and '_'")
    if name in TAKEN:
        raise NewError(f"{name!r} is the name of a library, which a module of that name would hide; choose another")


def _entry(text: str, file: Path, name: str) -> str:
    """Give what has to follow the text of a course.toml, so that it describes the exercise, too."""
    described = parse_toml(text, file).get("exercises", [])
    if isinstance(described, list) and name in [one.get("name") for one in described if isinstance(one, dict)]:
        raise NewError(f"{file}: exercises.{name} is there already; choose another name")
    skeleton = _text_of(SKELETON / FILE_NAME)
    entry = "\n" * (1 + (not text.endswith("\n"))) + _renamed(skeleton[skeleton.index(ENTRY) :], name)
    entry = entry.replace("\n", "\r\n") if "\r\n" in text else entry
    try:
        tomllib.loads(text + entry)
    except tomllib.TOMLDecodeError:
        raise NewError(f"{file}: exercises: no table can be added; write each as a table of its own, {ENTRY}") from None
    return entry


def _own_files(course: Course, exercise: Exercise) -> dict[Path, str]:
    """Give the text of each file of the exercise."""
    skeleton = load_course(SKELETON)
    (model,) = skeleton.exercises
    copied = {
        course.solution_of(exercise): skeleton.solution_of(model),
        course.suite_of(exercise): skeleton.suite_of(model),
        course.family_of(exercise): skeleton.family_of(model),
        **{course.variants_folder_of(exercise) / path.name: path for path in skeleton.variants_of(model)},
        course.contract_of(exercise): skeleton.contract_of(model),
        course.instructions_of(exercise): skeleton.instructions_of(model),
        course.public_tests_of(exercise): skeleton.public_tests_of(model),
    }
    files = {path: _renamed(_text_of(source), exercise.name) for path, source in copied.items()}
    return {**files, course.stub_of(exercise): stub_text(files[course.solution_of(exercise)])}


def _shared_files(course: Course) -> dict[Path, str]:
    """Give the text of the files by which pytest can be run by hand, on the suites and on the public tests."""
    skeleton = load_course(SKELETON).paths
    return {
        course.paths.suites / "conftest.py": _text_of(skeleton.suites / "conftest.py"),
        course.paths.exercises / "pytest.ini": _text_of(skeleton.exercises / "pytest.ini"),
    }


def _text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise NewError(f"{path} is not there: what is copied comes with the course's repository only") from None


def _renamed(text: str, name: str) -> str:
    title = name.replace("_", " ").strip() or name
    return text.replace(TITLE, title[0].upper() + title[1:]).replace(NAME, name)


def _write(files: dict[Path, str], course_toml: Path, entry: str) -> None:
    """Write the files, then the entry that makes them count; where one cannot be written, none stays."""
    begun: list[Path] = []
    path = course_toml
    try:
        for path, text in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("x", encoding="utf-8", newline="\n") as file:
                begun.append(path)
                file.write(text)
        path = course_toml
        with path.open("ab") as described:
            described.write(entry.encode())
    except OSError as error:
        for each in begun:
            each.unlink(missing_ok=True)
        raise NewError(f"{path}: cannot be written ({error.strerror}); make its folder writable") from None
