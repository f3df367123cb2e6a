"""Memory in such an order that a fork has little to copy; and memory that is kept, not given back and taken again.

A process that holds torch has some 50,000 small pages; to enter each into a fork's tables, and to take it out again at
the fork's end, costs more than all that a fork does until it is ready. In large pages they are a hundred, beside
5,000 small ones where no large one has room.

What a fork writes to is copied for it page by page. New objects go first of all into gaps, which lie far apart: filled
before the fork, they leave its objects no other place than one behind the other.
"""

from __future__ import annotations

import ctypes
import functools
import sys
from collections.abc import Iterable, Iterator

LARGE = 2 << 20
MADV_COLLAPSE = 25
M_TRIM_THRESHOLD = -1
M_MMAP_THRESHOLD = -3
# The C library allows no more for the second.
KEPT = 128 << 20
LARGEST_KEPT = 32 << 20
# Python keeps objects of up to 512 bytes by size, in steps of 16; the C library keeps pieces in such steps up to 1 KiB.
SMALLEST_STEP = 16
LARGEST_OBJECT = 512
# A process that has loaded torch has up to 400 gaps of a size.
GAPS_OF_A_SIZE = 512
MOST_CHUNKS = 10_000
MALLINFO = (
    "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost",
)  # fmt: skip


def keep_freed() -> None:
    """Have the C library keep what is freed.

    Otherwise the kernel clears each page anew for arrays of megabytes, which takes as long as to compute with them.
    """
    try:
        set_option = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError, TypeError):
        # Another C library than GNU's, or another system.
        return
    set_option(M_MMAP_THRESHOLD, LARGEST_KEPT)
    set_option(M_TRIM_THRESHOLD, KEPT)


def fill_gaps() -> None:
    """Take what is free between other things in memory, for good: a few megabytes."""
    _fill_gaps_between_objects()
    try:
        _fill_gaps_of_the_c_library()
    except (OSError, AttributeError, TypeError):
        # Another C library than GNU's, or another system.
        return


def _fill_gaps_between_objects() -> None:
    header = sys.getsizeof(b"")
    fillings: list[list[object]] = []
    for size in range(SMALLEST_STEP, LARGEST_OBJECT + 1, SMALLEST_STEP):
        # Bytes have a header; what is smaller than that is made of objects and of numbers.
        make = functools.partial(bytes, size - header) if size > header else (object, float)[size > SMALLEST_STEP]
        fillings.append([make() for _ in range(GAPS_OF_A_SIZE)])
    # Counted once more than there is anybody who knows them, they stay.
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(fillings))


def _fill_gaps_of_the_c_library() -> None:
    library = ctypes.CDLL(None)
    library.mallinfo2.restype = _Mallinfo
    for name, argument in (("malloc", ctypes.c_size_t), ("sbrk", ctypes.c_ssize_t), ("free", ctypes.c_void_p)):
        function = getattr(library, name)
        function.restype, function.argtypes = ctypes.c_void_p, (argument,)
    # Behind this there is only what nothing has been taken of yet.
    top = library.sbrk(0) - library.mallinfo2().keepcost
    for size in _sizes_from_large_to_small():
        for _ in range(MOST_CHUNKS):
            chunk = library.malloc(size)
            if chunk is None or chunk >= top:
                library.free(chunk)
                break


def _sizes_from_large_to_small() -> Iterator[int]:
    yield from (1 << power for power in range(17, 10, -1))
    yield from range(1 << 10, 0, -SMALLEST_STEP)


class _Mallinfo(ctypes.Structure):
    """What the C library tells of its memory: all are numbers of bytes or of pieces."""

    _fields_ = tuple((name, ctypes.c_size_t) for name in MALLINFO)


def gather() -> None:
    """Have the kernel move this process's own memory into large pages; where it cannot, all stays as it is."""
    try:
        advise = ctypes.CDLL(None).madvise
        with open("/proc/self/maps", errors="surrogateescape") as maps:
            regions = list(_own_regions(maps))
    except (OSError, AttributeError):
        return
    advise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    for start, end in regions:
        # Linux from 6.1 on; a kernel that refuses has changed nothing.
        advise(start, end - start, MADV_COLLAPSE)


def _own_regions(maps: Iterable[str]) -> Iterator[tuple[int, int]]:
    """Give the addresses, in whole large pages, of writable memory behind which there is no file."""
    for start, end, permissions, of_a_file, name in mappings(maps):
        if permissions.startswith("rw-p") and not of_a_file and name in ("", "[heap]") and start < end:
            yield start, end


def mappings(maps: Iterable[str]) -> Iterator[tuple[int, int, str, bool, str]]:
    """Give what the kernel tells of a process's memory: the whole large pages in it, permissions, and what it is of."""
    for line in maps:
        addresses, permissions, _, _, inode, *name = line.split()
        start, end = (int(address, 16) for address in addresses.split("-"))
        yield -(-start // LARGE) * LARGE, end // LARGE * LARGE, permissions, inode != "0", " ".join(name)
