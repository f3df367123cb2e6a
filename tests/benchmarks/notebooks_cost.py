"""What notebooks cost three ways: `./run python tests/benchmarks/notebooks_cost.py [N]`, N notebooks (default 20).

N learners hand in the solution of `softmax` as the notebook that `attend nbgrader` makes of it, each with a comment of
its own. They are graded by `nbgrader autograde` with the generated configuration, by `nbgrader autograde` without it,
where a kernel runs every cell, and by `attend grade`, on the same machine one after the other.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from processes import Figures, measured, positive
from rich import box
from rich.console import Console
from rich.table import Table

from autograder.course import Course, find_course, load_course
from autograder.notebooks.course_folder import write_course_folder

EXERCISE = "softmax"
NBGRADER = [sys.executable, "-m", "nbgrader"]
ATTEND = [sys.executable, "-c", "from autograder.cli import main; main()"]


def main(arguments: list[str]) -> int:
    """Measure, show, and fail where the three ways do not give every learner the same points."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("n_notebooks", nargs="?", type=positive, default=20)
    n_notebooks = parser.parse_args(arguments).n_notebooks
    # nbgrader starts `alembic` and the kernels by their names.
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    course = load_course(find_course())
    with TemporaryDirectory() as scratch:
        jailed = handed_in(Path(scratch, "jailed"), course, n_notebooks)
        plain = Path(shutil.copytree(jailed, Path(scratch, "plain")))
        (plain / "nbgrader_config.py").write_text(f'c = get_config()\nc.CourseDirectory.course_id = "{course.name}"\n')
        figures = {
            "nbgrader autograde, in the jail": measured([*NBGRADER, "autograde", course.name], jailed),
            "nbgrader autograde, in kernels": measured([*NBGRADER, "autograde", course.name], plain),
            "attend grade": measured(
                [*ATTEND, "grade", str(jailed / "submitted"), "--course", str(course.root)], jailed
            ),
        }
        points = [exported(jailed), exported(plain), graded(jailed / "grades" / "grades.csv")]
    Console().print(table_of(figures, n_notebooks))
    expected = [course.exercise(EXERCISE).points] * n_notebooks
    return 0 if points == [expected] * len(points) else 1


def handed_in(folder: Path, course: Course, n_notebooks: int) -> Path:
    """Give a course in which every learner handed in the right notebook, graded by nobody yet."""
    write_course_folder(folder, course, ["en"])
    measured([*NBGRADER, "generate_assignment", course.name], folder)
    notebook = (folder / "source" / course.name / f"{EXERCISE}.ipynb").read_text(encoding="utf-8")
    for number in range(n_notebooks):
        target = folder / "submitted" / f"learner{number:03}" / course.name
        target.mkdir(parents=True)
        cells = json.loads(notebook)
        next(cell for cell in cells["cells"] if "BEGIN SOLUTION" in str(cell["source"]))["source"].append(
            f"\n# {number}"
        )
        (target / f"{EXERCISE}.ipynb").write_text(json.dumps(cells), encoding="utf-8")
    return folder


def exported(folder: Path) -> list[float]:
    """Give every learner's points as nbgrader exports them."""
    measured([*NBGRADER, "export", "--to", "marks.csv"], folder)
    with (folder / "marks.csv").open(encoding="utf-8", newline="") as file:
        return [float(row["score"]) for row in csv.DictReader(file)]


def graded(marks: Path) -> list[float]:
    """Give every learner's points in the table of `attend grade`."""
    with marks.open(encoding="utf-8-sig", newline="") as file:
        return [float(row[EXERCISE]) for row in csv.DictReader(file)]


def table_of(figures: dict[str, Figures], n_notebooks: int) -> Table:
    """Show seconds, and how much slower each way is than the first."""
    table = Table(title=f"{n_notebooks} notebooks", title_justify="left", box=box.SIMPLE_HEAD)
    for heading in ("", "on the clock, s", "processor, s", "times the first"):
        table.add_column(heading, justify="left" if not heading else "right")
    first = next(iter(figures.values()))
    for name, each in figures.items():
        table.add_row(name, f"{each.wall:.1f}", f"{each.processor:.1f}", f"{each.processor / first.processor:.1f}")
    return table


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
