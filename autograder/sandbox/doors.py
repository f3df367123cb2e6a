"""Closed doors: what a function does is taken out of the process, so that it cannot be reached under any name.

A function of torch's is closed where C looks for its kernels, one of Python's by giving it other code. Nothing of what
it did is kept, unless a stand-in of the course's needs it: then it does it for that alone.
"""

from __future__ import annotations

import _thread
import ctypes
import functools
import gc
import sys
import threading
import warnings
from collections.abc import Callable, Container, Iterable, Sequence
from types import BuiltinFunctionType, ClassMethodDescriptorType, CodeType, FunctionType, MethodDescriptorType
from typing import Any, NamedTuple, NoReturn

from autograder.sandbox.names import kernels_of, torch_names

Refuse = Callable[[str], NoReturn]
Suspended = Callable[[], bool]
# Stands in compiled code for what is to be called.
PLACE = 987_654_321
STARTS_OF_THREADS = (
    "start_new_thread", "start_new", "_start_new_thread", "start_joinable_thread", "_start_joinable_thread",
)  # fmt: skip
KINDS_OF_C = (BuiltinFunctionType, MethodDescriptorType, ClassMethodDescriptorType)
# Of torch's functions in C these only tell what others could do.
ASKING = ("_can_use_", "_is_")


class Functions(NamedTuple):
    """Python's functions, and the names of those in C that do not come down to a kernel of torch's."""

    of_python: Sequence[FunctionType] = ()
    of_c: frozenset[str] = frozenset()


def functions_loaded() -> Functions:
    """Give every function there is."""
    things = gc.get_objects()
    operators = torch_names() if "torch" in sys.modules else {}
    names = (thing.__name__ for thing in things if type(thing) in KINDS_OF_C and not _has_a_kernel(thing, operators))
    return Functions([thing for thing in things if type(thing) is FunctionType], frozenset(names))


def close_kernels(operators: Iterable[tuple[str, str]], refuse: Refuse, suspended: Suspended | None = None) -> None:
    """Let operators of torch's, each with a name that users know, refuse to work on this machine's processor."""
    import torch

    library: Any = torch._C._dispatch_library("IMPL", "aten", "")
    with warnings.catch_warnings():
        # That a kernel is replaced is what is wanted here.
        warnings.simplefilter("ignore")
        for name, operator in operators:
            for key in kernels_of(operator):
                kernel = _kernel_of(operator, key) if suspended else None
                library.impl(operator, key, _closed(functools.partial(refuse, name), suspended, kernel), False)
    # Never freed and nowhere to be found: the learner's code cannot have the kernels put back.
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(library))


def close_function(function: FunctionType, refuse: Callable[[], NoReturn], suspended: Suspended | None = None) -> None:
    """Let a function of Python's refuse to work, wherever it is known."""
    original = _copy_of(function) if suspended else None
    function.__code__ = _code_that_calls(_closed(refuse, suspended, original), function.__code__)


def tell_of_threads(note: Callable[[str], None]) -> None:
    """Have the start of a thread noted, under each of its names."""
    for module in (_thread, threading):
        for name in STARTS_OF_THREADS:
            if start := getattr(module, name, None):
                setattr(module, name, _noting(note, name.lstrip("_"), start))


def is_one_thread() -> bool:
    """Tell whether there is no thread but this, not even one that has yet to run, which Python does not tell of."""
    first, following = _list_of_threads()
    return not following(first())


@functools.cache
def _list_of_threads() -> tuple[Callable[[], int], Callable[[int], int | None]]:
    python = ctypes.pythonapi
    interpreter = ctypes.PYFUNCTYPE(ctypes.c_void_p)(("PyInterpreterState_Get", python))()
    first = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(("PyInterpreterState_ThreadHead", python))
    following = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(("PyThreadState_Next", python))
    return functools.partial(first, interpreter), following


def can_reopen() -> bool:
    """Tell whether a kernel that is closed can still be called by those who may."""
    torch = sys.modules.get("torch")
    return torch is None or hasattr(torch.library, "get_kernel")


def _has_a_kernel(function: Any, operators: Container[str]) -> bool:
    owner = getattr(function, "__module__", None) or getattr(function, "__objclass__", object).__module__
    of_torch = str(owner).partition(".")[0] == "torch"
    return of_torch and (function.__name__ in operators or function.__name__.startswith(ASKING))


def _closed(
    refuse: Callable[[], NoReturn], suspended: Suspended | None, original: Callable[..., Any] | None
) -> Callable[..., Any]:
    def closed(*arguments: Any, **keywords: Any) -> Any:
        if original is None or suspended is None or not suspended():
            refuse()
        return original(*arguments, **keywords)

    return closed


def _kernel_of(operator: str, key: str) -> Callable[..., Any] | None:
    """Give an operator's kernel; None for a kind of tensor for which torch does not give it away."""
    import torch

    try:
        # What is made of other operators has one kernel for all kinds of tensors, and no key of its own.
        kernel: Any = torch.library.get_kernel(operator, "CPU" if key.startswith("Composite") else key)
    except (ValueError, RuntimeError):
        return None
    # These kernels do not look at the keys that a call came with; to hand them on would make an object for each call.
    return functools.partial(kernel.call_boxed, torch._C.DispatchKeySet(torch._C.DispatchKey.CPU))


def _copy_of(function: FunctionType) -> FunctionType:
    code, names = function.__code__, function.__globals__
    copy = FunctionType(code, names, function.__name__, function.__defaults__, function.__closure__)
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy


def _code_that_calls(called: Callable[..., Any], replaced: CodeType) -> CodeType:
    """Give code that hands all arguments on, and fits a function whose code had so many free variables."""
    code = _template(len(replaced.co_freevars))
    constants = tuple(called if constant == PLACE else constant for constant in code.co_consts)
    return code.replace(co_consts=constants, co_name=replaced.co_name, co_qualname=replaced.co_qualname)


@functools.cache
def _template(count: int) -> CodeType:
    free = "".join(f"free_{number}, " for number in range(count))
    source = f"""
def outer({free}):
    def closed(*arguments, **keywords):
        if False:
            ({free})
        called = {PLACE}
        return called(*arguments, **keywords)
    return closed
"""
    made: dict[str, Any] = {}
    exec(compile(source, "<closed>", "exec"), made)
    closed: FunctionType = made["outer"](*range(count))
    return closed.__code__


def _noting(note: Callable[[str], None], name: str, start: Callable[..., Any]) -> Callable[..., Any]:
    def start_new_thread(*arguments: Any, **keywords: Any) -> Any:
        note(name)
        return start(*arguments, **keywords)

    return start_new_thread
