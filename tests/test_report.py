"""The report is a file that other programs read: its form is fixed, and it is there whole or not at all."""

import json
import os
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder import report as module
from autograder.report import (
    CheckResult,
    Diagnosis,
    ExerciseResult,
    Outcome,
    Report,
    ReportError,
    from_json,
    report_name,
    to_json,
    write_report,
    write_whole,
)

CHECK = CheckResult(
    name="test_rows_add_up_to_one",
    title="rows add up to one",
    outcome=Outcome.FAILED,
    points=2,
    earned=0,
    message="row 0 adds up to 0.5",
    hint="softmax.sum",
    counterexample="softmax([0, 0])",
    seconds=0.01,
)
REPORT = Report(
    submission="李雷",
    status="graded",
    fingerprint="sha256:0123",
    isolation=["process", "rlimits"],
    points=20,
    earned=21.5,
    seconds=0.4,
    exercises=[
        ExerciseResult(name="softmax", points=20, earned=18, checks=[CHECK]),
        ExerciseResult(name="by_hand", points=5, earned=3.5, bonus=True),
    ],
)


def test_the_json_has_the_keys_of_schema_1_in_their_order():
    report = json.loads(to_json(REPORT))
    assert list(report)[:10] == [
        "schema", "submission", "status", "reason", "fingerprint", "isolation",
        "points", "earned", "seconds", "exercises",
    ]  # fmt: skip
    exercise = report["exercises"][0]
    assert list(exercise)[:6] == ["name", "points", "earned", "reason", "diagnosis", "checks"]
    assert exercise["checks"][0] == {
        "name": "test_rows_add_up_to_one",
        "title": "rows add up to one",
        "outcome": "failed",
        "points": 2,
        "earned": 0,
        "message": "row 0 adds up to 0.5",
        "hint": "softmax.sum",
        "counterexample": "softmax([0, 0])",
        "seconds": 0.01,
        "phrase": None,
        "figures": [],
        "call": "",
        "line": 0,
    }
    assert report["schema"] == 1
    assert report["isolation"] == ["process", "rlimits"]


def test_the_json_is_indented_utf_8_with_names_as_they_are_written():
    text = to_json(REPORT).decode("utf-8")
    assert '\n  "submission": "李雷",\n' in text
    assert text.endswith("}\n")


def test_the_six_outcomes_have_the_names_that_other_programs_know():
    assert [str(outcome) for outcome in Outcome] == [
        "passed", "failed", "timed_out", "out_of_memory", "crashed", "error",
    ]  # fmt: skip


def test_a_report_read_back_is_the_same():
    assert from_json(to_json(REPORT)) == REPORT


def test_a_diagnosis_survives_the_way_through_json():
    diagnosis = Diagnosis(fault="no_shift", explanation={"en": "Subtract the maximum."}, counterexample="[1000]")
    report = Report(
        submission="a",
        status="graded",
        points=1,
        exercises=[ExerciseResult(name="softmax", points=1, earned=0, diagnosis=[diagnosis])],
    )
    assert from_json(to_json(report)).exercises[0].diagnosis == [diagnosis]


def test_text_that_has_no_utf_8_form_is_stored_as_escapes():
    check = CheckResult("t", "t", Outcome.FAILED, 1, 0, message="half a pair: \ud83d")
    report = Report(
        submission="a", status="graded", points=1, exercises=[ExerciseResult("softmax", 1, 0, checks=[check])]
    )
    assert from_json(to_json(report)).exercises[0].checks[0].message == "half a pair: \\ud83d"


def test_core_and_bonus_are_added_up_apart():
    assert (REPORT.core_earned, REPORT.bonus_earned) == (18, 3.5)


def test_an_exercise_is_passed_only_when_checks_were_run_and_all_passed():
    passed = CheckResult("t", "t", Outcome.PASSED, 1, 1)
    assert ExerciseResult("softmax", 1, 1, checks=[passed]).passed
    assert not ExerciseResult("softmax", 1, 1, checks=[passed, CHECK]).passed
    assert not ExerciseResult("softmax", 1, 0, checks=[]).passed
    assert not ExerciseResult("softmax", 1, 0, reason="calls a banned function", checks=[passed]).passed


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"not json",
        b"[]",
        b"{}",
        b'{"schema": 1}',
        b"\xff\xfe",
        b"[" * 100_000,
        to_json(REPORT)[:-10],
        to_json(REPORT).replace(b'"graded"', b'"perfect"'),
        to_json(REPORT).replace(b'"earned": 18', b'"earned": "18"'),
    ],
)
def test_a_file_that_is_no_report_is_one_clear_line(data):
    with pytest.raises(ReportError) as error:
        from_json(data)
    assert str(error.value).startswith("not a report: ")
    assert "\n" not in str(error.value)


def test_a_report_of_another_schema_says_what_to_do():
    with pytest.raises(ReportError, match=r"^a report of schema 2, where this version reads schema 1: grade again$"):
        from_json(b'{"schema": 2, "learner": "amara"}')


def test_a_report_is_written_under_the_name_of_its_submission(tmp_path):
    path = write_report(REPORT, tmp_path / "grades" / "reports")
    assert path == tmp_path / "grades" / "reports" / "李雷.json"
    assert from_json(path.read_bytes()) == REPORT


def test_writing_leaves_nothing_but_the_file(tmp_path):
    write_report(REPORT, tmp_path)
    write_report(REPORT, tmp_path)
    assert os.listdir(tmp_path) == ["李雷.json"]


def test_a_failure_while_writing_leaves_the_old_file_and_no_other(tmp_path, monkeypatch):
    write_whole(tmp_path / "marks", b"old")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ReportError, match=r"marks cannot be written: No space left on device$"):
        write_whole(tmp_path / "marks", b"new and longer")
    assert os.listdir(tmp_path) == ["marks"]
    assert (tmp_path / "marks").read_bytes() == b"old"


def test_the_data_is_on_the_disk_before_the_name_points_to_it(tmp_path, monkeypatch):
    events = []
    synced, renamed = os.fsync, Path.replace
    monkeypatch.setattr(os, "fsync", lambda descriptor: (events.append("sync"), synced(descriptor)))
    monkeypatch.setattr(Path, "replace", lambda path, to: (events.append("rename"), renamed(path, to)))
    write_whole(tmp_path / "marks", b"data")
    assert events == ["sync", "rename", "sync"]


def test_a_folder_that_is_a_file_is_one_clear_line(tmp_path):
    (tmp_path / "grades").write_text("a file")
    with pytest.raises(ReportError, match=r"a\.json cannot be written: (File exists|Not a directory)$"):
        write_report(Report(submission="a", status="graded", points=1), tmp_path / "grades")


@pytest.mark.parametrize(
    "id", ["amara-okafor", "Kwame Mensah", "S2190044", "李雷", "zoë-müller", "दीपिका-शर्मा", "max.power", "a@b.edu"]
)
def test_ordinary_ids_are_file_names_as_they_are(id):
    assert report_name(id) == f"{id}.json"


@pytest.mark.parametrize(
    "id",
    [
        "", ".", "..", "../../etc/passwd", "/etc/passwd", "C:\\x", "a/b", "a\\b", "a\0b", "a\nb", "a\x1b[31mb",
        "con", "NUL", "com1.txt", "aux ", " a", "a ", "a.", ".hidden", "-rf", "a:b", "a*b?", 'a"b', "a|b", "<a>",
        "a~b", "n" * 200, "字" * 200, "\u202egnp", "\ud800", unicodedata.normalize("NFD", "zoë"),
    ],
)  # fmt: skip
def test_other_ids_become_a_likeness_and_a_hash_that_any_platform_takes(id):
    name = report_name(id)
    assert name.endswith(".json")
    assert "~" in name
    assert_fits_any_platform(name)


def assert_fits_any_platform(name: str) -> None:
    assert len(name.encode()) <= 143
    assert name == unicodedata.normalize("NFC", name)
    assert not set(name) & set('/\\:*?"<>|\0')
    assert all(letter.isprintable() for letter in name)
    assert name[0] not in ".- "
    assert name.removesuffix(".json")[-1] not in ". "
    assert name.partition(".")[0].casefold() not in module.DEVICE_NAMES


@given(st.text(st.characters(), max_size=40))
def test_every_id_gets_a_name_that_any_platform_takes(id):
    assert_fits_any_platform(report_name(id))


@given(st.lists(st.text(st.sampled_from("aAé/~.\0 -_李\u0301"), max_size=6), unique=True, max_size=20))
def test_different_ids_get_different_names(ids):
    assert len({report_name(id) for id in ids}) == len(ids)


def test_an_id_that_imitates_a_hashed_name_does_not_get_that_name():
    hashed = report_name("a/b")
    assert report_name(hashed.removesuffix(".json")) != hashed
