"""The examples that learners read in the stubs print what they say, once the exercise is solved."""

import doctest
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from autograder.course import load_course

COURSE = load_course(Path(__file__).parents[2])
PROMISED = [(exercise.name, function) for exercise in COURSE.exercises for function in exercise.functions]


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def modules(request, monkeypatch) -> tuple[ModuleType, ModuleType]:
    """The stub and the solution of an exercise; where they import `attention`, it is the solved one."""
    monkeypatch.setitem(sys.modules, "attention", load(COURSE.paths.solutions / "attention.py"))
    exercise = COURSE.exercise(request.param)
    return load(COURSE.stub_of(exercise)), load(COURSE.solution_of(exercise))


@pytest.mark.parametrize(("modules", "function"), PROMISED, indirect=["modules"])
def test_the_example_in_the_stub_prints_what_it_says(modules: tuple[ModuleType, ModuleType], function: str):
    stub, solution = modules
    found = doctest.DocTestFinder().find(getattr(stub, function), function, extraglobs=vars(solution))
    report: list[str] = []
    results = [doctest.DocTestRunner(verbose=False).run(test, out=report.append) for test in found]
    assert sum(result.attempted for result in results) > 0, f"{function} shows no example"
    assert sum(result.failed for result in results) == 0, "".join(report)
