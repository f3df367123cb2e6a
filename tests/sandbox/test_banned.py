"""Functions that an exercise may not use: seen in the syntax tree and while running, and nothing else punished."""

from fnmatch import fnmatchcase
from pathlib import Path

import msgspec
import numpy as np
import pytest
import torch

from autograder.course import load_course
from autograder.sandbox import banned
from autograder.sandbox.banned import scan
from autograder.sandbox.learner import LearnerException
from autograder.sandbox.names import lines_of, matching
from autograder.sandbox.starting import ForkServer
from autograder.sandbox.violation import Violation

ROOT = Path(__file__).resolve().parents[2]
BANNED = ("torch.*softmax*", "torch.*Softmax*", "scipy.special.*softmax", "torch.nn.attention.*")


@pytest.fixture(params=["learner_of", "closed_learner_of"], ids=["watched", "behind closed doors"])
def any_learner_of(request):
    """Give a function for learners that are watched, and one for those behind closed doors."""
    return request.getfixturevalue(request.param)


def names_in(source, banned=BANNED):
    return [(found.name, found.line) for found in scan(source.encode(), banned)]


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import torch\ntorch.softmax(x, 0)", [("torch.softmax", 2)]),
        ("import torch as t\nt.softmax(x, 0)", [("torch.softmax", 2)]),
        ("import torch.nn.functional as F\nF.softmax(x)", [("torch.nn.functional.softmax", 2)]),
        ("import torch.nn.functional\ntorch.nn.functional.log_softmax(x)", [("torch.nn.functional.log_softmax", 2)]),
        ("from torch import softmax\nsoftmax(x)", [("torch.softmax", 2)]),
        ("from torch import softmax as s\ny = s", [("torch.softmax", 2)]),
        ("from torch import nn\nnn.Softmax(-1)", [("torch.nn.Softmax", 2)]),
        ("from torch.nn import functional as F\nF.softmax(x)", [("torch.nn.functional.softmax", 2)]),
        ("from scipy.special import log_softmax\nlog_softmax(x)", [("scipy.special.log_softmax", 2)]),
        ("import torch\nf = torch.ops.aten._softmax.default", [("torch.ops.aten._softmax", 2)]),
        ("import torch\nf = torch.ops.aten._softmax.default(x)", [("torch.ops.aten._softmax.default", 2)]),
        ("from torch.nn.attention import sdpa_kernel\nsdpa_kernel()", [("torch.nn.attention.sdpa_kernel", 2)]),
        ("import torch\nclass M(torch.nn.Softmax): pass", [("torch.nn.Softmax", 2)]),
        ("import torch\n@torch.softmax\ndef f(): pass", [("torch.softmax", 2)]),
        ("def f(x):\n    import torch\n    return torch.softmax(x, 0)", [("torch.softmax", 3)]),
        ("import torch\nif a:\n    b\nelse:\n    torch.softmax(x)", [("torch.softmax", 5)]),
    ],
)  # fmt: skip
def test_a_use_is_found_under_any_name(source, found):
    names = names_in(source)
    # A pattern that ends in * also matches what is reached through the function itself.
    assert [(name.removesuffix(".default"), line) for name, line in names] == [
        (name.removesuffix(".default"), line) for name, line in found
    ]


@pytest.mark.parametrize(
    "source",
    [
        "from torch import softmax",
        "import scipy.special",
        "import torch\ndef softmax(x):\n    return x\nsoftmax(1)",
        "import torch\n'torch.softmax(x)'\n# torch.softmax(x)",
        "import torch\nx.softmax(0)",
        "import numpy as np\nnp.exp(x)",
        "import torch\nif __name__ == '__main__':\n    torch.softmax(x)",
        "import torch\nif '__main__' == __name__:\n    print(torch.softmax(x))",
        "import mine\nmine.softmax(x)",
        "softmax = 3",
        "",
    ],
)
def test_what_is_no_use_is_not_found(source):
    assert names_in(source) == []


def test_the_other_branch_of_the_main_guard_is_no_place_to_hide():
    source = "import torch\nif __name__ == '__main__':\n    pass\nelse:\n    torch.softmax(x)"
    assert names_in(source) == [("torch.softmax", 5)]
    assert names_in("import torch\nif __name__ != '__main__':\n    torch.softmax(x)") == [("torch.softmax", 3)]
    assert names_in("import torch\nif __name__ == '__main__' or 1:\n    torch.softmax(x)") == [("torch.softmax", 3)]


def test_a_use_is_shown_with_its_line():
    found = scan(b"import torch\n\ndef f(x):\n    return torch.softmax(x, 0)  # quick\n", BANNED)
    assert found == (Violation("torch.softmax", 4, "return torch.softmax(x, 0)  # quick"),)


def test_of_many_uses_the_first_are_kept():
    found = scan(b"import torch\n" + b"torch.softmax(x)\n" * 100, BANNED)
    assert [violation.line for violation in found] == list(range(2, 22))


def test_without_banned_names_nothing_is_found():
    assert scan(b"import torch\ntorch.softmax(x)", ()) == ()


def test_a_coding_cookie_does_not_hide_a_line_that_runs():
    # In UTF-7 the two comments are the quotes of a string, and what is between them its text.
    source = "# coding: utf-7\nimport torch\n#+AAoAIgAiACI-\ntorch.softmax(x)\n#+AAoAIgAiACI-\n"
    assert names_in(source) == [("torch.softmax", 4)]


def test_source_that_cannot_be_parsed_says_so():
    with pytest.raises(SyntaxError):
        scan(b"import torch\ndef f(: torch.softmax", BANNED)


def test_a_letter_in_another_form_is_that_letter():
    assert names_in("import torch\ntorch.\uff53oftmax(x)") == [("torch.softmax", 2)]
    assert names_in("import t\uff4frch as t\nt.softmax(x)") == [("torch.softmax", 2)]


def test_each_part_of_a_pattern_decides_whether_a_module_may_name_it():
    words = {"import", "torch", "nn", "log_softmax", "attention_weights"}
    assert banned._may_occur("torch.*softmax*", words)
    assert banned._may_occur("torch.nn.*", words)
    assert banned._may_occur("torch.[ab].x", words)
    assert not banned._may_occur("scipy.*softmax", words)
    assert not banned._may_occur("torch.nn.attention.*", words)
    assert not banned._may_occur("torch.*logsumexp", words)


def test_names_that_match_are_found_at_once_as_one_by_one():
    names = ["softmax", "_softmax", "log_softmax", "soft", "softmaxx", "a.softmax", "max", "", "a", "ab", "abc"]
    for pattern in (
        "softmax",
        "*softmax",
        "soft*",
        "*max*",
        "*",
        "",
        "?",
        "a?",
        "[ab]*",
        "[!a]?",
        "*.*",
        "s*x",
        "a*b*c",
    ):
        one_by_one = [name for name in names if fnmatchcase(name, pattern)]
        assert list(matching([pattern], lines_of(names))) == one_by_one, pattern


def seen_in(learner, *arguments):
    try:
        learner.f(*arguments)
    except LearnerException as error:
        assert "this exercise may not use" in str(error)
    return [(violation.name, violation.line) for violation in learner.violations]


X = torch.tensor([1.0, 2.0])


@pytest.mark.parametrize(
    "line",
    [
        "getattr(torch, 'soft' + 'max')(x, 0)",
        "x.softmax(0)",
        "torch.Tensor.softmax(x, 0)",
        "torch.log_softmax(x, 0) if False else getattr(torch.special, 'log_' + 'softmax')(x, 0)",
        "vars(torch.nn)['Soft' + 'max'](0)(x)",
        "getattr(torch.nn.functional, 'soft' + 'max')(x, 0)",
        "getattr(torch._C._nn, '_'.join(['log', 'softmax']), x.softmax)(0)",
        "functools.partial(vars(torch)['soft' + 'max'], dim=0)(x)",
        "list(map(functools.partial(vars(torch)['soft' + 'max'], dim=0), [x]))[0]",
        "getattr(torch.ops.aten, '_soft' + 'max').default(x, 0, False)",
        "eval('torch.soft' + 'max(x, 0)')",
    ],
)
def test_a_use_that_the_syntax_tree_hides_is_seen_while_it_runs(any_learner_of, line):
    learner = any_learner_of(f"import functools\nimport torch\ndef f(x):\n    return {line}", banned=BANNED)
    violations = seen_in(learner, X)
    assert violations
    assert {where for _, where in violations} == {4}
    assert all("softmax" in name.lower() for name, _ in violations)


@pytest.mark.parametrize(
    "start",
    [
        "threading.Thread(target=use).start()",
        "_thread.start_new_thread(use, ())",
        "threading.setprofile(None) or threading.Thread(target=use).start()",
        "concurrent.futures.ThreadPoolExecutor().submit(use).result()",
    ],
)
def test_a_thread_is_no_place_to_hide(any_learner_of, start):
    source = "import _thread, concurrent.futures, threading\ndef use(): ...\n"
    learner = any_learner_of(f"{source}def f():\n    {start}", banned=BANNED)
    found = seen_in(learner)
    assert found[0][0] in {"start_new_thread", "start_joinable_thread"}
    assert found[0][1] == 4


def test_a_thread_that_a_constructor_leaves_behind_is_seen(any_learner_of):
    source = "import threading, time\nclass C:\n    def __init__(self):\n"
    source += "        threading.Thread(target=time.sleep, args=(9,), daemon=True).start()"
    learner = any_learner_of(source, banned=BANNED)
    learner.new("C")
    assert ("threading", 0) in [(found.name, found.line) for found in learner.violations]


def test_an_object_that_claims_to_equal_a_banned_function_hides_nothing(any_learner_of):
    source = """
import functools
import torch
from torch.overrides import handle_torch_function

banned = vars(torch)["soft" + "max"]

class Equal:
    __name__ = "exp"
    def __hash__(self):
        return hash(banned)
    def __eq__(self, other):
        return True
    def __call__(self, *args, **kwargs):
        return args[0]

def f(x):
    handle_torch_function(Equal(), (x,), x)
    return list(map(functools.partial(banned, dim=0), [x]))[0]
"""
    assert ("softmax", 19) in seen_in(any_learner_of(source, banned=BANNED), X)


def test_where_nothing_is_banned_threads_are_free(any_learner_of):
    source = "import threading\ndef f():\n    threading.Thread(target=print).start()"
    assert seen_in(any_learner_of(source)) == []


@pytest.mark.parametrize(
    "made",
    [
        "found",
        "functools.partial(found, axis=0)",
        "eval('lambda x: found(x)')",
        "type('Callable', (), {'__call__': staticmethod(found)})()",
    ],
)
def test_a_function_of_a_library_s_that_the_module_calls_its_own_is_seen(any_learner_of, made):
    source = f"import functools, scipy.special\nfound = getattr(scipy.special, 'soft' + 'max')\nf = {made}"
    found = seen_in(any_learner_of(source, banned=BANNED), X.numpy())
    assert found == [("scipy.special._logsumexp.softmax", 0)]


def test_what_an_array_does_when_the_kit_looks_at_it_is_seen(any_learner_of):
    source = """
import numpy as np
import scipy.special

class Late(np.ndarray):
    @property
    def size(self):
        np.ndarray.__setitem__(self, ..., getattr(scipy.special, "soft" + "max")(self.x))
        return 2

def f(x):
    late = np.zeros(2).view(Late)
    late.x = x
    return late
"""
    assert set(seen_in(any_learner_of(source, banned=BANNED), X.numpy())) == {("scipy.special._logsumexp.softmax", 8)}


@pytest.mark.parametrize("call", ["sys.setprofile(None)", "sys.settrace(None)"])
def test_turning_the_hooks_off_is_seen(any_learner_of, call):
    learner = any_learner_of(f"import sys, threading\ndef f():\n    {call}", banned=BANNED)
    assert {line for _, line in seen_in(learner)} == {3}


def test_a_use_at_import_is_seen(any_learner_of):
    learner = any_learner_of(
        "import torch\nx = getattr(torch, 'soft' + 'max')(torch.ones(2), 0)\ndef f(): ...", banned=BANNED
    )
    with pytest.raises(LearnerException, match=r"^this exercise may not use softmax$"):
        learner.load()
    assert ("softmax", 2) in [(violation.name, violation.line) for violation in learner.violations]


def test_an_unused_import_is_no_use(any_learner_of):
    source = "from torch import softmax\nfrom torch.nn.functional import softmax as s\ndef f(x):\n    return x * 2"
    assert seen_in(any_learner_of(source, banned=BANNED), X) == []


def test_a_function_of_one_s_own_may_have_any_name(any_learner_of):
    source = "import torch\ndef softmax(x):\n    return (x - x.max()).exp() / (x - x.max()).exp().sum()\n"
    source += "class Softmax:\n    def softmax(self, x):\n        return softmax(x)\n"
    source += "def f(x):\n    return Softmax().softmax(x)"
    learner = any_learner_of(source, banned=BANNED)
    assert seen_in(learner, X) == []


def test_the_libraries_own_calls_are_not_punished(any_learner_of):
    source = "import numpy as np\nimport torch\ndef f(x):\n    layer = torch.nn.Linear(2, 2)\n"
    source += "    return torch.einsum('i,j->ij', layer(x), x).sum(), np.linalg.norm(np.ones(3))"
    assert seen_in(any_learner_of(source, banned=BANNED), X) == []


def test_a_stand_in_may_use_what_learners_may_not(any_learner_of):
    stand_in = b"import torch\ndef attention(x):\n    return torch.softmax(x, 0)"
    source = "from attention import attention\ndef f(x):\n    return attention(x)"
    learner = any_learner_of(source, banned=BANNED, stand_ins={"attention": stand_in})
    assert seen_in(learner, X) == []
    assert learner.f(X).sum().item() == pytest.approx(1.0)


def test_after_a_stand_in_returned_or_raised_the_learner_is_watched_again(any_learner_of):
    stand_in = b"import torch\ndef attention(x):\n    torch.softmax(x, 0)\n    raise ValueError"
    source = """
import torch
from attention import attention

def f(x):
    try:
        attention(x)
    except ValueError:
        return getattr(torch, "soft" + "max")(x, 0)
"""
    learner = any_learner_of(source, banned=BANNED, stand_ins={"attention": stand_in})
    assert {line for _, line in seen_in(learner, X)} == {9}


def test_each_call_is_seen_once_more_not_kept_from_the_last(any_learner_of):
    learner = any_learner_of("def f(x):\n    return x.softmax(0) if x.shape[0] == 2 else x", banned=BANNED)
    with pytest.raises(LearnerException, match=r"^this exercise may not use softmax$"):
        learner.f(X)
    assert learner.last.violations
    learner.f(torch.ones(3))
    assert learner.last.violations == ()


def test_importing_torch_where_only_numpy_is_loaded_is_no_violation(any_learner_of, limits):
    server = ForkServer(("numpy",))
    limits = msgspec.structs.replace(limits, call_seconds=30.0, memory=1 << 30)
    banned = load_course(ROOT).exercise("softmax").banned
    learner = any_learner_of("import torch\ndef f(x):\n    return x * 2", starter=server, banned=banned, limits=limits)
    assert learner.f(np.ones(2)).tolist() == [2.0, 2.0]
    assert learner.violations == []
    server.close()
