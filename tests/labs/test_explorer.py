"""The heat map with switches: what each of them changes, told by the weights that are drawn."""

import json
import re
from html import unescape

import numpy as np
import pytest

from autograder.labs.explorer import AttentionState, Explorer
from autograder.labs.library import causal_mask, softmax

QUERY = [[2.0, 0.0], [0.0, 2.0], [2.0, 2.0], [2.0, -1.0]]
KEY = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [-1.0, 1.0]]
VALUE = [[10.0, 0.0], [0.0, 20.0], [5.0, 5.0], [-10.0, 10.0]]


def explored(softmax=softmax, language="en", n=4):
    rng = np.random.default_rng(0)
    arrays = (QUERY, KEY, VALUE) if n == 4 else rng.normal(size=(3, n, 2))
    return Form(Explorer(AttentionState(*arrays, softmax, causal_mask), language))


class Form:
    """The widgets of a form, by what they do."""

    def __init__(self, explorer):
        switches, self.picture, self.output, self.editor = explorer.form().children
        self.causal, self.temperature = switches.children
        self.explorer = explorer

    def weights(self):
        return np.array(json.loads(unescape(re.search('data-weights="([^"]*)"', self.picture.value)[1])))

    def row_sums(self):
        return re.findall('attend-row-sum"[^>]*>([^<]*)<', self.picture.value)

    def cell(self, grid, i, j):
        self.editor.selected_index = "QKVM".index(grid)
        return self.editor.children["QKVM".index(grid)].children[0].children[i].children[j]


def expected(temperature=1.0, allowed=None, query=QUERY):
    scores = np.array(query) @ np.array(KEY).T / np.sqrt(2) / temperature
    scores = np.where(np.tri(4, dtype=bool) if allowed is None else allowed, scores, -np.inf)
    exponentials = np.exp(scores)
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def test_it_begins_with_the_causal_mask_at_temperature_one():
    form = explored()

    np.testing.assert_allclose(form.weights(), expected(), atol=1e-4)
    assert form.row_sums() == ["1"] * 4
    assert form.output.value == "Output of the last query: [7.414, 3.139]"


@pytest.mark.parametrize("temperature", [0.1, 3.0, 100.0])
def test_the_temperature_moves_every_row_but_the_first(temperature):
    form = explored()
    form.temperature.value = temperature

    np.testing.assert_allclose(form.weights(), expected(temperature), atol=1e-4)
    assert form.weights()[0].tolist() == [1, 0, 0, 0]
    assert form.row_sums() == ["1"] * 4


def test_the_mask_goes_off_and_on():
    form = explored()
    form.causal.value = False
    np.testing.assert_allclose(form.weights(), expected(allowed=np.ones((4, 4))), atol=1e-4)
    assert "attend-blocked)" not in form.picture.value

    form.causal.value = True
    np.testing.assert_allclose(form.weights(), expected(), atol=1e-4)


@pytest.mark.parametrize("grid", "QKV")
def test_every_number_can_be_edited(grid):
    form = explored()
    cell = form.cell(grid, 3, 0)
    before = form.weights(), form.output.value
    cell.value = cell.value + 1.0

    moved = not np.allclose(form.weights(), before[0])
    assert moved == (grid != "V"), "values have no part in the weights"
    assert form.output.value != before[1]


def test_an_edited_number_gives_the_weights_of_that_number():
    form = explored()
    form.cell("Q", 3, 1).value = 4.0

    np.testing.assert_allclose(form.weights(), expected(query=[*QUERY[:3], [2.0, 4.0]]), atol=1e-4)


def test_a_cell_of_the_mask_can_be_blocked_and_an_empty_row_is_zeros():
    form = explored()
    blocked = [form.cell("M", 3, j) for j in range(4)]
    assert [box.description for box in blocked] == ["✓"] * 4
    for box in blocked:
        box.value = False

    assert form.weights()[3].tolist() == [0, 0, 0, 0]
    assert form.row_sums() == ["1", "1", "1", "0"]
    assert form.output.value == "Output of the last query: [0, 0]"
    assert blocked[0].description == "×"


def test_the_switch_takes_the_cells_of_the_mask_with_it():
    form = explored()
    cell = form.cell("M", 0, 3)
    assert (cell.value, cell.description) == (False, "×")

    form.causal.value = False

    assert (cell.value, cell.description) == (True, "✓")
    np.testing.assert_allclose(form.weights(), expected(allowed=np.ones((4, 4))), atol=1e-4)


def test_what_ones_own_softmax_raises_is_said_in_place_of_the_picture_and_mended_by_the_next_move():
    def moody(scores, temperature=1.0):
        if temperature > 2:
            raise ValueError("too <warm>")
        return softmax(scores, temperature=temperature)

    form = explored(moody)
    form.temperature.value = 10.0
    assert "softmax raised ValueError: too &lt;warm&gt;" in form.picture.value

    form.temperature.value = 1.0
    np.testing.assert_allclose(form.weights(), expected(), atol=1e-4)


def test_sixteen_positions_have_all_their_cells():
    form = explored(n=16)
    form.cell("M", 15, 15).value = False

    assert form.weights().shape == (16, 16)
    assert form.weights()[15, 15] == 0
    assert form.row_sums() == ["1"] * 16


def test_the_form_speaks_the_language_of_the_notebook():
    form = explored(language="zh")

    assert (form.causal.description, form.temperature.description) == ("因果遮罩", "温度")
    assert form.output.value == "最后一个查询的输出：[7.414, 3.139]"
    assert form.editor.titles == ("Q", "K", "V", "遮罩")


def test_a_front_end_without_widgets_gets_the_picture_and_its_words():
    bundle = explored().explorer._repr_mimebundle_()

    assert bundle["text/plain"].splitlines()[3] == "Query 3: 0.61 0.07 0.30 0.02; row sum 1"
    assert bundle["text/html"].startswith("<svg")
