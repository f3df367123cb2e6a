"""The time of a repository's last commit, asked of git without letting the repository say what git does.

A repository's own settings can name programs for git to run, and a learner may have written them. So git is pointed at
an empty repository of ours, and only looks up the one commit among the learner's objects.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from datetime import datetime, timedelta, timezone
from pathlib import Path
from tempfile import TemporaryDirectory

from autograder.downloads.disk import read_file
from autograder.downloads.model import UnreadableError
from autograder.downloads.nodes import MIB

LONGEST_COMMIT = MIB
SECONDS = 20
HASH = re.compile(r"[0-9a-f]{40}")
REFERENCE = re.compile(r"refs/heads/[^\s~^:?*\[\\]+")
COMMITTER = re.compile(rb"^committer [^\n]*> (\d{1,12}) ([+-])(\d\d)(\d\d)$", re.MULTILINE)


def commit_time(clone: Path) -> datetime | None:
    """Give when the commit that is checked out was made, by the clock and zone of who made it, or None."""
    git = shutil.which("git")
    commit = _head(clone / ".git")
    if git is None or not commit or not _is_folder(clone / ".git" / "objects"):
        return None
    found = COMMITTER.search(_commit(git, commit, clone / ".git" / "objects").partition(b"\n\n")[0])
    if found is None:
        return None
    seconds, sign, hours, minutes = (part.decode() for part in found.groups())
    offset = timedelta(hours=int(hours), minutes=int(minutes))
    try:
        return datetime.fromtimestamp(int(seconds), timezone(-offset if sign == "-" else offset))
    except (ValueError, OverflowError, OSError):
        return None


def _head(repository: Path) -> str:
    """Give the hash of the commit that is checked out, or nothing where the files do not say."""
    head = _text(repository / "HEAD")
    if not head.startswith("ref: "):
        return head if HASH.fullmatch(head) else ""
    reference = head.removeprefix("ref: ")
    if not REFERENCE.fullmatch(reference) or ".." in reference:
        return ""
    loose = _text(repository / reference)
    packed = dict(line.split(" ", 1)[::-1] for line in _text(repository / "packed-refs").splitlines() if " " in line)
    commit = loose or packed.get(reference, "")
    return commit if HASH.fullmatch(commit) else ""


def _text(path: Path) -> str:
    try:
        return read_file(path, LONGEST_COMMIT).decode("utf-8", "replace").strip()
    except UnreadableError:
        return ""


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink() and not path.parent.is_symlink()


def _commit(git: str, commit: str, objects: Path) -> bytes:
    with TemporaryDirectory(prefix="attend-") as empty:
        for folder in ("objects", "refs"):
            (Path(empty) / folder).mkdir()
        (Path(empty) / "HEAD").write_text("ref: refs/heads/none\n")
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
            "GIT_DIR": empty,
            "GIT_OBJECT_DIRECTORY": str(objects.resolve()),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_ALLOW_PROTOCOL": "",
        }
        try:
            ran = subprocess.run(
                [git, "cat-file", "commit", commit], env=environment, cwd=empty, capture_output=True, timeout=SECONDS
            )
        except (OSError, subprocess.TimeoutExpired):
            return b""
        return ran.stdout[:LONGEST_COMMIT] if ran.returncode == 0 else b""
