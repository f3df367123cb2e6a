"""Every notebook is run from top to bottom: in English on right modules, in Chinese on untouched stubs.

Predictions are given in the documented plain way, a cell with `lab.predict(...)` after each question.
"""

import asyncio
import json
import os
import re
from html import unescape

import nbformat
import numpy as np
import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell

from autograder.labs.fallbacks import FALLBACKS

from .conftest import REPOSITORY, learners_folder

AT_ONCE = 2
ASKED = re.compile(r'lab\.(choose|number|draw_row)\(\s*"(\w+)"(?:, keys=(\d+))?')
# What is predicted where nothing else is given here: wrong nearly everywhere, so that something is missed.
USUAL = {"choose": "a", "number": 0.5, "draw_row": None}
RIGHT = {"first_row_warm": "b", "entries": 16, "naive": "b", "most": "d", "latency": "c", "roles": "b"}
MODULES = {"en": "solutions", "zh": "exercises"}

each_language = pytest.mark.parametrize("language", ["en", "zh"])


class Run:
    """A notebook that was run: what each of its cells shows."""

    def __init__(self, notebook):
        self._cells = [cell for cell in notebook.cells if cell.cell_type == "code"]

    def text(self):
        return "\n".join(self._plain(output) for cell in self._cells for output in cell.outputs)

    def pictures(self):
        """Give the weights of each heat map, in order."""
        html = "\n".join(o.data.get("text/html", "") for c in self._cells for o in c.outputs if "data" in o)
        return [np.array(json.loads(unescape(found))) for found in re.findall(r'data-weights="([^"]*)"', html)]

    def _plain(self, output):
        assert output.output_type != "error", output.get("evalue")
        return output.text if output.output_type == "stream" else output.data["text/plain"]


def predicting(notebook):
    """Put a prediction after each question, as a reader without widgets types it."""
    cells = []
    for cell in notebook.cells:
        cells.append(cell)
        for kind, name, keys in ASKED.findall(cell.source if cell.cell_type == "code" else ""):
            value = RIGHT.get(name, USUAL[kind] if kind != "draw_row" else [1 / int(keys)] * int(keys))
            cells.append(new_code_cell(f'lab.predict("{name}", {value!r})'))
    notebook.cells = cells
    return notebook


async def run_all(paths):
    gate = asyncio.Semaphore(AT_ONCE)

    async def run(path):
        async with gate:
            notebook = predicting(nbformat.read(path, 4))
            client = NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(path.parent)}})
            await client.async_execute()
            return Run(notebook)

    return await asyncio.gather(*(run(path) for path in paths))


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Run each notebook in a kernel of its own, in a folder as a learner has it."""
    paths = {}
    for language, modules in MODULES.items():
        labs = learners_folder(tmp_path_factory.mktemp("learner") / "exercises", modules) / "labs"
        paths |= {(language, path.stem): path for path in sorted((labs / language).glob("*.ipynb"))}
    before = os.environ.copy()
    # Kernels find the program where this one does.
    os.environ["PYTHONPATH"] = os.pathsep.join([str(REPOSITORY), before.get("PYTHONPATH", "")])
    try:
        return dict(zip(paths, asyncio.run(run_all(paths.values())), strict=True))
    finally:
        os.environ.clear()
        os.environ.update(before)


def test_all_of_them_ran_to_the_end_in_both_languages(runs):
    assert sorted(runs) == sorted((language, name) for language in MODULES for name in {name for _, name in runs})
    assert len(runs) == 22
    for (language, name), run in runs.items():
        assert len(run.text()) > 300, f"{language} {name}"


def test_own_modules_are_used_where_they_pass_and_library_calls_where_they_do_not_yet(runs):
    for (language, name), run in runs.items():
        own, spare = ("Using your ", "a library's") if language == "en" else ("用的是你自己写的", "暂用库函数")
        expected = name != "11_self_test"
        assert (own in run.text()) == (expected and language == "en"), name
        assert (spare in run.text()) == (expected and language == "zh"), name


@each_language
def test_the_row_of_the_tutorial(runs, language):
    text = runs[language, "01_one_row"].text()

    assert "['0.670', '0.330']" in text
    assert "['6.70', '6.60']" in text
    # The first value is 100: the weights stay, the output does not.
    assert re.search(r"\[0\.67 0\.33\] .*\[0\.67 0\.33\]", text)
    assert re.search(r"\[6\.7 6\.6\] .*\[66\.98  ?6\.6 \]", text)


@each_language
def test_the_first_causal_row_at_any_temperature(runs, language):
    run = runs[language, "02_causal_heat_map"]

    for temperature in ("0.01", "1", "10", "1000"):
        assert re.search(rf"(temperature|温度) {temperature}\D.*\[1\. 0\. 0\. 0\.\]", run.text())
    cold, warm, off, explored = run.pictures()
    assert cold[0].tolist() == warm[0].tolist() == [1, 0, 0, 0]
    assert np.ptp(warm[-1]) < np.ptp(cold[-1])
    assert np.triu(warm, 1).sum() == 0, "no temperature leaks to the future"
    np.testing.assert_allclose(off.sum(axis=-1), 1, atol=1e-3)
    np.testing.assert_array_equal(explored, cold)


@each_language
def test_what_is_added_to_every_score_cancels_and_a_bias_does_not(runs, language):
    text = runs[language, "03_adding_to_scores"].text()

    assert text.count("[0.6089 0.073  0.3003 0.0178]") == 3, "before, with 10 more, and with 100 more in float32"
    assert "[nan nan nan nan]" in text
    assert "2.718" in text


@each_language
def test_variance_grows_with_the_width_and_scaling_takes_it_back(runs, language):
    text = runs[language, "04_square_root_of_d_k"].text()
    rows = re.findall(r"d_k +(\d+) +\S+ +([\d.]+) .*?([\d.]+)$", text, re.MULTILINE)

    assert [int(width) for width, _, _ in rows] == [1, 4, 16, 64, 256, 1024]
    for width, raw, scaled in rows:
        assert float(raw) == pytest.approx(int(width), rel=0.12)
        assert float(scaled) == pytest.approx(1, rel=0.12)


@each_language
def test_rows_add_up_to_less_than_one_when_zeroed_afterwards(runs, language):
    run = runs[language, "05_zeroing_after"]

    assert "[0.434 0.383 0.962 1.   ]" in run.text()
    (zeroed,) = run.pictures()
    assert (zeroed.sum(axis=-1)[:3] < 0.97).all()
    assert zeroed.sum(axis=-1)[3] == pytest.approx(1, abs=1e-3)


@each_language
def test_the_turned_mask_reads_only_what_it_must_not(runs, language):
    run = runs[language, "06_two_conventions"]
    right, turned = run.pictures()

    assert np.triu(right, 1).sum() == 0
    assert np.tril(turned[:3]).sum() == 0
    assert turned[1].tolist() == [0, 0, 0.5, 0.5]
    assert np.isnan(turned[3]).all()
    assert "[-2 -2 -2 -1]" in run.text()


@each_language
def test_heads_share_the_width_and_have_no_order(runs, language):
    text = runs[language, "07_heads"].text()

    assert text.count("1,050,624") == 2
    assert re.search(r"512 = 8 \S+( \S+)? 64", text)
    assert "(1, 8, 6, 6)" in text
    assert re.search(r"\d\.\de-0[67]", text), "the outputs with swapped heads differ by rounding alone"


@each_language
def test_four_times_the_length_is_sixteen_times_the_entries(runs, language):
    text = runs[language, "08_what_it_costs"].text()

    assert re.search(r"16,777,216.*\b16 (times|倍)", text)
    assert re.search(r"(entries|元素) × 16", text)
    assert "64.00 MiB" in text, "the matrix of 4,096 tokens was made and measured"
    seconds = [float(found) for found in re.findall(r"MiB +([\d.]+) ms", text)]
    assert len(seconds) == 5
    assert min(seconds) > 0


def test_tiles_give_the_same_numbers_with_less_memory(runs):
    text = runs["en", "09_tiles"].text()
    differences = [float(found) for found in re.findall(r"largest difference (\S+)", text)]

    assert len(differences) == 4
    assert max(differences) < 1e-6
    assert "64: 0.5, 128: 1, 512: 4, 2048: 16, full matrix: 16" in text
    assert "7.4133" in text
    assert "6.5459" in text


@each_language
def test_the_largest_weight_has_no_effect_and_the_smallest_the_largest(runs, language):
    text = runs[language, "10_weight_and_effect"].text()

    assert "token 0: 0.6, token 1: 0.25, token 2: 0.1, token 3: 0.05" in text
    assert "token 0: 0, token 1: 0.133, token 2: 0.222, token 3: 0.316" in text
    assert "token 0: 1.2, token 1: 0.6, token 2: 0.4, token 3: 0.2" in text


@pytest.mark.parametrize(
    ("language", "name", "sentence"),
    [
        ("en", "01_one_row", "You drew [0.5, 0.5]; the row is [0.67, 0.33]."),
        ("en", "01_one_row", "You predicted (a) The weights, and with them the output."),
        ("en", "02_causal_heat_map", "You predicted (b) It stays [1, 0, 0, 0], and so it is."),
        ("en", "08_what_it_costs", "You predicted 16; it is 16. That is right."),
        ("en", "10_weight_and_effect", "You predicted (d) Token 3, weight 0.05, and so it is."),
        ("zh", "01_one_row", "你画的是 [0.5, 0.5]，这一行实际是 [0.67, 0.33]。"),
        ("zh", "02_causal_heat_map", "你预测的是（b）还是 [1, 0, 0, 0]，果然如此。"),
        ("zh", "08_what_it_costs", "你预测 0.5，结果是 64，是你猜的 128 倍。"),
    ],
)
def test_what_a_prediction_missed_follows_from_it(runs, language, name, sentence):
    assert sentence in runs[language, name].text()


@pytest.mark.parametrize(("language", "score"), [("en", "6 right of 16"), ("zh", "对了 6 题")])
def test_the_self_test_counts(runs, language, score):
    assert score in runs[language, "11_self_test"].text()


@each_language
@pytest.mark.parametrize(
    ("name", "pictures"),
    [
        ("01_one_row", ["one_row"]),
        ("02_causal_heat_map", ["causal", "causal_warm", "causal_off"]),
        ("05_zeroing_after", ["zeroed"]),
        ("06_two_conventions", [None, "turned_round"]),
        ("07_heads", ["head_0", "head_5"]),
    ],
)
def test_the_heat_maps_in_the_text_are_those_of_the_run(runs, language, name, pictures):
    for picture, drawn in zip(pictures, runs[language, name].pictures(), strict=False):
        if picture is not None:
            svg = FALLBACKS[picture](language).svg
            shown = np.array(json.loads(unescape(re.search(r'data-weights="([^"]*)"', svg)[1])))
            np.testing.assert_allclose(drawn, shown, atol=2e-4)


@pytest.mark.parametrize(
    ("name", "picture"),
    [
        ("03_adding_to_scores", "bias"),
        ("04_square_root_of_d_k", "saturation"),
        ("07_heads", "heads"),
        ("09_tiles", "tiles"),
        ("10_weight_and_effect", "effects"),
    ],
)
def test_the_charts_in_the_text_are_those_of_the_run(runs, name, picture):
    assert FALLBACKS[picture]("en").words in runs["en", name].text()
