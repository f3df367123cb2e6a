"""A family's implementation as a module that could be handed in: some faults switched on, and no word of explanation."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterable
from pathlib import Path

from autograder.faults.family import Family, Fault

# In a submission a fault is its name, and what tells faults apart and explains them is of no use.
_OPENING = """
class Fault(str):
    def __new__(cls, name, *_, **__):
        return str.__new__(cls, name)


class _Unused:
    def __init__(self, *_, **__):
        pass


Family = Probe = Same = _Unused
Faults = frozenset
NONE = frozenset()
"""


def source_of(family: Family, faults: Iterable[Fault]) -> bytes:
    """Give the Python source of a module with these faults in it."""
    lines = [_OPENING, _implementation(family), f"_CHOSEN = frozenset({sorted(fault.name for fault in faults)!r})"]
    lines += [_bound(name, inspect.isclass(made)) for name, made in family.definitions.items()]
    return "\n\n".join(lines).encode()


def _implementation(family: Family) -> str:
    first, *_ = family.definitions.values()
    tree = ast.parse(Path(inspect.getfile(sys.modules[first.__module__])).read_text(encoding="utf-8"))
    tree.body = [statement for statement in tree.body if not _is_of_the_kit(statement)]
    return ast.unparse(tree)


def _is_of_the_kit(statement: ast.stmt) -> bool:
    if not isinstance(statement, ast.ImportFrom):
        return False
    return statement.module == "__future__" or (statement.module or "").startswith("autograder")


def _bound(name: str, is_class: bool) -> str:
    if is_class:
        return (
            f"class {name}({name}):\n"
            f"    def __init__(self, *arguments, **keywords):\n"
            f"        super().__init__(*arguments, **{{'faults': _CHOSEN, **keywords}})"
        )
    # A default holds the function that this one hides; one function of the family says itself what it hands on.
    return (
        f"def {name}(*arguments, _hidden={name}, **keywords):\n"
        f"    return _hidden(*arguments, **{{'faults': _CHOSEN, **keywords}})"
    )
