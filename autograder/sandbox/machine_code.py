"""The libraries' machine code in large pages, so that a fork need not come by it page by page.

Code belongs to a file, and a fork has none of a file's pages in its tables: it enters each as it first gets there, and
its end takes out what it entered. Of torch's code that are thousands for each exercise. A copy in large pages of the
process's own is there from the beginning.
"""

from __future__ import annotations

import array
import contextlib
import ctypes
import platform
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from autograder.sandbox.pages import LARGE, MADV_COLLAPSE, mappings

SMALL = 4 << 10
READ, WRITE, EXECUTE = 1, 2, 4
MAP_PRIVATE_OF_NO_FILE = 0x22
MREMAP_TO_A_PLACE = 3
MADV_HUGEPAGE = 14
FAILED = ctypes.c_void_p(-1).value
# In what the kernel tells of a page: it is in this process's memory.
PRESENT = 63
OVERCOMMIT = Path("/proc/sys/vm/overcommit_memory")
STRICTLY = "2"
Region = tuple[int, int]


def gather() -> None:
    """Copy the code that this process has run into large pages and put it where it was; where that cannot be, stop.

    Other processors have to be told that what was written is code now, which is left to the systems that know how.
    """
    if not sys.platform.startswith("linux") or platform.machine() != "x86_64" or _is_promised_strictly():
        return
    with contextlib.suppress(AttributeError):
        library = _c_library()
        for region in _regions_that_ran():
            if not _moved(library, *region):
                return


def _is_promised_strictly() -> bool:
    """Tell whether the kernel promises no memory that it may not have: a move could fail when its place is empty."""
    try:
        return OVERCOMMIT.read_text().strip() == STRICTLY
    except OSError:
        return True


def _regions_that_ran() -> list[Region]:
    """Give where code lies that this process has run; nothing where the system does not tell."""
    try:
        with open("/proc/self/maps", errors="surrogateescape") as maps:
            regions = list(_code_in_files(maps))
        with open("/proc/self/pagemap", "rb", buffering=0) as pages:
            ran = [region for region in regions if _has_run(pages, *region)]
    except OSError:
        return []
    return _joined(ran)


def _joined(regions: list[Region]) -> list[Region]:
    """Join what lies one behind the other: a fork has to enter each region."""
    joined: list[Region] = []
    for start, end in regions:
        if joined and joined[-1][1] == start:
            joined[-1] = joined[-1][0], end
        else:
            joined.append((start, end))
    return joined


def _code_in_files(maps: Iterable[str]) -> Iterator[Region]:
    """Give the addresses of each large page that holds nothing but a file's code."""
    for start, end, permissions, of_a_file, _ in mappings(maps):
        if permissions == "r-xp" and of_a_file:
            for large in range(start, end, LARGE):
                yield large, large + LARGE


def _has_run(pages: Any, start: int, end: int) -> bool:
    told = array.array("Q")
    pages.seek(start // SMALL * told.itemsize)
    told.frombytes(pages.read((end - start) // SMALL * told.itemsize))
    return any(page >> PRESENT for page in told)


def _moved(library: Any, start: int, end: int) -> bool:
    """Put a copy in place of the code between two addresses; False, and all is as it was, where the kernel refuses."""
    size = end - start
    taken = library.mmap(None, size + LARGE, READ | WRITE, MAP_PRIVATE_OF_NO_FILE, -1, 0)
    if taken == FAILED:
        return False
    copy = -(-taken // LARGE) * LARGE
    library.madvise(copy, size, MADV_HUGEPAGE)
    ctypes.memmove(copy, start, size)
    # In small pages it would cost more than it saves.
    large = not library.madvise(copy, size, MADV_COLLAPSE)
    moved = (
        large
        and not library.mprotect(copy, size, READ | EXECUTE)
        and library.mremap(copy, size, size, MREMAP_TO_A_PLACE, start) == start
    )
    for left, right in ((taken, copy), (copy + size * moved, taken + size + LARGE)):
        if left < right:
            library.munmap(left, right - left)
    return moved


def _c_library() -> Any:
    library: Any = ctypes.CDLL(None)
    address, size, number = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
    library.mmap.restype = library.mremap.restype = address
    library.mmap.argtypes = (address, size, number, number, number, ctypes.c_long)
    library.mremap.argtypes = (address, size, size, number, address)
    library.munmap.argtypes = (address, size)
    library.mprotect.argtypes = library.madvise.argtypes = (address, size, number)
    return library
