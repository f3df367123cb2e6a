"""When something was handed in: texts that platforms write, and the times of files where those tell anything."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

# Two learners may hand in together; a class whose files are all this close was copied, unpacked or downloaded then.
MOMENT = timedelta(minutes=2)
FEWEST_TO_JUDGE = 3
DATE_AND_TIME = re.compile(r"(\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d)?)(?:\.(\d+))? ?(\S*)")


def parse_time(text: str) -> datetime | None:
    """Read a time such as "2015-02-02 15:58:23.948203 America/Los_Angeles", or give None where it is none.

    A zone may be an offset, "Z" or a name; a time without one is in UTC, as nbgrader takes it (`utils.parse_utc`).
    """
    found = DATE_AND_TIME.fullmatch(text.strip())
    if found is None:
        return None
    moment, fraction, zone = found.groups()
    try:
        # Ruby writes nanoseconds, which datetime has no room for.
        naive = datetime.fromisoformat(moment) + timedelta(microseconds=int((fraction or "0")[:6].ljust(6, "0")))
        return naive.replace(tzinfo=_zone(zone))
    except (ValueError, OverflowError, OSError):
        return None


def are_of_copying(times: Sequence[datetime | None]) -> bool:
    """Say whether the times of a class's files only tell when all of them were downloaded, unpacked or copied."""
    known = [time for time in times if time is not None]
    return len(known) >= FEWEST_TO_JUDGE and max(known) - min(known) <= MOMENT


def _zone(text: str) -> tzinfo:
    """Give the zone of an offset or a name; ValueError or OSError where there is none of the name."""
    if text in ("", "Z", "UTC", "GMT"):
        return UTC
    if offset := re.fullmatch(r"([+-])(\d\d):?(\d\d)", text):
        sign, hours, minutes = offset.groups()
        delta = timedelta(hours=int(hours), minutes=int(minutes))
        return timezone(-delta if sign == "-" else delta)
    try:
        return ZoneInfo(text)
    except KeyError:
        raise ValueError(f"no time zone is named {text}") from None
