"""Hints on the terminal: the hint, folded, and how to get on, in the learner's language."""

import io

from rich.cells import cell_len
from rich.console import Console

from autograder.hints import Shown
from autograder.outputs.hints import show_hints


def printed(shown: Shown, language: str = "en", *, again: bool = False, width: int = 40) -> list[str]:
    console = Console(file=io.StringIO(), width=width, highlight=False)
    show_hints(console, shown, language, again=again)
    return console.file.getvalue().splitlines()


def test_a_hint_is_folded_below_its_number_and_the_next_one_named():
    shown = Shown("heads", [(1, "Where does a head begin, and where does it end?")], 1, 3)
    assert printed(shown) == [
        "heads, hint 1 of 3",
        "  Where does a head begin, and where",
        "  does it end?",
        "",
        "The next one: attend hint heads",
    ]


def test_the_last_hint_is_called_the_last():
    assert printed(Shown("heads", [(3, "Count.")], 3, 3))[-1] == "That was the last one."


def test_after_the_last_hint_it_is_said_how_to_read_them_again():
    said = " ".join(printed(Shown("heads", [], 3, 3)))
    assert said == "You have seen all 3 hints for heads. Read them again: attend hint heads --again"


def test_where_none_was_seen_there_is_none_to_read_again():
    said = " ".join(printed(Shown("heads", [], 0, 3), again=True))
    assert said == "You have not seen a hint for heads yet. The first one: attend hint heads"


def test_several_hints_stand_below_each_other():
    lines = printed(Shown("heads", [(1, "One."), (2, "Two.")], 2, 3), again=True)
    assert [line for line in lines if line] == [
        "heads, hint 1 of 3",
        "  One.",
        "heads, hint 2 of 3",
        "  Two.",
        "The next one: attend hint heads",
    ]


def test_chinese_hints_have_a_chinese_frame_and_fill_their_lines():
    lines = printed(Shown("heads", [(2, "每个头从哪里开始，到哪里结束？" * 4)], 2, 3), "zh")
    assert lines[0] == "heads，第 2 条提示，共 3 条"
    assert lines[-1] == "看下一条：attend hint heads"
    assert all(34 <= cell_len(line) <= 40 for line in lines[1:-3])


def test_what_a_hint_holds_does_not_act_on_the_terminal():
    assert "\x1b" not in "".join(printed(Shown("heads", [(1, "a \x1b[31mred\x1b[0m hint")], 1, 1)))
