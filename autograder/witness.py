"""A pytest plugin for `attend check` on public tests: it sees what the learner's code was asked, and what came back.

The tests are ordinary ones and pass or fail by themselves. For each the record of pytest (JUnit's XML) gets properties:

    contract   the sentence of the contract that it is about, by its key
    call       the learner's call that the failure is about, as one would type it
    said       what went wrong in words: text, or a Phrase, as JSON
    figures    small arrays to draw, as JSON, and `beside`, the call as it is written beside them
"""

from __future__ import annotations

import ast
import functools
import inspect
import re
import sys
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
import numpy as np
import pytest

from autograder.arrays import as_array, is_tensor
from autograder.compare import Difference, SuiteMistake, assert_close, assert_equal
from autograder.counterexample import cut, show_call
from autograder.course import load_course
from autograder.figures import Draughtsman
from autograder.language import Phrase, say
from autograder.report import indented
from autograder.sandbox.learner import LastCall

CONTRACT, CALL, SAID = "contract", "call", "said"
FIGURES, BESIDE = "figures", "beside"
# Names the course.toml that says what axes are called: without it nothing is drawn.
COURSE_OPTION = "--course-of-witness"
# Larger ones are not drawn, and need not be kept as they were.
LARGEST_KEPT = 10_000

_NOT_RAISED = re.compile(r"DID NOT RAISE (?:<class ')?(?:\w+\.)*(\w+)")
_NOT_MATCHED = re.compile(
    r"Regex pattern did not match\.\s+Expected regex: (?P<wanted>.*)\s+Actual message: (?P<said>.*)"
)

_ASSERTED = re.compile(r"assert (.+) == (.+)")
# How NumPy and torch write a shape or a dtype, around what is meant.
_PLAIN = re.compile(r"torch\.Size(\()\[(.*)\](\))|dtype\('(.*)'\)|<class 'numpy\.(.*)'>")
_VALUES = say("returned {found}, right is {right}")


def pytest_configure(config: pytest.Config) -> None:
    """Begin to watch: comparisons are looked at as they fail, before anybody has imported them."""
    config.addinivalue_line("markers", f"{CONTRACT}(key): the sentence of the contract that a test is about")
    config.pluginmanager.register(Witness(config.getoption(COURSE_OPTION)), "witness")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let the course be named."""
    parser.addoption(COURSE_OPTION, default="", help="the course.toml that the tests belong to")


class Witness:
    """What the learner's code was asked in the test that runs, and the comparison that failed."""

    def __init__(self, course: str) -> None:
        self._course = course
        self.call = ""
        self.last: LastCall | None = None
        self.compared: tuple[Any, Any] | None = None
        # The first call of a test that gave None, which nothing in a course ever should.
        self.gave_nothing = ""
        self._returned: list[tuple[Any, str, LastCall]] = []
        self._made: weakref.WeakKeyDictionary[Any, str] = weakref.WeakKeyDictionary()
        self._watch_comparisons(np.testing, "assert_allclose", "assert_array_equal", "assert_equal")

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Watch the learner's functions and classes, wherever the tests have imported them to."""
        if "torch" in sys.modules:
            self._watch_comparisons(sys.modules["torch"].testing, "assert_close")
        for module in {id(item.module): item.module for item in session.items if hasattr(item, "module")}.values():
            self._watch_names_in(module)

    def pytest_runtest_setup(self) -> None:
        """Forget the test before."""
        self.call, self.last, self.compared, self.gave_nothing = "", None, None, ""
        self._returned.clear()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
        """Write down what is known of a test that has run."""
        if call.when == "call":
            item.user_properties.extend(self._facts(item, call.excinfo))
        return (yield)

    def _facts(self, item: pytest.Item, error: pytest.ExceptionInfo[BaseException] | None) -> list[tuple[str, str]]:
        marker = item.get_closest_marker(CONTRACT)
        facts = [(CONTRACT, str(marker.args[0]))] if marker and marker.args else []
        if error is not None and self.gave_nothing and not _NOT_RAISED.match(str(error.value)):
            said = say("returned None: does the function end without a `return`?")
            facts += [(CALL, self.gave_nothing), (SAID, indented(said).decode())]
        elif error is not None:
            words = self._words_for(error, Path(item.path))
            shown, called = self._call_of_the_failure()
            facts += [(CALL, shown), (SAID, indented(words).decode())]
            facts += self._drawn(item.path, called)
        return facts

    def _call_of_the_failure(self) -> tuple[str, LastCall | None]:
        """Give the call whose result was compared, else the last one: as text and as it was."""
        actual = self.compared[0] if self.compared else None
        found = ((shown, called) for result, shown, called in self._returned if result is actual)
        return next(found, (self.call, self.last))

    def _drawn(self, test: Path, called: LastCall | None) -> list[tuple[str, str]]:
        """Draw the call and what was compared, where that is what the call returned."""
        if not self._course or self.compared is None or called is None:
            return []
        if not any(result is self.compared[0] for result, *_ in self._returned):
            return []
        course = load_course(Path(self._course))
        exercise = course.exercise(test.stem.removeprefix("test_"))
        actual, expected = self.compared
        right = expected if is_tensor(expected) else np.asarray(expected)
        figures, beside = Draughtsman(exercise, course).draw(called, Difference("", actual, right))
        return [(FIGURES, indented(figures).decode()), (BESIDE, beside)]

    def _words_for(self, error: pytest.ExceptionInfo[BaseException], test: Path) -> Phrase | str:
        text = str(error.value)
        if self.compared is not None:
            return self._words_for_comparison(*self.compared, _last_source(error, test)) or cut(text.strip())
        if missed := _NOT_RAISED.match(text):
            return say("no {error} was raised, though one should be", error=missed[1])
        if other := _NOT_MATCHED.search(text):
            wanted, said = other["wanted"].strip(), other["said"].strip()
            return say("the message of the error should match {wanted}; it is {message}", wanted=wanted, message=said)
        return _form_that_was_asserted(text, _last_source(error, test)) or _with_line(error, test)

    def _words_for_comparison(self, actual: Any, expected: Any, line: str) -> Phrase | str:
        """Give the words for what differs; where it is not what a call returned, with what the test made of that."""
        said = _difference(actual, expected)
        if not said or any(result is actual for result, *_ in self._returned):
            return said
        made = _first_argument(line)
        if made and isinstance(said, Phrase) and said.text == _VALUES.text:
            return say("{made} is {found}, right is {right}", made=made, **said.facts)
        return say("{said}, in {line}", said=said, line=line)

    def _watch_comparisons(self, module: Any, *names: str) -> None:
        for name in names:
            setattr(module, name, self._judged(getattr(module, name)))

    def _judged(self, compare: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(compare)
        def judged(actual: Any, expected: Any, *arguments: Any, **keywords: Any) -> None:
            __tracebackhide__ = True
            try:
                compare(actual, expected, *arguments, **keywords)
            except AssertionError:
                self.compared = (actual, expected)
                raise

        return judged

    def _watch_names_in(self, tests: ModuleType) -> None:
        for name, value in list(vars(tests).items()):
            if not _is_the_learners(value, Path(str(tests.__file__))):
                continue
            if inspect.isclass(value):
                self._watch_class(value)
            elif inspect.isfunction(value):
                setattr(tests, name, self._watched(value, name))

    def _watch_class(self, kind: Any) -> None:
        """See how instances are made, and how they are called."""
        make = kind.__init__
        call = next((vars(base)["__call__"] for base in kind.__mro__ if "__call__" in vars(base)), None)

        @functools.wraps(make)
        def made(instance: Any, *arguments: Any, **keywords: Any) -> None:
            self.call, self.last = show_call(kind.__name__, arguments, keywords), None
            make(instance, *arguments, **keywords)
            self._made[instance] = show_call(kind.__name__, arguments, keywords)

        kind.__init__ = made
        if call is not None:
            kind.__call__ = self._watched(call, kind.__name__, bound=True)

    def _watched(self, function: Any, name: str, *, bound: bool = False) -> Callable[..., Any]:
        @functools.wraps(function)
        def watched(*arguments: Any, **keywords: Any) -> Any:
            # Written down before: the call may change what it was given.
            called = self._made.get(arguments[0], name) if bound else name
            shown = show_call(called, arguments[bound:], keywords)
            kept = LastCall(name, tuple(map(_kept, arguments[bound:])), {key: _kept(keywords[key]) for key in keywords})
            self.call, self.last = shown, kept
            result = function(*arguments, **keywords)
            self.last = msgspec.structs.replace(kept, result=result)
            if result is None and function.__name__ != "__init__":
                self.gave_nothing = self.gave_nothing or shown
            parts = result if isinstance(result, tuple) else (result,)
            self._returned += [(part, shown, self.last) for part in parts]
            return result

        return watched


def _is_the_learners(value: Any, tests: Path) -> bool:
    """Say whether a name that tests have imported is of a module in the folder above theirs."""
    module = sys.modules.get(getattr(value, "__module__", None) or "")
    file = getattr(module, "__file__", None)
    return bool(file) and Path(str(file)).resolve().parent == tests.resolve().parent.parent


def _difference(actual: Any, expected: Any) -> Phrase | str:
    """Give the words for what differs, or none where the two are too unlike to be compared."""
    if isinstance(actual, np.generic):
        actual = np.asarray(actual)
    if not (is_tensor(actual) or isinstance(actual, np.ndarray)):
        return ""
    right = expected if is_tensor(expected) else np.asarray(expected)
    if not right.shape and not is_tensor(right):
        right = np.broadcast_to(right, tuple(actual.shape))
    kinds = as_array(actual).dtype.kind, as_array(right).dtype.kind
    if kinds == ("i", "i") and not is_tensor(right):
        # Whole numbers of any width are right; a list in a test does not choose one.
        right = right.astype(as_array(actual).dtype)
    compare = assert_equal if kinds[0] in "biu" else functools.partial(assert_close, dtype=actual.dtype)
    try:
        compare(actual, right)
    except Difference as difference:
        said = difference.args[0]
        return said if isinstance(said, Phrase) else str(said)
    except (SuiteMistake, TypeError, ValueError, KeyError):
        return ""
    return ""


def _first_argument(line: str) -> str:
    """Give what a comparison on a line of a test looks at, as it is written there; nothing where that is not one."""
    try:
        statement = ast.parse(line).body[0]
    except (SyntaxError, IndexError):
        return ""
    if not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call) and statement.value.args):
        return ""
    return ast.unparse(statement.value.args[0])


def _form_that_was_asserted(text: str, line: str) -> Phrase | None:
    """Give the words for a shape or dtype that a plain assertion found wrong, for which pytest has none of its own."""
    sides = _ASSERTED.match(text)
    if sides is None:
        return None
    found, right = (_PLAIN.sub(lambda form: "".join(filter(None, form.groups())), side) for side in sides.groups())
    if ".shape ==" in line:
        return say("the shape is {found}, not {right}", found=found, right=right)
    return say("the dtype is {found}, not {right}", found=found, right=right) if ".dtype ==" in line else None


def _with_line(error: pytest.ExceptionInfo[BaseException], test: Path) -> Phrase | str:
    """Give an exception as text, and the learner's own line where it came from one."""
    name, text = error.type.__name__, str(error.value).strip()
    said = f"{name}: {text}" if text and error.type is not AssertionError else text or name
    own = _own_entries(error, test)
    if not own or error.type is NotImplementedError:
        return cut(said)
    place = {"line": own[-1].lineno + 1, "file": Path(own[-1].path).name, "text": _source(own[-1])}
    return say("{error}, on line {line} of {file}: {text}", error=cut(said), **place)


def _last_source(error: pytest.ExceptionInfo[BaseException], test: Path) -> str:
    """Give the line of the test that failed."""
    lines = [_source(entry) for entry in error.traceback if Path(entry.path).resolve() == test.resolve()]
    return lines[-1] if lines else test.name


def _own_entries(error: pytest.ExceptionInfo[BaseException], test: Path) -> list[Any]:
    """Give the places in the learner's own modules that an exception came through."""
    own = test.resolve().parent.parent
    return [entry for entry in error.traceback if Path(entry.path).resolve().parent == own]


def _kept(value: Any) -> Any:
    """Keep a small array as it is now: the call may change it."""
    if isinstance(value, np.ndarray):
        return value.copy() if value.size <= LARGEST_KEPT else value
    return value.detach().clone() if is_tensor(value) and value.numel() <= LARGEST_KEPT else value


def _source(entry: Any) -> str:
    lines: Sequence[str] = Path(entry.path).read_text(encoding="utf-8", errors="replace").splitlines()
    return lines[entry.lineno].strip() if entry.lineno < len(lines) else ""
