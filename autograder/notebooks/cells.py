"""From the code cells of a notebook to the module that is graded.

What a learner wrote stands in the solution cells, known by their `grade_id`. Of all other cells only what the
exercise needs is taken: the definitions, imports and assignments that its functions refer to. So a notebook that lost
its metadata is read too, and neither a plot nor a trial at the end of a cell has a part in the mark. Nothing is run
here: cells are parsed, and the module runs where learner code does.
"""

from __future__ import annotations

import ast
import re
import symtable
import textwrap
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from autograder.language import Phrase, say
from autograder.notebooks.places import first_line, mark
from autograder.notebooks.reading import CodeCell

LONGEST_SOURCE = 1 << 20
MOST_STATEMENTS = 10_000
MOST_NAMED = 5

# A magic or shell line, help asked for, and what is assigned from a shell.
NOT_PYTHON = re.compile(r"\s*(%{1,2}[A-Za-z_]|!|\?|[\w.]+\?{1,2}\s*$|[\w., ]+=\s*[!%][A-Za-z_./])")
# Cell magics whose body is Python all the same.
OF_PYTHON = frozenset(["%%time", "%%timeit", "%%capture", "%%prun"])
# Calls that set a library up, wherever they stand.
SETTINGS = re.compile(r"set\w*|seed|manual_seed|simplefilter|filterwarnings")

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
Assignment = ast.Assign | ast.AnnAssign | ast.AugAssign


@dataclass(frozen=True)
class Extract:
    """A module taken from a notebook: its source, what was left out, and why the exercise's functions are not there.

    The source says of its lines where in the notebook they stand (`autograder.notebooks.places`).
    """

    source: bytes
    notes: list[str] = field(default_factory=list)
    problem: Phrase | str = ""


@dataclass(frozen=True, eq=False)
class _Statement:
    """What stands on some lines of a cell at its top level: its first line there,
    the names that it binds, and those of the module that it reads.

    Mostly it is one statement; those that semicolons put on one line stay together.
    """

    cell: CodeCell
    nodes: tuple[ast.stmt, ...]
    first: int
    lines: tuple[str, ...]
    binds: frozenset[str]
    reads: frozenset[str]

    @property
    def only(self) -> ast.stmt | None:
        """The statement, where it is a single one."""
        return self.nodes[0] if len(self.nodes) == 1 else None

    @property
    def is_import_from_the_future(self) -> bool:
        return any(isinstance(node, ast.ImportFrom) and node.module == "__future__" for node in self.nodes)


def module_of(cells: Sequence[CodeCell], functions: Sequence[str], name: str) -> Extract:
    """Take from a notebook `name` the module that defines `functions`, or all where they are not known."""
    if sum(len(cell.source) for cell in cells) > LONGEST_SOURCE:
        return Extract(b"", problem=say("holds more than {size} MiB of code", size=LONGEST_SOURCE >> 20))
    written, others, notes = _sorted_by_kind(cells)
    reader = _Reader(notes)
    solutions = [statement for cell in written for statement in reader.statements(cell)]
    beside = [statement for cell in others for statement in reader.statements(cell)]
    chosen = _chosen(solutions, beside, functions)
    source = _composed(chosen, name)
    missing = sorted(set(functions).difference(*(statement.binds for statement in chosen)))
    if missing and reader.broken:
        return Extract(source, reader.told(), reader.broken)
    return Extract(source, [*reader.told(), *_said_of(missing, chosen)])


def defined_names(cells: Sequence[CodeCell]) -> set[str]:
    """Give the functions and classes that a notebook defines, and nothing of cells that are not Python."""
    if sum(len(cell.source) for cell in cells) > LONGEST_SOURCE:
        return set()
    trees = [_parsed_cell(cell)[0] for cell in cells if not cell.tests]
    nodes = [node for tree in trees if isinstance(tree, ast.Module) for node in tree.body]
    return {node.name for node in nodes if isinstance(node, Definition)}


def _definitions(statements: Iterable[_Statement]) -> Iterator[str]:
    yield from (node.name for statement in statements for node in statement.nodes if isinstance(node, Definition))


def _said_of(missing: Sequence[str], chosen: Sequence[_Statement]) -> list[str]:
    if not missing:
        return []
    there = sorted(name for name in set(_definitions(chosen)) if not name.startswith("_"))[:MOST_NAMED]
    return [f"no cell defines {', '.join(missing)}" + (f"; what it defines: {', '.join(there)}" if there else "")]


def _sorted_by_kind(cells: Sequence[CodeCell]) -> tuple[list[CodeCell], list[CodeCell], list[str]]:
    """Tell solution cells from others; of several with one grade_id the last counts, as it does for nbgrader."""
    counted = Counter(cell.grade_id for cell in cells if cell.solution)
    last = {cell.grade_id: cell for cell in cells if cell.solution}
    written = [cell for cell in cells if cell.solution and last[cell.grade_id] is cell]
    numbers = {cell.number for cell in written}
    others = [cell for cell in cells if cell.number not in numbers and not cell.tests]
    notes = [
        f"{n_copies} cells have the grade_id {grade_id}; the last one counts, cell {last[grade_id].number}"
        for grade_id, n_copies in counted.items()
        if n_copies > 1
    ]
    return written, others, notes


class _Reader:
    """Parses cells, and keeps what has to be told about them."""

    def __init__(self, notes: list[str]) -> None:
        self._notes = notes
        self._dropped: list[str] = []
        self._n_statements = 0
        self.broken: Phrase | str = ""

    def told(self) -> list[str]:
        """Give all there is to say of the cells read so far."""
        more = len(self._dropped) - MOST_NAMED
        shown = [*self._dropped[:MOST_NAMED], *([f"and {more} more"] if more > 0 else [])]
        dropped = [f"left out, as it is no Python: {'; '.join(shown)}"] if shown else []
        return [*self._notes, *dropped]

    def statements(self, cell: CodeCell) -> list[_Statement]:
        """Give the top-level statements of a cell, none where it is not Python."""
        tree, cell, dropped = _parsed_cell(cell)
        self._dropped += dropped
        if isinstance(tree, Phrase):
            self._cannot_be_read(cell, tree)
            return []
        self._n_statements += len(tree.body)
        if self._n_statements > MOST_STATEMENTS:
            why = say("there are more than {count} statements up to its end", count=f"{MOST_STATEMENTS:,}")
            self._cannot_be_read(cell, why)
            return []
        lines = cell.source.split("\n")
        with _no_warnings():
            return [each for nodes in _by_line(tree.body) if (each := self._statement(cell, nodes, lines))]

    def _statement(self, cell: CodeCell, nodes: tuple[ast.stmt, ...], lines: Sequence[str]) -> _Statement | None:
        """Give a statement with its names, unless only a compiler sees that it is none: `return 1` by itself."""
        decorators = [decorator for node in nodes if isinstance(node, Definition) for decorator in node.decorator_list]
        first = min([*(node.lineno for node in nodes), *(decorator.lineno for decorator in decorators)])
        last = max(node.end_lineno or node.lineno for node in nodes)
        text = "\n".join(lines[first - 1 : last])
        try:
            compile(text, "cell", "exec", dont_inherit=True)
            reads = frozenset(_globals(symtable.symtable(text, "cell", "exec")))
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            why = getattr(error, "msg", type(error).__name__)
            self._cannot_be_read(cell, say("{why} (line {line})", why=why, line=first))
            return None
        binds = frozenset(name for node in nodes for name in _bound(node))
        return _Statement(cell, nodes, first, tuple(lines[first - 1 : last]), binds, reads)

    def _cannot_be_read(self, cell: CodeCell, why: Phrase) -> None:
        said = say("cell {cell} cannot be read: {why}", cell=cell.number, why=why)
        self._notes.append(str(said))
        self.broken = self.broken or said


def _parsed_cell(cell: CodeCell) -> tuple[ast.Module | Phrase, CodeCell, list[str]]:
    """Parse a cell, without the lines that only a notebook knows where it holds such: the tree, the rest, these."""
    tree = _parsed(cell.source)
    if isinstance(tree, ast.Module):
        return tree, cell, []
    source, dropped = _without_magics(cell)
    return _parsed(source), replace(cell, source=source), dropped


def _parsed(source: str) -> ast.Module | Phrase:
    """Parse a cell, or say why that fails."""
    try:
        with _no_warnings():
            return ast.parse(source)
    except SyntaxError as error:
        return say("{why} (line {line})", why=error.msg, line=error.lineno or 1)
    except (ValueError, RecursionError, MemoryError):
        return say("it is no Python that can be parsed")


@contextmanager
def _no_warnings() -> Iterator[None]:
    """Leave what a learner's source deserves a warning for to the process that loads it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _without_magics(cell: CodeCell) -> tuple[str, list[str]]:
    """Put `pass` where magic and shell lines stand, so that lines keep their numbers; name what went."""
    lines = textwrap.dedent(cell.source).split("\n")
    first = next((line for line in lines if line.strip()), "").split()
    if first and first[0].startswith("%%") and first[0] not in OF_PYTHON:
        return "", [f"cell {cell.number} ({_shown(first[0])})"]
    dropped = [index for index, line in enumerate(lines) if NOT_PYTHON.match(line)]
    named = [f"cell {cell.number}, line {index + 1} ({_shown(lines[index])})" for index in dropped]
    for index in dropped:
        indent = len(lines[index]) - len(lines[index].lstrip())
        lines[index] = f"{lines[index][:indent]}pass"
    return "\n".join(lines), named


def _shown(line: str) -> str:
    return line.strip()[:40]


def _by_line(body: Sequence[ast.stmt]) -> Iterator[tuple[ast.stmt, ...]]:
    """Group statements that share a line."""
    group: list[ast.stmt] = []
    for node in body:
        if group and node.lineno > (group[-1].end_lineno or 0):
            yield tuple(group)
            group = []
        group.append(node)
    if group:
        yield tuple(group)


def _globals(table: symtable.SymbolTable) -> Iterator[str]:
    """Give the names of the module that are read here or in what is defined here."""
    for symbol in table.get_symbols():
        if symbol.is_referenced() and (table.get_type() == "module" or symbol.is_global()):
            yield symbol.get_name()
    for child in table.get_children():
        yield from _globals(child)


def _bound(node: ast.stmt) -> Iterator[str]:
    """Give the names of the module that a top-level statement binds, or adds something to."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            yield node.name
        case ast.Import() | ast.ImportFrom():
            for alias in node.names:
                yield (alias.asname or alias.name).partition(".")[0]
        case ast.If() | ast.Try() | ast.With() | ast.For() | ast.While():
            for child in ast.iter_child_nodes(node):
                yield from _bound_within(child)
        case _:
            yield from _targets(node)


def _bound_within(child: ast.AST) -> Iterator[str]:
    if isinstance(child, ast.stmt):
        yield from _bound(child)
    elif isinstance(child, ast.ExceptHandler):
        for node in child.body:
            yield from _bound(node)
    elif not isinstance(child, ast.expr) or isinstance(getattr(child, "ctx", None), ast.Store):
        yield from _targets(child)


def _targets(node: ast.AST) -> Iterator[str]:
    """Give the names that are stored to, also those whose attribute or item is."""
    for part in ast.walk(node):
        if isinstance(part, ast.Name | ast.Attribute | ast.Subscript) and isinstance(part.ctx, ast.Store):
            root: ast.AST = part
            while isinstance(root, ast.Attribute | ast.Subscript):
                root = root.value
            if isinstance(root, ast.Name):
                yield root.id


def _chosen(
    solutions: Sequence[_Statement], beside: Sequence[_Statement], functions: Sequence[str]
) -> list[_Statement]:
    """Give the solution cells without their trials, and of the other cells what these and `functions` need."""
    kept = [statement for statement in solutions if not all(map(_is_trial, statement.nodes))]
    of_solutions = frozenset[str]().union(*(statement.binds for statement in kept))
    offered = [each for each in beside if any(map(_is_plain, each.nodes)) and not each.binds & of_solutions]
    wanted = set(functions).union(*(statement.reads for statement in kept))
    kept += _needed(offered, wanted or set(_definitions(offered)))
    kept.sort(key=lambda statement: (statement.cell.number, statement.first))
    return _without_shadowed(kept)


def _needed(offered: Sequence[_Statement], wanted: set[str]) -> list[_Statement]:
    """Give the statements that bind what is wanted, those that bind what these read, and so on."""
    binding: dict[str, list[_Statement]] = defaultdict(list)
    for statement in offered:
        for name in statement.binds:
            binding[name].append(statement)
    needed = {statement: None for statement in offered if _is_always_needed(statement)}
    names = [*wanted, *(name for statement in needed for name in statement.reads)]
    while names:
        for statement in binding.pop(names.pop(), ()):
            if statement not in needed:
                needed[statement] = None
                names.extend(statement.reads)
    return list(needed)


def _is_always_needed(statement: _Statement) -> bool:
    """Keep settings, and imports of nobody knows what."""
    if "*" in statement.binds or statement.is_import_from_the_future:
        return True
    return any(map(_is_setting, statement.nodes))


def _without_shadowed(statements: Sequence[_Statement]) -> list[_Statement]:
    """Leave out a function that a later one replaces: what an earlier try calls is not what is handed in."""
    last = {each.only.name: each for each in statements if isinstance(each.only, ast.FunctionDef)}
    return [
        each
        for each in statements
        if not isinstance(each.only, ast.FunctionDef) or each.only.decorator_list or last[each.only.name] is each
    ]


def _is_trial(node: ast.stmt) -> bool:
    """Say whether a statement of a solution cell only shows or tries something."""
    return isinstance(node, ast.Assert) or (isinstance(node, ast.Expr) and not _is_setting(node))


def _is_plain(node: ast.stmt) -> bool:
    """Say whether a statement defines, imports, assigns or sets something; a block, whether it holds nothing else."""
    if isinstance(node, ast.If | ast.Try):
        handlers = [inner for handler in getattr(node, "handlers", []) for inner in handler.body]
        inner = [*node.body, *handlers, *node.orelse, *getattr(node, "finalbody", [])]
        return all(isinstance(each, ast.Pass) or _is_plain(each) for each in inner)
    return isinstance(node, Definition | Assignment | ast.Import | ast.ImportFrom) or _is_setting(node)


def _is_setting(node: ast.stmt) -> bool:
    """Recognise `np.seterr(...)`, `torch.manual_seed(...)` and the like."""
    if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)):
        return False
    called = node.value.func
    return isinstance(called, ast.Attribute) and SETTINGS.fullmatch(called.attr) is not None


def _composed(statements: Sequence[_Statement], name: str) -> bytes:
    """Write the statements below each other, what is from the future first, as Python wants it."""
    lines = [first_line(name)]
    before: _Statement | None = None
    for statement in sorted(statements, key=lambda statement: not statement.is_import_from_the_future):
        between = _comments_between(before, statement)
        if between is None:
            between = [mark(statement.cell.number, statement.first)]
        lines += [*between, *statement.lines]
        before = statement
    return ("\n".join(lines) + "\n").encode("utf-8", "replace")


def _comments_between(before: _Statement | None, after: _Statement) -> list[str] | None:
    """Give the lines between two statements of a cell where nothing was left out there, else None."""
    if before is None or before.cell is not after.cell or after.first < before.first:
        return None
    start = before.first + len(before.lines)
    between = after.cell.source.split("\n", after.first)[start - 1 : after.first - 1]
    return between if all(not line.strip() or line.startswith("#") for line in between) else None
