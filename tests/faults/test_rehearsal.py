"""A family asked in this process answers, and tells of each call, what a learner's process would."""

from pathlib import Path

import numpy as np
import pytest
import torch

from autograder.course import load_course
from autograder.desk import limits_of
from autograder.faults.answers import alike, answer_to
from autograder.faults.family import NONE, Family
from autograder.faults.mutant import source_of
from autograder.faults.rehearsal import Rehearsal, as_received

NAMES = [exercise.name for exercise in load_course(Path(__file__).resolve().parents[2]).exercises]
TOLD = ("modified", "shared", "writeable", "warnings", "largest_tensor")


@pytest.fixture
def both(learner_of):
    """Give a function that opens the same source in a learner's process and as a rehearsal."""

    def open_both(source):
        source = f"import warnings\nimport numpy as np\nimport torch\n{source}\n"
        namespace = {"__name__": "rehearsed"}
        exec(compile(source, "<rehearsed>", "exec"), namespace)
        definitions = {name: made for name, made in namespace.items() if getattr(made, "__module__", "") == "rehearsed"}
        return learner_of(source), Rehearsal(Family("exercise", definitions, faults=(), probes=()), NONE)

    return open_both


def told(module):
    return {name: getattr(module.last, name) for name in TOLD}


def assert_same(one, other):
    """Two values must be of the same types and hold the same numbers."""
    assert type(one) is type(other)
    if isinstance(one, list | tuple):
        assert len(one) == len(other)
        for own, others in zip(one, other, strict=True):
            assert_same(own, others)
    elif isinstance(one, np.ndarray | torch.Tensor):
        assert (one.dtype, tuple(one.shape)) == (other.dtype, tuple(other.shape))
        assert one.tolist() == other.tolist()
    else:
        assert one == other


def few_faults(family):
    """Give the right answer, and three faults: the first, the last, and one between them."""
    singles = family.singles()
    return [NONE, singles[0], singles[len(singles) // 2], singles[-1]]


@pytest.mark.parametrize("exercise", NAMES)
def test_the_jail_answers_every_probe_as_the_rehearsal_does(course, families, learner_of, exercise):
    family, described = families.of(exercise), course.exercise(exercise)
    different = []
    for faults in few_faults(family):
        learner = learner_of(
            source_of(family, faults),
            limits=limits_of(course),
            stand_ins=course.stand_in_sources(described),
            banned=described.banned,
        )
        rehearsal = Rehearsal(family, faults)
        for probe in family.probes:
            if not alike(answer_to(probe, learner), answer_to(probe, rehearsal)):
                different.append((sorted(fault.name for fault in faults), probe.name))
        assert learner.violations == []
        learner.close()
    assert different == []


@pytest.mark.parametrize(
    "body",
    [
        "return a + b",
        "return a",
        "return a[1:]",
        "return 1, [b.reshape(-1), a + 0]",
        "a += 1; return a + 0",
        "a[0] = b[0] = 7; return a * b",
        "return a.sum()",
        "return float(a.sum())",
        "return (a > 0).all()",
        "return None",
        "return [True, 3, 'text', 2.5]",
        "return np.broadcast_to(np.ones(1), (2, 2))",
        "warnings.warn('mind'); return a + 0",
        "for _ in range(30):\n        warnings.warn('mind ' * 100)\n    return a + 0",
        "return np.ones(3) / np.zeros(3)",
        "raise KeyError('no')",
        "return a.no_such_attribute",
        "return no_such_name",
        "import no_such_module",
    ],
)
@pytest.mark.parametrize("make", [np.ones, torch.ones], ids=["array", "tensor"])
def test_a_call_answers_and_tells_the_same(both, body, make):
    learner, rehearsal = both(f"def f(a, b, faults=()):\n    {body}")
    answers = [answer_to(Call("f", make(3), b=make(3)), module) for module in (learner, rehearsal)]
    assert answers[0].raised == answers[1].raised
    assert_same(answers[0].value, answers[1].value)
    if not answers[0].raised:
        assert told(learner) == told(rehearsal)


class Call:
    """A probe that makes one call."""

    def __init__(self, function, *arguments, **keywords):
        self.ask = lambda module: getattr(module, function)(*arguments, **keywords)


def test_a_call_that_raised_tells_what_it_did_before(both):
    source = "def f(a, faults=()):\n    warnings.warn('mind')\n    raise ValueError\n"
    for module in both(source + "def g(a, faults=()):\n    a += 1\n    return a"):
        module.g(np.ones(2))
        with pytest.raises(ValueError):
            module.f(np.ones(2))
        assert module.last.warnings == (("UserWarning", "mind"),)
        assert module.last.modified == ()
        assert module.last.shared == ()


def test_arguments_beyond_those_with_a_name_are_counted(both):
    for module in both("def f(*arrays, faults=()):\n    arrays[2][0] = 7\n    return 1"):
        module.f(np.ones(1), np.ones(1), np.ones(1))
        assert module.last.modified == ("argument 3",)


def test_an_argument_that_the_function_changes_stays_as_it_is_for_the_caller(both):
    for module in both("def f(a, faults=()):\n    a *= 2\n    return a"):
        given = [np.ones(2), torch.ones(2)]
        assert [module.f(value).tolist() for value in given] == [[2.0, 2.0], [2.0, 2.0]]
        assert [value.tolist() for value in given] == [[1.0, 1.0], [1.0, 1.0]]


def test_a_result_stays_as_it_is_whatever_is_called_later(both):
    source = "kept = np.zeros(2)\ndef f(x, faults=()):\n    kept[:] = x\n    return kept, [torch.from_numpy(kept)]"
    for module in both(source):
        array, (tensor,) = module.f(1)
        assert module.last.shared == ()
        module.f(2)
        assert module.last.shared == ("an earlier result",)
        assert (array.tolist(), tensor.tolist()) == ([1.0, 1.0], [1.0, 1.0])


@pytest.mark.parametrize("make", [np.ones, torch.ones], ids=["array", "tensor"])
def test_memory_that_is_used_again_is_not_memory_that_is_shared(both, make):
    for module in both("def f(a, faults=()):\n    return a * 2"):
        for _ in range(12):
            module.f(make(1000))
            assert module.last.shared == ()


def test_the_layout_of_an_argument_is_kept(both):
    for module in both("def f(a, faults=()):\n    return list(a.strides), bool(a.flags.writeable)"):
        assert module.f(np.broadcast_to(np.float64(1), (2, 3))) == ([0, 0], False)
        assert module.f(np.zeros((2, 3))[::-1].T) == ([8, -24], True)
    for module in both("def f(a, faults=()):\n    return list(a.stride())"):
        assert module.f(torch.ones(2, 3).t()) == [1, 3]
        assert module.f(torch.ones(1).expand(2, 3)) == [0, 0]


def test_the_largest_tensor_is_measured_where_it_is_asked_for(both):
    for module in both("def f(a, faults=()):\n    return a.expand(50, 10).clone().sum()"):
        assert module.measured.f(torch.ones(10)).item() == 500.0
        assert module.last.largest_tensor == 50 * 10 * 4
        module.f(torch.ones(10))
        assert module.last.largest_tensor is None


def test_chance_is_the_same_in_every_rehearsal():
    def draw(faults):
        return [float(np.random.rand()), float(torch.rand(()))]

    family = Family("exercise", {"draw": draw}, faults=(), probes=())
    assert Rehearsal(family, NONE).draw() == Rehearsal(family, NONE).draw()


def test_what_is_not_defined_is_not_there():
    rehearsal = Rehearsal(Family("exercise", {}, faults=(), probes=()), NONE)
    for asked in (rehearsal, rehearsal.measured):
        with pytest.raises(AttributeError):
            asked.softmax(1)


@pytest.mark.parametrize(
    "body",
    [
        "return (q * k * scale).sum(-1), q + 0",
        "return (q * 2).sum(-1), q + 0",
        "return (q * k * scale).sum(-1).detach(), q + 0",
        "return (q * k * scale).sum(-1).half(), q + 0",
    ],
    ids=["both", "one", "detached", "half"],
)
def test_gradients_flow_back_as_they_do_to_a_learner(both, body):
    learner, rehearsal = both(f"def f(q, k, scale=1.0, faults=()):\n    {body}")
    query, key = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 5.0])
    cotangent = torch.tensor(2.0)
    found = [
        module.gradients("f", query, key, scale=10.0, cotangents=(cotangent, None), wrt=(1, 0))
        for module in (learner, rehearsal)
    ]
    assert_same(found[0].arguments, found[1].arguments)
    assert_same(found[0].result, found[1].result)
    assert found[0].parameters == found[1].parameters == {}
    assert (query.requires_grad, key.requires_grad, query.grad) == (False, False, None)


def test_gradients_have_the_values_of_the_derivative(both):
    for module in both("def f(q, k, faults=()):\n    return (q * k).sum(-1)"):
        query, key = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 5.0])
        found = module.gradients("f", query, key, cotangents=(torch.tensor(2.0),), wrt=(1, 0))
        assert [value.tolist() for value in found.arguments] == [[2.0, 4.0], [6.0, 10.0]]


@pytest.mark.parametrize("body", ["return 1.0", "return ()", "return q[:1] * 2", "return [q * 2]"])
def test_gradients_of_a_result_of_any_form_are_asked_for_alike(both, body):
    class Probe:
        @staticmethod
        def ask(module):
            return module.gradients("f", torch.ones(2), cotangents=(torch.ones(2),), wrt=(0,)).arguments

    learner, rehearsal = both(f"def f(q, faults=()):\n    {body}")
    expected, found = answer_to(Probe, learner), answer_to(Probe, rehearsal)
    assert expected.raised == found.raised
    assert_same(expected.value, found.value)


LAYER = """
class Layer(torch.nn.Module):
    def __init__(self, d_in, d_out, frozen=False, faults=()):
        super().__init__()
        self.linear = torch.nn.Linear(d_in, d_out)
        self.linear.bias.requires_grad_(not frozen)
        self.dropout = torch.nn.Dropout(1.0)

    def forward(self, x, scale=1.0):
        return self.dropout(self.linear(x)) * scale
"""
STATE = {"linear.weight": torch.tensor([[1.0, 2.0]]), "linear.bias": torch.tensor([0.5])}


def loaded(module, **keywords):
    layer = module.new_loaded("Layer", STATE, "float32", 2, 1, **keywords)
    layer.eval()
    return layer


def test_a_module_is_made_loaded_converted_and_called(both):
    for module in both(LAYER):
        layer = module.new("Layer", 2, 1)
        layer.load(STATE)
        layer.eval()
        assert layer(torch.tensor([3.0, 4.0]), scale=2.0).tolist() == [23.0]
        layer.train()
        assert layer(torch.tensor([3.0, 4.0])).tolist() == [0.0]
        layer.to("float64")
        assert {value.dtype for value in layer.state().values()} == {torch.float64}
        assert {value.dtype for value in STATE.values()} == {torch.float32}


def test_a_module_is_made_in_one_step(both):
    for module in both(LAYER):
        layer = module.new_loaded("Layer", STATE, "float64", 2, d_out=1)
        layer.eval()
        assert layer(torch.tensor([3.0, 4.0]).double()).tolist() == [11.5]


def test_a_state_that_does_not_fit_is_refused(both):
    for module in both(LAYER):
        with pytest.raises(RuntimeError, match="Missing key"):
            module.new("Layer", 2, 1).load({})


def test_the_state_of_a_module_stays_as_it_was_told(both):
    for module in both(LAYER):
        layer = loaded(module)
        before = layer.state()
        layer.load({name: value + 1 for name, value in STATE.items()})
        assert {name: value.tolist() for name, value in before.items()} == {
            name: value.tolist() for name, value in STATE.items()
        }


@pytest.mark.parametrize("frozen", [False, True])
def test_gradients_of_a_module_reach_its_parameters(both, frozen):
    for module in both(LAYER):
        layer = loaded(module, frozen=frozen)
        found = layer.gradients(torch.tensor([3.0, 4.0]), cotangents=(torch.tensor([2.0]),), wrt=(0,))
        assert found.arguments[0].tolist() == [2.0, 4.0]
        assert found.parameters["linear.weight"].tolist() == [[6.0, 8.0]]
        assert (found.parameters["linear.bias"] is None) == frozen


def test_what_an_instance_does_to_its_arguments_is_told(both):
    changing = LAYER.replace("        return self.dropout", "        x += 1\n        return self.dropout")
    learner, rehearsal = both(changing)
    given = torch.ones(2)
    for module in (learner, rehearsal):
        loaded(module)(given)
        assert len(module.last.modified) == 1
        assert given.tolist() == [1.0, 1.0]
    assert told(learner) == told(rehearsal)


def test_making_a_module_leaves_nothing_told_of_the_call_before(both):
    for module in both(LAYER + "\ndef f(a, faults=()):\n    a += 1\n    return a"):
        module.f(np.ones(1))
        module.new("Layer", 2, 1)
        assert module.last.modified == ()


def test_a_value_is_received_as_a_copy_with_its_layout():
    given = {"a": [np.arange(6.0).reshape(2, 3).T, torch.ones(2, 2)], "b": (1, "text")}
    received = as_received(given)
    assert received["b"] == (1, "text")
    assert received["a"][0].strides == (8, 24)
    assert received["a"][0].tolist() == given["a"][0].tolist()
    received["a"][0][0, 0] = 7
    received["a"][1].add_(1)
    assert given["a"][0][0, 0] == 0
    assert given["a"][1].tolist() == [[1.0, 1.0], [1.0, 1.0]]
