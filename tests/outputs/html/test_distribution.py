"""Marks are counted in tenths of the points, full marks apart."""

import pytest

from autograder.outputs.html.distribution import HEIGHT, N_BARS, bar_of, distribution


@pytest.mark.parametrize(
    ("share", "bar"),
    [(0, 0), (0.0999, 0), (0.1, 1), (0.1 + 0.2, 3), (0.7 * 0.1 * 10, 7), (0.9999, 9), (1, 10), (1.2, 10), (-0.1, 0)],
)
def test_a_tenth_begins_at_its_lower_end_and_full_marks_stand_apart(share, bar):
    assert bar_of(share) == bar


def test_bars_are_as_high_as_they_are_many():
    chart = distribution([0.05, 0.05, 1.0], 40)

    assert [bar.count for bar in chart.bars] == [2, *[0] * 9, 1]
    assert [chart.bars[place].height for place in (0, 1, 10)] == [HEIGHT, 0, HEIGHT / 2]
    assert all(bar.y + bar.height == chart.base for bar in chart.bars)
    assert chart.said.startswith("0–4: 2; 4–8: 0; ") and chart.said.endswith("36–40: 0; 40: 1")


def test_a_class_of_nobody_has_a_chart_too():
    assert [bar.height for bar in distribution([], 100).bars] == [0] * N_BARS
