"""Figures on the terminal: signs that read without colour, marks where something differs, side by side or below."""

import io

import pytest
from rich.console import Console

from autograder.outputs.grid import Grids, differing, drawn
from autograder.report import Figure

ALLOWED = Figure("allowed", "mask", "query", "key", [["1", "0"], ["1", "1"]])
FOUND = Figure("came back [1]", "weights", "query", "key", [["1", "0"], ["0.25", "0.75"]])
RIGHT = Figure("right [1]", "weights", "query", "key", [["1", "0"], ["0.5", "0.5"]])


def shown(figures, width=80, encoding="utf-8", language="en", **settings):
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding, write_through=True)
    console = Console(file=stream, width=width, highlight=False, **settings)
    console.print(Grids(figures, 2, language))
    return raw.getvalue().decode(encoding).splitlines()


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)


def test_a_mask_and_weights_stand_side_by_side_and_what_differs_has_a_star():
    assert shown([ALLOWED, FOUND, RIGHT]) == [
        "  allowed          came back [1]    right [1]",
        "  query ↓  key →   query ↓  key →   query ↓  key →",
        "  ■ □                 1     0         1    0",
        "  ■ ■              0.25* 0.75*      0.5  0.5",
    ]


def test_where_the_width_does_not_allow_it_they_stand_below_each_other_but_a_pair_stays_together():
    lines = shown([ALLOWED, FOUND, RIGHT], width=40)
    assert [line.split() for line in lines if "allowed" in line or "came" in line] == [
        ["allowed"],
        ["came", "back", "[1]", "right", "[1]"],
    ]
    narrow = shown([ALLOWED, FOUND, RIGHT], width=20)
    assert [line.strip() for line in narrow if line.strip() in ("allowed", "came back [1]", "right [1]")] == [
        "allowed",
        "came back [1]",
        "right [1]",
    ]
    assert max(map(len, narrow)) <= 20


def test_where_the_signs_cannot_be_written_letters_of_ascii_stand_for_them():
    assert shown([ALLOWED], encoding="ascii") == [
        "  allowed",
        "  query (down)  key (across)",
        "  # .",
        "  # #",
    ]


def test_there_is_no_colour_where_there_is_no_terminal_or_no_color_is_set(terminal, monkeypatch):
    assert "\x1b" not in "".join(shown([ALLOWED, FOUND, RIGHT]))
    monkeypatch.setenv("NO_COLOR", "1")
    coloured = [line for line in shown([FOUND], force_terminal=True, color_system="truecolor") if "[48;2" in line]
    assert coloured == []


def test_weights_are_shaded_from_paper_to_ink_as_finely_as_the_terminal_can(terminal):
    line = shown([RIGHT], force_terminal=True, color_system="truecolor")[2]
    assert "48;2;24;60;150m  1" in line
    assert "48;2;255;255;255m  0" in line
    # Other weights, since rich keeps the escapes of a style that it has written once.
    other = Figure("right", "weights", "query", "key", [["0.9", "0.1"]])
    assert "48;5;" in shown([other], force_terminal=True, color_system="256")[2]
    other = Figure("right", "weights", "query", "key", [["0.8", "0.2"]])
    assert "48;" not in shown([other], force_terminal=True, color_system="standard")[2]


def test_a_weight_that_is_no_number_has_no_shade(terminal):
    figure = Figure("weights", "weights", "query", "key", [["nan"]])
    assert shown([figure], force_terminal=True, color_system="truecolor")[2].strip() == "nan"


def test_results_of_another_shape_are_marked_where_nothing_should_be():
    found = Figure("came back", "numbers", "row", "column", [["1", "2"], ["3", "4"]])
    right = Figure("right", "numbers", "row", "column", [["1"]])
    assert shown([found, right])[2:] == ["  1  2*             1", "  3* 4*"]


def test_of_several_results_each_is_compared_with_its_own():
    other = Figure("right [0]", "numbers", "row", "column", [["9"]])
    first = Figure("came back [0]", "numbers", "row", "column", [["9"]])
    lines = shown([first, other, FOUND, RIGHT], width=200)
    assert lines[2].split() == ["9", "9", "1", "0", "1", "0"]
    assert not differing([first, other])
    assert differing([first, other, FOUND, RIGHT])
    assert not differing([first, ALLOWED])


def test_a_vector_has_no_name_for_its_row():
    assert shown([Figure("numbers", "numbers", "", "column", [["1", "2"]])])[1] == "  column →"


def test_names_and_words_are_those_of_the_reader_and_what_only_the_course_knows_stays():
    figure = Figure("came back [0]", "numbers", "query", "tile", [["1"]])
    assert shown([figure], language="zh")[:2] == ["  你的结果 [0]", "  查询 ↓  tile →"]


def test_a_row_of_numbers_and_a_matrix_of_many_are_not_drawn():
    row = Figure("numbers", "numbers", "", "column", [["1", "2"]])
    many = Figure("scores", "numbers", "row", "column", [["1"] * 5] * 5)
    assert drawn([row]) == []
    assert drawn([many]) == []
    assert drawn([row, many, ALLOWED]) == [row, ALLOWED]
