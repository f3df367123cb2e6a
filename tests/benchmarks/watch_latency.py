"""How long an answer takes after a save: `./run python tests/benchmarks/watch_latency.py [REPEATS]` (default 10).

`attend check --watch` runs in a pseudo-terminal on copies of the solutions. Softmax and attention are saved in turn,
right and with a mistake in them, and the seconds from the save to the last line of the answer are taken. Two figures
stand beside them, since other work on the machine slows everything: the seconds that the program says the check itself
took, and a bare `import torch` at the same time. The bounds are 0.3 s for NumPy and 0.5 s for PyTorch exercises.
"""

from __future__ import annotations

import argparse
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from processes import positive
from rich import box
from rich.console import Console
from rich.table import Table

from autograder.course import find_course, load_course

CHECK = "from autograder.cli import main; main()"
WAIT = 300.0
# Families are asked ahead while nothing is saved.
IDLE = 20.0
MENU = b"q quit"
TOOK = re.compile(rb"\d\d:\d\d:\d\d  ([\d.]+) s")
# Exercise, the line of the solution to change, what to make of it, and the bound.
EDITS = (
    ("softmax", "np.exp(", "np.exp(0.5 * ", 0.3),
    ("attention", "blocked = ~allowed", "blocked = allowed", 0.5),
)


def main() -> None:
    """Measure and print; the status is 1 where a bound is not kept."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("repeats", nargs="?", type=positive, default=10, metavar="REPEATS")
    repeats = parser.parse_args().repeats
    course = load_course(find_course())
    rows: list[tuple[str, float, float, float]] = []
    imports: list[float] = []
    for exercise, old, new, bound in EDITS:
        with tempfile.TemporaryDirectory() as name:
            module = Path(name, f"{exercise}.py")
            right = course.solution_of(course.exercise(exercise)).read_text(encoding="utf-8")
            shutil.copy(course.solution_of(course.exercise(exercise)), module)
            with Watched(["--in", name, "--course", str(course.root), exercise]) as watched:
                time.sleep(IDLE)
                answers: dict[str, list[tuple[float, float]]] = {"right": [], "wrong": []}
                for number in range(repeats):
                    for kind, text in (("wrong", right.replace(old, new, 1)), ("right", right)):
                        answers[kind].append(watched.answer_to(module, f"{text}\n# {number}\n"))
                    imports.append(import_seconds())
        for kind, pairs in answers.items():
            waits, checks = zip(*pairs, strict=True)
            rows.append((f"{exercise}, {kind}", median(waits), median(checks), bound))
    show(rows, median(imports), repeats)


class Watched:
    """A watching program in a terminal of its own."""

    def __init__(self, arguments: list[str]) -> None:
        self._terminal, inside = pty.openpty()
        command = [sys.executable, "-c", CHECK, "check", "--watch", *arguments]
        environment = os.environ | {"NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "100"}
        self._program = subprocess.Popen(
            command, stdin=inside, stdout=inside, stderr=inside, env=environment, start_new_session=True
        )
        os.close(inside)

    def __enter__(self) -> Watched:
        self._read()
        return self

    def __exit__(self, *_: object) -> None:
        os.write(self._terminal, b"q")
        self._program.wait(WAIT)
        os.close(self._terminal)

    def answer_to(self, module: Path, text: str) -> tuple[float, float]:
        """Save a module; give the seconds until all of the answer is there, and those that the check took of them."""
        started = time.perf_counter()
        module.write_text(text, encoding="utf-8")
        answer = self._read()
        waited = time.perf_counter() - started
        took = TOOK.search(answer)
        if took is None:
            sys.exit(f"no check was shown: {answer.decode()}")
        return waited, float(took[1])

    def _read(self) -> bytes:
        """Read up to the line that names the keys."""
        printed = b""
        deadline = time.monotonic() + WAIT
        while MENU not in printed:
            if not select.select([self._terminal], [], [], max(deadline - time.monotonic(), 0))[0]:
                sys.exit(f"no answer within {WAIT:g} s: {printed.decode()}")
            printed += os.read(self._terminal, 1 << 16)
        return printed


def import_seconds() -> float:
    """Give how long a bare import of torch takes on the clock now."""
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", "import torch"], check=True)
    return time.perf_counter() - started


def show(rows: list[tuple[str, float, float, float]], importing: float, repeats: int) -> None:
    """Print the medians, and beside them what share of an import of torch each is."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column(f"on the clock, median of {repeats}")
    for heading in ("save to answer", "of it the check", "bound", "x import"):
        table.add_column(heading, justify="right")
    for what, waited, checked, bound in rows:
        table.add_row(what, f"{waited:.2f} s", f"{checked:.2f} s", f"{bound:g} s", f"{waited / importing:.2f}")
    Console(width=100).print(table)
    print(f"a bare import of torch at the same time: {importing:.2f} s")
    sys.exit(0 if all(waited <= bound for _, waited, _, bound in rows) else 1)


if __name__ == "__main__":
    main()
