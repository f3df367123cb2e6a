"""Times of hand-in: what platforms write, what archives keep, and when files tell nothing."""

import os
import struct
import time
import zipfile
from datetime import UTC, datetime, timedelta

import pytest

from autograder.downloads.archives import time_of
from autograder.downloads.times import are_of_copying, parse_time
from autograder.submission import find_submissions


@pytest.mark.parametrize(
    ("text", "hour"),
    [
        ("2026-03-02 15:58:23.948203 UTC", 15),
        ("2026-03-02 15:58:23.948203", 15),
        ("2026-03-02 15:58:23.948203 +0900", 6),
        ("2026-03-02 15:58:23.948203 America/Los_Angeles", 23),
        ("2026-03-02T15:58:23.948203Z", 15),
        ("2026-03-02 15:58:23.948203999 -07:00\n", 22),
    ],
)
def test_times_are_read_with_their_zone(text, hour):
    assert parse_time(text) == datetime(2026, 3, 2, hour, 58, 23, 948_203, UTC)


@pytest.mark.parametrize(
    "text",
    ["", "yesterday", "2026-13-02 15:58:23", "2026-03-02 15:58:23 Nowhere/City", "2026-03-02 15:58:23 ../../etc/x"],
)
def test_what_is_no_time_is_none(text):
    assert parse_time(text) is None


def test_files_of_one_moment_tell_nothing_but_two_learners_may_hand_in_together():
    noon = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
    seconds = [noon + timedelta(seconds=n) for n in range(3)]
    assert are_of_copying(seconds)
    assert not are_of_copying(seconds[:2])
    assert not are_of_copying([*seconds, noon + timedelta(minutes=3)])
    assert not are_of_copying([None, None, None, noon])


def test_the_hand_in_time_of_a_folder_is_that_of_its_newest_module(tree):
    tree.write("amara/softmax.py", at=tree.noon)
    tree.write("amara/attention.py", at=tree.noon + timedelta(hours=2))
    tree.write("amara/notes.txt", at=tree.noon + timedelta(days=9))
    (amara,) = find_submissions(tree.path, tree.exercises).submissions
    assert amara.handed_in == tree.noon + timedelta(hours=2)


def test_the_hand_in_time_of_an_archive_is_its_own_since_those_inside_are_of_the_learner_s_clock(tree):
    path = tree.path / "amara.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(zipfile.ZipInfo("softmax.py", (1999, 1, 1, 0, 0, 0)), "a = 1")
    os.utime(path, (tree.noon.timestamp(),) * 2)
    for given in (path, tree.path):
        (amara,) = find_submissions(given, tree.exercises).submissions
        assert amara.handed_in == tree.noon


def entry(date_time, extra=b""):
    info = zipfile.ZipInfo("softmax.py", date_time)
    info.extra = extra
    return info


def test_an_entry_s_time_is_taken_for_local_unless_it_says_utc(monkeypatch):
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        assert time_of(entry((2026, 3, 2, 21, 0, 0))) == datetime(2026, 3, 2, 12, tzinfo=UTC)
        utc = struct.pack("<HHBl", 0x5455, 5, 1, int(datetime(2026, 3, 2, 12, tzinfo=UTC).timestamp()))
        other = struct.pack("<HH4s", 0x7875, 4, b"uid ")
        assert time_of(entry((2026, 3, 2, 1, 0, 0), other + utc)) == datetime(2026, 3, 2, 12, tzinfo=UTC)
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.parametrize("date_time", [(1980, 1, 1, 0, 0, 0), (2026, 0, 0, 0, 0, 0), (2026, 2, 31, 12, 0, 0)])
def test_an_entry_without_a_time_or_with_an_impossible_one_has_none(date_time):
    assert time_of(entry(date_time)) is None


@pytest.mark.parametrize("extra", [b"UT", b"UT\x05\x00\x01", b"\xff\xff\xff\xff\xff"])
def test_a_damaged_field_is_passed_over(extra):
    assert time_of(entry((1980, 1, 1, 0, 0, 0), extra)) is None
