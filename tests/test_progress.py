"""The small file beside a learner's modules: what it remembers, and that nothing depends on it."""

import json
from pathlib import Path

import pytest

from autograder.progress import FILE_NAME, Mark, Progress, digests_of, read_progress, record_check, write_progress
from autograder.report import CheckResult, ExerciseResult, Outcome


def result(name: str, *outcomes: Outcome, points: float = 4.0, earned: float = 3.0) -> ExerciseResult:
    checks = [CheckResult("test_it", "it", outcome, 1, 1) for outcome in outcomes]
    return ExerciseResult(name, points, earned, checks=checks)


def test_a_missing_file_is_no_progress_and_nothing_is_said(tmp_path: Path):
    assert read_progress(tmp_path) == (Progress(), None)
    assert list(tmp_path.iterdir()) == []


def test_what_is_written_is_read_back(tmp_path: Path):
    mark = Mark(earned=3.5, points=4, passed=7, checks=8, done=False, digest="ab")
    progress = Progress(marks={"heads": mark}, hints_seen={"heads": 2})
    said = write_progress(tmp_path, progress)
    assert str(said) == f"{tmp_path / FILE_NAME} remembers from now on what you have done"
    assert read_progress(tmp_path) == (progress, None)


def test_only_a_new_file_is_announced(tmp_path: Path):
    write_progress(tmp_path, Progress())
    assert write_progress(tmp_path, Progress(hints_seen={"heads": 1})) is None


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"schema": 2}',
        b'{"hints_seen": {"heads": -1}}',
        b'{"hints_seen": {"heads": "1"}}',
        b'{"marks": {"heads": {"earned": 1}}}',
    ],
)
def test_a_broken_file_is_begun_anew_and_one_line_says_so(tmp_path: Path, content: bytes):
    (tmp_path / FILE_NAME).write_bytes(content)
    progress, said = read_progress(tmp_path)
    assert progress == Progress()
    assert str(said) == f"{tmp_path / FILE_NAME} is not what this program writes; it is begun anew"
    record_check(tmp_path, [result("heads", Outcome.PASSED)], {})
    assert list(read_progress(tmp_path)[0].marks) == ["heads"]


def test_a_file_that_can_neither_be_read_nor_written_costs_two_lines_and_no_more(tmp_path: Path):
    (tmp_path / FILE_NAME).mkdir()
    unreadable, unwritable = map(str, record_check(tmp_path, [result("heads", Outcome.PASSED)], {}))
    assert unreadable.startswith(f"{tmp_path / FILE_NAME} cannot be read (")
    assert unreadable.endswith("); it is begun anew")
    assert unwritable.startswith(f"{tmp_path / FILE_NAME} cannot be written: ")
    assert unwritable.endswith("; what you have done so far is not remembered")
    assert [path.name for path in tmp_path.iterdir()] == [FILE_NAME]


def test_a_check_is_remembered_with_its_points_and_what_was_checked(tmp_path: Path):
    said = record_check(tmp_path, [result("heads", Outcome.PASSED, Outcome.TIMED_OUT)], {"heads": "ab"})
    assert list(map(str, said)) == [f"{tmp_path / FILE_NAME} remembers from now on what you have done"]
    kept = json.loads((tmp_path / FILE_NAME).read_bytes())
    assert kept["marks"] == {
        "heads": {"earned": 3.0, "points": 4.0, "passed": 1, "checks": 2, "done": False, "digest": "ab"}
    }


def test_a_check_changes_the_marks_of_its_own_exercises_only(tmp_path: Path):
    record_check(tmp_path, [result("heads", Outcome.FAILED), result("tiles", Outcome.FAILED)], {})
    record_check(tmp_path, [result("tiles", Outcome.PASSED, earned=4)], {})
    marks = read_progress(tmp_path)[0].marks
    assert {name: (mark.earned, mark.done) for name, mark in marks.items()} == {
        "heads": (3, False),
        "tiles": (4, True),
    }


def test_a_check_leaves_the_hints_seen_as_they_are(tmp_path: Path):
    write_progress(tmp_path, Progress(hints_seen={"heads": 2}))
    record_check(tmp_path, [result("heads", Outcome.PASSED)], {})
    assert read_progress(tmp_path)[0].hints_seen == {"heads": 2}


def test_public_tests_that_could_not_be_run_leave_the_last_mark(tmp_path: Path):
    record_check(tmp_path, [result("heads", Outcome.PASSED, points=0, earned=0)], {})
    record_check(tmp_path, [result("heads", points=0, earned=0)], {})
    assert read_progress(tmp_path)[0].marks["heads"].passed == 1


def test_a_graded_exercise_without_checks_is_a_mark_too(tmp_path: Path):
    record_check(tmp_path, [result("heads", Outcome.PASSED)], {})
    record_check(tmp_path, [result("heads", earned=0)], {})
    assert read_progress(tmp_path)[0].marks["heads"].earned == 0


def test_a_digest_tells_whether_a_module_has_changed(tmp_path: Path):
    (tmp_path / "heads.py").write_text("x = 1\n")
    first = digests_of(tmp_path, ["heads", "tiles"])
    assert first["tiles"] == ""
    assert digests_of(tmp_path, ["heads", "tiles"]) == first
    (tmp_path / "heads.py").write_text("x = 2\n")
    assert digests_of(tmp_path, ["heads"])["heads"] != first["heads"]
