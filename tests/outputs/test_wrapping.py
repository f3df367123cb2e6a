"""Prose is folded between words, and Chinese between any two letters, but never before a closing mark."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from autograder.outputs.wrapping import CLOSING, OPENING, wrapped


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("one two three", 7, ["one two", "three"]),
        ("one two three", 100, ["one two three"]),
        ("incomparable", 5, ["incomparable"]),
        ("an incomparable word", 6, ["an", "incomparable", "word"]),
        ("遮罩是一张表", 6, ["遮罩是", "一张表"]),
        ("遮罩是一张表", 7, ["遮罩是", "一张表"]),
        ("遮罩是表，不是", 8, ["遮罩是", "表，不是"]),
        ("问“可读”吗？", 6, ["问“可", "读”", "吗？"]),
        ("问问“可读”吗", 5, ["问问", "“可", "读”吗"]),
        ("用 softmax 来算", 11, ["用 softmax", "来算"]),
        ("用 softmax 来算", 12, ["用 softmax", "来算"]),
        ("除以 d_k，再乘", 8, ["除以", "d_k，再", "乘"]),
        ("", 10, [""]),
    ],
)
def test_text_is_folded(text: str, width: int, lines: list[str]):
    assert wrapped(text, width) == lines


@given(st.text("ab 遮罩，。“”…1. ", max_size=60), st.integers(8, 30))
def test_nothing_is_lost_and_a_line_is_too_long_only_where_it_cannot_be_folded(text: str, width: int):
    lines = wrapped(text, width)
    assert "".join("".join(lines).split()) == "".join(text.split())
    for line in lines:
        plain = line.strip(OPENING + CLOSING)
        assert cell_len(line) <= width or " " not in plain or any(mark in line for mark in OPENING + CLOSING)


def test_no_line_begins_with_a_closing_mark():
    text = "先减，再除；除完，再乘。" * 5
    for width in range(6, 40):
        assert [line for line in wrapped(text, width) if line[0] in CLOSING] == []
