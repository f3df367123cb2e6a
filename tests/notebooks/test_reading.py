"""A notebook file becomes its code cells, whatever is wrong with the rest of it."""

import json

import pytest

from autograder.notebooks import NotebookError
from autograder.notebooks.reading import CodeCell, code_cells

from .files import cell, notebook, old_notebook, solution


def sources(data: bytes) -> list[str]:
    return [each.source for each in code_cells(data)[0]]


def test_code_cells_are_counted_among_all_cells():
    text = {"cell_type": "markdown", "source": "# Double", "metadata": {}}
    assert code_cells(notebook(text, "x = 1"))[0] == [CodeCell(2, "x = 1")]


def test_what_nbgrader_says_of_a_cell_is_read():
    cells, _ = code_cells(notebook(solution("x"), cell("y", "test_more", points=2), "z"))
    assert cells == [
        CodeCell(1, "x", "solution_double", solution=True),
        CodeCell(2, "y", "test_more", tests=True),
        CodeCell(3, "z"),
    ]


def test_format_3_keeps_its_cells_in_worksheets():
    assert sources(old_notebook("x = 1\ny = 2\n")) == ["x = 1\ny = 2\n"]


def test_a_source_may_be_a_list_of_lines_with_any_ends():
    assert sources(notebook(cell("") | {"source": ["a = 1\r\n", "b = 2\rc = 3"]})) == ["a = 1\nb = 2\nc = 3"]


def test_outputs_of_50_mb_are_passed_over():
    large = cell("x = 1") | {"outputs": [{"output_type": "stream", "name": "stdout", "text": "x" * 50_000_000}]}
    assert sources(notebook(large)) == ["x = 1"]


def test_nan_in_an_output_is_read_as_jupyter_writes_it():
    large = cell("x = 1") | {"outputs": [{"output_type": "display_data", "data": {"application/json": float("nan")}}]}
    data = notebook(large, cell("y", "test_more", points=1))
    assert b"NaN" in data
    assert code_cells(data)[0] == [CodeCell(1, "x = 1"), CodeCell(2, "y", "test_more", tests=True)]


def test_half_a_letter_becomes_a_question_mark():
    assert sources(notebook("x = '\ud83d'")) == ["x = '?'"]


def test_a_byte_order_mark_does_not_matter():
    assert sources(b"\xef\xbb\xbf" + notebook("x = 1")) == ["x = 1"]


@pytest.mark.parametrize("metadata", [None, [], {"nbgrader": []}, {"nbgrader": {"grade_id": 7, "solution": "yes"}}])
def test_metadata_of_another_kind_says_nothing(metadata):
    assert code_cells(notebook(cell("x") | {"metadata": metadata}))[0] == [CodeCell(1, "x")]


def test_a_cell_that_is_none_is_named_and_the_others_are_read():
    cells, spoilt = code_cells(notebook(cell("") | {"source": 7}, "x = 1"))
    assert (cells, spoilt) == ([CodeCell(2, "x = 1")], ["cell 1 is no cell of a notebook, and was left out"])


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "is no notebook: line 1 is not JSON (Expecting value); save it in Jupyter again"),
        (notebook("x")[:-9], "is no notebook: line 1 is not JSON (Expecting "),
        (b'{"nbformat": 4, "cells": [\n<<<<<<< HEAD\n', "is no notebook: line 2 is not JSON (Expecting value)"),
        (b"[1, 2]", "is JSON, but no notebook"),
        (b'{"nbformat": 4, "cells": {}}', "is JSON, but no notebook"),
        (
            b'{"nbformat": 4, "x": NaN, "worksheets": 7}',
            "is no notebook that can be read: 'int' object is not iterable",
        ),
        ("é".encode("latin-1"), "is no notebook: byte 0 is not UTF-8; save it in Jupyter again"),
        (b'{"nbformat": 4, "x": ' + b"[" * 100_000, "is no notebook that can be read: "),
        (json.dumps({"nbformat": 5, "cells": []}).encode(), "is a notebook of format 5, and only formats 3 and 4"),
        (json.dumps({"nbformat": 2, "worksheets": []}).encode(), "is a notebook of format 2, and only formats 3 and 4"),
    ],
)
def test_what_is_no_notebook_is_told_in_one_line(data, reason):
    with pytest.raises(NotebookError) as caught:
        code_cells(data)
    assert str(caught.value).startswith(reason)
    assert "\n" not in str(caught.value)
