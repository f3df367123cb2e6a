"""The heat map: what is drawn where, and the words that stand for it."""

import json
from html import unescape
from xml.etree import ElementTree

import numpy as np
import pytest

from autograder.labs.heat_map import draw_heat_map

SVG = "{http://www.w3.org/2000/svg}"
CAUSAL = [[1.0, 0.0], [0.25, 0.75]]
ALLOWED = [[True, False], [True, True]]


def drawn(*arguments, **options):
    return ElementTree.fromstring(draw_heat_map(*arguments, **options).svg)


def texts(svg):
    return [text.text for text in svg.iter(f"{SVG}text")]


def cells(svg):
    """Give the fill of each cell, row by row."""
    return [rect.get("fill") for rect in svg.iter(f"{SVG}rect") if rect.get("stroke") == "#fff"]


@pytest.mark.parametrize(
    ("language", "axes", "sums"), [("en", ["Key →", "← Query"], "row sum"), ("zh", ["Key →", "← 查询"], "行和")]
)
def test_axes_are_named_and_row_sums_stand_at_the_edge(language, axes, sums):
    svg = drawn([[0.5, 0.25], [0.25, 0.75]], language)

    assert texts(svg)[1:3] == axes
    assert sums in texts(svg)
    assert [text.text for text in svg.iter(f"{SVG}text") if text.get("class") == "attend-row-sum"] == ["0.75", "1"]


def test_the_words_say_every_weight_and_what_could_not_be_read():
    assert draw_heat_map(CAUSAL, "en", allowed=ALLOWED, title="Causal").words == (
        "Causal\nQuery 0: 1 ×; row sum 1\nQuery 1: 0.25 0.75; row sum 1"
    )
    assert draw_heat_map(CAUSAL, "zh").words == "查询 0：1 0；行和 1\n查询 1：0.25 0.75；行和 1"


def test_the_drawn_numbers_can_be_read_by_a_program_and_by_a_screen_reader():
    svg = drawn(CAUSAL, "en", allowed=ALLOWED)

    assert json.loads(unescape(svg.get("data-weights"))) == CAUSAL
    assert svg.get("role") == "img"
    assert svg.get("aria-label") == "Query 0: 1 ×; row sum 1 Query 1: 0.25 0.75; row sum 1"


def test_a_hidden_key_is_hatched_and_a_readable_key_without_weight_is_not():
    hidden = cells(drawn(CAUSAL, "en", allowed=ALLOWED))
    read = cells(drawn(CAUSAL, "en"))

    assert hidden[1] == "url(#attend-blocked)"
    assert read[1] == "#00224d"
    assert [hidden[0], *hidden[2:]] == [read[0], *read[2:]]


def test_weight_on_a_hidden_key_is_shown_all_the_same():
    svg = drawn([[0.9, 0.1]], "en", allowed=[[True, False]])

    assert "0.10" in texts(svg)
    assert cells(svg)[1] != "url(#attend-blocked)"


def test_more_weight_is_lighter_as_cividis_has_it():
    fills = cells(drawn([[0.0, 0.25, 0.5, 0.75, 1.0]], "en"))
    lightness = [sum(int(fill[at : at + 2], 16) for at in (1, 3, 5)) for fill in fills]

    assert (fills[0], fills[-1]) == ("#00224d", "#fde737")
    assert lightness == sorted(lightness)
    assert len(set(lightness)) == 5


def test_the_bars_are_the_last_row():
    svg = drawn([[1.0, 0.0], [0.25, 0.75]], "en", bars=True)
    heights = [float(rect.get("height")) for rect in svg.iter(f"{SVG}rect") if rect.get("class") == "attend-bar"]

    assert heights[1] == pytest.approx(3 * heights[0], abs=0.3)
    assert texts(svg)[-4:] == ["0.25", "0", "0.75", "1"], "each bar has its weight above and its key below"


def test_nan_is_shown_as_nan_and_breaks_nothing():
    svg = drawn([[np.nan, np.nan]], "en", bars=True)

    assert texts(svg).count("NaN") == 5
    assert cells(svg) == ["#ffffff", "#ffffff"]


def test_a_row_of_float32_that_adds_up_to_one_shows_one():
    row = np.array([[0.1, 0.2, 0.3, 0.4]], dtype=np.float32) * np.float32(0.9999999)

    assert draw_heat_map(row, "en").words.endswith("row sum 1")


@pytest.mark.parametrize(("n", "numbers"), [(16, True), (17, False), (64, False)])
def test_large_tables_have_colours_only(n, numbers):
    table = np.full((n, n), 1 / n)
    svg = drawn(table, "en")

    assert len(cells(svg)) == n * n
    assert (f"{1 / n:.2f}" in texts(svg)) is numbers


def test_tokens_can_name_rows_and_columns_whatever_is_in_them():
    svg = drawn([[1.0]], "en", queries=["<s>"], keys=["&"], title="a < b")

    assert {"<s>", "&", "a < b"} <= set(texts(svg))


def test_a_long_title_has_room():
    narrow, wide = (
        drawn([[1.0]], "en", title=title) for title in ("", "scaled_dot_product_attention(attn_mask=allowed)")
    )

    assert int(wide.get("width")) > int(narrow.get("width"))
    assert int(wide.get("width")) >= 47 * 7.5


def test_no_text_needs_a_font_that_has_to_be_installed():
    svg = draw_heat_map(CAUSAL, "zh").svg

    assert "查询" in svg
    assert "sans-serif" in svg
    assert "@font-face" not in svg
