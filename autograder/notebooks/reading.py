"""A notebook file as its code cells, in formats 3 and 4: outputs are passed over, so that their size costs little."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import msgspec

from autograder.language import say
from autograder.notebooks import NotebookError

OLDEST, NEWEST = 3, 4


@dataclass(frozen=True)
class CodeCell:
    """A code cell: its place among all cells, counted from 1 as readers do, its source, and what nbgrader says of it.

    `grade_id` is "" where there is none; a `solution` is what learners write, `tests` are an instructor's.
    """

    number: int
    source: str
    grade_id: str = ""
    solution: bool = False
    tests: bool = False


class _Cell(msgspec.Struct):
    cell_type: str = ""
    source: str | list[str] = ""
    input: str | list[str] = ""
    metadata: Any = None


class _Worksheet(msgspec.Struct):
    cells: list[msgspec.Raw] = []


class _File(msgspec.Struct):
    nbformat: int
    cells: list[msgspec.Raw] = []
    worksheets: list[_Worksheet] = []


def code_cells(data: bytes) -> tuple[list[CodeCell], list[str]]:
    """Give the code cells of a notebook file, and a sentence for each cell that is none.

    Raises:
        NotebookError: when the file is no notebook, or one of another format.

    """
    file = _decoded(data)
    if not OLDEST <= file.nbformat <= NEWEST:
        raise NotebookError(
            say(
                "is a notebook of format {format}, and only formats 3 and 4 are read; save it in Jupyter again",
                format=file.nbformat,
            )
        )
    raw_cells = file.cells or [cell for worksheet in file.worksheets for cell in worksheet.cells]
    cells, spoilt = [], []
    for number, raw in enumerate(raw_cells, start=1):
        try:
            cell = msgspec.json.decode(raw, type=_Cell)
        except msgspec.DecodeError:
            spoilt.append(f"cell {number} is no cell of a notebook, and was left out")
        else:
            if cell.cell_type == "code":
                cells.append(_code_cell(number, cell))
    return cells, spoilt


def from_nodes(cells: Any) -> list[CodeCell]:
    """Give the code cells among cells that nbformat has read already."""
    read = [(number, msgspec.convert(cell, _Cell)) for number, cell in enumerate(cells, start=1)]
    return [_code_cell(number, cell) for number, cell in read if cell.cell_type == "code"]


def _code_cell(number: int, cell: _Cell) -> CodeCell:
    metadata = cell.metadata if isinstance(cell.metadata, dict) else {}
    told = metadata.get("nbgrader")
    told = told if isinstance(told, dict) else {}
    grade_id = told.get("grade_id")
    solution = told.get("solution") is True
    return CodeCell(
        number,
        _joined(cell.source or cell.input),
        grade_id if isinstance(grade_id, str) else "",
        solution,
        tests=told.get("grade") is True and not solution,
    )


def _joined(source: str | list[str]) -> str:
    """Give a source as one text whose lines end as Python's own do."""
    text = source if isinstance(source, str) else "".join(source)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _decoded(data: bytes) -> _File:
    data = data.removeprefix(b"\xef\xbb\xbf")
    try:
        return msgspec.json.decode(data, type=_File)
    except msgspec.ValidationError:
        raise NotebookError(say("is JSON, but no notebook")) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _decoded_as_jupyter_does(data)


def _decoded_as_jupyter_does(data: bytes) -> _File:
    """Read what is not quite JSON: Jupyter itself writes NaN, and halves of letters that were cut in two."""
    try:
        notebook = json.loads(data.decode("utf-8"))
        plain = json.dumps(_without_outputs(notebook), allow_nan=False).encode()
        return msgspec.json.decode(plain, type=_File)
    except msgspec.ValidationError:
        raise NotebookError(say("is JSON, but no notebook")) from None
    except UnicodeDecodeError as error:
        raise NotebookError(
            say("is no notebook: byte {byte} is not UTF-8; save it in Jupyter again", byte=error.start)
        ) from None
    except json.JSONDecodeError as error:
        raise NotebookError(
            say(
                "is no notebook: line {line} is not JSON ({why}); save it in Jupyter again",
                line=error.lineno,
                why=error.msg,
            )
        ) from None
    except (ValueError, TypeError, RecursionError) as error:
        raise NotebookError(say("is no notebook that can be read: {why}", why=str(error)[:200])) from None


def _without_outputs(notebook: Any) -> Any:
    """Keep what `_File` and `_Cell` are made of, with letters that have no UTF-8 form as question marks."""
    if not isinstance(notebook, dict):
        return notebook
    worksheets = notebook.get("worksheets") or []
    of_worksheets = [cell for sheet in worksheets if isinstance(sheet, dict) for cell in sheet.get("cells") or []]
    cells = notebook.get("cells") or of_worksheets
    return {
        "nbformat": notebook.get("nbformat"),
        "cells": [_plain_cell(cell) for cell in cells] if isinstance(cells, list) else [],
    }


def _plain_cell(cell: Any) -> Any:
    if not isinstance(cell, dict):
        return None
    metadata = cell.get("metadata")
    told = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    told = told if isinstance(told, dict) else {}
    kept = {name: _encodable(cell[name]) for name in ("cell_type", "source", "input") if name in cell}
    flags = {name: told.get(name) is True for name in ("solution", "grade")}
    return kept | {"metadata": {"nbgrader": flags | {"grade_id": _encodable(str(told.get("grade_id", "")))}}}


def _encodable(text: Any) -> Any:
    if isinstance(text, list):
        return [_encodable(line) for line in text]
    return text.encode("utf-8", "replace").decode() if isinstance(text, str) else text
