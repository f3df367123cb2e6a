"""Which memory is moved into large pages, and that moving changes nothing in it."""

import ctypes
import subprocess
import sys

import pytest

from autograder.sandbox import pages

MIB = 1 << 20


def regions(*lines):
    return [(start / MIB, end / MIB) for start, end in pages._own_regions(iter(lines))]


def test_a_region_counts_as_far_as_it_fills_large_pages():
    assert regions("00300000-00900000 rw-p 00000000 00:00 0 ") == [(4, 8)]
    assert regions("00400000-00800000 rw-p 00000000 00:00 0    [heap]\n") == [(4, 8)]


@pytest.mark.parametrize(
    "line",
    [
        "00400000-00800000 r-xp 00000000 00:00 0 ",
        "00400000-00800000 rw-s 00000000 00:00 0 ",
        "00400000-00800000 rw-p 00000000 fe:00 77 /usr/lib/with a space.so",
        "00400000-00800000 rw-p 00000000 00:00 0 [stack]",
        "00400000-005ff000 rw-p 00000000 00:00 0 ",
    ],
)
def test_other_memory_is_left_alone(line):
    assert regions(line) == []


def test_what_is_in_memory_stays_as_it_is():
    text = """
import numpy as np
from autograder.sandbox import pages
numbers = np.arange(1 << 20)
pages.gather()
print(int(numbers.sum()), bool((numbers == np.arange(1 << 20)).all()))
"""
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout == f"{(1 << 19) * ((1 << 20) - 1)} True\n"


def spread(make, fill):
    """Leave gaps all over memory, and tell how far apart things lie that are made after `fill`."""
    # Where a module has to be compiled first, that leaves gaps, too, as many as a fork server has to fill.
    text = f"""
from autograder.sandbox import pages
pages.fill_gaps()
{make}
{fill}
known = [where(make()) for _ in range(20)]
print(max(known) - min(known))
"""
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    return int(done.stdout)


OBJECTS = """
kept = []
def make():
    kept.append(bytes(100))
    return kept[-1]
where = id
for _ in range(20_000):
    make()
del kept[::100]
"""
# What the C library gives is taken back by its address.
PIECES = """
import ctypes
library = ctypes.CDLL(None)
library.malloc.restype, library.malloc.argtypes = ctypes.c_void_p, (ctypes.c_size_t,)
library.free.argtypes = (ctypes.c_void_p,)
make, where = lambda: library.malloc(2_000), int
for piece in [make() for _ in range(2_000)][::50]:
    library.free(piece)
"""
WITHOUT_THE_C_LIBRARY = """
class Another:
    pass
pages.ctypes.CDLL = lambda name: Another()
pages.fill_gaps()
"""


@pytest.mark.parametrize("fill", ["pages.fill_gaps()", WITHOUT_THE_C_LIBRARY], ids=["as it is", "another C library"])
def test_after_the_gaps_are_filled_new_objects_lie_together(fill):
    assert spread(OBJECTS, "") > 64 << 10
    assert spread(OBJECTS, fill) <= 48 << 10


# Elsewhere there is nothing of the kind to fill, which the test above shows to be no error.
@pytest.mark.skipif(
    sys.platform != "linux" or not hasattr(ctypes.CDLL(None), "mallinfo2"), reason="this C library tells of no gaps"
)
def test_after_the_gaps_are_filled_new_pieces_of_the_c_library_lie_together():
    assert spread(PIECES, "") > 64 << 10
    assert spread(PIECES, "pages.fill_gaps()") <= 48 << 10
