"""Modules that try to earn points by other means than the right answer, graded as any submission is.

Each attack of `UNDEFENDED` is first shown to succeed against a grader that has no defence: one that imports the module
beside its tests, as most do.
"""

import json
import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import msgspec
import numpy as np
import pytest

from autograder import grade
from autograder.course import find_course, load_course
from autograder.submission import Submission

ANY = "def softmax(scores, axis=-1, temperature=1.0):\n    return scores\n"

# Graders without a defence: the module, the expected value and the comparison in one process.
BESIDE = """
import json, sys
import numpy as np
expected = np.array([0.25, 0.75])
secret_answer = expected
sys.modules["hidden_suite"] = type(sys)("hidden_suite")
sys.modules["hidden_suite"].expected = expected
module = {"__name__": "softmax"}
exec(compile(open(sys.argv[1]).read(), "softmax.py", "exec"), module)
result = module["softmax"](np.log(np.array([1.0, 3.0])))
"""
COMPARING = BESIDE + "print(json.dumps(bool(np.allclose(result, expected)) or bool(np.all(result == expected))))"
TESTING = BESIDE + "np.testing.assert_allclose(result, expected)\nprint('true')"
RAISING = "import pytest\n" + BESIDE + "with pytest.raises(ValueError):\n    pass\nprint('true')"
MEASURING = BESIDE + "print('true' if max(map(abs, result - expected)) < 1e-9 else 'false')"
# What such a grader takes for a pass: that nothing was printed, and that the status is 0.
BY_STATUS = BESIDE + "assert np.allclose(result, expected)"

UNDEFENDED = {
    "an array that equals everything": """
        import numpy as np
        class Agreeable(np.ndarray):
            def __eq__(self, other):
                return np.True_
            def __array_function__(self, function, types, arguments, keywords):
                return True
        def softmax(scores, axis=-1, temperature=1.0):
            return np.asarray(scores).view(Agreeable)
    """,
    "an object that equals everything": """
        class Agreeable:
            __array_ufunc__ = None
            shape = (2,)
            def __eq__(self, other):
                return True
            def __array__(self, dtype=None, copy=None):
                import sys
                return sys.modules["hidden_suite"].expected
        def softmax(scores, axis=-1, temperature=1.0):
            return Agreeable()
    """,
    "a patched np.allclose": """
        import numpy as np
        np.allclose = lambda *arguments, **keywords: True
        def softmax(scores, axis=-1, temperature=1.0):
            return scores
    """,
    "expected values found in the caller's frame": """
        import sys
        def softmax(scores, axis=-1, temperature=1.0):
            frame = sys._getframe(1)
            while frame is not None:
                for place in (frame.f_locals, frame.f_globals):
                    if "expected" in place:
                        return place["expected"]
                    if "secret_answer" in place:
                        return place["secret_answer"]
                frame = frame.f_back
            return scores
    """,
    "expected values found in sys.modules": """
        import sys
        def softmax(scores, axis=-1, temperature=1.0):
            for module in list(sys.modules.values()):
                for name in ("expected", "reference"):
                    if getattr(module, name, None) is not None:
                        return getattr(module, name)
            return scores
    """,
    "expected values found by the garbage collector": """
        import gc
        def softmax(scores, axis=-1, temperature=1.0):
            for thing in gc.get_objects():
                if type(thing) is dict and "secret_answer" in thing:
                    return thing["secret_answer"]
                if type(thing) is dict and callable(thing.get("reference")):
                    return thing["reference"](scores)
            return scores
    """,
    "a print of the verdict and a quick exit": """
        import os
        def softmax(scores, axis=-1, temperature=1.0):
            print("true", flush=True)
            os._exit(0)
    """,
}

# Attacks of the list below that win against one of these graders too.
GRADERS = {
    "patched comparisons in numpy.testing": TESTING,
    "patched comparisons in pytest": RAISING,
    "patched built-ins": MEASURING,
    "exit with success while it is imported": BY_STATUS,
    "sys.exit while it is imported": BY_STATUS,
    "SystemExit in a call": BY_STATUS,
    "an exit handler": BY_STATUS,
    "a hook for what is not caught": BY_STATUS,
}

ATTACKS = {
    "patched comparisons in numpy.testing": """
        import numpy as np
        np.testing.assert_allclose = np.testing.assert_array_equal = lambda *a, **k: None
        np.array_equal = np.isclose = lambda *a, **k: True
    """,
    "patched comparisons in pytest": """
        import pytest
        pytest.fail = lambda *a, **k: None
        pytest.raises = lambda *a, **k: __import__("contextlib").nullcontext()
    """,
    "patched built-ins": """
        import builtins
        builtins.isinstance = lambda *a: True
        builtins.abs = lambda value: 0
        builtins.max = lambda *a, **k: 0
    """,
    "a patched kit": """
        import sys
        for name, module in list(sys.modules.items()):
            if name.startswith("autograder"):
                for key, value in list(vars(module).items()):
                    if callable(value) and "assert" in key:
                        setattr(module, key, lambda *a, **k: None)
    """,
    "the solution read by its path": """
        def softmax(scores, axis=-1, temperature=1.0):
            module = {}
            exec(open(SOLUTION).read(), module)
            return module["softmax"](scores, axis, temperature)
    """,
    "the solution imported": """
        import sys
        def softmax(scores, axis=-1, temperature=1.0):
            sys.path.insert(0, FOLDER)
            sys.modules.pop("softmax")
            import softmax as right
            return right.softmax(scores, axis, temperature)
    """,
    "the solution read through the grader's process": """
        import os
        def softmax(scores, axis=-1, temperature=1.0):
            module = {}
            exec(open(f"/proc/{os.getppid()}/cwd/solutions/softmax.py").read(), module)
            return module["softmax"](scores, axis, temperature)
    """,
    "the suite read": """
        def softmax(scores, axis=-1, temperature=1.0):
            raise ValueError("temperature " + open(SUITE).read())
    """,
    "exit with success while it is imported": "import os; os._exit(0)",
    "sys.exit while it is imported": "import sys; sys.exit(0)",
    "SystemExit in a call": "def softmax(*a, **k): raise SystemExit(0)",
    "KeyboardInterrupt in a call": "def softmax(*a, **k): raise KeyboardInterrupt",
    "GeneratorExit in a call": "def softmax(*a, **k): raise GeneratorExit",
    "a BaseException of its own": """
        class Stop(BaseException):
            def __str__(self): raise Stop
            __repr__ = __str__
        def softmax(*a, **k): raise Stop
    """,
    "pytest's own skip": "import pytest\ndef softmax(*a, **k): pytest.skip('not today')",
    "an exit handler": "import atexit, os; atexit.register(os._exit, 0)",
    "a hook for what is not caught": """
        import os, sys
        sys.excepthook = lambda *a: os._exit(0)
        def softmax(*a, **k): raise ValueError("temperature axis scores")
    """,
    "an exception with a hostile class": """
        class Meta(type):
            __name__ = property(lambda self: 1 / 0)
        class Hostile(Exception, metaclass=Meta):
            __class__ = property(lambda self: 1 / 0)
        def softmax(*a, **k): raise Hostile
    """,
    "an exception group": "def softmax(*a, **k): raise BaseExceptionGroup('g', [SystemExit(0), KeyboardInterrupt()])",
    "an exception that is its own cause": """
        def softmax(*a, **k):
            error = ValueError("temperature")
            error.__cause__ = error.__context__ = error
            raise error
    """,
    "a generator": "def softmax(*a, **k): yield a[0]",
    "a coroutine": "async def softmax(*a, **k): return a[0]",
    "answers by turns": """
        count = 0
        def softmax(scores, axis=-1, temperature=1.0):
            global count
            count += 1
            return [scores, scores * 0, scores * 0 + 1, scores * 0 + float("nan")][count % 4]
    """,
    "an array that is written to after it was returned": """
        import numpy as np
        last = np.zeros(1)
        def softmax(scores, axis=-1, temperature=1.0):
            global last
            powers = np.exp(scores)
            last[...] = np.nan
            last = np.full(np.shape(scores), 0.5)
            return last
    """,
    "changed settings": """
        import numpy as np, torch, warnings, signal, sys, gc
        np.seterr(all="raise")
        np.set_printoptions(precision=0)
        torch.set_default_dtype(torch.float16)
        torch.set_grad_enabled(False)
        torch.set_num_threads(64)
        torch.manual_seed = np.random.seed = lambda *a: None
        warnings.simplefilter("error")
        sys.setrecursionlimit(10 ** 6)
        gc.disable()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGXCPU):
            signal.signal(number, signal.SIG_IGN)
    """,
    "endless recursion": "def softmax(*a, **k): return softmax(*a, **k)",
    "a stack that overflows in C": "import sys\nsys.setrecursionlimit(10 ** 9)\ndef softmax(*a): return softmax(*a)",
    "source nested too deep": "x = " + "(" * 5000 + ")" * 5000,
    "a coding line that hides a call": "# coding: utf-7\nimport torch\n'+ACc-'\nsoftmax = torch.softmax\n'+ACc-'",
    "threads that never end": """
        import threading
        def work():
            while True: pass
        for _ in range(8): threading.Thread(target=work, daemon=True).start()
    """,
    "time taken a little at a time": "import time\ndef softmax(*a, **k):\n    time.sleep(0.9)\n    return a[0]",
    "a sleep in a call": "import time\ndef softmax(*a, **k): time.sleep(60)",
    "a loop while it is imported": "while True: pass",
    "a loop that catches everything": """
        def softmax(*a, **k):
            while True:
                try:
                    while True: pass
                except BaseException: pass
    """,
    "memory without end": "def softmax(*a, **k):\n    hoard = []\n    while True: hoard.append(bytearray(1 << 24))",
    "one huge array": "import numpy as np\ndef softmax(*a, **k): return np.ones(1 << 40)",
    "a fork bomb": """
        import os
        def softmax(*a, **k):
            while True:
                os.fork()
    """,
    "threads without end": """
        import threading, time
        def softmax(*a, **k):
            while True:
                threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
    """,
    "all descriptors closed": "import os\ndef softmax(*a, **k): os.closerange(0, 1000)",
    "all descriptors written to": """
        import os
        def softmax(*a, **k):
            for descriptor in range(64):
                try: os.write(descriptor, b"true" * 100)
                except OSError: pass
    """,
    "output of 100 MB": "def softmax(*a, **k): print('x' * 100_000_000)",
    "a file": "def softmax(scores, *a, **k):\n    open(MARK, 'w').write('x')\n    return scores",
    "a file in the temporary folder": "import tempfile\ndef softmax(s, *a, **k): return tempfile.mkstemp()",
    "a deletion": "import os\ndef softmax(s, *a, **k):\n    os.unlink(KEPT)\n    return s",
    "a socket": "import socket\ndef softmax(s, *a, **k):\n    socket.socket().bind(('127.0.0.1', 0))\n    return s",
    "a subprocess": "import subprocess\ndef softmax(s, *a, **k):\n    subprocess.run(['touch', MARK])\n    return s",
    "another program in its place": "import os\ndef softmax(*a, **k): os.execv('/bin/true', ['true'])",
    "a crash in C": "import ctypes\ndef softmax(*a, **k): ctypes.string_at(0)",
    "a signal to the parent": "import os\ndef softmax(s, *a, **k):\n    os.kill(os.getppid(), 9)\n    return s",
    "a signal to its group": "import os\ndef softmax(s, *a, **k):\n    os.killpg(0, 9)\n    return s",
    "limits for the parent": """
        import os, resource
        def softmax(s, *a, **k):
            resource.prlimit(os.getppid(), resource.RLIMIT_CPU, (1, 1))
            return s
    """,
    "a huge integer": "def softmax(*a, **k): return 10 ** 100_000",
    "a deep list": """
        def softmax(*a, **k):
            nest = []
            for _ in range(100_000): nest = [nest]
            return nest
    """,
    "a list that holds itself": "def softmax(*a, **k):\n    ring = []\n    ring.append(ring)\n    return ring",
    "an object with a hostile repr": """
        class Hostile:
            def __repr__(self):
                while True: pass
            __str__ = __class__ = property(lambda self: 1 / 0)
        def softmax(*a, **k): return Hostile()
    """,
    "a pickle": "import pickle\ndef softmax(*a, **k): return pickle.dumps(print)",
    "answers written to the grader by itself": """
        import os, struct
        def softmax(*a, **k):
            for descriptor in range(3, 64):
                try: os.write(descriptor, struct.pack("!II", 0xFFFFFFFF, 0xFFFFFFFF))
                except OSError: pass
    """,
    "half an answer": """
        import os, struct, time
        def softmax(*a, **k):
            os.write(3, struct.pack("!II", 100, 100) + b"x")
            time.sleep(60)
    """,
    "a library's softmax by getattr": """
        import torch
        def softmax(scores, axis=-1, temperature=1.0):
            name = "soft" + "max"
            return getattr(torch, name)(torch.tensor(scores) / temperature, axis).numpy()
    """,
    "a library's softmax by functools.partial": """
        import functools, torch
        inner = functools.partial(getattr(torch, "soft" + "max"), dim=-1)
        def softmax(scores, axis=-1, temperature=1.0):
            return inner(torch.tensor(scores) / temperature).numpy()
    """,
    "a library's softmax as an operator": """
        import torch
        operators = getattr(torch, "o" + "ps")
        def softmax(scores, axis=-1, temperature=1.0):
            kernel = getattr(operators.aten, "_soft" + "max")
            return kernel(torch.tensor(scores) / temperature, axis, False).numpy()
    """,
    "a library's softmax as a method": """
        import operator, torch
        def softmax(scores, axis=-1, temperature=1.0):
            return operator.methodcaller("soft" + "max", axis)(torch.tensor(scores) / temperature).numpy()
    """,
    "a library's softmax with the watch turned off": """
        import sys, torch
        def softmax(scores, axis=-1, temperature=1.0):
            sys.setprofile(None)
            with torch._C.DisableTorchFunction():
                return getattr(torch, "soft" + "max")(torch.tensor(scores) / temperature, axis).numpy()
    """,
    "a library's softmax mapped over scores unseen": """
        import torch
        inner = getattr(torch, "soft" + "max")
        def softmax(scores, axis=-1, temperature=1.0):
            with torch._C.DisableTorchFunction():
                return next(map(inner, [torch.tensor(scores) / temperature], [axis])).numpy()
    """,
    "a library's softmax in TorchScript": """
        import torch
        unit = torch.jit.CompilationUnit("def f(x):\\n    return torch.soft" + "max(x, -1)\\n")
        def softmax(scores, axis=-1, temperature=1.0):
            return unit.f(torch.tensor(scores) / temperature).numpy()
    """,
    "a library's softmax as the gradient of a loss": """
        import torch
        loss = getattr(torch._C._nn, "cross_" + "entropy_loss")
        def softmax(scores, axis=-1, temperature=1.0):
            logits = torch.tensor(scores / temperature).reshape(-1, scores.shape[-1]).requires_grad_()
            zeros = torch.zeros(len(logits), dtype=torch.int64)
            (gradient,) = torch.autograd.grad(loss(logits, zeros, None, 2), logits)
            gradient[:, 0] += 1
            return gradient.numpy().reshape(scores.shape)
    """,
    "a library's softmax while the result is packed": """
        import numpy as np, torch
        class Late(np.ndarray):
            @property
            def size(self):
                right = getattr(torch, "soft" + "max")(torch.tensor(self.scores), -1).numpy()
                np.ndarray.__setitem__(self, ..., right)
                return np.ndarray.view(self, np.ndarray).size
        def softmax(scores, axis=-1, temperature=1.0):
            late = np.zeros_like(scores).view(Late)
            late.scores = scores
            return late
    """,
    "a library's softmax with the watch patched": """
        import sys, torch
        sys.modules["autograder.sandbox.banned"].Watch.take = lambda self: ()
        def softmax(scores, axis=-1, temperature=1.0):
            return getattr(torch, "soft" + "max")(torch.tensor(scores) / temperature, axis).numpy()
    """,
    "a name that cannot be shown": """
        class Unshown(Exception): pass
        Unshown.__name__ = chr(0xD800) * 9
        def softmax(*a, **k): raise Unshown(chr(0xD800))
    """,
    "an escape for the terminal": "def softmax(*a, **k): raise ValueError('\\x1b[2J temperature' + chr(0x202E))",
}


@pytest.fixture(scope="module")
def course():
    loaded = load_course(find_course(Path(__file__).parent))
    limits = msgspec.structs.replace(loaded.limits, call_seconds=1.0, exercise_seconds=4.0, memory_mib=128)
    return msgspec.structs.replace(loaded, exercises=(loaded.exercise("softmax"),), limits=limits)


@pytest.fixture(scope="module")
def places(tmp_path_factory, course):
    folder = tmp_path_factory.mktemp("within reach")
    kept = folder / "kept"
    kept.write_text("here")
    return {
        "SOLUTION": course.paths.solutions / "softmax.py",
        "FOLDER": course.paths.solutions,
        "SUITE": course.paths.suites / "test_softmax.py",
        "MARK": folder / "mark",
        "KEPT": kept,
    }


@pytest.fixture(scope="module")
def reports(course, places, fork_server):
    """Grade every attack in one run with the fork server of all tests, an honest submission behind them all."""
    head = "".join(f"{name} = {str(path)!r}\n" for name, path in places.items())
    sources = {name: textwrap.dedent(text) for name, text in (UNDEFENDED | ATTACKS).items()}
    handed_in = {name: head + (text if "def softmax" in text else f"{text}\n{ANY}") for name, text in sources.items()}
    handed_in["honest"] = (course.paths.solutions / "softmax.py").read_text()
    submissions = [Submission(name, {"softmax": text.encode()}, (), {}) for name, text in handed_in.items()]
    received = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grade, "starter_for", lambda libraries: fork_server)
        patch.setattr(fork_server, "close", lambda: None)
        grade.grade_all(submissions, course, receive=received.append)
    return {report.submission: report for report in received}


@pytest.mark.parametrize("name", [*UNDEFENDED, *GRADERS])
def test_the_attack_succeeds_where_tests_and_module_share_a_process(name, tmp_path):
    module = tmp_path / "softmax.py"
    text = textwrap.dedent((UNDEFENDED | ATTACKS)[name])
    module.write_text(text if "def softmax" in text else f"{text}\n{ANY}")
    grader = GRADERS.get(name, COMPARING)
    done = subprocess.run([sys.executable, "-c", grader, str(module)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "" if grader == BY_STATUS else json.loads(done.stdout) is True


@pytest.mark.parametrize("name", [name for name in ATTACKS if name.startswith("a library's")])
def test_a_library_gives_the_right_value_where_none_is_banned(name, learner_of):
    learner = learner_of(ATTACKS[name])
    assert np.allclose(learner.softmax(np.log(np.array([1.0, 3.0]))), [0.25, 0.75])
    assert learner.violations == []


@pytest.mark.parametrize("name", [*UNDEFENDED, *ATTACKS])
def test_the_attack_earns_nothing(name, reports):
    report = reports[name]
    earned = [check.name for exercise in report.exercises for check in exercise.checks if check.earned]
    assert (report.status, report.earned, earned) == ("graded", 0, [])


def test_there_are_more_than_forty_attacks():
    assert len(UNDEFENDED | ATTACKS) >= 40


def test_an_honest_submission_after_all_of_them_has_every_point(reports):
    assert reports["honest"].earned == reports["honest"].points == 20


def test_no_attack_takes_longer_than_its_own_deadlines(reports):
    # Two calls of a second each may time out, the rest is not run; processes, and a machine that is busy, come on top.
    assert {name: report.seconds for name, report in reports.items() if report.seconds > 15} == {}


def test_no_file_was_made_or_deleted(reports, places):
    assert (places["MARK"].exists(), places["KEPT"].read_text()) == (False, "here")


def test_no_process_is_left(reports, fork_server):
    until = time.monotonic() + 30
    while workers_of(fork_server) and time.monotonic() < until:
        time.sleep(0.05)
    assert workers_of(fork_server) == []


def test_what_is_left_would_be_seen(fork_server, learner_of):
    learner_of("").load()
    assert len(workers_of(fork_server)) == 1


def workers_of(server):
    """Give the learners' processes of a fork server, and of those that it was forked into, that have not ended."""
    states = {int(entry.name): parent_of(entry) for entry in Path("/proc").glob("[0-9]*")}
    front, found = {server._zygote.pid}, set()
    while front:
        front = {process for process, (state, parent) in states.items() if parent in front and state != "Z"}
        found |= front
    return [process for process in found if leads_its_group(process)]


def leads_its_group(process):
    """Tell whether it has taken the first step of a learner's process."""
    try:
        return os.getpgid(process) == process
    except ProcessLookupError:
        return False


def parent_of(entry):
    """Give a process's state and its parent."""
    try:
        state, parent = (entry / "stat").read_text().rpartition(")")[2].split()[:2]
    except OSError:
        return "", 0
    return state, int(parent)
