"""A pytest plugin for `attend check` on public tests: it sees what the learner's code was asked, and what came back.

The tests are ordinary ones and pass or fail by themselves. For each the record of pytest (JUnit's XML) gets properties:

    contract   the sentence of the contract that it is about, by its key
    call       the learner's call that the failure is about, as one would type it
    said       what went wrong in words: text, or a Phrase, as JSON
"""

from __future__ import annotations

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
from autograder.language import Phrase, say

CONTRACT, CALL, SAID = "contract", "call", "said"

_NOT_RAISED = re.compile(r"DID NOT RAISE (?:<class ')?(?:\w+\.)*(\w+)")
_NOT_MATCHED = re.compile(
    r"Regex pattern did not match\.\s+Expected regex: (?P<wanted>.*)\s+Actual message: (?P<said>.*)"
)


def pytest_configure(config: pytest.Config) -> None:
    """Begin to watch: comparisons are looked at as they fail, before anybody has imported them."""
    config.addinivalue_line("markers", f"{CONTRACT}(key): the sentence of the contract that a test is about")
    config.pluginmanager.register(Witness(), "witness")


class Witness:
    """What the learner's code was asked in the test that runs, and the comparison that failed."""

    def __init__(self) -> None:
        self.call = ""
        self.compared: tuple[Any, Any] | None = None
        self._returned: list[tuple[Any, str]] = []
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
        self.call, self.compared = "", None
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
        if error is not None:
            said = self._words_for(error, Path(item.path))
            facts += [(CALL, self._call_of_the_failure()), (SAID, msgspec.json.encode(said).decode())]
        return facts

    def _call_of_the_failure(self) -> str:
        """Give the call whose result was compared, else the last one."""
        actual = self.compared[0] if self.compared else None
        return next((call for result, call in self._returned if result is actual), self.call)

    def _words_for(self, error: pytest.ExceptionInfo[BaseException], test: Path) -> Phrase | str:
        text = str(error.value)
        if self.compared is not None:
            return self._words_for_comparison(*self.compared, _last_source(error, test)) or cut(text.strip())
        if missed := _NOT_RAISED.match(text):
            return say("no {error} was raised, though one should be", error=missed[1])
        if other := _NOT_MATCHED.search(text):
            wanted, said = other["wanted"].strip(), other["said"].strip()
            return say("the message of the error should match {wanted}; it is {message}", wanted=wanted, message=said)
        return _with_line(error, test)

    def _words_for_comparison(self, actual: Any, expected: Any, line: str) -> Phrase | str:
        """Give the words for what differs; where it is not what a call returned, with the line of the test."""
        said = _difference(actual, expected)
        is_returned = any(result is actual for result, _ in self._returned)
        return said if is_returned or not said else say("{said}, in {line}", said=said, line=line)

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
            self.call = show_call(kind.__name__, arguments, keywords)
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
            self.call = shown
            result = function(*arguments, **keywords)
            parts = result if isinstance(result, tuple) else (result,)
            self._returned += [(part, shown) for part in parts]
            return result

        return watched


def _is_the_learners(value: Any, tests: Path) -> bool:
    """Say whether a name that tests have imported is of a module in the folder above theirs."""
    module = sys.modules.get(getattr(value, "__module__", None) or "")
    file = getattr(module, "__file__", None)
    return bool(file) and Path(str(file)).resolve().parent == tests.resolve().parent.parent


def _difference(actual: Any, expected: Any) -> Phrase | str:
    """Give the words for what differs, or none where the two are too unlike to be compared."""
    if not (is_tensor(actual) or isinstance(actual, np.ndarray)):
        return ""
    right = expected if is_tensor(expected) else np.asarray(expected)
    if not right.shape and not is_tensor(right):
        right = np.broadcast_to(right, tuple(actual.shape))
    compare = assert_equal if as_array(actual).dtype == bool else functools.partial(assert_close, dtype=actual.dtype)
    try:
        compare(actual, right)
    except Difference as difference:
        said = difference.args[0]
        return said if isinstance(said, Phrase) else str(said)
    except (SuiteMistake, TypeError, ValueError, KeyError):
        return ""
    return ""


def _with_line(error: pytest.ExceptionInfo[BaseException], test: Path) -> Phrase | str:
    """Give an exception as text, and the learner's own line where it came from one."""
    name, text = error.type.__name__, str(error.value).strip()
    said = f"{name}: {text}" if text and error.type is not AssertionError else text or name
    own = [entry for entry in error.traceback if _is_own(entry, test)]
    if not own or error.type is NotImplementedError:
        return cut(said)
    line = own[-1].lineno + 1
    return say("{error}, on line {line} of {file}: {text}", error=cut(said), line=line, file=Path(own[-1].path).name,
               text=_source(own[-1]))  # fmt: skip


def _last_source(error: pytest.ExceptionInfo[BaseException], test: Path) -> str:
    """Give the line of the test that failed."""
    lines = [_source(entry) for entry in error.traceback if Path(entry.path).resolve() == test.resolve()]
    return lines[-1] if lines else test.name


def _is_own(entry: Any, test: Path) -> bool:
    return Path(entry.path).resolve().parent == test.resolve().parent.parent


def _source(entry: Any) -> str:
    lines: Sequence[str] = Path(entry.path).read_text(encoding="utf-8", errors="replace").splitlines()
    return lines[entry.lineno].strip() if entry.lineno < len(lines) else ""
