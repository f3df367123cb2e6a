"""The course becomes nbgrader's source notebooks, and nothing of anyone else's is written over."""

import json

import pytest

from autograder.cli import run
from autograder.course import load_course
from autograder.notebooks import NotebookError
from autograder.notebooks.source import call_of, grade_id_of, notebook_of, shown_part
from autograder.session import CheckFacts

from ..nbgrader_course.course import write_course

CHECK = CheckFacts("test_more_is_added", 1.5, (), "")


@pytest.fixture
def course(tmp_path):
    return load_course(write_course(tmp_path / "course"))


def cells_of(course, languages=("en", "zh"), named=""):
    notebook = json.loads(notebook_of(course.exercise("double"), course, [CHECK], languages, named))
    return {cell["id"]: cell for cell in notebook["cells"]}, notebook


def source_by_id(course, **more):
    cells, _ = cells_of(course, **more)
    return {
        cell["metadata"]["nbgrader"]["grade_id"]: "".join(cell["source"])
        for cell in cells.values()
        if "nbgrader" in cell["metadata"]
    }


def texts(course, languages):
    cells, _ = cells_of(course, languages)
    return "\n".join("".join(cell["source"]) for cell in cells.values() if cell["cell_type"] == "markdown")


def test_what_learners_write_is_one_region_with_the_helpers_below_it(course):
    assert source_by_id(course)["solution_double"] == (
        "def double(numbers: np.ndarray, more: float = 0.0) -> np.ndarray:\n"
        '    """Return twice the numbers, and `more`."""\n'
        "    ### BEGIN SOLUTION\n"
        "    return _added(numbers * FACTOR, more)\n\n\n"
        "FACTOR = 2\n\n\n"
        "def _added(numbers: np.ndarray, more: float) -> np.ndarray:\n"
        "    return numbers + more\n"
        "### END SOLUTION"
    )


def test_a_hidden_cell_is_one_line_that_holds_no_value(course):
    source = source_by_id(course)["test_more_is_added"]
    assert source.split("\n") == [
        "# hidden check, 1.5 points / 隐藏检查，1.5 分",
        "### BEGIN HIDDEN TESTS",
        'from autograder.notebooks.kernel import points; points("double", "test_more_is_added")',
        "### END HIDDEN TESTS",
    ]
    assert call_of(source) == ("double", "test_more_is_added")
    assert shown_part(source) == "# hidden check, 1.5 points / 隐藏检查，1.5 分"


def test_a_course_that_the_kit_does_not_find_is_named_in_the_call(course):
    source = source_by_id(course, named="/courses/it's here/course.toml")["test_more_is_added"]
    assert 'course="/courses/it\'s here/course.toml")' in source
    assert call_of(source) == ("double", "test_more_is_added")


@pytest.mark.parametrize(
    "source",
    ["", "points('double', 'test_x')", "assert double(1) == 2", "import autograder.notebooks.kernel", "def f(:"],
)
def test_other_cells_are_no_hidden_cells(source):
    assert call_of(source) is None


def test_public_tests_are_shown_with_their_calls_and_worth_nothing(course):
    cells, _ = cells_of(course)
    source = source_by_id(course)["public_test_more_is_added"]
    assert source.endswith("\n\n\nfor more in [0.0, 0.5]:\n    test_more_is_added(more)")
    points = {
        cell["metadata"]["nbgrader"]["grade_id"]: cell["metadata"]["nbgrader"].get("points")
        for cell in cells.values()
        if "nbgrader" in cell["metadata"]
    }
    assert points == {
        "imports": None,
        "solution_double": None,
        "public_tests": None,
        "public_test_one_becomes_two": 0,
        "public_test_more_is_added": 0,
        "test_more_is_added": 1.5,
    }


def test_the_module_that_learners_write_is_not_imported_in_its_own_notebook(course):
    assert source_by_id(course)["public_tests"] == "import numpy as np\nimport pytest\nONE = np.array([1.0])"


def test_a_notebook_is_in_the_languages_asked_for(course):
    assert "Return twice" in texts(course, ["en"]) and "两倍" not in texts(course, ["en"])
    assert "返回两倍的数" in texts(course, ["zh"]) and "Run these cells" not in texts(course, ["zh"])
    assert all(text in texts(course, ["en", "zh"]) for text in ("Return twice", "返回两倍的数", "公开测试"))


def test_a_notebook_is_the_same_whenever_it_is_made(course):
    assert cells_of(course) == cells_of(course)


def test_helpers_that_follow_no_region_are_refused_by_name(course):
    path = course.solution_of(course.exercise("double"))
    path.write_text("### BEGIN SOLUTION\nFACTOR = 2\n### END SOLUTION\n\n\ndef double(x):\n    return x\n")
    with pytest.raises(NotebookError, match=r"double.py: helpers between `### BEGIN SOLUTION`"):
        cells_of(course)


def test_the_library_calls_of_another_exercise_can_be_imported(course, tmp_path):
    (tmp_path / "course" / "stand_in.py").write_text("def twice(x):\n    return 'it''s'\n")
    text = (tmp_path / "course" / "course.toml").read_text()
    text = text.replace('functions = ["double"]', 'functions = ["double"]\nstand_ins = { twice = "stand_in.py" }')
    (tmp_path / "course" / "course.toml").write_text(text)
    source = source_by_id(load_course(tmp_path / "course"))["stand_in_twice"]
    made: dict = {}
    exec(source + "\nfrom twice import twice\nanswer = twice(1)", made)
    assert made["answer"] == "its"


def test_a_name_that_nbgrader_does_not_take_gets_one_that_it_does():
    assert grade_id_of("test_more") == "test_more"
    assert grade_id_of("test_größe") != grade_id_of("test_gr__e")
    assert grade_id_of("test_größe").startswith("test_gr__e-")


@pytest.fixture
def write(course, tmp_path, capsys):
    """Give a function that runs the command and gives its status and what it says."""

    def write(*options):
        status = run(["nbgrader", str(tmp_path / "nb"), "--course", str(course.root), *options])
        out, err = capsys.readouterr()
        return status, out + err

    return write


def test_what_was_written_may_be_written_again(write, course, tmp_path):
    assert write()[0] == 0
    (course.root / "exercises/instructions/double.md").write_text("# Doubled\n")
    assert write()[0] == 0
    assert "# Doubled" in (tmp_path / "nb/source/small/double.ipynb").read_text()


@pytest.mark.parametrize("name", ["nbgrader_config.py", "source/small/twice.ipynb"])
def test_a_file_that_is_not_ours_is_never_written_over(write, tmp_path, name):
    path = tmp_path / "nb" / name
    path.parent.mkdir(parents=True)
    path.write_text("mine")
    status, said = write()
    assert (status, path.read_text()) == (2, "mine")
    assert said.startswith(f"attend: {path} is not as `attend nbgrader` wrote it")
    assert said.count("\n") == 1
    assert not (tmp_path / "nb/source/small/double.ipynb").exists()


def test_a_notebook_that_was_changed_since_is_kept(write, tmp_path):
    write()
    path = tmp_path / "nb/source/small/double.ipynb"
    path.write_text(path.read_text() + " ")
    assert write()[0] == 2
    assert path.read_text().endswith(" ")


def test_a_configuration_of_ones_own_can_stay(write, tmp_path):
    (tmp_path / "nb").mkdir()
    (tmp_path / "nb/nbgrader_config.py").write_text("mine")
    assert write("--no-config")[0] == 0
    assert (tmp_path / "nb/nbgrader_config.py").read_text() == "mine"


def test_a_language_that_the_course_is_not_in_is_refused(write):
    assert write("--lang", "fr") == (2, "attend: --lang fr: the course is in en and zh; ask for one of these\n")
