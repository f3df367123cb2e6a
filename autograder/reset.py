"""`attend reset`: the stub of an exercise is put back, and what the learner had written is kept beside it.

Exceptions:
    ResetError   one line that says why the stub cannot be had, or which file cannot be read or written
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from autograder.course import Course, Exercise
from autograder.language import say
from autograder.release import made_stub
from autograder.report import write_whole


class ResetError(Exception):
    """The stub cannot be put back; nothing of the learner's was changed."""


@dataclass(frozen=True)
class Put:
    """Where the stub is now, and where the learner's own file is kept: None where there was nothing to keep.

    `changed` is False where the file was the stub already.
    """

    stub: Path
    kept: Path | None = None
    changed: bool = True


def reset(exercise: Exercise, folder: Path, course: Course) -> Put:
    """Put the stub of an exercise into a learner's folder and keep the module that was there under a new name.

    Raises ResetError, ReleaseError where the solution that the stub is made from is not sound, and ReportError where
    the stub cannot be written.
    """
    module = folder / f"{exercise.name}.py"
    stub = stub_for(exercise, course, module)
    written = _bytes_of(module)
    if written == stub:
        return Put(module, changed=False)
    # Kept first, so that there is no moment at which the learner's work is nowhere.
    kept = None if written is None else _keep(module, written)
    write_whole(module, stub)
    return Put(module, kept)


def stub_for(exercise: Exercise, course: Course, module: Path) -> bytes:
    """Give the stub to put at `module`: made from the solution, else as it came, where nobody has written in it.

    Raises ResetError where neither can be had.
    """
    if course.solution_of(exercise).is_file():
        return made_stub(exercise, course).encode()
    # A bundle brings each stub twice: learners write in one of them.
    if (content := _bytes_of(course.spare_stub_of(exercise))) is not None and _is_untouched(content, exercise):
        return content
    stub = course.stub_of(exercise)
    content = _bytes_of(stub)
    if content is None:
        why = say("{file} is not there", file=stub)
    elif _is_untouched(content, exercise):
        return content
    else:
        itself = say("{file} is itself the one that was written in", file=stub)
        why = itself if _same(stub, module) else say("{file} was written in", file=stub)
    raise ResetError(
        say(
            "there is no stub of {exercise} to put back ({why}); take it from what you were given",
            exercise=exercise.name,
            why=why,
        )
    )


def _keep(module: Path, written: bytes) -> Path:
    """Write a module beside itself, under a name that nothing takes for a module and that is not taken."""
    for kept in _names_to_keep(module):
        try:
            with kept.open("xb") as file:
                file.write(written)
            return kept
        except FileExistsError:
            continue
        except OSError as error:
            said = say(
                "{kept} cannot be written ({why}); {module} is left as it is",
                kept=kept,
                why=error.strerror,
                module=module,
            )
            raise ResetError(said) from None
    raise AssertionError("there is always one more name")


def _names_to_keep(module: Path) -> Iterator[Path]:
    return (module.with_name(f"{module.name}.kept-{number}") for number in count(1))


def _bytes_of(path: Path) -> bytes | None:
    """Read a file; None where there is none."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ResetError(
            say("{file}: cannot be read ({why}); nothing was changed", file=path, why=error.strerror)
        ) from None


def _same(stub: Path, module: Path) -> bool:
    return stub.resolve() == module.resolve()


def _is_untouched(source: bytes, exercise: Exercise) -> bool:
    """Say whether every function that learners write still ends where the stub left them, methods included."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return False
    written = [node for node in tree.body if getattr(node, "name", "") in exercise.functions]
    return len(written) == len(exercise.functions) and all(map(_is_left_to_learners, written))


def _is_left_to_learners(node: ast.stmt) -> bool:
    functions = [each for each in ast.walk(node) if isinstance(each, ast.FunctionDef)]
    return bool(functions) and all(_raises_not_implemented(each.body[-1]) for each in functions)


def _raises_not_implemented(statement: ast.stmt) -> bool:
    name = statement.exc if isinstance(statement, ast.Raise) else None
    return isinstance(name, ast.Name) and name.id == "NotImplementedError"
