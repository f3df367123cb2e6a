"""Memory in large pages, so that a fork has little to copy; and memory that is kept, not given back and taken again.

A process that holds torch has some 50,000 small pages; to enter each into a fork's tables, and to take it out again at
the fork's end, costs more than all that a fork does until it is ready. In large pages they are a hundred.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator

LARGE = 2 << 20
MADV_COLLAPSE = 25
M_TRIM_THRESHOLD = -1
M_MMAP_THRESHOLD = -3
# The C library allows no more for the second.
KEPT = 128 << 20
LARGEST_KEPT = 32 << 20


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


def gather() -> None:
    """Have the kernel move this process's own memory into large pages; where it cannot, all stays as it is."""
    try:
        advise = ctypes.CDLL(None).madvise
        with open("/proc/self/maps") as maps:
            regions = list(_own_regions(maps))
    except (OSError, AttributeError):
        return
    advise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    for start, end in regions:
        # Linux from 6.1 on; a kernel that refuses has changed nothing.
        advise(start, end - start, MADV_COLLAPSE)


def _own_regions(maps: Iterator[str]) -> Iterator[tuple[int, int]]:
    """Give the addresses, in whole large pages, of writable memory behind which there is no file."""
    for line in maps:
        addresses, permissions, _, _, inode, *name = line.split()
        if permissions.startswith("rw-p") and inode == "0" and name in ([], ["[heap]"]):
            start, end = (int(address, 16) for address in addresses.split("-"))
            start, end = -(-start // LARGE) * LARGE, end // LARGE * LARGE
            if start < end:
                yield start, end
