"""`submission_metadata.json`: who handed in, and when.

Facts, from "Submission Metadata" of Gradescope's documentation: `created_at` is the moment of the submission, in ISO
8601 with its offset; `users` lists `id`, `name` and `email` of each member of a group; `assignment` has `due_date`, or
null. A group's members are one submission here.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from autograder.downloads.times import parse_time


@dataclass(frozen=True)
class Metadata:
    """What is known of a submission; "" and None where nothing is."""

    id: str = "submission"
    name: str = ""
    handed_in: datetime | None = None
    due: datetime | None = None

    @property
    def late(self) -> bool | None:
        """Whether it came after Gradescope's own date, or None where that cannot be said."""
        return self.handed_in > self.due if self.handed_in and self.due else None


def read_metadata(file: Path) -> Metadata:
    """Read what there is; a file that is missing or broken costs nobody a mark."""
    try:
        facts = msgspec.json.decode(file.read_bytes())
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return Metadata()
    facts = facts if isinstance(facts, dict) else {}
    users = facts.get("users")
    people = [user for user in users if isinstance(user, dict)] if isinstance(users, list) else []
    names = [_text(user.get("name")) for user in people]
    ids = [_text(user.get("email")) or _text(user.get("name")) or _text(user.get("id")) for user in people]
    assignment = facts.get("assignment")
    due = assignment.get("due_date") if isinstance(assignment, dict) else None
    id = ", ".join(filter(None, ids)) or Metadata.id
    return Metadata(id, ", ".join(filter(None, names)), _moment(facts.get("created_at")), _moment(due))


def _text(value: Any) -> str:
    return str(value).strip() if isinstance(value, str | int) else ""


def _moment(value: Any) -> datetime | None:
    return parse_time(value) if isinstance(value, str) else None
