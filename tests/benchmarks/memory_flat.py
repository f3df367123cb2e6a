"""Whether memory stays flat: `./run python tests/benchmarks/memory_flat.py [--quick]`.

100, 1,000 and 2,000 submissions are graded, each number by an `attend grade` of its own on all cores. What is asked is
what the grader itself keeps of a class, so the course is the smallest there is, and each submission is as large as all
modules of the real course are together. Nobody's module is like another's. With --quick a tenth of each number shows
the way it goes, not the bounds.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from processes import Figures, measured
from rich import box
from rich.console import Console
from rich.table import Table

SIZES = (100, 1000, 2000)
SUBMISSION_BYTES = 27_000
# 100 MB, told in the MiB of the table.
MOST_MORE = 100e6 / 2**20
MOST_TIMES = 10.5
LOOK_SECONDS = 0.5
COURSE = Path(__file__).parents[1] / "data" / "double"
ATTEND = [sys.executable, "-c", "from autograder.cli import main; main()"]


def main(sizes: tuple[int, ...]) -> None:
    """Measure and print."""
    with TemporaryDirectory() as folder:
        runs = {size: graded(Path(folder, str(size)), size) for size in sizes}
    console = Console(highlight=False)
    console.print(table_of(runs))
    small, middle, large = runs.values()
    more = max(large.largest - small.largest, large.together - small.together)
    console.print(f"{sizes[2]} take {more:+.0f} MiB beside {sizes[0]} (the bound is {MOST_MORE:.0f} MiB more)")
    console.print(
        f"{sizes[1]} take {middle.wall / small.wall:.1f} times the time of {sizes[0]} (the bound is {MOST_TIMES})"
    )


def graded(folder: Path, count: int) -> Figures:
    """Grade a class of so many, and end when one of them was not graded."""
    print(f"{count} submissions", file=sys.stderr)
    source = (COURSE / "solutions" / "double.py").read_text(encoding="utf-8")
    for number in range(count):
        (folder / "class" / f"learner-{number}").mkdir(parents=True)
        (folder / "class" / f"learner-{number}" / "double.py").write_text(source + filling(number), encoding="utf-8")
    command = [*ATTEND, "grade", str(folder / "class"), "--out", str(folder / "grades"), "--course", str(COURSE)]
    figures = measured(command, folder, look_seconds=LOOK_SECONDS)
    reports = len(list((folder / "grades" / "reports").glob("*.json")))
    shutil.rmtree(folder)
    if reports != count:
        sys.exit(f"{reports} reports of {count} submissions")
    return figures


def filling(number: int) -> str:
    """Give comments, as many bytes as are missing, that no other number gives."""
    line = f"# a line of submission {number}\n"
    return "\n" + line * (SUBMISSION_BYTES // len(line))


def table_of(runs: dict[int, Figures]) -> Table:
    """Give a row for each size; each cost is that of a submission more than in the row before."""
    table = Table(box=box.SIMPLE_HEAD)
    for title in (
        "submissions",
        "largest process, MiB",
        "all together, MiB",
        "clock, s",
        "processor, s",
        "ms for one more",
    ):
        table.add_column(title, justify="right", max_width=12)
    before: tuple[int, Figures] | None = None
    for size, run in runs.items():
        one = f"{1000 * (run.processor - before[1].processor) / (size - before[0]):.0f}" if before else ""
        memory = f"{run.largest:,.0f}", f"{run.together:,.0f}"
        table.add_row(f"{size:,}", *memory, f"{run.wall:.1f}", f"{run.processor:.1f}", one)
        before = size, run
    return table


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Measure whether memory stays flat and time grows with the number.")
    parser.add_argument("--quick", action="store_true", help="a tenth of each size")
    main(tuple(size // 10 for size in SIZES) if parser.parse_args().quick else SIZES)
