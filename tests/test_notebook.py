"""`check` and `%%check` in a real kernel, and what they say where something is wrong."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import psutil
import pytest
from nbclient import NotebookClient

from autograder.notebook import plain_python

DATA = Path(__file__).parent / "data"
SMALL = DATA / "double"
RIGHT = "def double(numbers, more=0.0):\n    return numbers * 2 + more\n"
WRONG = "import numpy as np\n\ndef double(numbers, more=0.0):\n    return np.abs(numbers) * 2 + more\n"


def executed(folder, *cells, **environment):
    """Run cells in a new kernel whose notebook lies in `folder`, and give what each put out, by kind."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    client = NotebookClient(
        notebook, timeout=120, allow_errors=True, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
    )
    client.execute(env={**os.environ, "LC_ALL": "C", **environment})
    return [cell.outputs for cell in notebook.cells]


def shown(outputs):
    """Give text and HTML of the one thing that `check` displays."""
    (output,) = [output for output in outputs if output.output_type == "display_data"]
    return output.data["text/plain"], output.data["text/html"]


def values(html, title):
    """Give the values of the first heat map with a title, row by row."""
    grid = html.partition(f"<figcaption>{title}</figcaption>")[2].partition("</figure>")[0]
    rows = grid.partition("<tbody>")[2].split("</tr>")[:-1]
    return [re.findall(r'<td class="[^"]+">(?:<mark[^>]*>)?([^<]*)', row) for row in rows]


def differing(html, title):
    return html.partition(f"<figcaption>{title}</figcaption>")[2].partition("</figure>")[0].count("<mark")


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """Run one notebook beside the modules of a course that has its hidden suite; its file is wrong in the sign."""
    root = shutil.copytree(SMALL, tmp_path_factory.mktemp("graded") / "course")
    folder = root / "exercises"
    (folder / "double.py").write_text(WRONG, encoding="utf-8")
    outputs = executed(
        folder,
        "%matplotlib inline\nimport asyncio\nimport matplotlib.pyplot\nasyncio.get_running_loop().is_running()",
        "from autograder.notebook import check\ncheck('double')\nprint('goes on')",
        f"%%check double\n{RIGHT}\nimport numpy as np\ndouble(np.array([1.5]))",
        "check('double')",
        "%%check double --lang zh\ndef double(numbers, more=0.0):\n    return np.abs(numbers) * 2 + more",
        "%%check double\n%time\ndef double(numbers, more=0.0):\n    return numbers * 2\n1 / 0",
        "double(np.array([3.0]))",
        "check('triple')",
        "check('double', lang='fr')",
        "%%check\nx = 1",
        '%%check "double\nx = 1',
    )
    return root, outputs


def test_the_kernel_has_a_running_loop_and_matplotlib_while_it_checks(graded):
    _, outputs = graded
    assert outputs[0][0].data["text/plain"] == "True"


def test_check_tries_the_module_beside_the_notebook_and_says_so(graded):
    root, outputs = graded
    text, html = shown(outputs[1])

    assert text.splitlines()[:3] == [
        f"Checked: {root / 'exercises' / 'double.py'}",
        f"{root / 'exercises' / '.attend.json'} remembers from now on what you have done",
        "double  3 of 4 checks passed, 3 of 5 points",
    ]
    assert "  ✗ numbers below zero are doubled" in text.splitlines()
    assert f'<p class="said">Checked: {root}/exercises/double.py</p>' in html
    assert "3 of 5 points · 3 of 4 checks passed" in html
    assert "Numbers below 0 lose their sign. What is twice a debt?" in html


def test_what_came_back_and_what_is_right_are_heat_maps_with_their_values(graded):
    _, outputs = graded
    _, html = shown(outputs[1])
    assert (values(html, "numbers"), values(html, "came back"), values(html, "right")) == ([["-1"]], [["2"]], [["-2"]])
    assert (differing(html, "came back"), differing(html, "right"), differing(html, "numbers")) == (1, 1, 0)


def test_a_cell_goes_on_after_a_check(graded):
    _, outputs = graded
    assert [output.text for output in outputs[1] if output.output_type == "stream"] == ["goes on\n"]


def test_a_cell_is_run_as_usual_and_checked_in_place_of_the_file(graded):
    _, outputs = graded
    (result,) = [output for output in outputs[2] if output.output_type == "execute_result"]
    assert result.data["text/plain"] == "array([3.])"
    text, _ = shown(outputs[2])
    assert text.splitlines()[:2] == [
        "Checked: this cell by itself, as double.py",
        "double  4 of 4 checks passed, 5 of 5 points",
    ]


def test_whoever_checks_the_file_is_told_that_the_notebook_defines_the_same(graded):
    _, outputs = graded
    text, _ = shown(outputs[3])
    assert "3 of 4 checks passed" in text
    said = "double is defined in this notebook too, and that one was not checked: put %%check double at the top of"
    assert text.splitlines()[1] == f"{said} its cell"
    assert "was not checked" not in shown(outputs[1])[0]


def test_a_name_from_another_cell_is_explained_in_the_language_asked_for(graded):
    _, outputs = graded
    text, html = shown(outputs[4])
    assert "NameError: name 'np' is not defined" in text
    assert "np 在别的单元格里有" in text
    assert '<div class="attend notebook" lang="zh">' in html
    assert "得分 0/5" in html


def test_a_cell_that_fails_shows_its_error_and_is_checked_without_its_magics(graded):
    _, outputs = graded
    assert [output.ename for output in outputs[5] if output.output_type == "error"] == ["ZeroDivisionError"]
    text, html = shown(outputs[5])
    assert "double.py cannot be loaded: ZeroDivisionError: division by zero (line 4: 1 / 0)" in text
    assert '<tr class="raised"><th scope="row">4</th>' in html
    assert outputs[6][0].data["text/plain"] == "array([6.])"


@pytest.mark.parametrize(
    ("number", "line"),
    [
        (7, "attend: there is no exercise named 'triple'; the exercises are: double"),
        (8, "attend: --lang fr: the course is in en and zh; ask for one of these"),
        (9, "attend: write %%check EXERCISE [--lang en|zh]"),
        (10, "attend: write %%check EXERCISE [--lang en|zh]"),
    ],
)
def test_what_is_wrong_is_one_line_in_text_and_html(graded, number, line):
    _, outputs = graded
    text, html = shown(outputs[number])
    assert text == line
    assert f'<p class="said">{line.replace(chr(39), "&#39;")}</p>' in html
    assert [output for output in outputs[number] if output.output_type == "error"] == []


def test_what_was_found_is_remembered_of_the_file_alone(graded):
    root, _ = graded
    remembered = (root / "exercises" / ".attend.json").read_text(encoding="utf-8")
    assert '"passed": 3' in remembered


LEARNERS = """
name = "small"
title = "Small"
languages = ["zh", "en"]
feedback = "none"
[[exercises]]
name = "half"
title = "Half"
points = 5
functions = ["half"]
libraries = ["numpy"]
[[exercises]]
name = "quarter"
title = "Quarter"
points = 5
functions = ["quarter"]
libraries = ["numpy"]
"""
PUBLIC = """
from quarter import quarter

def test_four_quarters_are_one():
    assert quarter(4) == 1

def test_a_quarter_of_nothing_is_nothing():
    assert quarter(0) == 0
"""


@pytest.fixture(scope="module")
def public(tmp_path_factory):
    """Run one notebook in what a learner has: no suites, public tests, one module that imports another."""
    root = tmp_path_factory.mktemp("public")
    folder = root / "exercises"
    (folder / "public_tests").mkdir(parents=True)
    (root / "course.toml").write_text(LEARNERS, encoding="utf-8")
    (folder / "half.py").write_text("def half(x):\n    return x / 2\n", encoding="utf-8")
    (folder / "quarter.py").write_text(
        "from half import half\n\ndef quarter(x):\n    return half(half(x)) if x else 1 / x\n", encoding="utf-8"
    )
    (folder / "public_tests" / "test_quarter.py").write_text(PUBLIC, encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\npythonpath = .\n", encoding="utf-8")
    (root / "notes").mkdir()
    return executed(
        root / "notes",
        "%load_ext autograder.notebook",
        "%%check quarter --lang=en\nfrom half import half\n\ndef quarter(x):\n    return half(half(x)) + 1",
        "from autograder.notebook import check\ncheck('quarter', lang='en')",
        "check('quarter')",
        "%%check half\nx = 1",
        FORCE_COLOR="1",
    )


def test_without_suites_a_cell_is_tried_by_the_public_tests_beside_its_siblings(public):
    assert public[0] == []
    text, html = shown(public[1])
    assert text.splitlines()[:2] == ["Checked: this cell by itself, as quarter.py", "quarter  0 of 2 checks passed"]
    assert "assert 2.0 == 1" in text
    assert "assert 2.0 == 1" in html


def test_without_suites_the_line_that_raised_is_marked_too(public):
    text, html = shown(public[2])
    assert "ZeroDivisionError: division by zero" in text
    assert '<tr class="raised"><th scope="row">4</th><td><mark>    return half(half(x)) if x else 1 / x</mark>' in html
    assert "raised here: a quarter of nothing is nothing" in html


def test_without_an_argument_the_language_is_the_courses(public):
    text, html = shown(public[3])
    assert text.startswith("检查的是 ")
    assert 'lang="zh"' in html


def test_a_cell_of_an_exercise_without_tests_is_told_so_in_one_line(public):
    text, _ = shown(public[4])
    assert text.startswith("attend: ")
    assert "/exercises/public_tests/test_half.py" in text
    assert len(text.splitlines()) == 1


def test_an_interrupt_takes_the_check_down_with_it(tmp_path):
    root = shutil.copytree(SMALL, tmp_path / "course")
    (root / "exercises" / "double.py").write_text("while True: pass\n", encoding="utf-8")
    script = (
        "from pathlib import Path; from autograder.tried import tried_apart; "
        f"tried_apart(Path({str(root / 'course.toml')!r}), Path({str(root / 'exercises')!r}), 'double')"
    )
    # As a kernel would: interrupts are Python's own, whatever the shell that runs the tests has made of them.
    script = f"import signal; signal.signal(signal.SIGINT, signal.default_int_handler); {script}"
    process = subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.PIPE, text=True)
    started = waited_for(lambda: looping(process.pid))

    process.send_signal(signal.SIGINT)

    assert process.communicate(timeout=60)[1].strip().endswith("KeyboardInterrupt")
    assert waited_for(lambda: not any(map(alive, started)))


def looping(pid):
    """Give what a process has started: the check, its fork server, and a fork in which the learner's code runs."""
    there = psutil.Process(pid).children(recursive=True)
    return there if len(there) >= 3 else []


def alive(process):
    return process.is_running() and process.status() != psutil.STATUS_ZOMBIE


def waited_for(found, seconds=60):
    deadline = time.monotonic() + seconds
    while not (result := found()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return result


def test_outside_of_a_notebook_check_prints(small_course):
    course = small_course(files={"exercises/double.py": RIGHT})
    script = "from autograder.notebook import check; check('double.py', lang='en')"
    said = subprocess.run(
        [sys.executable, "-c", script], cwd=course.paths.exercises, capture_output=True, text=True, check=True
    )
    assert said.stdout.splitlines()[0] == f"Checked: {course.paths.exercises / 'double.py'}"
    assert said.stdout.splitlines()[2] == "double  4 of 4 checks passed, 5 of 5 points"


def test_whoever_gives_the_function_itself_is_told_to_give_its_name(small_course):
    course = small_course(files={"exercises/double.py": RIGHT})
    script = "from autograder.notebook import check; from double import double; check(double, lang='en')"
    said = subprocess.run(
        [sys.executable, "-c", script], cwd=course.paths.exercises, capture_output=True, text=True, check=True
    )
    assert said.stdout == 'attend: put the name of the exercise in quotes, as in check("double")\n'


@pytest.mark.parametrize(
    ("cell", "module"),
    [
        ("x = 1\n", "x = 1\n"),
        ("if 1:\n    !ls\n    %time x\ny = 2", "if 1:\n    pass  # !ls\n    pass  # %time x\ny = 2"),
        ("s = '''\n%x\n'''", "s = '''\n%x\n'''"),
        ("def f(:\n", "def f(:\n"),
    ],
)
def test_what_only_a_notebook_understands_does_nothing_in_the_module(cell, module):
    assert plain_python(cell) == module
