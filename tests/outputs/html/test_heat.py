"""Heat maps: what a cell says, the colour it has, and which cells differ."""

import pytest

from autograder.outputs.html.heat import colour_of, heat_maps
from autograder.report import Figure


def numbers(*rows, title="scores", kind="numbers"):
    return Figure(title, kind, "query", "key", [list(row) for row in rows])


@pytest.mark.parametrize(
    ("text", "kind", "largest", "colour"),
    [
        ("1", "mask", 1, "allowed"),
        ("0", "mask", 1, "blocked"),
        ("0.5", "mask", 1, "above-3"),
        ("0", "weights", 1, "weight-0"),
        ("0.67", "weights", 1, "weight-7"),
        ("1", "weights", 1, "weight-10"),
        ("1.5", "weights", 1.5, "weight-10"),
        ("-0.1", "weights", 1, "below-1"),
        ("4", "numbers", 4, "above-5"),
        ("-0.001", "numbers", 4, "below-1"),
        ("-2", "numbers", 4, "below-3"),
        ("0", "numbers", 4, "zero"),
        ("0", "numbers", 0, "zero"),
        ("nan", "weights", 1, "nan"),
        ("inf", "numbers", 1, "inf"),
        ("-inf", "numbers", 1, "minus-inf"),
        ("1.798e+308", "numbers", 1.7e308, "above-5"),
        ("?", "numbers", 1, "words"),
    ],
)
def test_a_cell_has_the_colour_of_its_value(text, kind, largest, colour):
    assert colour_of(text, kind, largest) == colour


def test_what_came_back_and_what_is_right_mark_the_cells_in_which_they_differ():
    came_back = numbers(["1", "nan"], ["3", "4"], title="came back")
    right = numbers(["1", "2"], ["3", "4.5"], title="right")

    scores, *compared = heat_maps([numbers(["1", "nan"], ["3", "4"]), came_back, right], "en")

    assert [[cell.differs for cell in row] for row in scores.cells] == [[False, False], [False, False]]
    assert [[[cell.differs for cell in row] for row in each.cells] for each in compared] == [
        [[False, True], [False, True]],
        [[False, True], [False, True]],
    ]


def test_arrays_of_different_shapes_are_not_compared():
    maps = heat_maps([numbers(["1"], title="came back"), numbers(["1", "2"], title="right")], "en")
    assert [cell.differs for each in maps for row in each.cells for cell in row] == [False, False, False]


def test_numbers_of_one_kind_share_their_scale():
    small, large = heat_maps([numbers(["1"]), numbers(["10"])], "en")
    assert (small.cells[0][0].colour, large.cells[0][0].colour) == ("above-1", "above-5")


def test_a_cell_shows_no_more_than_fits_and_nothing_that_acts():
    (shown,) = heat_maps([numbers(["\u202e\x00" + "x" * 100])], "en")
    assert shown.cells[0][0].text == "\\u202e\\x00" + "x" * 14 + "..."


def test_an_array_without_entries_has_no_columns():
    assert [each.n_columns for each in heat_maps([numbers(), numbers([], [])], "en")] == [0, 0]
