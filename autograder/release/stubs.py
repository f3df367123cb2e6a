"""What learners get is made from the solutions: the stubs in `exercises/`.

A solution marks what learners write themselves, in nbgrader's convention:

    ### BEGIN SOLUTION
    ...
    ### END SOLUTION

In the stub a region inside a function becomes `raise NotImplementedError`; a region of helpers outside any function
goes without a trace.

Exceptions:
    ReleaseError   one line that names file and line, and says what to do
"""

import ast
from dataclasses import dataclass
from pathlib import Path

from autograder.course import Course, Exercise

BEGIN = "### BEGIN SOLUTION"
END = "### END SOLUTION"


class ReleaseError(Exception):
    """A stub cannot be made from a solution."""


@dataclass(frozen=True)
class _Region:
    """A solution region: the indices of its two marker lines, and their indentation."""

    begin: int
    end: int
    indent: str


def write_stubs(course: Course) -> list[Path]:
    """Make every stub of the course from its solution; returns the files written.

    Nothing is written unless all stubs can be made. Raises ReleaseError.
    """
    stubs = [(course.stub_of(each), made_stub(each, course)) for each in course.exercises]
    for path, stub in stubs:
        _write(path, stub)
    return [path for path, _ in stubs]


def stub_text(solution_source: str, name: str = "solution") -> str:
    """The stub made from the source of a solution; `name` is what errors call it.

    Raises ReleaseError for regions that are not closed, not opened, nested, or leave the block they began in.
    """
    lines = solution_source.split("\n")
    functions = _function_spans(solution_source, name)
    kept: list[str] = []
    position = 0
    for region in _find_regions(lines, name):
        kept += lines[position : region.begin]
        position = region.end + 1
        if any(first <= region.begin < last for first, last in functions):
            kept.append(f"{region.indent}raise NotImplementedError")
        else:
            position = _after_blank_lines(lines, position)
    stub = "\n".join(kept + lines[position:]).rstrip("\n") + "\n"
    _function_spans(stub, f"the stub made from {name}")
    return stub


def made_stub(exercise: Exercise, course: Course) -> str:
    """Give the stub of an exercise, made from its solution. Raises ReleaseError, also where there is no solution."""
    solution = course.solution_of(exercise)
    source = _source_of(solution)
    stub = stub_text(source, name=str(solution))
    for name in exercise.functions:
        _require_left_to_learners(name, stub, solution)
    return stub


def without_markers(source: str) -> str:
    """Give the source of a solution as one reads it: whole, without the lines that only mark its regions."""
    return "".join(line for line in source.splitlines(keepends=True) if line.strip() not in (BEGIN, END))


def solution_regions(source: str, name: str = "solution") -> list[str]:
    """Give what stands between each pair of markers in the source of a solution. Raises ReleaseError."""
    lines = source.split("\n")
    return ["\n".join(lines[region.begin + 1 : region.end]) for region in _find_regions(lines, name)]


def _source_of(solution: Path) -> str:
    try:
        return solution.read_text(encoding="utf-8")
    except OSError as error:
        advice = "stubs are made where the solutions are, in the repository of the course"
        raise ReleaseError(f"{solution}: cannot be read ({error.strerror}); {advice}") from None
    except UnicodeDecodeError as error:
        raise ReleaseError(f"{solution}: byte {error.start} is not UTF-8; save the file as UTF-8") from None


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise ReleaseError(f"{path}: cannot be written ({error.strerror}); make its folder writable") from None


def _require_left_to_learners(name: str, stub: str, solution: Path) -> None:
    definitions = [node for node in ast.parse(stub).body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    definition = next((node for node in definitions if node.name == name), None)
    if definition is None:
        raise ReleaseError(f"{solution}: the stub would not define {name}; keep its first line out of the regions")
    if not any(_raises_not_implemented(node) for node in ast.walk(definition)):
        raise ReleaseError(f"{solution}: the stub would show {name}; put its body between `{BEGIN}` and `{END}`")


def _raises_not_implemented(node: ast.AST) -> bool:
    return isinstance(node, ast.Raise) and isinstance(node.exc, ast.Name) and node.exc.id == "NotImplementedError"


def _function_spans(source: str, name: str) -> list[tuple[int, int]]:
    """First and last line (from 0) of every function, methods included."""
    try:
        tree = ast.parse(source)
    except SyntaxError as error:
        raise ReleaseError(f"{name}, line {error.lineno}: {error.msg}; the solution must be valid Python") from None
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return [(node.lineno - 1, (node.end_lineno or node.lineno) - 1) for node in functions]


def _find_regions(lines: list[str], name: str) -> list[_Region]:
    regions: list[_Region] = []
    begin: int | None = None
    for index, line in enumerate(lines):
        place = f"{name}, line {index + 1}"
        marker = _marker(line, place)
        if marker == BEGIN and begin is not None:
            raise ReleaseError(f"{place}: a region inside the region of line {begin + 1}; close that one first")
        if marker == END and begin is None:
            raise ReleaseError(f"{place}: `{END}` without `{BEGIN}`; open the region or remove the line")
        if marker == BEGIN:
            begin = index
        if marker == END and begin is not None:
            regions.append(_region(lines, begin, index, name))
            begin = None
    if begin is not None:
        raise ReleaseError(f"{name}, line {begin + 1}: this region is never closed; add `{END}`")
    return regions


def _marker(line: str, place: str) -> str:
    """The marker that a line is, or ''. A misspelt marker must not let a solution slip into a stub."""
    text = line.strip()
    if text in (BEGIN, END):
        return text
    for phrase in ("BEGIN SOLUTION", "END SOLUTION"):
        if phrase in text.upper():
            raise ReleaseError(f"{place}: not a marker; write `### {phrase}` alone on its line")
    return ""


def _region(lines: list[str], begin: int, end: int, name: str) -> _Region:
    indent = _indent_of(lines[begin])
    for index in range(begin + 1, end + 1):
        if lines[index].strip() and not lines[index].startswith(indent):
            raise ReleaseError(f"{name}, line {index + 1}: leaves the block where the region of line {begin + 1} began")
    return _Region(begin, end, indent)


def _indent_of(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _after_blank_lines(lines: list[str], position: int) -> int:
    """The first line from `position` on that is not blank: the blank lines before the region are enough."""
    while position < len(lines) and not lines[position].strip():
        position += 1
    return position
