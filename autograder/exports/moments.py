"""When something was handed in, as other programs write it."""

from __future__ import annotations

from datetime import UTC, datetime


def in_utc(moment: datetime | str | None) -> datetime | None:
    """Give a moment, or what a report says of one, in UTC; None where there is none."""
    if isinstance(moment, str):
        try:
            moment = datetime.fromisoformat(moment)
        except ValueError:
            return None
    return moment.astimezone(UTC) if moment else None
