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


def spread_of_new_things(fill):
    """Leave gaps all over memory, and tell how far apart new objects, and new pieces of the C library's, lie then."""
    text = f"""
import ctypes
from autograder.sandbox import pages
library = ctypes.CDLL(None)
library.malloc.restype, library.malloc.argtypes = ctypes.c_void_p, (ctypes.c_size_t,)
library.free.argtypes = (ctypes.c_void_p,)
objects = [bytes(100) for _ in range(20_000)]
pieces = [library.malloc(2_000) for _ in range(2_000)]
del objects[::50]
for piece in pieces[::50]:
    library.free(piece)
{fill}
known = list(map(id, [bytes(100) for _ in range(20)]))
news = [library.malloc(2_000) for _ in range(20)]
print(max(known) - min(known), max(news) - min(news))
"""
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    return [int(number) for number in done.stdout.split()]


@pytest.mark.skipif(
    sys.platform != "linux" or not hasattr(ctypes.CDLL(None), "mallinfo2"), reason="not the C library that is filled"
)
def test_after_the_gaps_are_filled_new_things_lie_together():
    assert min(spread_of_new_things("")) > 64 << 10
    together = spread_of_new_things("pages.fill_gaps()")
    assert max(together) <= 48 << 10


def test_with_another_c_library_only_the_gaps_between_objects_are_filled():
    without = "class Missing:\n    pass\n"
    fill = f"{without}pages.ctypes.CDLL = lambda name: Missing()\npages.fill_gaps()"
    objects, pieces = spread_of_new_things(fill)
    assert objects <= 48 << 10
    assert pieces > 64 << 10
