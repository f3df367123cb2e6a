"""What the instructor chose when the archive was made, and where things lie at Gradescope."""

from __future__ import annotations

from pathlib import Path

import msgspec

NAME = "settings.json"
KIT = "kit"
UNFINISHED = "unfinished.json"


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`course` is its folder in the archive, `seconds` the time that a whole submission may take."""

    course: str = KIT
    trust: bool = False
    with_bonus: bool = False
    seconds: float = 300.0


class Place:
    """The folder that is called /autograder at Gradescope."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.source = root / "source"
        self.submission = root / "submission"
        self.results = root / "results" / "results.json"
        self.metadata = root / "submission_metadata.json"

    @property
    def settings(self) -> Settings:
        """What came with the archive."""
        return msgspec.json.decode((self.source / NAME).read_bytes(), type=Settings)

    @property
    def course(self) -> Path:
        """The folder of the course."""
        return self.source / self.settings.course
