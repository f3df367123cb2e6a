"""Notebooks that were handed in: which of them an exercise is in, and the module that its cells make."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from autograder.downloads.model import UnreadableError, functions_of
from autograder.downloads.nodes import NOTEBOOK, File
from autograder.language import said_by, say
from autograder.notebooks import NotebookError
from autograder.notebooks.cells import defined_names, module_of
from autograder.notebooks.reading import CodeCell, code_cells

# What Jupyter, browsers and people add to a name: softmax-Copy1, softmax (2), softmax_final.
ADDED = re.compile(r"([ _.()\d-]|copy|final|new|solution|version|v)*", re.IGNORECASE)
# What a course hands out beside the exercises, to play with.
NOT_HANDED_IN = "labs"


@dataclass(frozen=True)
class Taken:
    """The module of an exercise that was in a notebook, the notebook's name, and what has to be said of it."""

    module: bytes
    name: str
    notes: tuple[str, ...]


class Notebooks:
    """The notebooks of one submission; each is read once, and only when an exercise asks for it."""

    def __init__(self, files: Sequence[File], exercises: Sequence[str]) -> None:
        notebooks = [file for file in files if file.last_name.endswith(NOTEBOOK)]
        self._files = [file for file in notebooks if NOT_HANDED_IN not in PurePosixPath(file.name).parts]
        self._exercises = exercises
        self._read: dict[str, tuple[list[CodeCell], list[str]]] = {}

    def named(self, exercise: str) -> list[str]:
        """Give the notebooks that bear the name of an exercise."""
        return [file.name for file in self._files if file.last_name == f"{exercise}{NOTEBOOK}"]

    def take(self, exercise: str) -> Taken | None:
        """Give the module of an exercise, or None where no notebook holds it.

        Raises:
            UnreadableError: the notebook cannot be read, there are several, or it does not define what it should.

        """
        file, notes = self._choose(exercise)
        if file is None:
            return None
        cells, spoilt = self._cells(file)
        extract = module_of(cells, functions_of(exercise, self._exercises), file.last_name)
        if extract.problem:
            raise UnreadableError(say("{name}: {trouble}", name=file.name, trouble=extract.problem))
        said = [f"{file.name}: {note}" for note in [*spoilt, *extract.notes]]
        return Taken(extract.source, file.name, (*notes, *said))

    def _choose(self, exercise: str) -> tuple[File | None, list[str]]:
        """Find the notebook by its name, by a name that is almost it, or by what it defines."""
        exact = [file for file in self._files if file.last_name == f"{exercise}{NOTEBOOK}"]
        named = [f"{each}{NOTEBOOK}" for each in self._exercises]
        near = [file for file in self._files if file.last_name not in named and is_near(file.last_name, exercise)]
        if exact:
            aside = [f"{file.name} was left aside, since {exact[0].name} is there" for file in near]
            return _only(exact, exercise), aside
        if near:
            file = _only(near, exercise)
            return file, [f"{file.name} was taken for {exercise}{NOTEBOOK}"]
        found = [file for file in self._files if not self._is_of_another(file) and self._defines(file, exercise)]
        if not found:
            return None, []
        return _only(found, exercise), [f"{exercise} was found in {found[0].name}"]

    def _is_of_another(self, file: File) -> bool:
        return any(is_near(file.last_name, exercise) for exercise in self._exercises)

    def _defines(self, file: File, exercise: str) -> bool:
        """Say whether a notebook defines a function of an exercise; one that cannot be read defines none."""
        functions = functions_of(exercise, self._exercises) or [exercise]
        try:
            return not defined_names(self._cells(file)[0]).isdisjoint(functions)
        except UnreadableError:
            return False

    def _cells(self, file: File) -> tuple[list[CodeCell], list[str]]:
        if file.name not in self._read:
            try:
                self._read[file.name] = code_cells(file.read())
            except NotebookError as error:
                raise UnreadableError(say("{name} {trouble}", name=file.name, trouble=said_by(error))) from None
        return self._read[file.name]


def is_near(name: str, exercise: str) -> bool:
    """Recognise a notebook of an exercise under the name that a copy of it gets, such as softmax-Copy1.ipynb."""
    stem = name.removesuffix(NOTEBOOK)
    if not stem.casefold().startswith(exercise.casefold()):
        return False
    return ADDED.fullmatch(stem[len(exercise) :]) is not None


def _only(files: Sequence[File], exercise: str) -> File:
    if len(files) > 1:
        names = ", ".join(file.name for file in files[:3])
        wanted = f"{exercise}{NOTEBOOK}"
        raise UnreadableError(
            say("found more than once: {names}; keep one of them, as {name}", names=names, name=wanted)
        )
    return files[0]
