"""Code that is moved into large pages is the same code in the same place; where the kernel refuses, nothing changes."""

import ctypes
import json
import mmap
import platform
import subprocess
import sys

import pytest

from autograder.sandbox import machine_code
from autograder.sandbox.pages import LARGE

MIB = 1 << 20
TOLD = sys.platform.startswith("linux")
TORCH = """
import ctypes, hashlib, json, os, sys
import torch
from autograder.sandbox import machine_code

# A fork has none of the other threads.
torch.set_num_threads(1)

def known():
    torch.manual_seed(5)
    scores = torch.randn(40, 40, dtype=torch.float64)
    return hashlib.sha256((scores.softmax(-1) @ scores).numpy().tobytes()).hexdigest()

def code(regions):
    return [hashlib.sha256(ctypes.string_at(start, end - start)).hexdigest() for start, end in regions]

def in_a_fork():
    if not hasattr(os, "fork"):
        return known()
    reading, writing = os.pipe()
    if os.fork() == 0:
        os.write(writing, known().encode())
        os._exit(0)
    os.wait()
    return os.read(reading, 100).decode()

value = known()
"""
MOVING = f"""{TORCH}
regions = machine_code._regions_that_ran()
before = code(regions)
machine_code.gather()
still = machine_code._regions_that_ran()
same = [code(regions) == before, known() == value, in_a_fork() == value]
print(json.dumps([len(regions), len(still), same]))
"""
REFUSING = """
class Library:
    def __init__(self, library, refused):
        self.library, self.refused = library, refused
        self.taken = 0
    def __getattr__(self, name):
        return (lambda *given: -1) if name == self.refused else getattr(self.library, name)
    def mmap(self, *given):
        if self.refused == "mmap":
            return machine_code.FAILED
        self.taken += given[1]
        return self.library.mmap(*given)
    def munmap(self, start, size):
        self.taken -= size
        return self.library.munmap(start, size)
"""
REFUSED = f"""{TORCH}{REFUSING}
known_library, libraries = machine_code._c_library, []
def refusing():
    libraries.append(Library(known_library(), sys.argv[1]))
    return libraries[0]
machine_code._c_library = refusing
regions = machine_code._regions_that_ran()
machine_code.gather()
taken = sum(each.taken for each in libraries)
print(json.dumps([machine_code._regions_that_ran() == regions, known() == value, taken]))
"""


def printed(text, *arguments):
    command = [sys.executable, "-c", text, *arguments]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout)


def test_what_has_run_is_moved_and_is_the_same():
    count, left, same = printed(MOVING)
    assert (count > 10) == TOLD
    assert left == (0 if code_is_moved_here() else count)
    assert same == [True, True, True]


@pytest.mark.parametrize("refused", ["mmap", "madvise", "mprotect", "mremap"])
def test_where_the_kernel_refuses_the_code_stays_where_it_was_and_no_memory_is_taken(refused):
    assert printed(REFUSED, refused) == [True, True, 0]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("00400000-00a00000 r-xp 00001000 fe:00 77 /usr/lib/with a space.so", [(4, 6), (6, 8), (8, 10)]),
        ("00300000-00700000 r-xp 00001000 fe:00 77 /usr/lib/a.so", [(4, 6)]),
        ("00300000-00500000 r-xp 00001000 fe:00 77 /usr/lib/a.so", []),
        ("00400000-00800000 r--p 00001000 fe:00 77 /usr/lib/a.so", []),
        ("00400000-00800000 rw-p 00001000 fe:00 77 /usr/lib/a.so", []),
        ("00400000-00800000 r-xp 00000000 00:00 0 ", []),
    ],
)
def test_code_counts_as_far_as_it_fills_large_pages(line, expected):
    assert [(start / MIB, end / MIB) for start, end in machine_code._code_in_files(iter([line]))] == expected


def test_what_lies_one_behind_the_other_is_moved_at_once():
    assert machine_code._joined([(0, 2), (2, 4), (6, 8), (8, 10), (12, 14)]) == [(0, 4), (6, 10), (12, 14)]


def test_on_another_kind_of_processor_nothing_is_moved(monkeypatch):
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    monkeypatch.setattr(machine_code, "_regions_that_ran", lambda: pytest.fail("it has looked for code to move"))
    machine_code.gather()


def test_where_memory_is_promised_strictly_nothing_is_moved(monkeypatch, tmp_path):
    (tmp_path / "overcommit").write_text("2\n")
    monkeypatch.setattr(machine_code, "OVERCOMMIT", tmp_path / "overcommit")
    monkeypatch.setattr(machine_code, "_regions_that_ran", lambda: pytest.fail("it has looked for code to move"))
    machine_code.gather()


def code_is_moved_here():
    """Ask the kernel for a large page, as the module under test does, where that does it."""
    if not TOLD or platform.machine() != "x86_64" or machine_code._is_promised_strictly():
        return False
    library = machine_code._c_library()
    memory = mmap.mmap(-1, 2 * LARGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory.write(b"?" * len(memory))
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    return library.madvise(-(-start // LARGE) * LARGE, LARGE, machine_code.MADV_COLLAPSE) == 0
