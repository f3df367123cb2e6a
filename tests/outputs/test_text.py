"""Text of others cannot act on the terminal or the page it is shown on."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.outputs.text import number, visible, visible_lines


@pytest.mark.parametrize(
    "text", ["amara-okafor", "李雷", "zoë", "दीपिका", "می‌خواهم", "naïve [bold] text", "a b", "½ → ✓", "👩‍💻"]
)
def test_ordinary_text_of_any_script_stays_as_it_is(text):
    assert visible(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred", "\\x1b[31mred"),
        ("\x9b31m", "\\x9b31m"),
        ("two\nlines\tand\rmore", "two\\nlines\\tand\\rmore"),
        ("\u202egnp.exe", "\\u202egnp.exe"),
        ("\u2066x\u2069", "\\u2066x\\u2069"),
        ("a\u2028b", "a\\u2028b"),
        ("\ud800", "\\ud800"),
        ("\ue000\ufdd0", "\\ue000\\ufdd0"),
        ("\x00\x07\x7f", "\\x00\\x07\\x7f"),
    ],
)
def test_what_could_act_or_deceive_becomes_an_escape(text, shown):
    assert visible(text) == shown


@given(st.text(st.characters()))
def test_nothing_that_is_shown_is_a_control_character(text):
    assert all(letter.isprintable() or letter in " \u200c\u200d" or letter.isspace() for letter in visible(text))
    assert not set(visible(text)) & {chr(code) for code in [*range(32), *range(127, 160), 0x202E, 0x2028]}


def test_lines_stay_lines_and_tabs_are_widened():
    assert visible_lines("\n\ta\r\nb\x1b\n\nc\n") == ["    a", "b\\x1b", "", "c"]


@pytest.mark.parametrize(
    ("value", "shown"),
    [(18.0, "18"), (87.5, "87.5"), (0.1 + 0.2, "0.3"), (0.0, "0"), (100 / 3, "33.3333"), (1234567.5, "1234567.5")],
)
def test_points_are_written_without_the_tail_of_binary_fractions(value, shown):
    assert number(value) == shown
