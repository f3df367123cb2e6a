"""Which modules were saved, and which others look at them."""

import os
import queue

import pytest

from autograder.saves import Saves, dependents, imports_of

WAIT = 30.0


@pytest.fixture
def saved(tmp_path):
    """Watch a folder, and give the names that were told of, once the watching has begun."""
    told = queue.Queue()
    with Saves(tmp_path, ["softmax", "attention"], told.put, told.put):
        # The system tells of nothing before it watches: try until it does.
        for attempt in range(int(WAIT / 0.2)):
            (tmp_path / "softmax.py").write_text(f"# {attempt}")
            try:
                told.get(timeout=0.2)
                break
            except queue.Empty:
                continue
        while not told.empty():
            told.get()
        yield told


def until(told, name):
    """Wait until a name is told of; what is left over of the beginning is passed by."""
    while (names := told.get(timeout=WAIT)) != frozenset([name]):
        assert names == frozenset(["softmax"])


def test_a_module_that_is_written_is_told_of(saved, tmp_path):
    (tmp_path / "attention.py").write_text("x = 1")
    until(saved, "attention")


def test_a_module_that_is_renamed_into_place_is_told_of(saved, tmp_path):
    (tmp_path / ".attention.py.swp").write_text("x = 1")
    os.replace(tmp_path / ".attention.py.swp", tmp_path / "attention.py")
    until(saved, "attention")


def test_a_module_that_is_deleted_is_told_of(saved, tmp_path):
    (tmp_path / "attention.py").write_text("x = 1")
    until(saved, "attention")
    (tmp_path / "attention.py").unlink()
    until(saved, "attention")


def test_other_files_are_not_told_of(saved, tmp_path):
    (tmp_path / "notes.txt").write_text("x")
    (tmp_path / "attention.py~").write_text("x")
    (tmp_path / "attention.py").write_text("x")
    until(saved, "attention")


def test_a_folder_that_cannot_be_watched_is_told_as_an_error(tmp_path):
    failed = queue.Queue()
    with Saves(tmp_path / "nowhere", ["softmax"], print, failed.put):
        assert isinstance(failed.get(timeout=WAIT), Exception)


def test_what_imports_a_saved_module_depends_on_it_also_through_another():
    sources = {
        "attention": b"import torch",
        "multi_head": b"def f():\n    from attention import attention",
        "block": b"import multi_head as heads, math",
        "softmax": b"import numpy",
    }
    assert dependents(["attention"], sources) == ["attention", "multi_head", "block"]
    assert dependents(["softmax"], sources) == ["softmax"]


def test_modules_that_import_each_other_do_not_go_round_for_ever():
    assert dependents(["a"], {"a": b"import b", "b": b"import a"}) == ["a", "b"]


@pytest.mark.parametrize(
    ("source", "imported"),
    [
        (b"import a.b, c as d", {"a", "c"}),
        (b"from a.b import c", {"a"}),
        (b"from . import a\nfrom .b import c", {"b"}),
        (b"import (", set()),
        (b"\0", set()),
        (b"(" * 100_000, set()),
    ],
)
def test_the_imports_of_a_module_are_read_even_while_it_is_half_written(source, imported):
    assert imports_of(source) == imported
