"""The charts: their words, and SVG that needs no font and changes no setting."""

from itertools import pairwise
from xml.etree import ElementTree

import matplotlib
import pytest

from autograder.labs import drawings
from autograder.labs.charts import draw_bars, draw_lines
from autograder.labs.cost import Cost

COSTS = [Cost(1024, 1024**2, 4 * 1024**2, 0.002), Cost(4096, 4096**2, 4 * 4096**2, 0.05)]


def test_a_chart_says_its_numbers_in_words():
    assert drawings.costs(COSTS, language="en").words.splitlines() == [
        "The time need not follow the entries",
        "entries of the scores over T: 1,024: 1,048,576, 4,096: 16,777,216",
        "bytes of the largest tensor over T: 1,024: 4,194,304, 4,096: 67,108,864",
        "time in microseconds over T: 1,024: 2,000, 4,096: 50,000",
    ]
    assert drawings.effects("01", [0.9, 0.1], {"delete": [0.0, 2.0]}, language="zh").words.splitlines() == [
        "权重：token 0: 0.9, token 1: 0.1",
        "删除时的移动：token 0: 0, token 1: 2",
    ]


def test_text_stays_text_so_that_the_readers_own_font_shows_chinese(recwarn):
    svg = ElementTree.fromstring(drawings.costs(COSTS, language="zh").svg)
    texts = ["".join(text.itertext()) for text in svg.iter("{http://www.w3.org/2000/svg}text")]

    assert {"时间不一定跟着元素走", "分数矩阵的元素", "1,024", "4,096", "T"} <= set(texts)
    assert list(recwarn) == []


def test_both_axes_of_the_costs_are_logarithmic():
    straight = [Cost(2**n, 4**n, 4 * 4**n, 1e-9 * 4**n) for n in range(8, 13)]
    svg = ElementTree.fromstring(drawings.costs(straight, language="en").svg)
    lines = [
        path.get("d") for path in svg.iter("{http://www.w3.org/2000/svg}path") if (path.get("d") or "").count("L") == 4
    ]
    points = [tuple(map(float, step.split())) for step in lines[0].replace("M", "").split("L")]
    slopes = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in pairwise(points)]

    assert slopes == pytest.approx([slopes[0]] * 4, rel=1e-3), "a power of T is a straight line"


def test_drawing_leaves_the_settings_of_the_notebook_alone():
    before = dict(matplotlib.rcParams)
    draw_bars(["a"], {"one": [1.0]}, y_label="", language="en")

    assert dict(matplotlib.rcParams) == before


def test_the_same_numbers_make_the_same_bytes():
    def drawn():
        return draw_lines([1, 2], {"a": [1, 2]}, x_label="x", y_label="y", language="en", log_x=True).svg

    assert drawn() == drawn()
    assert "matplotlib" not in drawn().partition("<defs>")[0].lower()


def test_names_cannot_bring_markup_of_their_own():
    assert "<script>" not in draw_bars(["<script>"], {"<script>": [1.0]}, y_label="", language="en").svg
