"""What is taken out of a process is reached under no name; what is allowed, and what a stand-in needs, stays."""

import numpy as np
import pytest
import torch

from autograder.sandbox import doors
from autograder.sandbox.learner import LearnerException
from autograder.sandbox.wire import Speciality

SOFTMAX = ("torch.*softmax*", "torch.*Softmax*", "scipy.*softmax")
ATTENTION = ("torch.*scaled_dot_product*", "torch.*multi_head_attention*", "torch.*MultiheadAttention")
X = torch.tensor([1.0, 2.0])
WEIGHTS = [0.2689414, 0.7310586]


@pytest.fixture
def closed(closed_learner_of):
    """Give a function that makes a learner behind closed doors, who can import a stand-in as `given`."""

    def make(source, banned=SOFTMAX, stand_in=""):
        return closed_learner_of(source, banned=banned, stand_ins={"given": stand_in.encode()} if stand_in else None)

    return make


def violations_of(learner, *arguments):
    with pytest.raises(LearnerException, match=r"^this exercise may not use "):
        learner.f(*arguments)
    return [(found.name, found.line) for found in learner.violations]


def test_nothing_looks_on_where_every_door_is_closed(closed, learner_of):
    source = "import sys\ndef f():\n    return sys.getprofile() is None"
    assert closed(source).f() is True
    assert learner_of(source, banned=SOFTMAX).f() is False


@pytest.mark.parametrize(
    ("call", "name"),
    [
        ("getattr(torch._refs, 'soft' + 'max')(x, 0)", "torch._refs.softmax"),
        (
            "getattr(torch._decomp.decompositions, '_soft' + 'max')(x, 0, False)",
            "torch._decomp.decompositions._softmax",
        ),
        ("getattr(torch.nn.functional, 'gumbel_soft' + 'max')(x)", "torch.nn.functional.gumbel_softmax"),
        ("getattr(torch.nn, 'Soft' + 'max')(0)(x)", "torch.nn.modules.activation.Softmax.__init__"),
    ],
)
def test_a_function_of_python_s_that_needs_no_kernel_of_that_name_is_closed_too(closed, call, name):
    assert violations_of(closed(f"import torch\ndef f(x):\n    return {call}"), X)[0] == (name, 3)


def test_attention_in_python_s_own_words_is_closed(closed):
    source = """
import torch

def f(x):
    layer = getattr(torch.nn, "Multi" + "headAttention")(2, 1)
    return layer(x[None], x[None], x[None])
"""
    assert violations_of(closed(source, ATTENTION), X)[0] == (
        "torch.nn.modules.activation.MultiheadAttention.__init__", 5)  # fmt: skip


@pytest.mark.parametrize(
    "way",
    [
        "types.FunctionType(function.__code__, function.__globals__)(x, 0)",
        "types.FunctionType(function.__code__.replace(co_name='mine'), globals())(x, 0)",
        "copy.deepcopy(function)(x, 0)",
        "functools.partial(function, dim=0)(x)",
        "list(map(function, [x], [0]))[0]",
        "function.__get__(x)(0)",
        "vars(importlib.reload(sys.modules['torch.nn.modules.activation']))['Soft' + 'max'](0)(x)",
    ],
)
def test_a_closed_function_is_closed_however_it_is_called(closed, way):
    source = f"""
import copy, functools, importlib, sys, types
import torch
name = "soft" + "max"
function = getattr(torch.nn.functional, name)

def f(x):
    return {way}
"""
    learner = closed(source)
    assert ("softmax" in violations_of(learner, X)[0][0].lower(), learner.violations[0].line) == (True, 8)


@pytest.mark.parametrize(
    "loading",
    [
        "import scipy.special as found",
        "found = importlib.import_module('scipy.special')",
        "found = __import__('scipy.special').special",
    ],
)
@pytest.mark.parametrize("where", ["as the module is loaded", "in the call"])
def test_what_is_loaded_later_is_watched(closed, loading, where):
    lines = ["import importlib", "def f(x):", "    return getattr(found, 'soft' + 'max')(x.numpy())"]
    lines.insert(
        1 if where == "as the module is loaded" else 2, loading if where.startswith("as") else f"    {loading}"
    )
    learner = closed("\n".join(lines))
    learner.f(X)
    assert {(found.name.rpartition(".")[2], found.line) for found in learner.violations} == {("softmax", 4)}


def test_the_hooks_are_as_before_once_something_was_loaded(closed):
    learner = closed("import sys\ndef f(x):\n    import sched\n    return sys.getprofile() is None")
    assert learner.f(X) is False
    assert learner.violations == []


def test_a_stand_in_still_does_what_it_did_and_gradients_flow_through_it(closed):
    stand_in = """
import torch
import torch.nn.functional as F

def attention(x):
    return F.scaled_dot_product_attention(x, x, x)

def heads(x):
    torch.manual_seed(0)
    return torch.nn.MultiheadAttention(4, 2, dtype=x.dtype)(x, x, x)[1]
"""
    source = "from given import attention, heads\ndef f(x):\n    return attention(x)\ndef g(x):\n    return heads(x)"
    learner = closed(source, ATTENTION, stand_in)
    x = torch.arange(12.0, dtype=torch.float64).reshape(3, 4) / 10
    needs = x.clone().requires_grad_()
    expected = torch.nn.functional.scaled_dot_product_attention(needs, needs, needs)
    expected.sum().backward()
    found = learner.gradients("f", x, cotangents=(torch.ones_like(x),), wrt=(0,))
    assert torch.allclose(found.result, expected)
    assert torch.allclose(found.arguments[0], needs.grad)
    assert torch.allclose(learner.g(x).sum(dim=-1), torch.ones(3, dtype=torch.float64))
    assert learner.violations == []


def test_gradients_flow_back_through_the_kernel_that_a_stand_in_has_used(closed):
    stand_in = """
import torch

def attention(x):
    return torch.nn.functional.scaled_dot_product_attention(x, x, x)
"""
    source = """
import torch
from given import attention

def f(x):
    return attention(x)

def g(x):
    backward = getattr(torch.ops.aten, "_scaled_dot_product" + "_flash_attention_for_cpu_backward")
    return backward(x, x, x, x, x, x[..., 0], 0.0, False)
"""
    learner = closed(source, ATTENTION, stand_in)
    # Of four dimensions, which the kernel takes that has a backward kernel of its own.
    x = torch.arange(24.0).reshape(1, 2, 3, 4) / 10
    needs = x.clone().requires_grad_()
    torch.nn.functional.scaled_dot_product_attention(needs, needs, needs).sum().backward()
    found = learner.gradients("f", x, cotangents=(torch.ones_like(x),), wrt=(0,))
    assert torch.allclose(found.arguments[0], needs.grad)
    assert learner.violations == []
    with pytest.raises(LearnerException, match="may not use _scaled_dot_product_flash_attention_for_cpu_backward"):
        learner.g(x)
    assert {violation.line for violation in learner.violations} == {10}


def test_around_a_stand_in_the_doors_stay_closed(closed):
    source = """
import torch
from given import double

def f(x):
    return getattr(torch, "soft" + "max")(double(x), 0)
"""
    learner = closed(source, SOFTMAX, "def double(x):\n    return x * 2")
    assert violations_of(learner, X)[0] == ("softmax", 6)


def test_what_is_allowed_works_as_before(closed):
    source = """
import torch

def f(x):
    powers = (x - x.max()).exp()
    weights = powers / powers.sum()
    layer = torch.nn.Linear(2, 2)
    norm = torch.nn.functional.layer_norm(layer(x), (2,))
    return weights, torch.einsum("i,j->ij", norm, norm).sum(), torch.nn.functional.dropout(x, 0.0), x.sigmoid()
"""
    learner = closed(source, SOFTMAX + ATTENTION)
    assert learner.f(X)[0].tolist() == pytest.approx(WEIGHTS)
    assert learner.violations == []


def test_another_list_than_the_prepared_one_is_watched_for_as_ever(learner_of, closing_server):
    closing_server.prepare([Speciality(SOFTMAX, False)])
    learner = learner_of(
        "import torch\ndef f(x):\n    return x.sigmoid()", starter=closing_server, banned=("torch.*sigmoid",)
    )
    assert violations_of(learner, X)[0] == ("sigmoid", 3)


def refusing(name):
    def refuse():
        raise RuntimeError(f"no {name}")

    return refuse


def test_a_function_with_variables_of_its_surroundings_is_closed():
    def outer(first, second):
        def inner(value, *, more=1):
            return value + first + second + more

        return inner

    inner = outer(1, 2)
    known_elsewhere = [inner]
    doors.close_function(inner, refusing("inner"))
    for call in (lambda: inner(1), lambda: known_elsewhere[0](1, more=2), lambda: inner(), lambda: inner(1, 2, 3, x=4)):
        with pytest.raises(RuntimeError, match=r"^no inner$"):
            call()
    assert outer(1, 2)(3) == 7


def test_while_it_is_suspended_a_closed_function_does_what_it_did():
    suspended = [False]

    def add(value, other=2, *, more=1):
        return value + other + more

    doors.close_function(add, refusing("add"), lambda: suspended[0])
    with pytest.raises(RuntimeError, match=r"^no add$"):
        add(1)
    suspended[0] = True
    assert (add(1), add(1, 1), add(1, more=3)) == (4, 3, 6)


@pytest.mark.parametrize(
    ("call", "banned", "name"),
    [
        ("getattr(math, 'ex' + 'p')(1.0)", "math.exp", "exp"),
        ("getattr(bisect, 'bisect' + '_left')([1], 1)", "bisect.bisect_left", "bisect_left"),
        ("getattr(torch, 'from_' + 'numpy')(x.numpy())", "torch.from_numpy", "from_numpy"),
    ],
)
def test_a_function_in_c_that_is_no_kernel_is_looked_for_as_ever(closed, call, banned, name):
    learner = closed(f"import bisect, math, torch\ndef f(x):\n    return {call}", (banned,))
    learner.f(X)
    assert [(found.name, found.line) for found in learner.violations] == [(name, 3)]


@pytest.mark.parametrize(
    "loading",
    [
        "loader.get_code = lambda self, name: original(self, name).replace(co_filename='<x>')",
        "loader.get_code = lambda self, name: original(self, name).replace(co_filename=__file__)",
        "loader.exec_module = lambda self, module: run(self.get_code(module.__name__), module)",
    ],
)
def test_what_is_loaded_in_another_way_is_watched(closed, loading):
    source = f"""
import builtins, importlib.machinery, types
loader = importlib.machinery.SourceFileLoader
original = loader.get_code
def run(code, module):
    vars(module)["__builtins__"] = builtins
    types.FunctionType(code, vars(module))()
{loading}

def f(x):
    found = importlib.import_module("scipy.special")
    return getattr(found, "soft" + "max")(x.numpy())
"""
    learner = closed(source)
    learner.f(X)
    assert {(found.name.rpartition(".")[2], found.line) for found in learner.violations} == {("softmax", 12)}


def test_a_thread_with_no_known_name_does_not_work_on_what_is_loaded_later(closed):
    source = """
import gc, sys, threading, types

def f(x):
    gc.unfreeze()
    functions = [thing for thing in gc.get_objects() if type(thing) is types.BuiltinFunctionType]
    (start,) = [function for function in functions if function.__name__ == "start_new_thread"]
    loaded, done, found = threading.Lock(), threading.Lock(), []
    loaded.acquire(), done.acquire()

    def work():
        loaded.acquire()
        found.append(getattr(sys.modules["scipy.special"], "soft" + "max")(x.numpy()))
        done.release()

    start(work, ())
    import scipy.special
    loaded.release(), done.acquire()
    return found[0]
"""
    learner = closed(source)
    learner.f(X)
    assert "threading" in {found.name for found in learner.violations}


def test_what_hangs_in_the_way_of_gradients_is_watched(closed):
    source = """
import torch

class Once(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        context.save_for_backward(x)
        return x * 1

    @staticmethod
    def backward(context, gradient):
        (x,) = context.saved_tensors
        backward = getattr(torch.ops.aten, "_scaled_dot_product" + "_flash_attention_for_cpu_backward")
        return backward(gradient, x, x, x, x, x[..., 0], 0.0, False)[0]

def f(x):
    return Once.apply(x)
"""
    learner = closed(source, ATTENTION, "def nothing():\n    pass")
    x = torch.ones(1, 2, 3, 4)
    learner.gradients("f", x, cotangents=(x,), wrt=(0,))
    assert {found.line for found in learner.violations} == {14}


@pytest.mark.parametrize(
    "banned",
    [
        ("torch.zeros*", "torch.ones", "numpy.zeros"),
        ("torch.transpose", "torch.as_strided", "torch.Tensor.view", "torch.Tensor.detach", "torch.nn.Linear"),
    ],
)
def test_what_the_kit_itself_needs_to_make_ready_may_be_forbidden(closed, banned):
    learner = closed("import numpy as np\ndef f(x):\n    return 2 * x", banned=banned)
    assert learner.f(1) == 2
    assert learner.f(np.ones(2)).tolist() == [2.0, 2.0]
