"""The cells of a notebook become the module that a learner means by them."""

import pytest

from autograder.notebooks.cells import MOST_STATEMENTS, defined_names, module_of
from autograder.notebooks.reading import code_cells

from .files import cell, notebook, solution

DOUBLE = "def double(numbers, more=0.0):\n    return numbers * 2 + more"


def taken(*cells, functions=("double",)):
    return module_of(code_cells(notebook(*cells))[0], functions, "double.ipynb")


def module(*cells, functions=("double",)) -> str:
    return text_of(taken(*cells, functions=functions))


def text_of(made) -> str:
    first, _, rest = made.source.decode().partition("\n")
    assert first == "# from double.ipynb"
    return rest


def test_solution_cells_are_taken_whole_in_their_order():
    first = solution("import math\n\nSCALE = 2  # twice", "solution_scale")
    assert (
        module(first, solution(DOUBLE))
        == f"# cell 1, line 1\nimport math\n\nSCALE = 2  # twice\n# cell 2, line 1\n{DOUBLE}\n"
    )


def test_trials_at_the_end_of_a_solution_cell_are_not_run():
    assert (
        module(solution(f"{DOUBLE}\n\nassert double(1) == 3\nprint(double(1))\ndouble(2)"))
        == f"# cell 1, line 1\n{DOUBLE}\n"
    )


def test_settings_of_a_library_are_kept():
    assert (
        module(solution(f'np.seterr(all="ignore")\n{DOUBLE}'))
        == f'# cell 1, line 1\nnp.seterr(all="ignore")\n{DOUBLE}\n'
    )


def test_what_a_solution_needs_is_found_in_the_cells_beside_it():
    helper = "def twice(number):\n    return number * FACTOR"
    plot = "import matplotlib.pyplot as plt\nplt.plot(double(1))"
    use = "def double(numbers, more=0.0):\n    return twice(numbers) + more"
    made = module("import numpy as np\nFACTOR = 2", plot, helper, solution(use))
    assert made == f"# cell 1, line 2\nFACTOR = 2\n# cell 3, line 1\n{helper}\n# cell 4, line 1\n{use}\n"


def test_a_name_that_is_only_local_to_a_function_needs_nothing():
    assert module("numbers = load('gone.npy')", solution(DOUBLE)) == f"# cell 2, line 1\n{DOUBLE}\n"


def test_a_trial_copy_does_not_stand_above_a_solution_cell():
    assert module(solution(DOUBLE), "def double(numbers):\n    return 0") == f"# cell 1, line 1\n{DOUBLE}\n"


def test_tests_of_the_instructor_are_no_part_of_the_module():
    assert module(solution(DOUBLE), cell("double = None", "test_more", points=1)) == f"# cell 1, line 1\n{DOUBLE}\n"


def test_without_metadata_definitions_imports_and_assignments_are_taken():
    cells = [
        "import numpy as np\nTWO = np.array(2)",
        f"x = double(1)\n{DOUBLE.replace('2', 'TWO')}\nx",
        "for i in x: print(i)",
    ]
    assert (
        module(*cells)
        == "# cell 1, line 1\nimport numpy as np\nTWO = np.array(2)\n# cell 2, line 2\n"
        + DOUBLE.replace("2", "TWO")
        + "\n"
    )


def test_of_two_functions_of_one_name_the_last_one_counts():
    assert module("def double(numbers):\n    return torch.double(numbers)", DOUBLE) == f"# cell 2, line 1\n{DOUBLE}\n"


def test_methods_that_are_added_to_a_class_in_later_cells_stay():
    cells = ["class double:\n    pass", "def call(self, x):\n    return 2 * x\ndouble.__call__ = call"]
    assert module(*cells) == "# cell 1, line 1\nclass double:\n    pass\n# cell 2, line 1\n" + cells[1] + "\n"


def test_guarded_imports_are_imports():
    guarded = "try:\n    import numpy as xp\nexcept ImportError:\n    xp = None"
    assert module(guarded, DOUBLE.replace("2", "xp.int64(2)")).startswith(f"# cell 1, line 1\n{guarded}\n")


def test_everything_from_a_module_is_kept_since_nobody_knows_what_it_brings():
    assert module("from numpy import *", DOUBLE).startswith("# cell 1, line 1\nfrom numpy import *\n")


def test_statements_that_share_lines_stay_together():
    shared = "TABLE = [\n    2]; FACTOR = TABLE[0]"
    assert module(shared, DOUBLE.replace("2", "FACTOR")).startswith(f"# cell 1, line 1\n{shared}\n")


def test_imports_from_the_future_come_first():
    made = module(solution(DOUBLE), "from __future__ import annotations")
    assert made == f"# cell 2, line 1\nfrom __future__ import annotations\n# cell 1, line 1\n{DOUBLE}\n"


def test_magic_and_shell_lines_are_dropped_and_named():
    noisy = "%matplotlib inline\n!pip install torch\nfiles = !ls\ndouble?\n" + DOUBLE + "\n    %debug"
    made = taken(noisy, "%%bash\nrm -rf ~", f"%%time\nFACTOR = 2\n{DOUBLE}")
    assert text_of(made) == f"# cell 3, line 3\n{DOUBLE}\n"
    assert made.notes == [
        "left out, as it is no Python: cell 1, line 1 (%matplotlib inline); cell 1, line 2 (!pip install torch); "
        "cell 1, line 3 (files = !ls); cell 1, line 4 (double?); cell 1, line 7 (%debug); and 2 more"
    ]


def test_a_percent_sign_inside_python_is_no_magic():
    formatted = 'TEXT = """\n%d of them\n""" % 2'
    assert module(formatted, DOUBLE.replace("2", "len(TEXT)")).startswith(f"# cell 1, line 1\n{formatted}\n")


def test_of_a_doubled_grade_id_the_last_cell_counts():
    made = taken(solution("def double(numbers):\n    return 0"), solution(DOUBLE))
    assert text_of(made) == f"# cell 2, line 1\n{DOUBLE}\n"
    assert made.notes == ["2 cells have the grade_id solution_double; the last one counts, cell 2"]


def test_a_deleted_solution_cell_is_made_up_for_by_a_plain_one():
    assert module(DOUBLE, solution("", "solution_other")) == f"# cell 1, line 1\n{DOUBLE}\n"


def test_a_renamed_function_is_told():
    made = taken(solution(DOUBLE.replace("double", "twice")))
    assert made.notes == ["no cell defines double; what it defines: twice"]
    assert made.problem == ""


def test_a_cell_that_is_not_python_does_not_spoil_the_others():
    made = taken("this is a note", solution(DOUBLE))
    assert text_of(made) == f"# cell 2, line 1\n{DOUBLE}\n"
    assert (made.notes, made.problem) == (["cell 1 cannot be read: invalid syntax (line 1)"], "")


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("def double(:\n    pass", "cell 1 cannot be read: invalid syntax (line 1)"),
        ("def double(x):\nreturn 2", "cell 1 cannot be read: expected an indented block after function definition"),
        ("return 2", "cell 1 cannot be read: 'return' outside function (line 1)"),
        ("x\0y", "cell 1 cannot be read: source code string cannot contain null bytes"),
        ("-" * 100_000 + "1", "cell 1 cannot be read: it is no Python that can be parsed"),
        ("a" + "[0]" * 100_000, "cell 1 cannot be read: it is no Python that can be parsed"),
        ("x = 1\n" * (MOST_STATEMENTS + 1), "cell 1 cannot be read: there are more than 10,000 statements"),
        ("x = 1 # " + "x" * (1 << 20), "holds more than 1 MiB of code"),
    ],
)
def test_a_function_that_cannot_be_read_is_a_problem_of_its_cell(source, why):
    assert str(taken(source).problem).startswith(why)


def test_names_are_those_of_functions_and_classes_outside_tests():
    cells, _ = code_cells(
        notebook("%time\ndef double(): ...", "class Twice: ...", cell("def test(): ...", "t", points=1))
    )
    assert defined_names(cells) == {"double", "Twice"}
