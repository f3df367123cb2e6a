"""Hints: one stage at a time, remembered, in two languages, and never the code."""

import re
from pathlib import Path

import pytest

from autograder.course import Course, Exercise, load_course
from autograder.hints import HintError, next_hint, read_hints, seen_hints
from autograder.progress import FILE_NAME, Progress, read_progress, write_progress
from autograder.release import BEGIN, END

COURSE = load_course(Path(__file__).resolve().parents[1])
HINTS = ("an idea", "a direction", "a step")
EVERY = pytest.mark.parametrize("exercise", COURSE.exercises, ids=lambda exercise: exercise.name)
CHINESE = re.compile(r"[\u4e00-\u9fff]")


def shown(told) -> tuple[list[tuple[int, str]], int, int]:
    return list(told.hints), told.seen, told.total


# One at a time


def test_each_call_shows_the_next_hint(tmp_path: Path):
    told = [shown(next_hint("heads", HINTS, tmp_path)) for _ in range(3)]
    assert told == [([(1, "an idea")], 1, 3), ([(2, "a direction")], 2, 3), ([(3, "a step")], 3, 3)]


def test_after_the_last_hint_there_is_none_and_the_count_stays(tmp_path: Path):
    write_progress(tmp_path, Progress(hints_seen={"heads": 3}))
    assert shown(next_hint("heads", HINTS, tmp_path)) == ([], 3, 3)
    assert read_progress(tmp_path)[0].hints_seen == {"heads": 3}


def test_the_hints_seen_can_be_read_again_and_stay_as_many(tmp_path: Path):
    assert shown(seen_hints("heads", HINTS, tmp_path)) == ([], 0, 3)
    assert not (tmp_path / FILE_NAME).exists()
    for _ in range(2):
        next_hint("heads", HINTS, tmp_path)
    assert shown(seen_hints("heads", HINTS, tmp_path)) == ([(1, "an idea"), (2, "a direction")], 2, 3)
    assert shown(next_hint("heads", HINTS, tmp_path)) == ([(3, "a step")], 3, 3)


def test_hints_are_counted_for_each_exercise_apart(tmp_path: Path):
    next_hint("heads", HINTS, tmp_path)
    assert shown(next_hint("tiles", HINTS, tmp_path)) == ([(1, "an idea")], 1, 3)


def test_more_hints_seen_than_there_are_now_is_all_of_them(tmp_path: Path):
    write_progress(tmp_path, Progress(hints_seen={"heads": 9}))
    assert shown(seen_hints("heads", HINTS, tmp_path)) == (list(enumerate(HINTS, 1)), 3, 3)


def test_a_broken_file_begins_with_the_first_hint_and_says_so(tmp_path: Path):
    (tmp_path / FILE_NAME).write_text("{")
    told = next_hint("heads", HINTS, tmp_path)
    assert list(told.hints) == [(1, "an idea")]
    assert list(map(str, told.said)) == [f"{tmp_path / FILE_NAME} is not what this program writes; it is begun anew"]


def test_a_hint_is_shown_where_nothing_can_be_remembered(tmp_path: Path):
    (tmp_path / FILE_NAME).mkdir()
    told = next_hint("heads", HINTS, tmp_path)
    assert list(told.hints) == [(1, "an idea")]
    assert str(told.said[-1]).endswith("what you have done so far is not remembered")


# Where they come from


@pytest.fixture
def course(small_course) -> Course:
    made = small_course()
    (made.paths.exercises / "hints").mkdir()
    return made


def hints_in(course: Course, language: str, text: str) -> Exercise:
    exercise = course.exercises[0]
    course.hints_of(exercise, language).write_text(text, encoding="utf-8")
    return exercise


def test_hints_are_in_the_first_language_of_the_course_unless_another_is_asked_for(course: Course):
    hints_in(course, "en", 'hints = ["twice"]')
    exercise = hints_in(course, "zh", 'hints = ["两倍"]')
    assert read_hints(exercise, course) == ("twice",)
    assert read_hints(exercise, course, "zh") == ("两倍",)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("hints = [", "; it must hold a list of texts named `hints`"),
        ("", "missing required field `hints`; it must hold a list of texts named `hints`"),
        ("hints = [1]", "at `$.hints[0]`; it must hold a list of texts named `hints`"),
        ("hints = []", "hints: empty; write at least one"),
    ],
)
def test_a_file_that_holds_no_hints_is_named_in_one_line(course: Course, text: str, said: str):
    exercise = hints_in(course, "en", text)
    with pytest.raises(HintError) as caught:
        read_hints(exercise, course)
    assert str(caught.value).startswith(f"{course.hints_of(exercise)}: ")
    assert str(caught.value).endswith(said)
    assert "\n" not in str(caught.value)


def test_where_hints_are_missing_the_languages_that_have_them_are_named(course: Course):
    exercise = hints_in(course, "zh", 'hints = ["两倍"]')
    file = course.hints_of(exercise, "en")
    with pytest.raises(HintError) as caught:
        read_hints(exercise, course, "en")
    assert str(caught.value) == (f"there are no hints for double: {file} is not there; there are hints with --lang zh")


def test_an_unknown_language_is_answered_with_the_known_ones(course: Course):
    with pytest.raises(HintError, match="there are no hints in 'fr'; the languages are: en, zh"):
        read_hints(course.exercises[0], course, "fr")


# What they say


def solution_lines(exercise: Exercise) -> set[str]:
    """Give the lines of code that learners write themselves, without blanks."""
    regions = COURSE.solution_of(exercise).read_text(encoding="utf-8").split(BEGIN)[1:]
    lines = [line for region in regions for line in region.partition(END)[0].splitlines()]
    codes = (re.sub(r"\s", "", line.partition("#")[0]) for line in lines)
    return {code for code in codes if len(code) > 3}


@EVERY
@pytest.mark.parametrize("language", ["en", "zh"])
def test_each_exercise_has_three_to_five_different_hints(exercise: Exercise, language: str):
    hints = read_hints(exercise, COURSE, language)
    assert 3 <= len(hints) <= 5
    assert len(set(hints)) == len(hints)
    assert all(hint == hint.strip() and "\n" not in hint and len(hint) >= 40 for hint in hints)


@EVERY
def test_both_languages_have_the_same_stages(exercise: Exercise):
    english, chinese = (read_hints(exercise, COURSE, language) for language in ("en", "zh"))
    assert len(english) == len(chinese)
    for one, other in zip(english, chinese, strict=True):
        assert sorted(set(re.findall(r"`[^`]+`", one))) == sorted(set(re.findall(r"`[^`]+`", other)))
        assert not CHINESE.search(one)
        assert len(CHINESE.findall(other)) > len(other) / 2


@EVERY
@pytest.mark.parametrize("language", ["en", "zh"])
def test_no_hint_holds_a_line_of_the_solution(exercise: Exercise, language: str):
    lines = solution_lines(exercise)
    assert lines
    said = re.sub(r"\s", "", " ".join(read_hints(exercise, COURSE, language)))
    assert [line for line in lines if line in said] == []


@EVERY
@pytest.mark.parametrize("language", ["en", "zh"])
def test_what_a_hint_writes_as_code_are_names_that_the_instructions_give(exercise: Exercise, language: str):
    instructions = COURSE.instructions_of(exercise).read_text(encoding="utf-8")
    quoted = re.findall(r"`([^`]*)`", " ".join(read_hints(exercise, COURSE, language)))
    assert [name for name in quoted if not name.isidentifier() or name not in instructions] == []


@EVERY
def test_chinese_hints_keep_to_the_terms_of_the_tutorial_and_to_chinese_punctuation(exercise: Exercise):
    said = " ".join(read_hints(exercise, COURSE, "zh"))
    assert [word for word in ("掩码", "屏蔽", "键值", "注意力") if word in said] == []
    assert not re.search(r"query|queries|mask(?!_|s`)", re.sub(r"`[^`]*`", "", said))
    assert re.findall(r"[\u4e00-\u9fff][,;:?!()]", said) == []


def test_chinese_hints_use_the_terms_of_the_tutorial():
    said = " ".join(hint for exercise in COURSE.exercises for hint in read_hints(exercise, COURSE, "zh"))
    assert [term for term in ("遮罩", "因果", "查询", "权重", "温度", "多头") if term not in said] == []
