"""The fault families of a course, loaded once each."""

from __future__ import annotations

import importlib.util
import sys

from autograder.course import Course
from autograder.faults.family import Family


class FamilyError(Exception):
    """A family that cannot be read: one line that names its file."""


class Families:
    """The families of a course by exercise; an exercise may have none."""

    def __init__(self, course: Course) -> None:
        self._course = course
        self._loaded: dict[str, Family | None] = {}

    def of(self, exercise: str) -> Family | None:
        """Give the family of an exercise, or None where there is no file. Raises FamilyError."""
        if exercise not in self._loaded:
            self._loaded[exercise] = self._load(exercise)
        return self._loaded[exercise]

    def _load(self, exercise: str) -> Family | None:
        path = self._course.family_of(self._course.exercise(exercise))
        if not path.is_file():
            return None
        # By this name the family's source is found again, also where two courses have an exercise of one name.
        name = f"faults of {path}"
        specification = importlib.util.spec_from_file_location(name, path)
        assert specification is not None and specification.loader is not None
        module = importlib.util.module_from_spec(specification)
        sys.modules[name] = module
        try:
            specification.loader.exec_module(module)
        except (Exception, SystemExit) as error:
            raise FamilyError(f"{path}: {type(error).__name__}: {error}") from error
        family = getattr(module, "FAMILY", None)
        if not isinstance(family, Family) or family.exercise != exercise:
            raise FamilyError(f'{path}: give it FAMILY = Family("{exercise}", ...)')
        if not family.definitions:
            raise FamilyError(f"{path}: name the functions and classes of the family as its definitions")
        return family
