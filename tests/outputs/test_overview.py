"""The course at a glance: what there is, what is done, and what to do next."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from autograder.course import Course, load_course
from autograder.outputs.overview import show_overview
from autograder.progress import Mark, Progress

COURSE = """
name = "small"
title = "A small course"
languages = ["en"]
feedback = "full"

[[exercises]]
name = "warm_up"
title = "Warm-up"
points = 5
bonus = true
difficulty = 1
minutes = 20
functions = ["warm_up"]
libraries = ["numpy"]

[[exercises]]
name = "heads"
title = "Heads"
points = 25
difficulty = 3
minutes = 120
functions = ["heads"]
libraries = ["numpy"]

[[exercises]]
name = "tiles"
title = "Tiles"
points = 10
difficulty = 2
functions = ["tiles"]
libraries = ["numpy"]
"""


def loaded(folder: Path, text: str = COURSE) -> Course:
    (folder / "course.toml").write_text(text)
    return load_course(folder)


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Course:
    monkeypatch.chdir(tmp_path)
    return loaded(tmp_path)


def mark(earned: float, points: float, *, passed: int = 1, checks: int = 2, done: bool = False) -> Mark:
    return Mark(earned=earned, points=points, passed=passed, checks=checks, done=done, digest="as checked")


def overview(course: Course, width: int = 80, digests: dict[str, str] | None = None, **marks: Mark) -> list[str]:
    """Show a course whose modules are as they were checked, unless `digests` says otherwise."""
    console = Console(file=io.StringIO(), width=width, highlight=False)
    now = {**{name: "as checked" for name in marks}, **(digests or {})}
    show_overview(console, course, Progress(marks=marks), course.paths.exercises, now)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


def test_a_course_that_nobody_has_begun_is_shown_with_all_there_is_to_do(course: Course):
    assert overview(course) == [
        "A small course",
        "",
        "exercise    points   so far   difficulty   minutes",
        "──────────────────────────────────────────────────",
        "warm_up    bonus 5        -   easy              20",
        "heads           25        -   hard             120",
        "tiles           10        -   medium",
        "",
        "0 of 2 exercises done, 0 of 1 bonus exercises done",
        "Next: heads, about 120 minutes",
        "  write        exercises/heads.py",
        "  try          attend check heads",
    ]


def test_points_so_far_are_those_of_the_last_checks_and_the_bonus_is_counted_apart(course: Course):
    lines = overview(course, warm_up=mark(4.5, 5), heads=mark(25, 25, done=True), tiles=mark(0, 10, passed=0))
    assert [line.split()[-4:][:2] for line in lines[4:6]] == [["5", "4.5"], ["25", "25"]]
    assert lines[6].split() == ["tiles", "10", "0", "medium"]
    assert lines[8:10] == [
        "1 of 2 exercises done, 0 of 1 bonus exercises done",
        "25 of 35 points so far, 4.5 for a bonus",
    ]


def test_public_tests_carry_no_points_and_are_counted_instead(course: Course):
    lines = overview(course, heads=mark(0, 0, passed=3, checks=4))
    assert "heads           25    3 of 4 tests   hard             120" in lines
    assert not [line for line in lines if "points so far" in line]


@pytest.mark.parametrize("digests", [{"heads": "saved since"}, {"heads": ""}])
def test_a_module_that_changed_since_its_check_is_marked_and_the_mark_explained(course: Course, digests):
    lines = overview(course, digests=digests, heads=mark(20, 25), tiles=mark(10, 10, done=True))
    assert lines[5].split() == ["heads", "25", "20*", "hard", "120"]
    assert lines[6].split() == ["tiles", "10", "10", "medium"]
    assert "* changed since its last check" in lines


def test_nothing_is_explained_where_nothing_has_changed(course: Course):
    assert not [line for line in overview(course, heads=mark(20, 25)) if "*" in line]


@pytest.mark.parametrize(
    ("done", "expected"),
    [
        ((), "Next: heads, about 120 minutes"),
        (("heads",), "Next: tiles"),
        (("tiles",), "Next: heads, about 120 minutes"),
        (("heads", "tiles"), "Next: warm_up, about 20 minutes"),
        (("heads", "tiles", "warm_up"), "Everything is done."),
    ],
)
def test_next_is_the_first_exercise_not_done_and_the_bonus_comes_last(course: Course, done, expected):
    lines = overview(course, **{name: mark(5, 5, done=True) for name in done})
    assert [line for line in lines if line.startswith(("Next", "Everything"))] == [expected]


def test_instructions_and_hints_are_named_where_they_are(course: Course):
    for name in ("instructions/heads.md", "hints/heads.en.toml"):
        path = course.paths.exercises / name
        path.parent.mkdir(parents=True)
        path.touch()
    assert overview(course)[-4:] == [
        f"  read         {Path('exercises', 'instructions', 'heads.md')}",
        f"  write        {Path('exercises', 'heads.py')}",
        "  try          attend check heads",
        "  when stuck   attend hint heads",
    ]


def test_a_path_that_is_not_below_this_folder_is_given_whole(course: Course, tmp_path_factory, monkeypatch):
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    assert f"  write        {course.paths.exercises / 'heads.py'}" in overview(course)


def test_a_course_that_says_nothing_of_difficulty_and_minutes_has_no_columns_for_them(tmp_path: Path):
    plain = "\n".join(line for line in COURSE.splitlines() if not line.startswith(("difficulty", "minutes")))
    lines = overview(loaded(tmp_path, plain.replace("bonus = true\n", "")))
    assert lines[2] == "exercise   points   so far"
    assert lines[8:10] == ["0 of 3 exercises done", "Next: warm_up"]


def test_the_shipped_course_fits_80_columns():
    shipped = load_course(Path(__file__).resolve().parents[2])
    lines = overview(shipped, softmax=mark(0, 0, passed=12, checks=19))
    # A path that is not below this folder may be longer; it is not folded, so that it can be copied.
    assert max(len(line) for line in lines if "/" not in line) <= 80
    assert all(any(line.startswith(each.name) for line in lines) for each in shipped.exercises)
