"""The solution beside the learner's own code, or below it, with nothing of either lost."""

import io

import pytest
from rich.console import Console

from autograder.outputs.solution import WIDE_ENOUGH, show_solution

OWN = "def double(x):\n    return x + x\n"
SOLUTION = "def double(x):\n    return 2 * x\n"
LONG = "    return first_of_all + second_of_all + third_of_all + fourth_of_all + fifth_of_all + sixth_of_all\n"


def printed(own: str, solution: str, *, width: int = 80, terminal: bool = True, colours: bool = False) -> str:
    console = Console(
        file=io.StringIO(),
        width=width,
        force_terminal=terminal,
        color_system="standard" if colours else None,
        no_color=not colours,
        highlight=False,
        legacy_windows=False,
    )
    show_solution(console, "double", own, solution)
    return console.file.getvalue()


def shown(*arguments: str, **settings) -> list[str]:
    text = printed(*arguments, **settings).replace("\x1b[1m", "").replace("\x1b[0m", "").replace("\x1b[3m", "")
    return [line.rstrip() for line in text.splitlines()]


@pytest.mark.parametrize("terminal", [True, False])
def test_on_a_narrow_terminal_the_learners_own_code_comes_first_and_the_solution_below(terminal: bool):
    assert shown(OWN, SOLUTION, terminal=terminal) == [
        "--- your double.py ---",
        *OWN.splitlines(),
        "",
        "--- the solution ---",
        *SOLUTION.splitlines(),
        "",
    ]


def test_on_a_wide_terminal_they_stand_beside_each_other():
    lines = shown(OWN, SOLUTION, width=WIDE_ENOUGH)
    assert [line.split("  ", 1)[0] for line in lines[:2]] == ["your double.py", "def double(x):"]
    assert [line[lines[0].index("the solution") :] for line in lines] == ["the solution", *SOLUTION.splitlines()]


@pytest.mark.parametrize("width", [40, 80, WIDE_ENOUGH])
def test_a_long_line_is_folded_and_what_continues_it_is_indented_further(width: int):
    code = f"def double(x):\n{LONG}"
    lines = shown("", code, width=width)
    assert max(map(len, lines)) <= width
    assert " ".join(" ".join(lines).split()).endswith(" ".join(code.split()))


def test_what_continues_a_line_is_indented_four_columns_further():
    assert shown("", LONG, width=50)[3:] == [
        "--- the solution ---",
        "    return first_of_all + second_of_all +",
        "        third_of_all + fourth_of_all +",
        "        fifth_of_all + sixth_of_all",
        "",
    ]


def test_what_reads_the_output_gets_the_lines_as_they_are():
    assert LONG.rstrip() in shown("", LONG, width=40, terminal=False)


def test_where_nothing_was_written_that_is_said():
    assert shown("", SOLUTION)[:3] == ["--- your double.py ---", "(nothing is there)", ""]


def test_code_is_coloured_on_a_terminal():
    assert "\x1b[94;49mreturn\x1b[0m" in printed(OWN, SOLUTION, colours=True)


def test_what_is_in_the_code_does_not_act_on_the_terminal():
    assert "x = '\\x1b[2J'" in shown("x = '\x1b[2J'\n", SOLUTION)
