"""The grader's side of a learner's process: calls, what each call tells, and how a process that ended has ended."""

import math
import threading
import time

import msgspec
import numpy as np
import pytest
import torch

from autograder.language import Phrase, said_by
from autograder.sandbox.learner import (
    Budget,
    Crashed,
    Exited,
    Interrupted,
    LearnerEnded,
    LearnerException,
    OutOfMemory,
    TimedOut,
    UnfitResult,
)
from autograder.sandbox.starting import Interpreters
from autograder.sandbox.wire import Facts, Unfit


def test_a_call_crosses_and_comes_back(learner_of):
    learner = learner_of("def f(a, b=1):\n    return a * b")
    assert learner.f(np.array([1.0, 2.0]), b=3).tolist() == [3.0, 6.0]
    assert learner.f(2) == 2


@pytest.mark.parametrize("value", [None, True, 3, 2.5, "text", [1, (2, {"a": None})], (), {}])
def test_plain_values_come_back_as_they_are(learner_of, value):
    returned = learner_of("def f(x):\n    return x").f(value)
    assert returned == value
    assert type(returned) is type(value)


def test_every_call_gets_fresh_copies(learner_of):
    learner = learner_of("def f(x):\n    x += 1\n    return x.copy()")
    scores = np.zeros(2)
    assert learner.f(scores).tolist() == [1.0, 1.0]
    assert learner.f(scores).tolist() == [1.0, 1.0]
    assert scores.tolist() == [0.0, 0.0]


def test_the_layout_of_an_argument_is_kept(learner_of):
    learner = learner_of("def f(x):\n    return list(x.strides), bool(x.flags.writeable)")
    assert learner.f(np.broadcast_to(np.float64(1), (2, 3))) == ([0, 0], False)
    assert learner.f(np.zeros((2, 3))[::-1].T) == ([8, -24], True)


def test_every_layer_of_the_jail_is_told(learner_of):
    learner = learner_of("")
    learner.load()
    assert learner.layers == ("process", "rlimits", "landlock", "seccomp")


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("{1, 2}", "a value of type set came back"),
        ("1 << 70", "an integer of more than 64 bits came back"),
        ("{(1, 2): 3}", "a dict with a key of type tuple came back"),
        ("torch.zeros([1] * 40)", "a tensor with 40 dimensions came back"),
        ("object()", "a value of type object came back"),
        ("f", "a value of type function came back"),
        ("[0] * 20000", "more than 10000 items in its collections came back"),
        ("'x' * 1000000", "a string of 1000000 characters came back"),
        ("np.array([None])", "an array of dtype object with 1 dimensions came back"),
        ("np.zeros(2_000_000)", "an array of 15 MiB; at most 8 MiB may be returned came back"),
        ("torch.eye(2).to_sparse()", "a torch.sparse_coo tensor of dtype torch.float32 on cpu came back"),
    ],
)
def test_what_may_not_come_back_is_told_by_its_name(learner_of, expression, said):
    learner = learner_of(f"import numpy as np\nimport torch\ndef f():\n    return {expression}")
    with pytest.raises(UnfitResult, match=f"^{said}$") as caught:
        learner.f()
    assert said_by(caught.value).in_("zh").startswith("返回的是")
    assert "came back" not in said_by(caught.value).in_("zh")
    assert isinstance(said_by(caught.value).facts["value"], Phrase)


def test_a_process_that_says_something_else_is_quoted_as_it_is(learner_of):
    learner = learner_of("def f(): pass")
    said = "{value.__class__} of a kind that nobody knows"
    error = learner._unexpected(Unfit(said, Facts()))
    assert said_by(error).in_("zh") == f"返回的是 {said}"


def test_the_seconds_of_the_call_are_spent(learner_of):
    learner = learner_of("import time\ndef f():\n    time.sleep(0.2)")
    learner.f()
    assert 0.2 <= learner.seconds < 5


def test_what_was_printed_is_told_and_is_the_call_s_own(learner_of):
    learner = learner_of("import sys\ndef f(x):\n    print('a', x)\n    print('b', file=sys.stderr)")
    learner.f(1)
    assert learner.last.output == "a 1\nb\n"
    learner.f(2)
    assert learner.last.output == "a 2\nb\n"


def test_output_beyond_the_limit_is_cut_and_counted(learner_of):
    learner = learner_of("def f(x):\n    for _ in range(1000):\n        print('x' * 9)")
    learner.f(0)
    assert learner.last.output == ("x" * 9 + "\n") * 100 + "\n[9000 more bytes cut]"


def test_the_limit_counts_bytes_and_cuts_no_letter_in_two(learner_of):
    learner = learner_of("def f(): print('注' * 500)")
    learner.f()
    assert learner.last.output == "注" * 333 + "\n[501 more bytes cut]"


def test_a_closed_stream_costs_nothing_but_what_is_printed_into_it(learner_of):
    learner = learner_of("import sys\ndef f():\n    print('first', flush=True)\n    sys.stdout.close()\n    return 1")
    assert (learner.f(), learner.last.output) == (1, "first\n")
    assert (learner.f(), learner.last.output) == (1, "first\n")


def test_the_time_that_loading_takes_is_not_called_a_call(learner_of, limits):
    quick = msgspec.structs.replace(limits, call_seconds=0.3)
    with pytest.raises(TimedOut, match=r"loading the module took longer than 0\.3 s"):
        learner_of("while True: pass", limits=quick).load()


def test_what_is_used_up_is_told_in_words(learner_of):
    learner = learner_of("def f(): pass", budget=Budget(0.0, "the exercise"))
    assert str(learner.out_of_time) == "the 0 s for the exercise are used up"
    assert learner_of("def f(): pass").out_of_time is None


def test_warnings_are_told_each_time(learner_of):
    learner = learner_of("import warnings\nimport numpy as np\ndef f(x):\n    warnings.warn('mind')\n    return x / 0")
    for _ in range(2):
        learner.f(np.ones(1))
        assert learner.last.warnings[0] == ("UserWarning", "mind")
        assert learner.last.warnings[1] == ("RuntimeWarning", "divide by zero encountered in divide")


@pytest.mark.parametrize(
    ("body", "modified"),
    [
        ("return scores.copy()", ()),
        ("scores[0] = 7", ("scores",)),
        ("allowed[:] = False", ("allowed",)),
        ("scores[0] = allowed[0] = 0", ("scores", "allowed")),
        ("scores.shape = (2, 1)", ("scores",)),
        ("scores += 0", ()),
    ],
)
def test_arguments_that_were_changed_are_named(learner_of, body, modified):
    learner = learner_of(f"def f(scores, *, allowed=None):\n    {body}")
    learner.f(np.array([1.0, 2.0]), allowed=np.array([True, True]))
    assert learner.last.modified == modified


def test_arguments_of_a_module_are_named_as_its_forward_names_them(learner_of):
    source = "import torch\nclass Layer(torch.nn.Module):\n    def forward(self, query, key):\n        key.add_(1)\n"
    layer = (learner := learner_of(source)).new("Layer")
    layer(torch.ones(2), torch.ones(2))
    assert learner.last.modified == ("key",)


def test_changed_tensors_and_items_of_lists_are_named_too(learner_of):
    learner = learner_of("def f(query, masks):\n    query.add_(1)\n    masks[1].fill_(False)")
    learner.f(torch.ones(2), [torch.ones(2).bool(), torch.ones(2).bool()])
    assert learner.last.modified == ("query", "masks")


@pytest.mark.parametrize(
    ("body", "modified"),
    [
        ("query.data = query.data.clone()", ()),
        ("query.data = query.data + 1", ("query",)),
        ("query.set_(query.mT)", ("query",)),
        ("query.mul_(1)", ()),
        ("query[0, 1] = 7", ("query",)),
    ],
)
def test_a_tensor_with_other_memory_is_judged_by_its_values_and_its_form(learner_of, body, modified):
    learner = learner_of(f"def f(query, key):\n    {body}")
    learner.f(torch.ones(3, 2)[:2], torch.ones(2))
    assert learner.last.modified == modified


@pytest.mark.parametrize(
    ("body", "shared"),
    [
        ("return scores + 0", ()),
        ("return scores", ("scores",)),
        ("return scores[1:]", ("scores",)),
        ("return 1, {'a': value.reshape(-1)}", ("value",)),
    ],
)
@pytest.mark.parametrize("make", [np.ones, torch.ones])
def test_what_the_result_shares_memory_with_is_named(learner_of, body, shared, make):
    learner = learner_of(f"def f(scores, value):\n    {body}")
    learner.f(make(3), make(2))
    assert learner.last.shared == shared


def test_memory_shared_with_an_earlier_result_is_told(learner_of):
    learner = learner_of("import numpy as np\nkept = np.zeros(3)\ndef f(x):\n    kept[:] = x\n    return kept")
    learner.f(1)
    assert learner.last.shared == ()
    learner.f(2)
    assert learner.last.shared == ("an earlier result",)


def test_memory_that_is_used_again_is_not_memory_that_is_shared(learner_of):
    learner = learner_of("import numpy as np\ndef f(x):\n    return np.full(1000, x)")
    for number in range(12):
        learner.f(number)
        assert learner.last.shared == ()


def test_results_that_cannot_be_written_are_told(learner_of):
    learner = learner_of("import numpy as np\ndef f(x):\n    return x.copy(), np.broadcast_to(x, (2, 2))")
    learner.f(np.ones(2))
    assert not learner.last.writeable
    learner = learner_of("def f(x):\n    return x.copy()")
    learner.f(np.ones(2))
    assert learner.last.writeable


def test_the_largest_tensor_is_measured_where_it_is_asked_for(learner_of):
    learner = learner_of("def f(x):\n    big = x.expand(50, 10).clone()\n    return big.sum()")
    assert learner.measured.f(torch.ones(10)).item() == 500.0
    assert learner.last.largest_tensor == 50 * 10 * 4
    learner.f(torch.ones(10))
    assert learner.last.largest_tensor is None


def test_seeds_differ_from_call_to_call_and_are_the_same_in_every_run(learner_of):
    source = "import random\nimport numpy as np\nimport torch\n"
    source += "def f():\n    return random.random(), float(np.random.rand()), float(torch.rand(()))"
    first, second = learner_of(source), learner_of(source)
    one = [first.f() for _ in range(3)]
    two = [second.f() for _ in range(3)]
    assert one == two
    assert len({number for numbers in one for number in numbers}) == 9


def test_gradients_flow_back_to_the_arguments_asked_for(learner_of):
    learner = learner_of("def f(q, k, scale=1.0):\n    return (q * k * scale).sum(-1), q + 0")
    query, key = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 5.0])
    cotangents = (torch.tensor(2.0), None)
    found = learner.gradients("f", query, key, scale=10.0, cotangents=cotangents, wrt=(1, 0))
    assert [value.tolist() for value in found.arguments] == [[20.0, 40.0], [60.0, 100.0]]
    assert found.result[0].item() == 130.0
    assert found.parameters == {}


def test_a_gradient_is_none_where_nothing_flows(learner_of):
    learner = learner_of("def f(q, k):\n    return q * 2")
    found = learner.gradients("f", torch.ones(2), torch.ones(2), cotangents=(torch.ones(2),), wrt=(0, 1))
    assert found.arguments[0].tolist() == [2.0, 2.0]
    assert found.arguments[1] is None


def test_all_gradients_are_none_where_the_result_is_detached(learner_of):
    learner = learner_of("def f(q):\n    return q.detach() * 2")
    assert learner.gradients("f", torch.ones(2), cotangents=(torch.ones(2),), wrt=(0,)).arguments == (None,)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("return 1.0", "what was returned is not made of tensors"),
        ("return None", "what was returned is not made of tensors"),
        ("return q[:1] * 2", r"the shape is \(1,\), not \(2,\)"),
    ],
)
def test_a_result_of_the_wrong_form_has_no_gradients_and_says_why(learner_of, body, said):
    learner = learner_of(f"def f(q):\n    {body}")
    found = learner.gradients("f", torch.ones(2), cotangents=(torch.ones(2),), wrt=(0,))
    with pytest.raises(UnfitResult, match=f"no gradient can be asked for: {said}") as caught:
        _ = found.arguments
    assert isinstance(said_by(caught.value).facts["why"], Phrase)


def test_an_error_on_the_way_back_is_the_learner_s(learner_of):
    source = "import torch\nclass F(torch.autograd.Function):\n"
    source += "    @staticmethod\n    def forward(ctx, x):\n        return x * 2\n"
    source += "    @staticmethod\n    def backward(ctx, g):\n        raise ValueError('backward')\n"
    learner = learner_of(source + "def f(x):\n    return F.apply(x)")
    with pytest.raises(ValueError, match="backward"):
        learner.gradients("f", torch.ones(2), cotangents=(torch.ones(2),), wrt=(0,))


MODULE = """
import torch

class Layer(torch.nn.Module):
    def __init__(self, d_in, d_out, dropout=0.0):
        super().__init__()
        self.linear = torch.nn.Linear(d_in, d_out)
        self.dropout = torch.nn.Dropout(dropout)
        self.register_buffer("table", torch.zeros(3))

    def forward(self, x, scale=1.0):
        return self.dropout(self.linear(x)) * scale

class Plain:
    def __init__(self, a):
        self.a = a
"""
STATE = {"linear.weight": torch.tensor([[1.0, 2.0]]), "linear.bias": torch.tensor([0.5]), "table": torch.ones(3)}


def test_a_module_is_made_loaded_and_called(learner_of):
    module = learner_of(MODULE).new("Layer", 2, 1)
    module.load(STATE)
    assert module(torch.tensor([3.0, 4.0]), scale=2.0).tolist() == [23.0]
    state = module.state()
    assert list(state) == ["table", "linear.weight", "linear.bias"]
    assert {name: value.tolist() for name, value in state.items()} == {
        name: value.tolist() for name, value in STATE.items()
    }


def test_a_state_that_does_not_fit_is_refused(learner_of):
    module = learner_of(MODULE).new("Layer", 2, 1)
    with pytest.raises(RuntimeError, match="Missing key"):
        module.load({})


def test_training_and_evaluation_are_switched(learner_of):
    module = learner_of(MODULE).new("Layer", 2, 1, dropout=1.0)
    module.load(STATE)
    module.train()
    assert module(torch.ones(2)).tolist() == [0.0]
    module.eval()
    assert module(torch.ones(2)).tolist() == [3.5]


def test_a_module_is_converted(learner_of):
    module = learner_of(MODULE).new("Layer", 2, 1)
    module.to("float64")
    assert module(torch.ones(2).double()).dtype is torch.float64
    assert {value.dtype for value in module.state().values()} == {torch.float64}


def test_a_module_is_described(learner_of):
    learner = learner_of(MODULE)
    description = learner.new("Layer", 2, 1).description
    assert description.is_module
    assert description.parameters == {"linear.weight": (1, 2), "linear.bias": (1,)}
    assert description.buffers == ("table",)
    assert description.children == {"linear": "Linear", "dropout": "Dropout"}
    plain = learner.new("Plain", 3).description
    assert (plain.is_module, plain.parameters, plain.buffers, plain.children) == (False, {}, (), {})


def test_gradients_of_a_module_reach_its_parameters(learner_of):
    module = learner_of(MODULE).new("Layer", 2, 1)
    module.load(STATE)
    found = module.gradients(torch.tensor([3.0, 4.0]), cotangents=(torch.tensor([2.0]),), wrt=(0,))
    assert found.arguments[0].tolist() == [2.0, 4.0]
    assert {name: value.tolist() for name, value in found.parameters.items()} == {
        "linear.weight": [[6.0, 8.0]],
        "linear.bias": [2.0],
    }


def test_what_a_constructor_raises_arrives(learner_of):
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'd_out'"):
        learner_of(MODULE).new("Layer", 2)


def test_a_module_does_not_outlive_its_process(learner_of):
    learner = learner_of(MODULE + "\nimport os\ndef leave():\n    os._exit(0)")
    module = learner.new("Layer", 2, 1)
    with pytest.raises(Exited):
        learner.leave()
    with pytest.raises(Crashed, match="the process that held this module has ended"):
        module(torch.ones(2))
    learner.load()
    with pytest.raises(Crashed, match="the process that held this module has ended"):
        module.state()


def raised_by(learner, *arguments):
    with pytest.raises(LearnerException) as caught:
        learner.f(*arguments)
    return caught.value


def test_an_exception_arrives_as_the_built_in_type_with_the_learner_s_own_frames(learner_of):
    source = "import json\n\ndef f(x):\n    return helper(x)\n\ndef helper(x):\n    return json.loads(x)\n"
    error = raised_by(learner_of(source), "{")
    assert isinstance(error, ValueError)
    assert error.name == "JSONDecodeError"
    assert [(frame.line, frame.function, frame.text) for frame in error.frames] == [
        (4, "f", "return helper(x)"),
        (7, "helper", "return json.loads(x)"),
    ]


@pytest.mark.parametrize(
    ("raising", "kind", "message"),
    [
        ("ValueError('temperature must be positive')", ValueError, "temperature must be positive"),
        ("TypeError('no')", TypeError, "no"),
        ("KeyError('key')", KeyError, "'key'"),
        ("ZeroDivisionError()", ZeroDivisionError, ""),
        ("UnicodeDecodeError('utf-8', b'a', 0, 1, 'why')", LearnerException, "'utf-8' codec can't decode byte"),
        ("ExceptionGroup('group', [ValueError('inner')])", LearnerException, "group (1 sub-exception)"),
        ("StopIteration(3)", StopIteration, "3"),
        ("KeyboardInterrupt('stop')", LearnerException, "stop"),
        ("GeneratorExit('gone')", LearnerException, "gone"),
        ("BaseException('base')", LearnerException, "base"),
        ("type('Mine', (ValueError,), {})('own')", ValueError, "own"),
        ("type('Mine', (BaseException,), {})('own')", LearnerException, "own"),
        ("type('ValueError', (TypeError,), {})('posing')", TypeError, "posing"),
        ("ValueError('\\ud800')", ValueError, "?"),
        ("ValueError('x' * 10000)", ValueError, "x" * 4000),
    ],
)
def test_any_exception_arrives_as_one_that_except_exception_catches(learner_of, raising, kind, message):
    error = raised_by(learner_of(f"def f():\n    raise {raising}"))
    assert isinstance(error, kind)
    assert isinstance(error, Exception)
    assert str(error).startswith(message)
    assert error.frames[-1].line == 2


def test_a_message_that_cannot_be_made_is_replaced(learner_of):
    source = "class E(ValueError):\n    def __str__(self):\n        raise SystemExit\ndef f():\n    raise E"
    error = raised_by(learner_of(source))
    assert isinstance(error, ValueError)
    assert str(error) == "(its message cannot be shown)"


def test_endless_recursion_arrives_with_few_frames(learner_of):
    error = raised_by(learner_of("def f():\n    return f()"))
    assert isinstance(error, RecursionError)
    assert len(error.frames) == 10


def test_facts_of_a_call_that_raised_are_told(learner_of):
    learner = learner_of("def f():\n    print('before')\n    raise ValueError")
    raised_by(learner)
    assert learner.last.output == "before\n"


def test_a_function_that_is_missing_says_so(learner_of):
    learner = learner_of("x = 1")
    with pytest.raises(AttributeError, match=r"exercise\.py does not define softmax"):
        learner.softmax(1)
    with pytest.raises(AttributeError, match=r"exercise\.py does not define Layer"):
        learner.new("Layer")


def test_a_name_that_is_no_function_says_so(learner_of):
    with pytest.raises(TypeError, match="'int' object is not callable"):
        learner_of("f = 3").f()


@pytest.mark.parametrize(
    ("source", "kind", "line", "text"),
    [
        ("x = 1\ndef f(:\n", SyntaxError, 2, "def f(:"),
        ("if x:\npass\n", IndentationError, 2, "pass"),
        ("x = 1\n\nraise ValueError('at import')\n", ValueError, 3, "raise ValueError('at import')"),
        ("\nimport no_such_module\n", ModuleNotFoundError, 2, "import no_such_module"),
    ],
)
def test_a_module_that_cannot_be_loaded_names_the_learner_s_line(learner_of, source, kind, line, text):
    with pytest.raises(kind) as caught:
        learner_of(source).load()
    assert (caught.value.frames[-1].line, caught.value.frames[-1].text) == (line, text)


@pytest.mark.parametrize("source", [b"\n\xff\xfe", b"# coding: latin-1\nx = '\xe9'", b"\xef\xbb\xbf\nx = 1\0"])
def test_source_that_is_no_text_is_the_learner_s_error_with_its_line(learner_of, source):
    with pytest.raises(SyntaxError, match="save the file as UTF-8") as caught:
        learner_of(source).load()
    assert caught.value.frames[-1].line == 2


def test_a_byte_order_mark_is_no_error(learner_of):
    assert learner_of(b"\xef\xbb\xbfdef f():\n    return 3").f() == 3


def test_the_main_guard_is_not_entered(learner_of):
    learner = learner_of("x = 1\nif __name__ == '__main__':\n    x = 2\ndef f():\n    return x, __name__")
    assert learner.f() == (1, "exercise")


def ended_by(learner, kind, *arguments):
    with pytest.raises(LearnerEnded) as caught:
        learner.f(*arguments)
    assert type(caught.value) is kind
    return str(caught.value)


def test_no_test_can_mistake_an_end_for_an_exception():
    assert not issubclass(LearnerEnded, Exception)


@pytest.mark.parametrize(
    "body",
    ["while True: pass", "import time; time.sleep(60)", "sum(range(10 ** 12))"],
    ids=["loop", "sleep", "C"],
)
def test_a_call_that_takes_too_long_is_ended_at_its_deadline(learner_of, limits, body):
    learner = learner_of(f"def f():\n    {body}", limits=msgspec.structs.replace(limits, call_seconds=0.5))
    learner.load()
    started = time.monotonic()
    assert ended_by(learner, TimedOut) == "one call took longer than 0.5 s"
    assert 0.5 <= time.monotonic() - started < 30.0
    assert learner.time_outs == 1


def test_processor_time_is_limited_whatever_the_clock_says(learner_of, limits):
    learner = learner_of("def f():\n    while True: pass", limits=msgspec.structs.replace(limits, cpu_seconds=1))
    assert ended_by(learner, TimedOut) == "more than 1 s of processor time"
    assert learner.time_outs == 1


@pytest.mark.parametrize(
    "body",
    [
        "return np.ones(1 << 27)",
        "return bytearray(1 << 30)",
        "return torch.ones(1 << 28)",
        "return [list(range(10 ** 6)) for _ in range(1000)]",
        "raise MemoryError",
    ],
    ids=["numpy", "python", "torch", "bit by bit", "raised"],
)
def test_more_memory_than_the_limit_is_told(learner_of, body):
    learner = learner_of(f"import numpy as np\nimport torch\ndef f():\n    {body}")
    assert ended_by(learner, OutOfMemory) == "more memory than the limit of 256 MiB"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("os._exit(0)", r"the process exited (status 0) instead of returning"),
        ("os._exit(7)", r"the process exited (status 7) instead of returning"),
        ("sys.exit(0)", "the code called SystemExit instead of returning (line 4: sys.exit(0))"),
        ("exit()", "the code called SystemExit instead of returning (line 4: exit())"),
        ("raise SystemExit", "the code called SystemExit instead of returning (line 4: raise SystemExit)"),
    ],
)
def test_an_exit_is_told_and_its_status_is_no_verdict(learner_of, body, said):
    assert ended_by(learner_of(f"import os, sys\nfrom sys import exit\ndef f():\n    {body}"), Exited) == said


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("signal.raise_signal(signal.SIGKILL)", "the process was killed by signal 9 (SIGKILL)"),
        ("signal.raise_signal(signal.SIGTERM)", "the process was killed by signal 15 (SIGTERM)"),
        ("ctypes.string_at(0)", "the process was killed by signal 11 (SIGSEGV)"),
        ("os.abort()", "the process was killed by signal 6 (SIGABRT)"),
    ],
)
def test_a_signal_is_told_by_its_name(learner_of, body, said):
    assert ended_by(learner_of(f"import ctypes, os, signal\ndef f():\n    {body}"), Crashed) == said


def test_closing_the_line_to_the_grader_is_a_crash(learner_of):
    source = "import os, time\ndef f():\n    os.closerange(0, 64)\n    time.sleep(60)"
    assert ended_by(learner_of(source), Crashed) == "the process closed its line to the grader"


def test_writing_to_the_line_to_the_grader_is_a_crash(learner_of):
    source = "import os\ndef f():\n    os.write(3, b'\\xff' * 100)\n    return 1"
    assert "stopped answering properly" in ended_by(learner_of(source), Crashed)


@pytest.mark.parametrize("body", ["os._exit(0)", "sys.exit(0)", "while True: pass", "signal.raise_signal(9)"])
def test_the_next_call_is_served_by_a_fresh_process(learner_of, limits, body):
    source = f"import os, signal, sys\ncount = 0\ndef f():\n    {body}\ndef g():\n    global count\n    count += 1\n"
    source += "    return count"
    learner = learner_of(source, limits=msgspec.structs.replace(limits, call_seconds=0.5))
    assert [learner.g(), learner.g()] == [1, 2]
    with pytest.raises(LearnerEnded):
        learner.f()
    assert learner.g() == 1


def test_an_end_while_loading_is_told_too(learner_of, limits):
    with pytest.raises(Exited):
        learner_of("import os\nos._exit(0)").load()
    learner = learner_of("while True: pass", limits=msgspec.structs.replace(limits, call_seconds=0.5))
    with pytest.raises(TimedOut):
        learner.load()


def test_closing_ends_the_process_whatever_it_does(learner_of):
    learner = learner_of("import threading, time\nthreading.Thread(target=time.sleep, args=(60,)).start()")
    learner.load()
    learner.close()
    learner.close()


def test_a_budget_is_spent_along_the_chain():
    submission = Budget(3.0, "the submission")
    exercise = Budget(2.0, "the exercise", submission)
    assert (exercise.left, str(exercise.limit)) == (2.0, "the 2 s for the exercise are used up")
    exercise.spend(1.5)
    assert submission.spent == 1.5
    other = Budget(2.0, "the exercise", submission)
    assert (other.left, str(other.limit)) == (1.5, "the 3 s for the submission are used up")


def test_a_call_may_not_take_longer_than_what_is_left(learner_of):
    learner = learner_of("import time\ndef f():\n    time.sleep(1)", budget=Budget(1.8, "the exercise"))
    learner.f()
    started = time.monotonic()
    assert ended_by(learner, TimedOut) == "the 1.8 s for the exercise are used up"
    assert time.monotonic() - started < 1.8


def test_what_exercises_take_is_taken_off_the_submission(learner_of):
    submission = Budget(1.8, "the submission")
    source = "import time\ndef f():\n    time.sleep(1)"
    learner_of(source, budget=Budget(10.0, "the exercise", submission)).f()
    second = learner_of(source, budget=Budget(10.0, "the exercise", submission))
    assert ended_by(second, TimedOut) == "the 1.8 s for the submission are used up"


def test_a_stand_in_takes_the_place_of_another_module(learner_of):
    source = "from attention import attention\nimport attention as whole\n"
    source += "def f(x):\n    return attention(x), whole.attention.__doc__"
    stand_in = b"def attention(x):\n    'Of the library.'\n    return x * 2"
    assert learner_of(source, stand_ins={"attention": stand_in}).f(4) == (8, "Of the library.")


def test_without_a_stand_in_another_exercise_cannot_be_imported(learner_of):
    with pytest.raises(ModuleNotFoundError, match="No module named 'attention'"):
        learner_of("import attention").load()


def test_results_of_a_stand_in_keep_their_gradients(learner_of):
    source = "from attention import attention\ndef f(x):\n    return attention(x)"
    learner = learner_of(source, stand_ins={"attention": b"def attention(x):\n    return x * 3"})
    found = learner.gradients("f", torch.ones(2), cotangents=(torch.ones(2),), wrt=(0,))
    assert found.arguments[0].tolist() == [3.0, 3.0]


def test_special_numbers_cross(learner_of):
    learner = learner_of("def f(x):\n    return x")
    assert math.isnan(learner.f(math.nan))
    assert learner.f(-math.inf) == -math.inf


@pytest.mark.parametrize("kind", ["fork server", "interpreters"])
def test_a_call_can_be_interrupted_from_another_thread_and_nothing_is_asked_after_it(learner_of, fork_server, kind):
    learner = learner_of(
        "def ask():\n    while True:\n        pass\n",
        starter=fork_server if kind == "fork server" else Interpreters(("numpy",)),
        trust=True,
    )
    learner.load()
    timer = threading.Timer(0.3, learner.interrupt)
    timer.start()
    with pytest.raises(Interrupted):
        learner.ask()
    timer.join()
    with pytest.raises(Interrupted):
        learner.ask()
    assert learner.time_outs == 0


CHANCE = """
import {imported}
import numpy as np
def f():
    return {drawn}
"""


@pytest.mark.parametrize(
    ("imported", "drawn"),
    [
        ("random", "random.random()"),
        ("random", "random.gauss()"),
        ("torch", "np.random.normal()"),
        ("torch", "torch.rand(1).item()"),
        ("torch", "torch.nn.functional.dropout(torch.ones(9), 0.5)"),
    ],
)
def test_what_is_drawn_by_chance_is_the_same_whenever_a_check_is_begun(learner_of, imported, drawn):
    learner, other = (learner_of(CHANCE.format(imported=imported, drawn=drawn)) for _ in range(2))
    learner.begin("one")
    first, second = str(learner.f()), str(learner.f())
    learner.begin("another")
    assert first != second != str(learner.f())
    learner.begin("one")
    assert (str(learner.f()), str(learner.f())) == (first, second)
    other.begin("one")
    assert str(other.f()) == first


def test_chance_that_a_module_does_not_name_is_seeded_as_it_is_loaded(learner_of):
    source = "import numpy as np\ndef f():\n    return getattr(np, 'ran' + 'dom').normal()"
    first, second = (learner_of(source) for _ in range(2))
    assert [first.f(), first.f()] == [second.f(), second.f()]
