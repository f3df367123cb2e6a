"""Solutions -> stubs: what is taken out, what stays, and which mistakes in the markers are found."""

import ast
from pathlib import Path

import pytest

from autograder.course import Course, load_course
from autograder.release import ReleaseError, stub_text, write_stubs

REPOSITORY = Path(__file__).parents[2]
SHIPPED = load_course(REPOSITORY)
NAMES = [exercise.name for exercise in SHIPPED.exercises]
COURSE = """
name = "small"
title = "Small"
languages = ["en"]
feedback = "full"

[[exercises]]
name = "square"
title = "Square"
points = 1
functions = ["square"]
libraries = ["numpy"]
"""
SQUARE = '''"""Squares."""


def square(x: float) -> float:
    """Return x times x."""
    ### BEGIN SOLUTION
    return _product(x, x)
    ### END SOLUTION


### BEGIN SOLUTION
def _product(x: float, y: float) -> float:
    return x * y
### END SOLUTION


def cube(x: float) -> float:
    """Return x times x times x."""
    ### BEGIN SOLUTION
    return x * square(x)
    ### END SOLUTION
'''
SQUARE_STUB = '''"""Squares."""


def square(x: float) -> float:
    """Return x times x."""
    raise NotImplementedError


def cube(x: float) -> float:
    """Return x times x times x."""
    raise NotImplementedError
'''


@pytest.fixture
def course(tmp_path: Path) -> Course:
    (tmp_path / "course.toml").write_text(COURSE)
    (tmp_path / "solutions").mkdir()
    return load_course(tmp_path)


def give_solution(course: Course, source: str) -> Path:
    path = course.solution_of(course.exercise("square"))
    path.write_text(source, encoding="utf-8")
    return path


@pytest.mark.parametrize("name", NAMES)
def test_the_shipped_stub_is_what_release_makes_of_the_solution(name: str):
    exercise = SHIPPED.exercise(name)
    solution = SHIPPED.solution_of(exercise).read_text(encoding="utf-8")
    stub = SHIPPED.stub_of(exercise).read_bytes().decode("utf-8")
    assert stub == stub_text(solution), "run `./run attend release --stubs`"


@pytest.mark.parametrize("name", NAMES)
def test_the_shipped_stub_keeps_signatures_and_docstrings(name: str):
    exercise = SHIPPED.exercise(name)
    solution = outline(SHIPPED.solution_of(exercise))
    stub = outline(SHIPPED.stub_of(exercise))
    assert set(exercise.functions) <= stub.keys()
    assert stub == {name: kept for name, kept in solution.items() if not name.split(".")[-1].startswith("_")}


def outline(path: Path) -> dict[str, tuple[str, str | None]]:
    """Name -> (first line, docstring) of every class, function and method."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found[node.name] = described(node)
        if isinstance(node, ast.ClassDef):
            methods = [inner for inner in node.body if isinstance(inner, ast.FunctionDef)]
            found |= {f"{node.name}.{'init' if m.name == '__init__' else m.name}": described(m) for m in methods}
    return found


def described(node: ast.FunctionDef | ast.ClassDef) -> tuple[str, str | None]:
    signature = ast.unparse(node.args) if isinstance(node, ast.FunctionDef) else ast.unparse(node.bases[0])
    return signature, ast.get_docstring(node)


def test_a_region_in_a_function_becomes_the_raise_and_helpers_go_without_a_trace():
    assert stub_text(SQUARE) == SQUARE_STUB


def test_a_source_without_regions_stays_as_it_is():
    assert stub_text("x = 1\n") == "x = 1\n"


def test_the_raise_stands_at_the_indentation_of_its_region():
    source = (
        "class Cell:\n"
        "    def __init__(self, x):\n"
        "        self.x = x\n"
        "        ### BEGIN SOLUTION\n"
        "        self.y = 2 * x\n"
        "        ### END SOLUTION\n"
        "\n"
        "    def read(self):\n"
        "        if self.x:\n"
        "            ### BEGIN SOLUTION\n"
        "            return self.y\n"
        "            ### END SOLUTION\n"
        "        return 0\n"
    )
    assert stub_text(source) == (
        "class Cell:\n"
        "    def __init__(self, x):\n"
        "        self.x = x\n"
        "        raise NotImplementedError\n"
        "\n"
        "    def read(self):\n"
        "        if self.x:\n"
        "            raise NotImplementedError\n"
        "        return 0\n"
    )


def test_a_helper_method_goes_without_a_trace():
    source = (
        "class Cell:\n"
        '    """A cell."""\n'
        "\n"
        "    ### BEGIN SOLUTION\n"
        "    def _read(self):\n"
        "        return 1\n"
        "    ### END SOLUTION\n"
    )
    assert stub_text(source) == 'class Cell:\n    """A cell."""\n'


def test_imports_and_constants_in_a_region_outside_functions_go_too():
    source = "import math\n### BEGIN SOLUTION\nimport cmath\nROOT = cmath.sqrt(2)\n### END SOLUTION\nx = math.pi\n"
    assert stub_text(source) == "import math\nx = math.pi\n"


def test_a_region_with_a_nested_function_is_one_region():
    source = (
        "def outer(x):\n"
        "    ### BEGIN SOLUTION\n"
        "    def inner():\n"
        "        return x\n"
        "\n"
        "    return inner()\n"
        "    ### END SOLUTION\n"
    )
    assert stub_text(source) == "def outer(x):\n    raise NotImplementedError\n"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (
            "def f():\n    ### BEGIN SOLUTION\n    pass\n",
            "f.py, line 2: this region is never closed; add `### END SOLUTION`",
        ),
        (
            "def f():\n    pass\n    ### END SOLUTION\n",
            "f.py, line 3: `### END SOLUTION` without `### BEGIN SOLUTION`; open the region or remove the line",
        ),
        (
            "def f():\n    ### BEGIN SOLUTION\n    ### BEGIN SOLUTION\n    pass\n    ### END SOLUTION\n",
            "f.py, line 3: a region inside the region of line 2; close that one first",
        ),
        (
            "def f():\n    ### BEGIN SOLUTION\n    pass\n\n\ndef g():\n    pass\n    ### END SOLUTION\n",
            "f.py, line 6: leaves the block where the region of line 2 began",
        ),
        (
            "def f():\n    # BEGIN SOLUTION\n    pass\n    # END SOLUTION\n",
            "f.py, line 2: not a marker; write `### BEGIN SOLUTION` alone on its line",
        ),
        (
            "def f():\n    ### BEGIN SOLUTION\n    pass\n    ### end solution\n",
            "f.py, line 4: not a marker; write `### END SOLUTION` alone on its line",
        ),
        (
            "def f():\n    ### BEGIN SOLUTION\n    return (\n    ### END SOLUTION\n",
            "f.py, line 3: '(' was never closed; the solution must be valid Python",
        ),
    ],
)
def test_a_mistake_in_the_markers_is_named_with_file_and_line(source: str, expected: str):
    with pytest.raises(ReleaseError) as caught:
        stub_text(source, name="f.py")
    assert str(caught.value) == expected


def test_a_class_that_would_be_left_without_a_body_is_refused():
    source = "class Cell:\n    ### BEGIN SOLUTION\n    x = 1\n    ### END SOLUTION\n"
    with pytest.raises(ReleaseError, match=r"^the stub made from f\.py, line 1: expected an indented block"):
        stub_text(source, name="f.py")


def test_stubs_are_written_where_the_course_keeps_its_exercises(course: Course, tmp_path: Path):
    give_solution(course, SQUARE)
    assert write_stubs(course) == [tmp_path / "exercises" / "square.py"]
    assert (tmp_path / "exercises" / "square.py").read_text() == SQUARE_STUB


def test_stubs_have_unix_line_ends_whatever_the_solution_has(course: Course, tmp_path: Path):
    give_solution(course, "").write_bytes(SQUARE.replace("\n", "\r\n").encode())
    write_stubs(course)
    assert (tmp_path / "exercises" / "square.py").read_bytes() == SQUARE_STUB.encode()


def test_a_stub_that_would_give_a_function_away_is_refused(course: Course, tmp_path: Path):
    path = give_solution(course, "def square(x):\n    return x * x\n")
    with pytest.raises(ReleaseError) as caught:
        write_stubs(course)
    assert str(caught.value) == (
        f"{path}: the stub would show square; put its body between `### BEGIN SOLUTION` and `### END SOLUTION`"
    )
    assert not (tmp_path / "exercises").exists()


def test_a_stub_that_would_lack_a_function_is_refused(course: Course):
    path = give_solution(course, "### BEGIN SOLUTION\ndef square(x):\n    return x * x\n### END SOLUTION\n")
    with pytest.raises(ReleaseError) as caught:
        write_stubs(course)
    assert str(caught.value) == f"{path}: the stub would not define square; keep its first line out of the regions"


def test_a_missing_solution_is_named(course: Course, tmp_path: Path):
    with pytest.raises(ReleaseError) as caught:
        write_stubs(course)
    assert str(caught.value) == (
        f"{tmp_path / 'solutions' / 'square.py'}: cannot be read (No such file or directory); "
        "stubs are made where the solutions are, in the repository of the course"
    )


def test_a_solution_that_is_not_utf8_is_named(course: Course):
    path = give_solution(course, "")
    path.write_bytes(b'"""\xff"""\n')
    with pytest.raises(ReleaseError, match="byte 3 is not UTF-8; save the file as UTF-8"):
        write_stubs(course)


def test_an_exercises_folder_that_cannot_be_made_is_named(course: Course, tmp_path: Path):
    give_solution(course, SQUARE)
    (tmp_path / "exercises").write_text("a file where the folder should be")
    with pytest.raises(ReleaseError, match=r"square\.py: cannot be written \(.*\); make its folder writable"):
        write_stubs(course)
