"""What a course keeps from its learners, function by function: solutions, right variants, suites, fault families."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from autograder.course import Course, Exercise
from autograder.release.shingles import PYTHON
from autograder.release.stubs import ReleaseError, solution_regions


@dataclass(frozen=True)
class Passage:
    """Lines that must not get out: their text without docstrings, what they are, and the function they are of."""

    what: str
    text: str
    solves: bool
    function: str = ""


def hidden_passages(course: Course) -> list[Passage]:
    """Give every passage of a course that is hidden. Raises ReleaseError where a file cannot be read."""
    return [passage for exercise in course.exercises for passage in _passages_of(exercise, course)]


def names_of_libraries(passages: Iterable[Passage]) -> frozenset[str]:
    """Give the names in the passages that nobody can change: attributes, keyword arguments and what is Python's.

    What a passage itself binds can be called something else, and so can what it imports.
    """
    used: set[str] = set()
    bound: set[str] = set()
    for passage in passages:
        bound.add(passage.function)
        for node in ast.walk(_parsed(passage.text)):
            used |= _used_by(node)
            bound |= _bound_by(node)
    return frozenset(used - bound) | PYTHON


def _passages_of(exercise: Exercise, course: Course) -> Iterator[Passage]:
    name = exercise.name
    solution = course.solution_of(exercise)
    for region in solution_regions(_text_of(solution), str(solution)):
        yield from _functions(f"the solution of {name}", region, solves=True)
    for variant in course.variants_of(exercise):
        yield from _functions(f"{variant.name}, a right answer to {name}", _text_of(variant), solves=True)
    for what, file in (("hidden checks", course.suite_of(exercise)), ("mistakes", course.family_of(exercise))):
        if file.is_file():
            yield from _functions(f"the {what} of {name}", _text_of(file), solves=False)


def _functions(what: str, source: str, *, solves: bool) -> Iterator[Passage]:
    """Yield the bodies of the functions in a source, and of a solution what is left: each is a passage of its own.

    What stands outside the functions of a suite are the inputs, many of which are those of the tutorial.
    """
    text = textwrap.dedent(source).strip("\n")
    lines = text.split("\n")
    tree = _parsed(text)
    left = set(range(len(lines)))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom) or _is_docstring(node):
            left -= set(_lines_of(node))
    for function in _outermost_functions(tree):
        body = [line for statement in function.body for line in _lines_of(statement) if line in left]
        yield Passage(f"{what} ({function.name})", _joined(lines, body), solves, function.name)
        left -= set(range(function.lineno - 1, function.end_lineno or function.lineno))
    if solves and (rest := _joined(lines, sorted(left)).strip()):
        yield Passage(what, rest, solves)


def _outermost_functions(tree: ast.AST) -> Iterator[ast.FunctionDef]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef):
            yield node
        elif isinstance(node, ast.ClassDef):
            yield from _outermost_functions(node)


def _parsed(text: str) -> ast.AST:
    """Parse a passage, which may be the inside of a function; nothing comes of one that cannot stand alone."""
    try:
        return ast.parse(textwrap.dedent(text))
    except SyntaxError:
        return ast.Module(body=[], type_ignores=[])


def _joined(lines: list[str], numbers: Iterable[int]) -> str:
    return textwrap.dedent("\n".join(lines[number] for number in dict.fromkeys(numbers)))


def _lines_of(node: ast.AST) -> range:
    return range(getattr(node, "lineno", 1) - 1, getattr(node, "end_lineno", None) or 0)


def _is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _used_by(node: ast.AST) -> set[str]:
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
        return {node.attr}
    return {node.arg} if isinstance(node, ast.keyword) and node.arg else set()


def _bound_by(node: ast.AST) -> set[str]:
    if isinstance(node, ast.Name):
        return set() if isinstance(node.ctx, ast.Load) else {node.id}
    if isinstance(node, ast.Attribute):
        return set() if isinstance(node.ctx, ast.Load) else {node.attr}
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    return {node.arg} if isinstance(node, ast.arg) else set()


def _text_of(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ReleaseError(f"{file}: cannot be read ({error.strerror}); a bundle is checked against it") from None
    except UnicodeDecodeError as error:
        raise ReleaseError(f"{file}: byte {error.start} is not UTF-8; save the file as UTF-8") from None
