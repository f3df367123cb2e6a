"""What a class is graded with elsewhere: a bare pytest process for each submission, and nbgrader's autograde.

Both get the reference solutions of the core exercises, and the public tests as often as makes as many tests as the
hidden suites have checks of these exercises. They isolate nothing and explain nothing.
"""

from __future__ import annotations

import ast
import shutil
import sys
from collections.abc import Iterator, Sequence
from itertools import cycle, islice
from pathlib import Path
from textwrap import dedent

import nbformat
from nbformat import NotebookNode, v4
from processes import Figures, cost_of_one, measured

from autograder.course import Course

ASSIGNMENT = "core"
FEW = 1


def bare_pytest(course: Course, folder: Path, exercises: Sequence[str], tests: int, count: int) -> Figures:
    """Give what one submission costs that has a pytest process of its own, on average over `count`."""
    runs = []
    for number in range(count):
        lay_out_for_pytest(course, folder / str(number), exercises, tests)
        # PyTorch is what learners' modules import; one thread suits arrays as small as these.
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir=.", "-c", "pytest.ini"]
        runs.append(measured(command, folder / str(number)))
    return Figures(
        sum(run.processor for run in runs) / count,
        sum(run.wall for run in runs) / count,
        max(run.largest for run in runs),
        max(run.together for run in runs),
    )


def lay_out_for_pytest(course: Course, folder: Path, exercises: Sequence[str], tests: int) -> None:
    """Make a learner's folder with the modules of the exercises and one file of `tests` tests for all of them."""
    folder.mkdir(parents=True)
    for exercise in exercises:
        shutil.copy(course.paths.solutions / f"{exercise}.py", folder)
    shutil.copy(course.paths.exercises / "pytest.ini", folder)
    (folder / "public_tests").mkdir()
    files = {exercise: PublicTests(course, exercise) for exercise in exercises}
    shares = shared_out(tests, [len(file.tests) for file in files.values()])
    for (exercise, file), share in zip(files.items(), shares, strict=True):
        text = "\n\n".join([file.imports, file.prelude, *file.functions(share)])
        (folder / "public_tests" / f"test_{exercise}.py").write_text(text, encoding="utf-8")


def nbgrader(course: Course, folder: Path, exercises: Sequence[str], tests: int, count: int) -> Figures:
    """Give what one submission of `count` costs in one `nbgrader autograde`, starting up left out."""
    make_nbgrader_course(course, folder, exercises, tests, {"few": FEW, "many": FEW + count})
    few, many = (autograde(folder, f"{size}-*") for size in ("few", "many"))
    insist_on_full_scores(folder, FEW + FEW + count)
    return cost_of_one(few, many, count)


def make_nbgrader_course(
    course: Course, folder: Path, exercises: Sequence[str], tests: int, sizes: dict[str, int]
) -> None:
    """Make a course of one notebook whose hand-ins hold the solutions; learners are `few-0`, `many-0`, `many-1`, ..."""
    notebook = notebook_of(course, exercises, tests)
    write_notebook(notebook, folder / "source" / ASSIGNMENT)
    measured([*command("generate_assignment"), ASSIGNMENT], folder)
    for size, count in sizes.items():
        for number in range(count):
            handed_in = v4.new_notebook(cells=[v4.new_markdown_cell(f"number {number}"), *notebook.cells])
            write_notebook(handed_in, folder / "submitted" / f"{size}-{number}" / ASSIGNMENT)


def command(name: str) -> list[str]:
    """Give the start of an nbgrader command."""
    return [sys.executable, "-m", "nbgrader", name]


def autograde(folder: Path, learners: str) -> Figures:
    """Grade those learners with nbgrader, in one process and a kernel for each of them."""
    return measured([*command("autograde"), ASSIGNMENT, f"--student={learners}"], folder)


def insist_on_full_scores(folder: Path, count: int) -> None:
    """End when a solution did not earn every point: a notebook that stops early would seem cheap."""
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{folder / 'gradebook.db'}") as gradebook:
        submissions = gradebook.assignment_submissions(ASSIGNMENT)
        full = [submission for submission in submissions if 0 < submission.max_score == submission.score]
        if len(full) != count:
            sys.exit(f"nbgrader gave full scores to {len(full)} of {count} copies of the solutions")


def write_notebook(notebook: NotebookNode, folder: Path) -> None:
    """Write the one notebook of an assignment."""
    folder.mkdir(parents=True)
    nbformat.write(notebook, folder / "attention.ipynb")


def notebook_of(course: Course, exercises: Sequence[str], tests: int) -> NotebookNode:
    """Give a notebook with a solution cell for each exercise, each followed by its tests, one graded cell for each."""
    files = [PublicTests(course, exercise) for exercise in exercises]
    cells: list[NotebookNode] = []
    for file, share in zip(files, shared_out(tests, [len(file.tests) for file in files]), strict=True):
        solution = (course.paths.solutions / f"{file.exercise}.py").read_text(encoding="utf-8")
        cells.append(cell(without_imports_of(exercises, solution), file.exercise, solution=True))
        cells.append(v4.new_code_cell("\n\n".join([without_imports_of(exercises, file.imports), file.prelude])))
        cells.extend(cell(body, f"{file.exercise}-{n}", grade=True) for n, body in enumerate(file.bodies(share)))
    return v4.new_notebook(cells=cells, metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})


def cell(source: str, name: str, *, grade: bool = False, solution: bool = False) -> NotebookNode:
    """Give a code cell that nbgrader knows by name: one to be completed, or one that is worth a point."""
    known = {
        "schema_version": 3,
        "grade_id": name,
        "grade": grade,
        "solution": solution,
        "locked": grade,
        "task": False,
    }
    points = {"points": 1} if grade else {}
    return v4.new_code_cell(source, metadata={"nbgrader": known | points})


def without_imports_of(exercises: Sequence[str], source: str) -> str:
    """Give the source without the lines that import from other exercises: in a notebook all is there already."""
    starts = tuple(f"from {exercise} import" for exercise in exercises)
    return "\n".join(line for line in source.splitlines() if not line.startswith(starts))


def shared_out(total: int, sizes: Sequence[int]) -> list[int]:
    """Share a number out in proportion to the sizes, so that the shares add up to it."""
    ends = [round(total * sum(sizes[: n + 1]) / sum(sizes)) for n in range(len(sizes))]
    return [end - start for start, end in zip([0, *ends], ends, strict=False)]


class PublicTests:
    """The source of an exercise's public tests, taken apart; a share larger than there are begins again."""

    def __init__(self, course: Course, exercise: str) -> None:
        self.exercise = exercise
        self._lines = (course.paths.exercises / "public_tests" / f"test_{exercise}.py").read_text("utf-8").splitlines()
        nodes = ast.parse("\n".join(self._lines)).body[1:]  # the first is the docstring
        self.tests = [node for node in nodes if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]
        self.imports = "\n".join(self._text(node) for node in nodes if isinstance(node, ast.Import | ast.ImportFrom))
        others = [
            node for node in nodes if node not in self.tests and not isinstance(node, ast.Import | ast.ImportFrom)
        ]
        self.prelude = "\n\n".join(self._text(node) for node in others)

    def functions(self, share: int) -> Iterator[str]:
        """Give so many tests, each under a name of its own."""
        for number, test in enumerate(islice(cycle(self.tests), share)):
            yield self._text(test).replace(f"def {test.name}(", f"def {test.name}_{number}(", 1)

    def bodies(self, share: int) -> Iterator[str]:
        """Give what so many tests do, as it is written in a cell."""
        for test in islice(cycle(self.tests), share):
            yield dedent("\n".join(self._lines[test.body[0].lineno - 1 : test.end_lineno]))

    def _text(self, node: ast.stmt) -> str:
        return "\n".join(self._lines[node.lineno - 1 : node.end_lineno])
