"""A bundle on disk, as a folder or a zip: written whole or not at all, and over nothing that is not a former bundle."""

from __future__ import annotations

import io
import secrets
import shutil
import stat
import zipfile
import zlib
from collections.abc import Collection, Mapping
from pathlib import Path

from autograder.release.manifest import first_change
from autograder.release.stubs import ReleaseError
from autograder.report import ReportError, write_whole

# The earliest that a zip can name: the same bundle gives the same bytes, whenever it is packed.
PACKED_AT = (1980, 1, 1, 0, 0, 0)
READABLE_BY_ALL = stat.S_IFREG | 0o644
RUN_BY_ALL = stat.S_IFREG | 0o755


def write_folder(files: Mapping[str, bytes], folder: Path) -> None:
    """Write a bundle into a folder that is not there, is empty, or holds a former bundle. Raises ReleaseError."""
    insist_on_a_free_folder(folder)
    folder = folder.absolute()
    partial = folder.with_name(f".{secrets.token_hex(8)}.part")
    try:
        for path, content in files.items():
            (partial / path).parent.mkdir(parents=True, exist_ok=True)
            (partial / path).write_bytes(content)
        _put_in_place(partial, folder)
    except OSError as error:
        raise ReleaseError(f"{folder}: cannot be written ({error.strerror}); nothing was changed there") from None
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def write_zip(files: Mapping[str, bytes], file: Path, top: str) -> None:
    """Pack a bundle into a zip in which everything lies in the folder `top`. Raises ReleaseError."""
    insist_on_a_free_file(file)
    try:
        write_whole(file.absolute(), packed(files, top))
    except ReportError as error:
        raise ReleaseError(str(error)) from None


def packed(files: Mapping[str, bytes], top: str = "", programs: Collection[str] = ()) -> bytes:
    """Give the zip of a bundle, the same bytes for the same files, all of it in the folder `top` if there is one.

    `programs` are the paths of those that can be run.
    """
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path in sorted(files):
            entry = zipfile.ZipInfo(f"{top}/{path}" if top else path, PACKED_AT)
            entry.external_attr = (RUN_BY_ALL if path in programs else READABLE_BY_ALL) << 16
            # As on Unix, wherever it is packed.
            entry.create_system = 3
            # A wheel is packed already.
            entry.compress_type = zipfile.ZIP_STORED if path.endswith(".whl") else zipfile.ZIP_DEFLATED
            archive.writestr(entry, files[path])
    return buffer.getvalue()


def insist_on_a_free_folder(folder: Path) -> None:
    """Raise ReleaseError where writing a bundle there would cost somebody something."""
    if not folder.exists() and not folder.is_symlink():
        return
    if not folder.is_dir() or folder.is_symlink():
        raise ReleaseError(f"{folder} is there and no folder; name another place for the bundle")
    try:
        there = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    except OSError as error:
        raise ReleaseError(f"{error.filename}: cannot be read ({error.strerror}); name another folder") from None
    if there or any(folder.iterdir()):
        _insist_on_a_former_bundle(folder, there)


def insist_on_a_free_file(file: Path) -> None:
    """Raise ReleaseError where a file is there that is no former bundle."""
    if not file.exists() and not file.is_symlink():
        return
    try:
        with zipfile.ZipFile(file) as archive:
            there = {name.partition("/")[2]: archive.read(name) for name in archive.namelist()}
    except (OSError, EOFError, zipfile.BadZipFile, zlib.error, RuntimeError, NotImplementedError):
        there = {}
    _insist_on_a_former_bundle(file, there)


def _insist_on_a_former_bundle(place: Path, there: Mapping[str, bytes]) -> None:
    changed = first_change(there)
    if changed == "":
        raise ReleaseError(f"{place} is not empty and no former bundle; empty it or name another place")
    if changed is not None:
        raise ReleaseError(f"{place}: somebody worked in this bundle ({changed}); move it away or name another place")


def _put_in_place(partial: Path, folder: Path) -> None:
    """Rename a folder to another's name; what had that name stays until the new one has it."""
    if not folder.exists():
        partial.rename(folder)
        return
    former = folder.with_name(f".{secrets.token_hex(8)}.former")
    folder.rename(former)
    try:
        partial.rename(folder)
    except OSError:
        former.rename(folder)
        raise
    shutil.rmtree(former, ignore_errors=True)
