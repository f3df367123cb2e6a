"""The learner's own functions where they pass their public tests, and library calls where they do not yet."""

from __future__ import annotations

import ast
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.labs import library
from autograder.language import Phrase, say, say_many
from autograder.public_tests import has_public_tests, run_public_tests

SECONDS = 60.0

# What a lab can ask for: the exercise it is learnt in, and what stands in for it.
SPARES: dict[str, tuple[str, Callable[..., Any]]] = {
    "attend_one": ("by_hand", library.attend_one),
    "softmax": ("softmax", library.softmax),
    "causal_mask": ("causal_mask", library.causal_mask),
    "attention": ("attention", library.attention),
    "MultiHeadAttention": ("multi_head", library.multi_head),
    "tiled_attention": ("tiled_attention", library.tiled_attention),
    "ablation_effect": ("ablation", library.ablation_effect),
}


@dataclass(frozen=True)
class Chosen:
    """The function a lab goes on with, whether it is the learner's, and the sentence that says so."""

    function: Callable[..., Any]
    own: bool
    said: Phrase


def choose(name: str, start: Path) -> Chosen:
    """Give the function of that name for a notebook in the folder `start`: own code, or a library's.

    The public tests run each time: a module may have been saved, or broken, since the last one.
    """
    exercise, spare = SPARES[name]
    folder = learner_folder(start, exercise)
    if folder is None:
        return Chosen(spare, False, say("{name}: a library's, since there is no {exercise}.py with its public tests "
                                        "above this notebook.", name=name, exercise=exercise))  # fmt: skip
    why = _unwritten(folder / f"{exercise}.py", name) or _failing(folder, exercise, name)
    if why is not None:
        return Chosen(spare, False, why)
    try:
        function = _load(folder, exercise, name)
    except Exception as error:  # whatever a module may do where pytest does not look
        kind = type(error).__name__
        return Chosen(spare, False, say("{name}: a library's, since yours cannot be loaded here ({kind}: {error}).",
                                        name=name, kind=kind, error=error))  # fmt: skip
    return Chosen(function, True, say("Using your {name}: {exercise}.py passes its public tests.",
                                      name=name, exercise=exercise))  # fmt: skip


def learner_folder(start: Path, exercise: str) -> Path | None:
    """Give the nearest folder above a notebook with the exercise's module and its public tests."""
    for folder in [start, *start.resolve().parents]:
        if (folder / f"{exercise}.py").is_file() and has_public_tests(folder, exercise):
            return folder
    return None


def _unwritten(module: Path, name: str) -> Phrase | None:
    """Say so where the stub is still in place: that needs no tests to be run."""
    try:
        tree = ast.parse(module.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return None
    defined = [node for node in ast.walk(tree) if getattr(node, "name", None) == name]
    if any(_raises_not_implemented(node) for definition in defined for node in ast.walk(definition)):
        return say("{name}: a library's, until you have written yours in {file}.", name=name, file=module.name)
    return None


def _raises_not_implemented(node: ast.AST) -> bool:
    return isinstance(node, ast.Raise) and isinstance(node.exc, ast.Name) and node.exc.id == "NotImplementedError"


def _failing(folder: Path, exercise: str, name: str) -> Phrase | None:
    result = run_public_tests(folder, exercise, SECONDS)
    if result.passed:
        return None
    failed = sum(check.outcome != "passed" for check in result.checks)
    if not failed:
        *_, last = ["", *result.reason.splitlines()]
        return say("{name}: a library's, since the public tests of yours could not be run ({why}).",
                   name=name, why=last)  # fmt: skip
    return say_many("{name}: a library's, until yours passes its public tests ({count} fails now).",
                    "{name}: a library's, until yours passes its public tests ({count} fail now).",
                    failed, name=name)  # fmt: skip


def _load(folder: Path, exercise: str, name: str) -> Callable[..., Any]:
    """Run the module as it is on the disk now: a cached one may be older than the tests that passed."""
    if str(folder) not in sys.path:
        # For what it imports of its siblings.
        sys.path.insert(0, str(folder))
    file = folder / f"{exercise}.py"
    module = types.ModuleType(exercise)
    module.__file__ = str(file)
    exec(compile(file.read_bytes(), str(file), "exec"), module.__dict__)
    sys.modules[exercise] = module
    function: Callable[..., Any] = getattr(module, name)
    return function
