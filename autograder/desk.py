"""The learners and references of one submission: what the fixtures of a suite are served from."""

from __future__ import annotations

import importlib.util
import math
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from autograder.course import Course, Exercise, libraries_of
from autograder.language import say
from autograder.sandbox import jail
from autograder.sandbox.learner import Budget, Learner, Limits, Module
from autograder.sandbox.starting import Starter
from autograder.submission import Submission


class SubmissionDesk:
    """One submission's modules, each in a process of its own that is started when it is first asked for."""

    def __init__(
        self, submission: Submission, course: Course, starter: Starter, references: References, *, trust: bool
    ) -> None:
        self._submission = submission
        self._course = course
        self._starter = starter
        self._references = references
        self._trust = trust
        self._budget = Budget(course.limits.submission_seconds, say("the submission"))
        self._learners: dict[str, Learner] = {}

    def learner(self, exercise: str) -> Learner:
        """Give the learner's module of an exercise; KeyError when it was not handed in."""
        if exercise not in self._learners:
            self._learners[exercise] = self._open(self._course.exercise(exercise))
        return self._learners[exercise]

    def reference(self, exercise: str) -> ModuleType:
        """Give the solution module of an exercise."""
        return self._references.load(exercise)

    @property
    def layers(self) -> tuple[str, ...]:
        """The layers of the jail that held in every process started so far."""
        held = [learner.layers for learner in self._learners.values() if learner.layers]
        return tuple(layer for layer in jail.LAYERS if held and all(layer in layers for layers in held))

    def close(self) -> None:
        """End every process."""
        for learner in self._learners.values():
            learner.close()

    def _open(self, exercise: Exercise) -> Learner:
        source, stand_ins = self._submission.modules[exercise.name], self._course.stand_in_sources(exercise)
        module = Module(
            name=exercise.name,
            source=source,
            stand_ins=stand_ins,
            banned=exercise.banned,
            libraries=self._needed(exercise, [source, *stand_ins.values()]),
        )
        return Learner(
            self._starter,
            module,
            limits=limits_of(self._course),
            readable=jail.readable_paths(),
            budget=Budget(self._course.limits.exercise_seconds, say("the exercise"), self._budget),
            trust=self._trust,
        )

    def _needed(self, exercise: Exercise, sources: Sequence[bytes]) -> tuple[str, ...]:
        """Give the course's libraries that the exercise computes with, or that a source names for whatever reason."""
        every = libraries_of(self._course.exercises)
        named = {library for library in every if any(library.encode() in source for source in sources)}
        return tuple(library for library in every if library in exercise.libraries or library in named)


class References:
    """The solution modules of a course, loaded once each."""

    def __init__(self, course: Course) -> None:
        self._course = course
        self._loaded: dict[str, ModuleType] = {}

    def load(self, exercise: str) -> ModuleType:
        """Give the solution module of an exercise."""
        if exercise not in self._loaded:
            path = self._course.solution_of(self._course.exercise(exercise))
            with _siblings_importable(path.parent):
                self._loaded[exercise] = _import_from(path)
            _compute_on_one_thread()
        return self._loaded[exercise]


def limits_of(course: Course) -> Limits:
    """Give the limits of a learner's process as the course sets them."""
    limits = course.limits
    return Limits(
        call_seconds=limits.call_seconds,
        cpu_seconds=math.ceil(limits.exercise_seconds),
        memory=limits.memory_mib << 20,
        output=limits.output_kib << 10,
        value=limits.value_mib << 20,
    )


def hidden_paths(course: Course) -> list[Path]:
    """Give what no learner's process may read: what grading needs, and what else gives answers away where it is."""
    others = [course.paths.faults, course.paths.variants]
    return [course.paths.suites, course.paths.solutions, *(path for path in others if path.exists())]


def _compute_on_one_thread() -> None:
    # On arrays as small as a suite's, more threads only wait for each other.
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.set_num_threads(1)


def _import_from(path: Path) -> ModuleType:
    specification = importlib.util.spec_from_file_location(path.stem, path)
    if specification is None or specification.loader is None:
        raise ImportError(f"{path} is not a Python module")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@contextmanager
def _siblings_importable(folder: Path) -> Iterator[None]:
    """Let one solution import another by its plain name, and leave no trace of it."""
    before = set(sys.modules)
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        for name in set(sys.modules) - before:
            origin = getattr(sys.modules[name], "__file__", None)
            if origin and Path(origin).parent == folder:
                del sys.modules[name]
