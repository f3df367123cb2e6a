"""The table of verdicts: what holds is a number, what does not is said in words."""

import io
import json

import msgspec
import pytest
from rich.console import Console

from autograder.outputs.verdicts import show_verdicts, to_json
from autograder.verify.verdict import Share, Verdict

SOUND = Verdict(
    exercise="tiled_attention",
    faults=Share(54, 54),
    pairs=Share(1359, 1359),
    variants=Share(12, 12),
    trivial=Share(5, 5),
    named_faults=Share(54, 54),
    named_pairs=Share(100, 104, ["scale + shift"]),
    killed_by={"test_plain": ["scale", "shift"], "test_shift": ["shift"], "test_kept": []},
    killed_alone={"test_plain": ["scale"], "test_shift": ["shift"], "test_kept": []},
    stays={"test_kept": "it reads well"},
    unchecked=[],
    points=10.0,
    points_of_checks=10.0,
    slowest_diagnosis=0.0123,
)
BROKEN = msgspec.structs.replace(
    SOUND, exercise="softmax", faults=Share(53, 54, ["no_shift"]), problems=["no_shift: survives"]
)


def shown(verdicts, width=80, **options):
    console = Console(width=width, record=True, force_terminal=False, file=io.StringIO())
    show_verdicts(console, verdicts, **options)
    return console.export_text()


def cells(text, name):
    (line,) = [line for line in text.splitlines() if line.startswith(name)]
    return line.split()


def test_a_row_holds_the_counts_and_shares_of_a_suite():
    assert cells(shown([SOUND]), "tiled") == [
        "tiled_attention", "54", "1359", "12", "5", "100%", "96%", "12", "10", "0", "0",
    ]  # fmt: skip


def test_a_share_that_is_not_whole_is_shown_with_what_it_is_of():
    assert cells(shown([BROKEN]), "softmax ")[1] == "53/54"


def test_the_widest_row_fits_eighty_columns():
    text = shown([SOUND])
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= 80


def test_problems_stand_under_their_exercise_and_the_last_line_names_what_to_mend():
    lines = [line.strip() for line in shown([SOUND, BROKEN]).splitlines()]
    assert lines[-3:] == ["softmax", "no_shift: survives", "to be mended: softmax"]


def test_where_nothing_is_to_be_mended_the_last_line_says_so():
    assert shown([SOUND]).strip().endswith("every suite holds")


def test_what_each_check_catches_is_shown_when_asked_for():
    assert "it reads well" not in shown([SOUND])
    text = shown([SOUND], by_check=True)
    assert "it reads well" in text
    assert cells(text, " plain") == ["plain", "2", "scale"]


@pytest.mark.parametrize("count", [61, 75])
def test_a_long_list_of_problems_is_cut_and_says_how_many_more_there_are(count):
    many = msgspec.structs.replace(BROKEN, problems=[f"fault_{number}: survives" for number in range(count)])
    text = shown([many])
    assert "fault_59: survives" in text
    assert "fault_60: survives" not in text
    assert f"and {count - 60} more" in text


def test_programs_are_told_everything():
    (told,) = json.loads(to_json([SOUND]))
    assert told["named_pairs"] == {"count": 100, "of": 104, "missing": ["scale + shift"]}
    assert told["killed_alone"]["test_plain"] == ["scale"]
    assert told["slowest_diagnosis"] == 0.0123
