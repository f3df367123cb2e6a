"""Gradescope's `submission_metadata.json`, as its documentation describes it."""

import json
from datetime import datetime

import pytest

from autograder.gradescope.metadata import Metadata, read_metadata

FACTS = {
    "created_at": "2026-03-01T14:22:32.365935-07:00",
    "assignment": {"due_date": "2026-03-01T14:00:00.000000-07:00", "title": "Attention", "total_points": "20.0"},
    "users": [{"email": "amara@uni.example", "id": 1234, "name": "Amara Okafor"}],
    "previous_submissions": [],
}


def read(tmp_path, facts):
    (tmp_path / "m.json").write_text(facts if isinstance(facts, str) else json.dumps(facts))
    return read_metadata(tmp_path / "m.json")


def test_who_and_when_are_read(tmp_path):
    known = read(tmp_path, FACTS)
    assert (known.id, known.name, known.late) == ("amara@uni.example", "Amara Okafor", True)
    assert known.handed_in == datetime.fromisoformat("2026-03-01T14:22:32.365935-07:00")


def test_a_group_is_named_together(tmp_path):
    users = [*FACTS["users"], {"email": "", "id": 7, "name": "Li Lei"}]
    known = read(tmp_path, FACTS | {"users": users})
    assert (known.id, known.name) == ("amara@uni.example, Li Lei", "Amara Okafor, Li Lei")


def test_without_a_date_nobody_is_late(tmp_path):
    assert read(tmp_path, FACTS | {"assignment": {"due_date": None}}).late is None


@pytest.mark.parametrize("facts", ["", "[]", "{", '{"users": 3, "assignment": [], "created_at": 1}', '{"users": [1]}'])
def test_what_is_broken_costs_nobody_a_mark(tmp_path, facts):
    assert read(tmp_path, facts) == Metadata()


def test_no_file_is_no_trouble(tmp_path):
    assert read_metadata(tmp_path / "none.json") == Metadata()
