"""A line of a module is told as its author knows it."""

import pytest

from autograder.notebooks.cells import module_of
from autograder.notebooks.places import file_of, place_of
from autograder.notebooks.reading import code_cells

from .files import notebook, solution

SOURCE = module_of(
    code_cells(
        notebook(
            "%time\nimport numpy as np",
            solution("# mine\n\nprint(1)\n\ndef double(x):\n    # a comment\n    return np.x"),
        )
    )[0],
    ["double"],
    "double-Copy1.ipynb",
).source


def test_the_file_is_the_notebook():
    assert file_of(SOURCE, "double") == "double-Copy1.ipynb"
    assert file_of(module_of([], [], "empty.ipynb").source, "double") == "empty.ipynb"


@pytest.mark.parametrize("source", [b"import numpy\n# from nowhere", b"# from the lecture\nimport numpy\n"])
def test_a_module_with_a_comment_of_its_authors_is_no_notebook(source):
    assert file_of(source, "double") == "double.py"
    assert place_of(2, source) == (0, 2)


@pytest.mark.parametrize(
    ("text", "place"),
    [("import numpy", (1, 2)), ("def double", (2, 5)), ("return", (2, 7))],
)
def test_lines_of_a_notebook_are_those_of_its_cells(text, place):
    (line,) = (number for number, each in enumerate(SOURCE.decode().split("\n"), start=1) if text in each)
    assert place_of(line, SOURCE) == place


def test_lines_of_a_module_are_its_own():
    assert place_of(2, b"# cell 4, line 4\nimport numpy") == (0, 2)


def test_a_line_that_is_nowhere_is_told_as_it_is():
    assert place_of(0, SOURCE) == (0, 0)


def test_no_name_of_a_file_ends_the_line_that_it_stands_in():
    assert module_of([], [], "a\nimport os.ipynb").source.decode().split("\n")[0] == "# from a\\nimport os.ipynb"
