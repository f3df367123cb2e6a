"""A family as a module to hand in: its faults switched on, its signatures kept, and no word of explanation."""

import ast
import inspect
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from autograder.course import load_course
from autograder.faults.family import NONE
from autograder.faults.mutant import source_of, source_of_all
from autograder.faults.shelf import Families

NAMES = [exercise.name for exercise in load_course(Path(__file__).resolve().parents[2]).exercises]

each_family = pytest.mark.parametrize("exercise", NAMES)


@pytest.fixture
def loaded(course, monkeypatch, solutions):
    """Give a function that executes a source in this process, with the stand-ins of its exercise at hand."""

    def load(source, exercise="double"):
        if exercise in NAMES:
            for name, text in course.stand_in_sources(course.exercise(exercise)).items():
                stand_in = ModuleType(name)
                exec(text, vars(stand_in))
                monkeypatch.setitem(sys.modules, name, stand_in)
        module = ModuleType(exercise)
        module.__file__ = f"{exercise}.py"
        exec(compile(source, module.__file__, "exec"), vars(module))
        return module

    return load


@pytest.fixture
def double(small_course):
    return Families(small_course()).of("double")


def texts_in(source):
    return [node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant)]


def parameters_of(callable_, *, without=()):
    """Give names and kinds of parameters."""
    signature = inspect.signature(callable_)
    return [(name, one.kind) for name, one in signature.parameters.items() if name not in without]


@each_family
def test_the_source_explains_no_fault_and_holds_nothing_that_tells_them_apart(families, exercise):
    family = families.of(exercise)
    for source in (source_of(family, family.singles()[0]), source_of_all(family)):
        text = source.decode()
        told = [fault.name for fault in family.faults if fault.en in text or fault.zh in text]
        assert told == []
        assert [report for fault in family.faults for report in fault.seen_in if report in text] == []
        assert [word for word in ("autograder", "FAMILY", "Probe(", "Fault(") if word in text] == []


@each_family
def test_the_functions_have_the_parameters_that_the_solution_gives_them(families, solutions, loaded, exercise):
    family, solution = families.of(exercise), solutions.load(exercise)
    module = loaded(source_of(family, NONE), exercise)
    for name in family.definitions:
        made, wanted = getattr(module, name), getattr(solution, name)
        assert inspect.isclass(made) == inspect.isclass(wanted)
        if inspect.isclass(made):
            assert parameters_of(made.forward, without=["faults"]) == parameters_of(wanted.forward)
        else:
            assert made.__name__ == name
            assert parameters_of(made, without=["faults"]) == parameters_of(wanted)


@pytest.mark.parametrize(
    ("names", "doubled"),
    [
        ((), [-400.0, 2.0, 400.0]),
        (("tripled",), [-600.0, 3.0, 600.0]),
        (("cut_above",), [-400.0, 2.0, 200.0]),
        (("tripled", "cut_above"), [-600.0, 3.0, 300.0]),
        (("sign_lost", "cut_above", "halved"), [50.0, 0.5, 50.0]),
    ],
)
def test_the_faults_named_are_made_and_no_others(double, loaded, names, doubled):
    numbers = np.array([-200.0, 1.0, 200.0])
    faults = [double.fault(name) for name in names]
    assert loaded(source_of(double, faults)).double(numbers).tolist() == doubled
    module = loaded(source_of_all(double))
    module._choose(names)
    assert module.double(numbers).tolist() == doubled


def test_arguments_are_handed_on_by_position_and_by_name(double, loaded):
    module = loaded(source_of(double, NONE))
    assert module.double(np.array([1.0]), 0.5).tolist() == [2.5]
    assert module.double(more=0.5, numbers=np.array([1.0])).tolist() == [2.5]
    with pytest.raises(TypeError):
        module.double(np.array([1.0]), 0.5, 0.5)


def test_the_order_in_which_faults_are_named_makes_no_difference(double):
    faults = [double.fault(name) for name in ("tripled", "cut_above", "more_ignored")]
    assert source_of(double, faults) == source_of(double, faults[::-1])
    assert source_of(double, faults) != source_of(double, faults[1:])


def test_a_source_names_the_faults_it_makes_and_all_it_could_make(double):
    texts = texts_in(source_of(double, [double.fault("tripled")]))
    assert texts.count("tripled") == 2
    assert texts.count("halved") == 1


def test_choosing_starts_afresh(double, loaded):
    module = loaded(source_of_all(double))
    module._choose(["tripled"])
    module.double(np.ones(1))
    module.double(np.ones(1))
    assert len(module._calls) == 2
    before = module.double
    module._choose([])
    assert module._calls == []
    assert module.double is not before
    assert module.double(np.ones(1)).tolist() == [2.0]


def test_before_anything_is_chosen_nothing_is_defined(double, loaded):
    assert not hasattr(loaded(source_of_all(double)), "double")


def test_what_a_fault_keeps_between_calls_is_gone_after_choosing(families, loaded):
    family = families.of("softmax")
    module = loaded(source_of_all(family), "softmax")
    module._choose(["one_buffer_for_all_results"])
    first = module.softmax(np.array([0.0, 1.0]))
    assert module.softmax(np.array([0.0, 2.0])) is first
    module._choose(["one_buffer_for_all_results"])
    assert module.softmax(np.array([0.0, 1.0])) is not first
