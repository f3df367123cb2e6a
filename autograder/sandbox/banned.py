"""Functions that an exercise may not use: found in the syntax tree, and again while the learner's code runs.

Three looks, since each alone can be walked around: the syntax tree (before any line has run), the interpreter's profile
hook (calls made by Python code) and torch's function mode (calls that reach torch through C, such as
`functools.partial(torch.softmax)`). Turning the hooks off is itself noticed: an audit hook cannot be removed. What all
of them miss meets a closed door: torch's kernels of that name are taken out of the process.

Where many processes come from one fork server, every function of that name that is loaded is taken out of them all,
once (`doors`). Nobody needs to look on then, unless there are functions in C that cannot be closed, more is loaded or
made later, or kernels are open since gradients flow back.
"""

from __future__ import annotations

import ast
import functools
import inspect
import linecache
import re
import sys
import threading
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from types import CodeType, FrameType, FunctionType
from typing import Any, NoReturn

from autograder.sandbox import doors
from autograder.sandbox.names import matching, plain, plain_piece, torch_lines, torch_names, torch_operators
from autograder.sandbox.violation import Violation

# What `id` gives, in another form; but each call of `id` is told to the audit hooks.
identity = object.__hash__
MAX_VIOLATIONS = 20
MAX_HARMLESS = 1000
HOOKS = {"sys.setprofile", "sys.settrace"}
# A module that is loaded, by whatever loader, or code that is made: there may be another function of a banned name.
LOADS = {"import", "exec", "compile", "marshal.loads", "marshal.load", "code.__new__", "function.__new__"}
# A thread can be made to begin without the hooks, and torch's function mode belongs to one thread.
THREADS = {"start_new_thread", "start_joinable_thread", "_start_new_thread", "_start_joinable_thread"}


def scan(source: bytes, banned: tuple[str, ...]) -> tuple[Violation, ...]:
    """Find uses of banned names in a module's syntax tree; code under `if __name__ == "__main__":` is free.

    Raises:
        SyntaxError: when the module may name one and cannot be parsed.
        UnicodeDecodeError: when it is not UTF-8.

    """
    # As text, since of bytes the parser would obey a coding cookie and read another program than the one that runs.
    text = source.decode("utf-8-sig")
    # The parser takes other forms of a letter for the letter.
    words = set(re.findall(r"\w+", text)) if text.isascii() else None
    possible = tuple(pattern for pattern in banned if words is None or _may_occur(pattern, words))
    if not possible:
        return ()
    tree = ast.parse(text)
    finder = _Finder(possible, text.splitlines())
    finder.visit(tree)
    return tuple(finder.found[:MAX_VIOLATIONS])


def know(banned: tuple[str, ...]) -> None:
    """Make of the patterns what looking for them needs: once, where many processes are to be forked."""
    for pattern in banned:
        fnmatchcase("", pattern)
        plain_piece(pattern)


def _may_occur(pattern: str, words: Collection[str]) -> bool:
    """Tell whether a module of these words can name what the pattern stands for: each part of it needs one of them."""
    parts = [] if "[" in pattern else pattern.split(".")
    return all(
        part in words if part.isidentifier() else any(plain_piece(part) in word for word in words) for part in parts
    )


class _Finder(ast.NodeVisitor):
    """Resolve attribute chains through the module's imports and match them against the banned patterns."""

    def __init__(self, banned: tuple[str, ...], lines: list[str]) -> None:
        self.found: list[Violation] = []
        self._banned = banned
        self._lines = lines
        self._imported: dict[str, str] = {}

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            if alias.asname:
                self._imported[alias.asname] = alias.name
            else:
                top = alias.name.partition(".")[0]
                self._imported[top] = top

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        for alias in node.names:
            self._imported[alias.asname or alias.name] = f"{node.module}.{alias.name}"

    def visit_If(self, node: ast.If) -> None:
        if _is_main_guard(node.test):
            for statement in node.orelse:
                self.visit(statement)
        else:
            self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self._judge(node, self._imported.get(node.id))

    def visit_Attribute(self, node: ast.Attribute) -> None:
        name = self._dotted(node)
        if not self._judge(node, name):
            self.visit(node.value)

    def _dotted(self, node: ast.expr) -> str | None:
        if isinstance(node, ast.Name):
            return self._imported.get(node.id)
        if isinstance(node, ast.Attribute):
            owner = self._dotted(node.value)
            return owner and f"{owner}.{node.attr}"
        return None

    def _judge(self, node: ast.expr, name: str | None) -> bool:
        if name is None or not any(fnmatchcase(name, pattern) for pattern in self._banned):
            return False
        text = self._lines[node.lineno - 1].strip() if node.lineno <= len(self._lines) else ""
        self.found.append(Violation(name, node.lineno, text[:200]))
        return True


def _is_main_guard(test: ast.expr) -> bool:
    if not (isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq)):
        return False
    sides = (test.left, test.comparators[0])
    names = any(isinstance(side, ast.Name) and side.id == "__name__" for side in sides)
    return names and any(isinstance(side, ast.Constant) and side.value == "__main__" for side in sides)


class Watch:
    """Notices banned calls while learner code runs. The kit's own calls go on inside `suspended`."""

    def __init__(self, banned: tuple[str, ...], learner_files: frozenset[str]) -> None:
        self.found: list[Violation] = []
        self._patterns = banned
        self._last_names = frozenset(pattern.rpartition(".")[2] for pattern in banned) - {"*"}
        self._tops = frozenset(pattern.partition(".")[0] for pattern in banned)
        self._files = learner_files
        self._suspended = 0
        self._flowing_back = False
        self._kernels_closed = False
        self._switching = False
        self._verdicts: dict[CodeType, str] = {}
        self._modules: dict[str, bool] = {}
        self._names: dict[str, bool] = {}
        self._harmless: dict[int, Any] = {}
        self._profile = self._profiler()
        self._mode: Any = None
        self._doors_closed = False
        self._reopens = False
        # There is something that is not behind the doors, or there may be since learner code has run.
        self._more_is_loaded = False
        self._begun = False
        self._own_code: CodeType | None = None
        self._watching = False
        self._theirs = False
        self._hooked = False
        if banned:
            sys.addaudithook(self._audit)

    def begin(self, *, calls: bool = True, theirs: bool = False) -> None:
        """Watch until `end`: with `calls` by the profile hook, and where kernels are open by torch's mode.

        `theirs`: all that is called meanwhile is the learner's doing, whether a line of the learner's is seen or not.
        """
        if not self._patterns:
            return
        self._begun = True
        self._mode = self._torch_mode()
        self._watching = calls
        self._hooked = calls and self._is_needed
        if self._hooked:
            self._hook(self._profile)
        if self._mode is not None:
            self._mode.__enter__()
        self._theirs = theirs

    def come_back(self) -> None:
        """Watch on for lines of the learner's alone: from now on the kit calls things, too."""
        self._theirs = False

    def end(self) -> None:
        """Watch no longer."""
        if not self._patterns:
            return
        self._theirs = False
        if self._mode is not None:
            self._mode.__exit__(None, None, None)
        self._watching = False
        if self._hooked:
            self._hook(None)
        self._note_threads()

    @contextmanager
    def suspended(self) -> Iterator[None]:
        """Let a stand-in use what learners may not."""
        self._suspended += 1
        hook: Any = sys.getprofile() if self._is_needed else None
        if hook is not None:
            self._hook(None)
        try:
            yield
        finally:
            if hook is not None:
                self._hook(hook)
            self._suspended -= 1

    @contextmanager
    def flowing_back(self) -> Iterator[None]:
        """Let gradients flow back through what stand-ins have made."""
        self._flowing_back = True
        try:
            yield
        finally:
            self._flowing_back = False

    def close_kernels(self) -> None:
        """Take torch's own kernels of banned functions out of this process, however they would be reached.

        The hooks do not see a function that C calls while torch's function mode is off, nor TorchScript.
        """
        if "torch" in sys.modules and self._patterns:
            doors.close_kernels(self._operators(), self._refused)
            self._kernels_closed = True

    def close_doors(self, functions: doors.Functions, *, for_stand_ins: bool) -> None:
        """Take every banned function out of this process: kernels, Python's own, the start of threads.

        Where there are others, in C, the hooks stay.

        With `for_stand_ins` they still do what they did while the watch is suspended; and what computes gradients does
        so while gradients are asked for, when a stand-in has returned long since.
        """
        suspended = self._is_suspended if for_stand_ins else None
        if "torch" in sys.modules:
            forward, backward = _parted(self._operators())
            doors.close_kernels(forward, self._refused, suspended)
            doors.close_kernels(backward, self._refused, self._may_flow_back if for_stand_ins else None)
            self._kernels_closed = True
        for function in functions.of_python:
            if verdict := self._judge_function(function):
                doors.close_function(function, functools.partial(self._refused, verdict), suspended)
        doors.tell_of_threads(self._note)
        # So that what it needs is there, and is told to no audit hook, when learner code has run.
        doors.is_one_thread()
        self._more_is_loaded = any(self._is_banned(name) for name in functions.of_c - THREADS)
        self._reopens = for_stand_ins
        self._doors_closed = True

    def learn_the_module(self, filename: str, code: CodeType) -> None:
        """Take a module's file, and what it executes, for the learner's from now on."""
        self._files = frozenset({filename})
        self._own_code = code

    def is_of(self, banned: tuple[str, ...]) -> bool:
        """Tell whether these are the names that it watches for."""
        return banned == self._patterns

    def _operators(self) -> Iterator[tuple[str, str]]:
        """Give the banned functions of torch's by their plain names, each with one of its operators."""
        operators, names = torch_operators(), torch_names()
        forms = matching(self._last_names, torch_lines())
        for name in dict.fromkeys(name for form in forms for name in names[form]):
            for operator in operators[name]:
                yield name, operator

    def _refused(self, name: str) -> NoReturn:
        self._note(name)
        raise RuntimeError(f"this exercise may not use {name}")

    def _is_suspended(self) -> bool:
        return self._suspended > 0

    def _may_flow_back(self) -> bool:
        return self._flowing_back or self._suspended > 0

    def _judge_function(self, function: FunctionType) -> str:
        module = function.__module__
        return self._judge_code(function.__code__, module) if type(module) is str and self._has_banned(module) else ""

    def take(self) -> tuple[Violation, ...]:
        """Give what was found since the last time."""
        found = tuple(self.found)
        self.found.clear()
        return found

    @property
    def _is_needed(self) -> bool:
        # While gradients flow back, what the learner has hung into their way runs with kernels open.
        return not self._doors_closed or self._more_is_loaded or (self._flowing_back and self._reopens)

    def _hook(self, hook: Callable[[FrameType, str, Any], object] | None) -> None:
        self._switching = True
        threading.setprofile(hook)
        sys.setprofile(hook)
        self._switching = False

    def _torch_mode(self) -> Any:
        torch = sys.modules.get("torch")
        if torch is None or (self._kernels_closed and not (self._flowing_back and self._reopens)):
            # A closed kernel says itself that it was reached, and the mode makes every operation slower.
            return None
        return function_mode(self._seen_by_torch, self._harmless)

    def _profiler(self) -> Callable[[FrameType, str, Any], None]:
        # Called at the beginning and the end of every call of any function: what is common looks nothing up twice, and
        # asks for no frame's code, which is told to the audit hooks.
        known_name, known_module, known_code = self._names.get, self._modules.get, self._verdicts.get

        def profile(frame: FrameType, event: str, argument: Any) -> None:
            if event == "c_call":
                name = argument.__name__
                if known_name(name) is not False and self._is_banned(name):
                    self._note(name)
            elif event == "call":
                module = frame.f_globals.get("__name__")
                if type(module) is str and known_module(module) is not False and self._has_banned(module):
                    code = frame.f_code
                    verdict = known_code(code)
                    if verdict is None:
                        verdict = self._verdicts[code] = self._judge_code(code, module)
                    if verdict:
                        self._note(verdict)

        return profile

    def _has_banned(self, module: str) -> bool:
        verdict = self._modules[module] = module.partition(".")[0] in self._tops
        return verdict

    def _judge_code(self, code: CodeType, module: str) -> str:
        if not code.co_flags & inspect.CO_OPTIMIZED:
            # The body of a module or class, run while it is imported, calls nothing of that name.
            return ""
        if code.co_filename in self._files:
            return ""
        full = f"{module}.{code.co_qualname}"
        named = any(self._is_banned(part) for part in code.co_qualname.split("."))
        return full if named or any(fnmatchcase(full, pattern) for pattern in self._patterns) else ""

    def _seen_by_torch(self, function: Any) -> None:
        name = str(getattr(function, "__name__", "")).partition(".")[0]
        if self._is_banned(name):
            self._note(name)
        elif len(self._harmless) < MAX_HARMLESS:
            self._harmless[identity(function)] = function

    def _is_banned(self, name: str) -> bool:
        verdict = self._names.get(name)
        if verdict is None:
            verdict = name in THREADS
            possible = [last for last in self._last_names if plain_piece(last) in name]
            verdict |= any(fnmatchcase(form, last) for form in (name, plain(name)) for last in possible)
            self._names[name] = verdict
        return verdict

    def _note(self, name: str) -> None:
        if self._suspended or len(self.found) >= MAX_VIOLATIONS:
            return
        line = self._learner_line()
        if line is not None:
            filename, number = line
            self.found.append(Violation(name, number, linecache.getline(filename, number).strip()[:200]))

    def _note_threads(self) -> None:
        # One that lives on would work unseen while the next call is watched.
        if len(sys._current_frames()) > 1 and len(self.found) < MAX_VIOLATIONS:
            self.found.append(Violation("threading", 0, ""))

    def _learner_line(self) -> tuple[str, int] | None:
        frame: FrameType | None = sys._getframe(2)
        while frame is not None:
            if frame.f_code.co_filename in self._files:
                return frame.f_code.co_filename, frame.f_lineno
            frame = frame.f_back
        # A module may name a function of a library's, or one made of text, as its own.
        return ("", 0) if self._theirs or threading.current_thread() is not threading.main_thread() else None

    def _audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event in HOOKS and not self._switching:
            self._note(event)
        elif event in LOADS and self._doors_closed and self._begun and not self._more_is_loaded:
            if event == "exec" and arguments[0] is self._own_code:
                return
            self._more_is_loaded = True
            if not doors.is_one_thread() and len(self.found) < MAX_VIOLATIONS:
                # The hook belongs to this one, and another may have been started under a name that nobody knows.
                self.found.append(Violation("threading", 0, ""))
            if self._watching:
                self._hooked = True
                self._hook(self._profile)


def _parted(operators: Iterable[tuple[str, str]]) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Part operators into those that compute values and those that compute gradients."""
    forward: list[tuple[str, str]] = []
    backward: list[tuple[str, str]] = []
    for name, operator in operators:
        (backward if "backward" in name else forward).append((name, operator))
    return forward, backward


def function_mode(seen: Callable[[Any], None], harmless: dict[int, Any]) -> Any:
    """Give a context in which every function of torch's that is not `harmless` is shown to `seen` before its call."""
    return _function_modes()(seen, harmless)


@functools.cache
def _function_modes() -> Any:
    """Give the kind of such contexts: a class, which takes longer to make than most calls take."""
    from torch.overrides import TorchFunctionMode

    class Mode(TorchFunctionMode):
        def __init__(self, seen: Callable[[Any], None], harmless: dict[int, Any]) -> None:
            self.seen = seen
            self.harmless = harmless

        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            # By identity: an object of the learner's may claim to equal any function.
            if identity(func) not in self.harmless:
                self.seen(func)
            return func(*args, **kwargs) if kwargs else func(*args)

    return Mode
