"""The course as nbgrader's source notebooks: what learners write, the public tests, and a cell for each hidden check.

A hidden cell is one line that names its check; it holds no input and no expected value. The `grade_id`s are those of
the checks and of the functions, so that they stay when a notebook is made again.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from autograder.course import Course, Exercise
from autograder.language import Phrase, say, say_many
from autograder.notebooks import NotebookError
from autograder.outputs.text import number
from autograder.release import BEGIN, END
from autograder.session import CheckFacts

KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
CALL = "from autograder.notebooks.kernel import points; points({arguments})"
HIDDEN = ("### BEGIN HIDDEN TESTS", "### END HIDDEN TESTS")
MERGED = re.compile(rf"^[ \t]*{END}\n\s*^{BEGIN}\n", re.MULTILINE)


def notebook_of(
    exercise: Exercise, course: Course, checks: Sequence[CheckFacts], languages: Sequence[str], named_course: str = ""
) -> str:
    """Give the source notebook of an exercise as JSON.

    `named_course` is the path that hidden cells name, where the course is not the one that the kit finds by itself.

    Raises:
        NotebookError: when the solution, the instructions or the public tests cannot be cut into cells.

    """
    cells = [
        *_texts(exercise, course, languages),
        *_stand_ins(exercise, course, languages),
        *_solution_cells(exercise, course),
        _text("public", languages, say("## Public tests\n\nRun these cells to try what you have written.")),
        *_public_cells(exercise, course),
        _text("hidden", languages, say("## Hidden checks\n\nThese cells are filled in when your work is graded.")),
        *(_hidden_cell(exercise, check, languages, named_course) for check in checks),
    ]
    notebook = {
        "cells": cells,
        "metadata": {"kernelspec": KERNEL, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(notebook, ensure_ascii=False, indent=1) + "\n"


def call_of(source: str) -> tuple[str, str] | None:
    """Give the exercise and the check that a hidden cell names, or None where a cell is not one of these."""
    try:
        calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    if "autograder.notebooks.kernel" not in source or len(calls) != 1:
        return None
    names = [argument.value for argument in calls[0].args if isinstance(argument, ast.Constant)]
    return (str(names[0]), str(names[1])) if len(names) == 2 else None


def shown_part(source: str) -> str:
    """Give a grade cell as learners get it, without what stands between nbgrader's marks of hidden tests."""
    begin, end = HIDDEN
    before, _, rest = source.partition(begin)
    return f"{before}{rest.partition(end)[2]}".strip("\n")


def _texts(exercise: Exercise, course: Course, languages: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Say what is to be written, in each language that there are instructions in, and where."""
    for language in languages:
        path = course.instructions_of(exercise, language)
        if path.is_file():
            yield _markdown(f"instructions-{language}", _read(path))
    where = say(
        "Write into the cells below, where it says YOUR CODE HERE. This notebook stands for `{name}.py`, and is graded "
        "by itself; cells of your own are welcome, magics and shell lines are left out.",
        name=exercise.name,
    )
    yield _text("where", languages, where)


def _stand_ins(exercise: Exercise, course: Course, languages: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Let the imports of another exercise find library calls, as they do where the notebook is graded."""
    for name, source in course.stand_in_sources(exercise).items():
        said = _said(say("`import {name}` finds library calls here, as it does in grading.", name=name), languages)
        comments = [f"# {line}" for line in said.split("\n") if line]
        lines = [
            *comments,
            "import sys, types",
            "",
            f'sys.modules["{name}"] = types.ModuleType("{name}")',
            f'exec({source.decode("utf-8")!r}, vars(sys.modules["{name}"]))',
        ]
        yield _code(f"stand_in_{name}", "\n".join(lines), locked=True)


@dataclass
class _Piece:
    """A definition of a solution, with the helpers below it."""

    name: str
    text: str


def _solution_cells(exercise: Exercise, course: Course) -> Iterator[dict[str, Any]]:
    path = course.solution_of(exercise)
    preamble, pieces = _pieces(_read(path), path)
    if preamble:
        yield _code("imports", preamble, locked=True)
    for piece in pieces:
        yield _code(f"solution_{piece.name}", piece.text, solution=True)


def _pieces(source: str, path: Path) -> tuple[str, list[_Piece]]:
    """Cut a solution before each definition that learners see; helpers stay with what stands above them.

    nbgrader puts a stub that raises in the place of every region, so a region of helpers becomes one with the region
    above it: a stub at the top level would end every run of the notebook.
    """
    lines = source.split("\n")
    starts = _starts(source, lines, path)
    if not starts:
        raise NotebookError(say("{path}: defines nothing that learners could write", path=path))
    ends = [*(start for start, _ in starts[1:]), len(lines)]
    pieces = [
        _Piece(name, MERGED.sub("\n\n", "\n".join(lines[start:end])).strip("\n"))
        for (start, name), end in zip(starts, ends, strict=True)
    ]
    preamble = "\n".join(lines[_after_docstring(source) : starts[0][0]]).strip("\n")
    for text in (preamble, *(piece.text for piece in pieces)):
        if f"\n{BEGIN}" in f"\n{text}":
            said = say("{path}: helpers between `{begin}` and its end must follow a function that ends with a region")
            raise NotebookError(Phrase(said.text, {"path": str(path), "begin": BEGIN}))
    return preamble, pieces


def _starts(source: str, lines: Sequence[str], path: Path) -> list[tuple[int, str]]:
    """Give the first line (from 0) and the name of each definition that stands outside a region."""
    try:
        body = ast.parse(source).body
    except SyntaxError as error:
        raise NotebookError(
            say(
                "{path}, line {line}: {why}; the solution must be valid Python", path=path, line=error.lineno, why=error
            )
        ) from None
    inside: set[int] = set()
    begun = None
    for index, line in enumerate(lines):
        if line == BEGIN:
            begun = index
        if line == END and begun is not None:
            inside.update(range(begun, index))
            begun = None
    definitions = [node for node in body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)]
    first = {node.name: min(each.lineno for each in [node, *node.decorator_list]) - 1 for node in definitions}
    return [(start, name) for name, start in first.items() if start not in inside]


def _after_docstring(source: str) -> int:
    body = ast.parse(source).body
    is_docstring = bool(body) and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
    return (body[0].end_lineno or 0) if is_docstring else 0


def _public_cells(exercise: Exercise, course: Course) -> Iterator[dict[str, Any]]:
    """Make a cell of each public test, worth nothing: nbgrader's validation tells learners which of them fail."""
    path = course.public_tests_of(exercise)
    if not path.is_file():
        return
    source = _read(path)
    lines = source.split("\n")
    shared: list[str] = []
    tests: list[tuple[str, str]] = []
    for node in ast.parse(source).body[1 if _after_docstring(source) else 0 :]:
        start = min(part.lineno for part in [node, *getattr(node, "decorator_list", [])]) - 1
        text = "\n".join(lines[start : node.end_lineno])
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            tests.append((node.name, _called(node, "\n".join(lines[node.lineno - 1 : node.end_lineno]), path)))
        elif not (isinstance(node, ast.ImportFrom) and node.module == exercise.name):
            shared.append(text)
    if shared:
        yield _code("public_tests", "\n".join(shared), locked=True)
    for name, text in tests:
        yield _code(f"public_{name}", text, points=0)


def _called(node: ast.FunctionDef, definition: str, path: Path) -> str:
    """Give a test with its call, once for each of its parameters."""
    call = f"{node.name}()"
    for decorator in node.decorator_list:
        match decorator:
            case ast.Call(func=ast.Attribute(attr="parametrize"), args=[ast.Constant(value=str(names)), cases]):
                call = f"for {names} in {ast.unparse(cases)}:\n    {node.name}({names})"
            case _:
                said = say("{path}, line {line}: only parametrize is known in a cell", path=path, line=node.lineno)
                raise NotebookError(said)
    return f"{definition}\n\n\n{call}"


def _hidden_cell(exercise: Exercise, check: CheckFacts, languages: Sequence[str], named_course: str) -> dict[str, Any]:
    shown = number(check.points)
    worth = say_many(
        "hidden check, {points} point", "hidden check, {points} points", 1 if shown == "1" else 2, points=shown
    )
    arguments = f'"{exercise.name}", "{check.name}"' + (f", course={named_course!r}" if named_course else "")
    comment = " / ".join(worth.in_(language) for language in languages)
    source = "\n".join([f"# {comment}", HIDDEN[0], CALL.format(arguments=arguments), HIDDEN[1]])
    return _code(grade_id_of(check.name), source, points=check.points)


def grade_id_of(name: str) -> str:
    """Give the name itself where nbgrader takes it, else a likeness and a hash, so that no two become one."""
    if re.fullmatch(r"[A-Za-z0-9_-]{1,128}", name):
        return name
    return f"{re.sub('[^A-Za-z0-9_-]', '_', name)[:100]}-{sha256(name.encode()).hexdigest()[:16]}"


def _text(id: str, languages: Sequence[str], phrase: Phrase) -> dict[str, Any]:
    return _markdown(id, _said(phrase, languages))


def _said(phrase: Phrase, languages: Sequence[str]) -> str:
    return "\n\n".join(phrase.in_(language) for language in languages)


def _markdown(id: str, source: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "id": _cell_id(id), "metadata": {}, "source": _lines(source.strip("\n"))}


def _code(
    grade_id: str, source: str, *, solution: bool = False, locked: bool = False, points: float | None = None
) -> dict[str, Any]:
    told = {"schema_version": 3, "grade_id": grade_id, "solution": solution, "grade": points is not None}
    told |= {"locked": locked or points is not None, "task": False} | ({} if points is None else {"points": points})
    return {
        "cell_type": "code",
        "execution_count": None,
        "id": _cell_id(grade_id),
        "metadata": {"nbgrader": told},
        "outputs": [],
        "source": _lines(source),
    }


def _cell_id(name: str) -> str:
    """Give the id that Jupyter wants, the same whenever the notebook is made."""
    return sha256(name.encode()).hexdigest()[:12]


def _lines(source: str) -> list[str]:
    return source.splitlines(keepends=True)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise NotebookError(say("{path}: cannot be read: {why}", path=path, why=error.strerror)) from None
    except UnicodeDecodeError as error:
        said = say("{path}: byte {byte} is not UTF-8; save the file as UTF-8", path=path, byte=error.start)
        raise NotebookError(said) from None
