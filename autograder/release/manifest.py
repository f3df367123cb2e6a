"""What a bundle says of itself: its files with their digests, so that one that nobody worked in can be told."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import msgspec

MANIFEST = "bundle.json"


class Manifest(msgspec.Struct, frozen=True):
    """The course that a bundle is of, and the SHA-256 of each of its files."""

    course: str
    files: dict[str, str]


def manifest_of(course: str, files: Mapping[str, bytes]) -> bytes:
    """Give the manifest of a bundle as JSON."""
    digests = {path: hashlib.sha256(files[path]).hexdigest() for path in sorted(files)}
    return msgspec.json.format(msgspec.json.encode(Manifest(course, digests)), indent=2) + b"\n"


def first_change(files: Mapping[str, bytes]) -> str | None:
    """Give the first file in which a former bundle is not as it was written: None where it is, "" where it is none."""
    try:
        manifest = msgspec.json.decode(files.get(MANIFEST, b""), type=Manifest)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return ""
    now = {path: hashlib.sha256(content).hexdigest() for path, content in files.items() if path != MANIFEST}
    return next((path for path in sorted(now) if manifest.files.get(path) != now[path]), None)
