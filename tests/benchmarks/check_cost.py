"""What a check from the shell costs: `./run python tests/benchmarks/check_cost.py [REPEATS]` (default 5).

`attend check softmax` and `attend check attention` are run in a folder as learners have it, with public tests and
without suites, and on a copy of the solutions with the hidden suites, as an instructor or someone studying alone has
them. They take turns with a bare `import torch`, since other work on the machine slows all of them alike. A process is
measured after its end, with all its children: pytest, the fork server, the learner's processes. Medians are printed.

The learner's attention is the formula and no more; the solution's, which looks at its arguments too, has a row of its
own.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from pathlib import Path
from statistics import median

from processes import measured, positive
from rich import box
from rich.console import Console
from rich.table import Table

from autograder.course import Course, find_course, load_course

CHECK = "from autograder.cli import main; main()"
MOST_SECONDS = 0.8
MOST_IMPORTS = 1.3
IMPORT = "import torch"
SOFTMAX, ATTENTION = "a learner's check softmax", "a learner's check attention"
FORMULA = """
import math
import torch

def attention(query, key, value, allowed=None):
    if allowed is not None and allowed.dtype != torch.bool:
        raise TypeError("allowed must be boolean")
    if query.shape[-1] != key.shape[-1] or key.shape[-2] != value.shape[-2]:
        raise ValueError("query and key, or key and value, do not fit")
    scores = query / math.sqrt(query.shape[-1]) @ key.transpose(-2, -1)
    if allowed is not None:
        scores = scores.masked_fill(~allowed, -math.inf)
    weights = torch.softmax(scores, dim=-1)
    if allowed is not None:
        weights = weights.masked_fill(~allowed, 0.0)
    return weights @ value, weights
"""


def main() -> None:
    """Measure and print; the status is 1 where a bound is not kept."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("repeats", nargs="?", type=positive, default=5, metavar="REPEATS")
    repeats = parser.parse_args().repeats
    course = load_course(find_course())
    with tempfile.TemporaryDirectory() as name:
        # As it is where somebody works every day: what Python compiled is there from the second time on.
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        os.environ["PYTHONPYCACHEPREFIX"] = str(Path(name, "compiled"))
        folder = Path(name)
        commands = prepared(course, folder)
        for command in commands.values():
            measured(command, folder)
        seconds: dict[str, list[float]] = {what: [] for what in commands}
        for _ in range(repeats):
            for what, command in commands.items():
                seconds[what].append(measured(command, folder).processor)
    show({what: median(times) for what, times in seconds.items()}, repeats)


def prepared(course: Course, folder: Path) -> dict[str, list[str]]:
    """Lay out the folders to check, and give the commands by what they measure."""
    learner, own, with_solution = folder / "learner", folder / "own", folder / "with_solution"
    for bundle in (learner, with_solution):
        shutil.copytree(course.paths.exercises, bundle)
        text = (course.root / "course.toml").read_text(encoding="utf-8")
        (bundle / "course.toml").write_text(text.replace('exercises = "exercises"', 'exercises = "."'), "utf-8")
    own.mkdir()
    for exercise in course.exercises:
        for copy in (learner, own, with_solution):
            shutil.copy(course.solution_of(exercise), copy)
    (learner / "attention.py").write_text(FORMULA, encoding="utf-8")

    def check(what: str, where: Path, root: Path) -> list[str]:
        return [sys.executable, "-c", CHECK, "check", what, "--in", str(where), "--course", str(root)]

    return {
        IMPORT: [sys.executable, "-c", IMPORT],
        SOFTMAX: check("softmax", learner, learner),
        ATTENTION: check("attention", learner, learner),
        "  with the attention of the solution": check("attention", with_solution, with_solution),
        "check softmax with the suite": check("softmax", own, course.root),
        "check attention with the suite": check("attention", own, course.root),
    }


def show(seconds: dict[str, float], repeats: int) -> None:
    """Print the medians, and beside them how many imports of torch each is."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column(f"processor time, median of {repeats}")
    for heading in ("seconds", "x import"):
        table.add_column(heading, justify="right")
    for what, value in seconds.items():
        table.add_row(what, f"{value:.2f}", f"{value / seconds[IMPORT]:.2f}")
    Console(width=100).print(table)
    softmax, attention = seconds[SOFTMAX], seconds[ATTENTION] / seconds[IMPORT]
    print(f"softmax: {softmax:.2f} s, the bound is {MOST_SECONDS:g} s")
    print(f"attention: {attention:.2f} imports, the bound is {MOST_IMPORTS:g}")
    sys.exit(0 if softmax <= MOST_SECONDS and attention <= MOST_IMPORTS else 1)


if __name__ == "__main__":
    main()
