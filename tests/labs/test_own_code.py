"""A lab runs on the learner's own modules where these pass their public tests, and says which it runs on."""

import shutil

import numpy as np
import pytest

from autograder.labs import library
from autograder.labs.own_code import SPARES, choose

from .conftest import REPOSITORY, learners_folder


@pytest.fixture
def folder(tmp_path):
    return learners_folder(tmp_path / "exercises")


@pytest.fixture
def notebook(folder):
    return folder / "labs" / "zh"


def solve(folder, exercise):
    shutil.copy(REPOSITORY / "solutions" / f"{exercise}.py", folder)


def test_a_module_that_passes_its_public_tests_is_used(folder, notebook):
    solve(folder, "softmax")
    chosen = choose("softmax", notebook)

    assert chosen.own
    assert str(chosen.said) == "Using your softmax: softmax.py passes its public tests."
    assert chosen.function.__code__.co_filename == str(folder / "softmax.py")
    np.testing.assert_allclose(chosen.function(np.array([2**-0.5, 0.0])), [0.670, 0.330], atol=5e-4)


@pytest.mark.parametrize("name", sorted(SPARES))
def test_a_stub_is_a_librarys_and_no_tests_are_run_for_it(name, notebook, monkeypatch):
    monkeypatch.setattr("autograder.labs.own_code.run_public_tests", None)
    chosen = choose(name, notebook)

    exercise, spare = SPARES[name]
    assert (chosen.own, chosen.function) == (False, spare)
    assert str(chosen.said) == f"{name}: a library's, until you have written yours in {exercise}.py."
    assert chosen.said.in_("zh") == f"{name}：暂用库函数，等你在 {exercise}.py 里写好自己的。"


def test_a_module_that_fails_is_not_used_and_the_failures_are_counted(folder, notebook):
    wrong = "def causal_mask(n_queries, n_keys=None):\n    return [[False] * (n_keys or n_queries)] * n_queries\n"
    (folder / "causal_mask.py").write_text(wrong)
    chosen = choose("causal_mask", notebook)

    assert chosen.function is library.causal_mask
    assert str(chosen.said).startswith("causal_mask: a library's, until yours passes its public tests (")
    assert str(chosen.said).endswith(" fail now).")


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("def softmax(:", "could not be run (SyntaxError: "),
        ("raise SystemExit", "until yours passes its public tests (1 fails now)"),
        ("from softmax import nothing", "could not be run (ImportError: cannot import name"),
    ],
)
def test_a_module_that_cannot_be_run_is_not_used_and_the_reason_is_said(folder, notebook, source, why):
    (folder / "softmax.py").write_text(source)
    chosen = choose("softmax", notebook)

    assert chosen.function is library.softmax
    assert why in str(chosen.said)


def test_a_module_that_never_ends_is_given_up(folder, notebook, monkeypatch):
    (folder / "softmax.py").write_text("while True:\n    pass\n")
    monkeypatch.setattr("autograder.labs.own_code.SECONDS", 2.0)

    assert "stopped after 2 s: is there a loop that never ends?" in str(choose("softmax", notebook).said)


def test_a_module_that_was_saved_since_is_the_one_that_runs(folder, notebook):
    solve(folder, "softmax")
    choose("softmax", notebook)
    module = folder / "softmax.py"
    module.write_text(module.read_text() + "\n\ndef softmax_(scores):\n    return scores\n\n\nsoftmax.mark = 7\n")

    assert choose("softmax", notebook).function.mark == 7


def test_a_module_that_imports_another_of_ones_own_finds_it(folder, notebook):
    for exercise in ("attention", "multi_head"):
        solve(folder, exercise)
    chosen = choose("MultiHeadAttention", notebook)

    assert chosen.own
    assert chosen.function(8, 2).q_proj.weight.shape == (8, 8)


def test_a_notebook_somewhere_else_runs_on_library_calls(tmp_path):
    chosen = choose("softmax", tmp_path)

    assert chosen.function is library.softmax
    assert str(chosen.said) == (
        "softmax: a library's, since there is no softmax.py with its public tests above this notebook."
    )
