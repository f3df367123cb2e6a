"""Small arrays as figures: what went into the call that failed, what came back, and what is right.

The axes have the names that `course.toml` gives them, and a larger array has no figure: its text says where it differs.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from autograder.arrays import as_array, is_tensor
from autograder.compare import Difference
from autograder.counterexample import cut, show
from autograder.course import Course, Exercise
from autograder.report import Figure
from autograder.sandbox.learner import LastCall, LearnerException

# Rows and columns that an eye takes in at once.
LARGEST = 8
DIGITS = 4
UNNAMED = ("row", "column")
CAME_BACK = "came back"
RIGHT = "right"
WEIGHT_AXES = ("query", "key")
NOT_WRITTEN = ("NotImplementedError", "NotDefined")
# Above any rounding: the slice to show is one in which an eye sees the difference too.
SEEN = 1e-4

Draw = Callable[[LastCall | None, BaseException], tuple[list[Figure], str]]


class Draughtsman:
    """Draws the calls of one exercise; what its parameters are called stands in its solution, or else in its stub."""

    def __init__(self, exercise: Exercise, course: Course) -> None:
        self._axes = exercise.axes
        places = (course.solution_of(exercise), course.spare_stub_of(exercise), course.stub_of(exercise))
        self._source = next((place for place in places if place.is_file()), places[0])
        self._parameters: Mapping[str, Sequence[str]] | None = None

    def draw(self, call: LastCall | None, failure: BaseException) -> tuple[list[Figure], str]:
        """Give the figures of a failed check, and its last call as it is written beside them."""
        figures = self.of_check(call, failure)
        return figures, self.call_beside(call, figures) if figures else ""

    def of_check(self, call: LastCall | None, failure: BaseException) -> list[Figure]:
        """Draw a failed check: its last call, and the values that were compared."""
        if isinstance(failure, LearnerException) and failure.name in NOT_WRITTEN:
            return []
        if isinstance(failure, Difference) and not (failure.actual is None and failure.expected is None):
            return self._drawn(call, [(self._name_in(call, failure.actual), failure.actual, failure.expected)])
        returned = list(_parts(call.function, call.result)) if call and isinstance(failure, AssertionError) else []
        return self._drawn(call, [(name, value, None) for name, value in returned])

    def of_answers(self, call: LastCall | None, pairs: Sequence[tuple[Any, Any]]) -> list[Figure]:
        """Draw a call, and pairs of what came back and what is right."""
        places = [f"[{place}]" if len(pairs) > 1 else "" for place in range(len(pairs))]
        compared = [
            (self._name_in(call, found) or place, found, right)
            for place, (found, right) in zip(places, pairs, strict=True)
        ]
        return self._drawn(call, [pair for pair in compared if differ(*pair[1:])])

    def of_results(self, call: LastCall, right: Any) -> list[Figure]:
        """Draw a call, and those parts of its result that differ from the right ones."""
        expected = dict(_parts(call.function, right))
        found = dict(_parts(call.function, call.result))
        pairs = [(name, found.get(name), expected.get(name)) for name in dict.fromkeys([*expected, *found])]
        return self._drawn(call, [pair for pair in pairs if differ(*pair[1:])])

    def call_beside(self, call: LastCall | None, figures: Sequence[Figure]) -> str:
        """Write a call with the arguments that are drawn by their names: `softmax(scores, axis=0)`."""
        if call is None:
            return ""
        drawn = {figure.title.partition("[")[0] for figure in figures}
        inputs = self._inputs(call)
        positional, named = inputs[: len(call.arguments)], inputs[len(call.arguments) :]
        parts = [name if name in drawn else show(value) for name, value in positional]
        parts += [f"{name}={name if name in drawn else show(value)}" for name, value in named]
        return cut(f"{call.function}({', '.join(parts)})")

    def _drawn(self, call: LastCall | None, compared: Sequence[tuple[str, Any, Any]]) -> list[Figure]:
        at = next((at for _, found, right in compared if (at := _first_difference(found, right))), ())
        function = call.function if call else ""
        figures = [_figure(name, value, self._axes.get(name), at) for name, value in self._inputs(call)]
        for name, found, right in compared:
            part, axes = name.removeprefix(function), self._axes.get(name)
            at = _first_difference(found, right)
            titled = [(f"{words} {part}".strip(), value) for words, value in ((CAME_BACK, found), (RIGHT, right))]
            figures += [_figure(title, value, axes, at) for title, value in titled]
        return [figure for figure in figures if figure is not None]

    def _inputs(self, call: LastCall | None) -> list[tuple[str, Any]]:
        if call is None:
            return []
        names = self._names_of(call)
        positional = [
            (names[place] if place < len(names) else f"argument {place + 1}", value)
            for place, value in enumerate(call.arguments)
        ]
        return [*positional, *call.keywords.items()]

    def _names_of(self, call: LastCall) -> Sequence[str]:
        if self._parameters is None:
            self._parameters = parameter_names(self._source.read_bytes() if self._source.is_file() else b"")
        return self._parameters.get(call.function, ())

    def _name_in(self, call: LastCall | None, value: Any) -> str:
        """Give the name of the part of the call's result that a value is, or nothing."""
        if call is None or not _is_array(value):
            return ""
        parts = list(_parts(call.function, call.result))
        # A suite may have taken a part along, or made the same of it once more.
        alike = [name for name, part in parts if part is value] or [name for name, part in parts if _same(part, value)]
        return alike[0] if alike else ""


def parameter_names(source: bytes) -> dict[str, list[str]]:
    """Give what the parameters of a module's functions are called; a class is called through its `forward`.

    Where the source is no Python there are none.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return {}
    names = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            names[node.name] = [argument.arg for argument in node.args.args]
        elif isinstance(node, ast.ClassDef):
            called = [one for one in node.body if isinstance(one, ast.FunctionDef) and one.name == "forward"]
            names[node.name] = [argument.arg for one in called for argument in one.args.args[1:]]
    return names


def differ(found: Any, right: Any) -> bool:
    """Tell whether two values differ by more than rounding."""
    if not (_is_array(found) and _is_array(right)):
        return found is not right
    one, other = as_array(found), as_array(right)
    if one.shape != other.shape or one.dtype.kind != other.dtype.kind:
        return True
    return bool(_differing(one, other).any())


def _parts(function: str, result: Any) -> Iterator[tuple[str, Any]]:
    """Yield the arrays of a result by name: `attention[1]` is the second thing that attention returns."""
    if isinstance(result, list | tuple):
        yield from ((f"{function}[{place}]", part) for place, part in enumerate(result) if _is_array(part))
    elif _is_array(result):
        yield function, result


def _same(one: Any, other: Any) -> bool:
    first, second = as_array(one), as_array(other)
    return first.shape == second.shape and first.dtype == second.dtype and not _differing(first, second).any()


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray) or is_tensor(value)


def _figure(title: str, value: Any, axes: tuple[str, str] | None, at: tuple[int, ...]) -> Figure | None:
    """Draw an array, of one with more than two axes the matrix that has the place `at` in the leading ones."""
    if not _is_array(value):
        return None
    array = as_array(value)
    if array.ndim == 0 or not array.size or max(array.shape[-2:]) > LARGEST or array.dtype.kind not in "biuf":
        return None
    leading = array.shape[:-2]
    place = _aligned(at, leading)
    where = f"[{', '.join(map(str, place))}]" if leading else ""
    where = f" {where}" if where and title in (CAME_BACK, RIGHT) else where
    rows, columns = axes or (UNNAMED if array.ndim > 1 else ("", UNNAMED[1]))
    matrix = np.atleast_2d(array[place])
    return Figure(f"{title}{where}", _kind_of(matrix, axes), rows, columns, [[*map(_cell, row)] for row in matrix])


def _aligned(at: tuple[int, ...], leading: tuple[int, ...]) -> tuple[int, ...]:
    """Give the place in these leading axes that broadcasting lets meet the place `at`."""
    padded = (0,) * len(leading) + at
    places = padded[len(padded) - len(leading) :]
    return tuple(place if place < size else 0 for place, size in zip(places, leading, strict=True))


def _kind_of(matrix: np.ndarray, axes: tuple[str, str] | None) -> Any:
    if matrix.dtype == bool:
        return "mask"
    shares = matrix.dtype.kind == "f" and bool((np.isnan(matrix) | ((matrix >= 0) & (matrix <= 1))).all())
    return "weights" if shares and axes == WEIGHT_AXES else "numbers"


def _cell(entry: Any) -> str:
    return f"{float(entry):.{DIGITS}g}" if isinstance(entry, np.floating) else str(int(entry))


def _first_difference(found: Any, right: Any) -> tuple[int, ...]:
    """Give the place in the leading axes of the first matrix that differs."""
    if not (_is_array(found) and _is_array(right)):
        return ()
    one, other = as_array(found), as_array(right)
    if one.shape != other.shape or one.ndim < 3:
        return ()
    differs = _differing(one, other)
    if not differs.any():
        differs = ~((one == other) | ((one != one) & (other != other)))
    return tuple(int(place) for place in np.argwhere(differs)[0][:-2]) if differs.any() else ()


def _differing(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        near = np.isclose(_wide(one), _wide(other), rtol=SEEN, atol=0, equal_nan=True)
    return np.asarray(~near)


def _wide(array: np.ndarray) -> np.ndarray:
    # Not float64 for all: what is complex must not lose a part.
    return array.astype(np.result_type(array, np.float64))
