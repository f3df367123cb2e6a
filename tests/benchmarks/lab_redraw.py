"""What a move of a slider costs in a lab: computing the weights and drawing them, by table size.

    ./run python tests/benchmarks/lab_redraw.py [SOLUTIONS]

The bound is 100 ms for up to 16 positions. Beside it stands the same table drawn by matplotlib, at the same time on the
same machine, with its artists kept and only their numbers changed. With the folder of a softmax.py that one is used.
"""

import importlib.util
import io
import statistics
import sys
import time
import warnings
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from autograder.labs import library
from autograder.labs.explorer import AttentionState, Explorer

BOUND_MS = 100
MOVES = 40


def softmax_of(folder: str):
    spec = importlib.util.spec_from_file_location("softmax", Path(folder, "softmax.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.softmax


class MatplotlibTable:
    """The same heat map with numbers and bars, by matplotlib, made once and then changed."""

    def __init__(self, table):
        self.figure = Figure(figsize=(7, 8))
        axes, bars = self.figure.subplots(2, 1, height_ratios=[4, 1])
        self.mesh = axes.pcolormesh(table, cmap="cividis", vmin=0, vmax=1)
        self.texts = [axes.text(j + 0.5, i + 0.5, "") for i in range(len(table)) for j in range(len(table))]
        self.bars = bars.bar(range(len(table)), table[-1])

    def draw(self, table):
        self.mesh.set_array(table)
        for text, weight in zip(self.texts, table.flat, strict=True):
            text.set_text(f"{weight:.2f}")
        for bar, weight in zip(self.bars, table[-1], strict=True):
            bar.set_height(weight)
        with warnings.catch_warnings(), matplotlib.rc_context({"svg.fonttype": "none"}):
            self.figure.savefig(io.StringIO(), format="svg")


def milliseconds(call, arguments):
    """Give the median and the worst of the calls."""
    taken = []
    for argument in arguments:
        start = time.perf_counter()
        call(argument)
        taken.append(1000 * (time.perf_counter() - start))
    return statistics.median(taken), max(taken)


def measure(n, softmax):
    arrays = np.random.default_rng(0).normal(size=(3, n, 2))
    explorer = Explorer(AttentionState(*arrays, softmax, library.causal_mask), "en")
    slider = explorer.form().children[0].children[1]
    rival = MatplotlibTable(explorer.state.weights())
    temperatures = np.geomspace(0.1, 100, MOVES)

    def move(temperature):
        slider.value = temperature

    return milliseconds(move, temperatures), milliseconds(
        lambda _: rival.draw(explorer.state.weights()), temperatures[: MOVES // 4]
    )


def main():
    softmax = softmax_of(sys.argv[1]) if len(sys.argv) > 1 else library.softmax
    print(f" a move of the slider, ms   median    worst   by matplotlib   ratio\n {'─' * 63}")
    worst = 0.0
    for n in (4, 8, 16):
        (median, slowest), (rival, _) = measure(n, softmax)
        worst = max(worst, median)
        print(f"  {n:2d} positions            {median:8.1f} {slowest:8.1f} {rival:15.1f} {rival / median:7.1f}")
    print(f"the bound is {BOUND_MS} ms: {'kept' if worst < BOUND_MS else 'NOT kept'}")
    return 0 if worst < BOUND_MS else 1


if __name__ == "__main__":
    sys.exit(main())
