"""A family's implementation as a module to hand in: some faults switched on, and no word of explanation."""

from __future__ import annotations

import ast
import functools
import inspect
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from autograder.faults.family import Family, Fault

# In a submission a fault is its name, and what explains faults and tells them apart is of no use.
_OPENING = """
from functools import wraps as _wraps

Fault = Family = Probe = Same = str
Faults = frozenset
NONE = frozenset()
"""
_LEFT_OUT = ("FAMILY", "Fault", "Family", "Probe", "Same")
_CHOOSE = """
_CODE = compile({implementation!r}, __file__, "exec")


def _choose(names):
    global _CHOSEN
    exec(_CODE, globals())
    _CHOSEN = frozenset(names)
"""


def source_of(family: Family, faults: Iterable[Fault]) -> bytes:
    """Give the Python source of a module with these faults in it."""
    chosen = f"_CHOSEN = frozenset({sorted(fault.name for fault in faults)!r})"
    return f"{_whole(family)}\n\n{chosen}\n".encode()


def source_of_all(family: Family) -> bytes:
    """Give a module whose function `_choose` takes the names of faults and starts it afresh with these in it."""
    return _CHOOSE.replace("{implementation!r}", repr(_whole(family))).encode()


@functools.lru_cache(maxsize=16)
def _whole(family: Family) -> str:
    lines = [_OPENING, _implementation(family)]
    lines += [_bound(name, inspect.isclass(made)) for name, made in family.definitions.items()]
    return "\n\n".join(lines)


def _implementation(family: Family) -> str:
    first, *_ = family.definitions.values()
    tree = ast.parse(Path(inspect.getfile(sys.modules[first.__module__])).read_text(encoding="utf-8"))
    return "\n".join(ast.unparse(_shortened(statement)) for statement in _needed(tree.body))


def _needed(statements: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Leave out the kit's own imports, what is made of its classes, and what is made of that."""
    left_out = set(_LEFT_OUT)
    for statement in statements:
        names = {node.id: node.ctx for node in ast.walk(statement) if isinstance(node, ast.Name)}
        assigns = isinstance(statement, ast.Assign | ast.AnnAssign) and not _is_fault(statement)
        if assigns and not left_out.isdisjoint(names):
            left_out |= {name for name, context in names.items() if isinstance(context, ast.Store)}
        elif not _is_of_the_kit(statement):
            yield statement


def _is_of_the_kit(statement: ast.stmt) -> bool:
    if not isinstance(statement, ast.ImportFrom):
        return False
    return statement.module == "__future__" or (statement.module or "").startswith("autograder")


def _is_fault(statement: ast.stmt) -> bool:
    value = getattr(statement, "value", None)
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "Fault"


def _shortened(statement: ast.stmt) -> ast.stmt:
    """Put the name of a fault in the place of its definition."""
    if isinstance(statement, ast.Assign) and _is_fault(statement) and isinstance(statement.value, ast.Call):
        return ast.Assign(targets=statement.targets, value=statement.value.args[0], lineno=0)
    return statement


def _bound(name: str, is_class: bool) -> str:
    if is_class:
        return (
            f"class {name}({name}):\n"
            f"    def __init__(self, *arguments, **keywords):\n"
            f"        super().__init__(*arguments, **{{'faults': _CHOSEN, **keywords}})"
        )
    # Its signature stays that of the function it hides; those of the family say themselves what they hand on.
    return (
        f"@_wraps({name})\n"
        f"def {name}(*arguments, _hidden={name}, **keywords):\n"
        f"    return _hidden(*arguments, **{{'faults': _CHOSEN, **keywords}})"
    )
