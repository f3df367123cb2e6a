"""JupyterLab itself, in a browser: a prediction is given, a lab is run, switches are moved, the numbers follow.

What is asserted are the numbers that stand in the page.
"""

import json
import os
import re
import shutil
import subprocess
import time

import numpy as np
import pytest
from playwright.sync_api import expect, sync_playwright

from autograder.labs.server import command

from ..running_jupyter import FREE_PORT, address_once_it_answers
from .conftest import REPOSITORY, learners_folder

TOKEN = "let-me-in"
SECONDS = 120
expect.set_options(timeout=SECONDS * 1000)

QUERY = np.array([[2.0, 0.0], [0.0, 2.0], [2.0, 2.0], [2.0, -1.0]])
KEY = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [-1.0, 1.0]])


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """Give the address of a JupyterLab of our own, with settings of its own, on a learner's folder."""
    folder = tmp_path_factory.mktemp("jupyterlab")
    options = ["--no-browser", "--allow-root", FREE_PORT]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(REPOSITORY), os.environ.get("PYTHONPATH", "")]),
        **{f"JUPYTER_{name}_DIR": str(folder / name) for name in ("CONFIG", "DATA", "RUNTIME")},
        "IPYTHONDIR": str(folder / "ipython"),
    }
    started = command(learners_folder(folder / "exercises"), "en", [*options, f"--IdentityProvider.token={TOKEN}"])
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(started, env=environment, stdout=log, stderr=log)
    try:
        yield address_once_it_answers(process, folder / "RUNTIME", TOKEN, folder / "log")
    finally:
        process.terminate()
        process.wait(30)


@pytest.fixture(scope="module")
def browser():
    executable = shutil.which("chromium") or shutil.which("chromium-browser")
    if executable is None:
        pytest.fail(
            "these tests look at JupyterLab in Chromium; install it (on Debian and Ubuntu: apt install chromium)"
        )
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        yield opened
        opened.close()


class Notebook:
    """A notebook in the browser, cell by cell."""

    def __init__(self, browser, address, name):
        self.page = browser.new_page(viewport={"width": 1300, "height": 1400})
        self.page.set_default_timeout(SECONDS * 1000)
        self.page.goto(f"{address}/lab/tree/labs/{name}?token={TOKEN}")
        self.page.locator(".jp-NotebookPanel-notebook").wait_for()
        self.page.locator("#jp-bottom-panel").get_by_text("| Idle").wait_for()

    def cell(self, code):
        return self.page.locator(".jp-CodeCell").filter(has_text=code).first

    def output(self, code):
        return self.cell(code).locator(".jp-OutputArea")

    def run(self, code):
        """Run a cell, again where a kernel that was not yet connected took no notice."""
        prompt = self.cell(code).locator(".jp-InputPrompt").first
        before = prompt.inner_text()
        deadline = time.monotonic() + SECONDS
        while prompt.inner_text() == before and time.monotonic() < deadline:
            self.cell(code).locator(".cm-content").click()
            self.page.keyboard.press("Control+Enter")
            self.page.wait_for_timeout(1000)
        expect(prompt).to_have_text(re.compile(r"\[\d+\]"))

    def record(self, code):
        self.output(code).get_by_role("button", name="Record").click()
        expect(self.output(code)).to_contain_text("Recorded: ")


def weights(picture):
    return np.array(json.loads(picture.get_attribute("data-weights")))


def assert_shows(picture, table):
    """Wait for the numbers that the picture has to have: the kernel draws them a moment after the move."""
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline and not np.allclose(weights(picture), table, atol=1e-4):
        time.sleep(0.05)
    np.testing.assert_allclose(weights(picture), table, atol=1e-4)


def expected(temperature=1.0, allowed=None):
    scores = QUERY @ KEY.T / np.sqrt(2) / temperature
    exponentials = np.exp(np.where(np.tri(4, dtype=bool) if allowed is None else allowed, scores, -np.inf))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


@pytest.fixture(scope="module")
def lab(browser, server):
    """The second lab, with its first cell run."""
    notebook = Notebook(browser, server, "en/02_causal_heat_map.ipynb")
    notebook.run("from autograder.labs import Lab")
    expect(notebook.output("from autograder.labs import Lab")).to_contain_text("causal_mask: a library's")
    yield notebook
    notebook.page.close()


def test_the_answer_is_shown_after_the_prediction_and_not_before(lab):
    answer = 'print("first row:"'
    lab.run(answer)
    expect(lab.output(answer)).to_contain_text("First your prediction: answer the question “first_row” above")
    assert "[1. 0. 0. 0.]" not in lab.output(answer).inner_text()
    assert "Traceback" not in lab.output(answer).inner_text()

    question = 'lab.draw_row("first_row"'
    lab.run(question)
    lab.output(question).locator(".noUi-handle").first.focus()
    lab.page.keyboard.press("End")
    expect(lab.output(question)).to_contain_text("row sum: 1")
    lab.record(question)
    lab.run(answer)

    expect(lab.output(answer)).to_contain_text("You drew [1, 0, 0, 0]; the row is [1, 0, 0, 0].")
    expect(lab.output(answer)).to_contain_text("first row: [1. 0. 0. 0.]")


def test_choices_are_made_with_the_mouse_and_what_they_missed_is_told(lab):
    for question, choice in (
        ('"first_row_warm",', "(a) It moves towards"),
        ('"last_row_warm",', "(a) Its four weights"),
    ):
        lab.run(question)
        lab.output(question).get_by_text(choice).click()
        lab.record(question)
    answer = "warm = weights_of(causal, temperature=10.0)"
    lab.run(answer)

    expect(lab.output(answer)).to_contain_text("What happened is (b) It stays [1, 0, 0, 0].")
    expect(lab.output(answer)).to_contain_text(
        "You predicted (a) Its four weights come closer to each other, and so it is."
    )
    cold, warm = lab.output(answer).locator("svg.attend-heat-map").all()
    assert_shows(cold, expected())
    assert_shows(warm, expected(10.0))


def test_the_slider_the_switch_and_the_cells_change_the_heat_map(lab):
    explorer = "lab.explore("
    lab.run(explorer)
    area = lab.output(explorer)
    picture = area.locator("svg.attend-heat-map")
    sums = picture.locator(".attend-row-sum")
    assert_shows(picture, expected())

    area.locator(".noUi-handle").focus()
    lab.page.keyboard.press("End")
    assert_shows(picture, expected(100.0))
    expect(area.locator(".widget-readout")).to_have_text("100.00")
    assert weights(picture)[0].tolist() == [1, 0, 0, 0], "one legal key, whatever the temperature"
    expect(sums).to_have_text(["1"] * 4)

    area.get_by_text("causal mask").click()
    assert_shows(picture, expected(100.0, np.ones((4, 4))))
    expect(sums).to_have_text(["1"] * 4)

    area.get_by_text("mask", exact=True).click()
    cells = area.locator(".widget-toggle-button")
    expect(cells).to_have_count(16)
    for cell in cells.all()[12:]:
        cell.click()
    expect(sums).to_have_text(["1", "1", "1", "0"])
    assert weights(picture)[3].tolist() == [0, 0, 0, 0]
    expect(area).to_contain_text("Output of the last query: [0, 0]")


def test_a_notebook_reads_without_a_kernel_since_its_pictures_are_files(browser, server):
    page = browser.new_page(viewport={"width": 1300, "height": 1400})
    page.goto(f"{server}/lab/tree/labs/en/05_zeroing_after.ipynb?token={TOKEN}")
    section = page.locator("details").filter(has_text="a weight that nobody gets")
    section.locator("summary").click()
    picture = section.locator("img")

    assert picture.get_attribute("alt").startswith("The weights zeroed after the softmax: the row sums are 0.43, 0.38")
    page.wait_for_function("element => element.naturalWidth > 200", arg=picture.element_handle())
    page.close()
