"""The names of torch's functions and of their kernels, and which of them a pattern matches."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase

KERNELS = (
    "CPU", "SparseCPU", "SparseCsrCPU", "NestedTensorCPU", "QuantizedCPU", "MkldnnCPU",
    "CompositeExplicitAutograd", "CompositeImplicitAutograd",
)  # fmt: skip


def plain(name: str) -> str:
    """Give a function's name as users know it."""
    return name.lstrip("_").removeprefix("special_")


@functools.cache
def torch_operators() -> dict[str, list[str]]:
    """Give torch's functions by their plain names, each with its operators."""
    import torch

    found: dict[str, list[str]] = {}
    for operator in torch._C._dispatch_get_all_op_names():
        space, _, name = operator.partition("::")
        if space == "aten":
            found.setdefault(name.partition(".")[0], []).append(operator)
    return found


def kernels_of(operator: str) -> list[str]:
    """Give the keys for which an operator has a kernel. Asked of all operators it takes as long as five forks."""
    import torch

    return [key for key in KERNELS if torch._C._dispatch_has_kernel_for_dispatch_key(operator, key)]


@functools.cache
def torch_names() -> dict[str, list[str]]:
    """Give torch's functions, as `torch_operators` names them, by that name and by the one that users write."""
    found: dict[str, list[str]] = {}
    for name in torch_operators():
        for form in dict.fromkeys((name, plain(name))):
            found.setdefault(form, []).append(name)
    return found


@functools.cache
def torch_lines() -> str:
    """Give the keys of `torch_names` as `lines_of` writes them: made before a fork, since it touches each of them."""
    return lines_of(torch_names())


def lines_of(names: Iterable[str]) -> str:
    """Give a text with a line for each name, and an end of line before the first one."""
    return "\n".join(("", *names, ""))


def matching(patterns: Iterable[str], text: str) -> Iterator[str]:
    """Give the names of `lines_of` that match one of the patterns, as `fnmatchcase` does it.

    The text is searched for what a pattern has of plain letters: name by name it takes as long as a fork.
    """
    for pattern in patterns:
        piece, start = plain_piece(pattern), 0
        while (found := text.find(piece, start)) >= 0:
            line, start = text.rfind("\n", 0, found + 1) + 1, text.find("\n", found + 1)
            if start < 0:
                break
            if fnmatchcase(text[line:start], pattern):
                yield text[line:start]


@functools.cache
def plain_piece(pattern: str) -> str:
    """Give the longest part of a pattern that stands for itself; empty where sets of characters make it hard to see."""
    return "" if "[" in pattern else max(re.split(r"[*?]", pattern), key=len)
