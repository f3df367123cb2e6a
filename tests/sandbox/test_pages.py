"""Which memory is moved into large pages, and that moving changes nothing in it."""

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
