"""What a call does beside returning: it prints, warns, changes arguments, shares memory, makes tensors."""

from __future__ import annotations

import ctypes
import functools
import inspect
import io
import itertools
import sys
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from autograder.sandbox.values import aligned

MAX_WARNINGS = 20
KEPT_RESULTS = 8
KEPT_BYTES = 32 << 20
# What `simplefilter("always")` puts before the other filters, and how Python is told of it.
ALWAYS = ("always", None, Warning, None, 0)
FILTERS_MUTATED = warnings._filters_mutated  # type: ignore[attr-defined]
# The addresses of a value's first byte and of the one behind its last.
Span = tuple[int, int]


class BoundedText:
    """Keeps the first `limit` bytes of what is printed, and counts the rest.

    The stream is one of Python's own, written in C: a module that prints a million lines is not slowed down by us.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._kept = bytearray()
        self._dropped = 0
        self._stream = self._open()

    def stream(self) -> io.TextIOWrapper:
        """Give the stream to print to; a new one where learner code has closed the last."""
        if self._stream.closed:
            self._stream = self._open()
        return self._stream

    def keep(self, data: memoryview) -> None:
        """Take what was printed: as much as there is room for."""
        kept = data[: self._limit - len(self._kept)]
        self._kept += kept
        self._dropped += len(data) - len(kept)

    def take(self) -> str:
        """Give what was kept since the last time, with a note of what was cut."""
        self.stream().flush()
        if not self._kept and not self._dropped:
            return ""
        # The limit may cut a letter in two.
        text = self._kept.decode("utf-8", "ignore")
        if self._dropped:
            text += f"\n[{self._dropped} more bytes cut]"
        self._kept.clear()
        self._dropped = 0
        return text

    def _open(self) -> io.TextIOWrapper:
        return io.TextIOWrapper(io.BufferedWriter(_Sink(self)), encoding="utf-8", errors="replace", newline="")


class _Sink(io.RawIOBase):
    """Where a stream ends."""

    def __init__(self, text: BoundedText) -> None:
        self._text = text

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        view = memoryview(data).cast("B")
        self._text.keep(view)
        return len(view)


class BoundedWarnings:
    """Collects the first warnings of a block, or from when it is told to on."""

    def __init__(self) -> None:
        self.found: list[tuple[str, str]] = []
        self._shown = self._record

    @contextmanager
    def collecting(self) -> Iterator[None]:
        """Record every warning raised in the block, the same one each time."""
        with warnings.catch_warnings():
            self.collect()
            yield

    def collect(self) -> None:
        """Record every warning from now on, the same one each time, whatever was done to the filters meanwhile."""
        self.found.clear()
        filters: Any = warnings.filters
        # By identity, since what learner code has put there may claim to equal anything.
        if type(filters) is not list or len(filters) != 1 or filters[0] is not ALWAYS:
            warnings.filters = [ALWAYS]
            FILTERS_MUTATED()
        warnings.showwarning = self._shown

    def _record(self, message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
        if len(self.found) < MAX_WARNINGS:
            self.found.append((encodable(category.__name__[:100]), encodable(str(message)[:300])))


class Memory:
    """An argument and what form it has. `place` is its position or keyword."""

    def __init__(self, value: Any, place: int | str) -> None:
        self.value = value
        self.place = place
        self._form = _form(value)

    def moved(self) -> bool:
        """Tell whether shape, strides or place in memory differ from when this was made."""
        return _form(self.value) != self._form


class Arguments:
    """The arguments of a call, the bytes in which they lie, and what those bytes were when they arrived.

    Each of `received` is a part of one buffer, and there is one for each argument, in order; more may follow. `again`
    makes the arguments anew from such bytes.
    """

    def __init__(self, received: list[memoryview], again: Callable[[list[memoryview]], list[Any]]) -> None:
        self.memories: list[Memory] = []
        self._received = received
        self._buffer: Any = received[0].obj if received else b""
        self._arrived = bytes(self._buffer)
        self._again = again

    def changed(self) -> list[Memory]:
        """Give those whose values, shape or strides differ from what arrived."""
        if self._buffer != self._arrived:
            return self._differing()
        for memory in self.memories:
            if memory.moved():
                return self._differing()
        return []

    def shared(self, spans: Sequence[Span]) -> list[Memory]:
        """Give those in whose bytes something else lies."""
        if not spans or not self._arrived or not meet(_addresses(self._buffer), spans):
            return []
        pairs = zip(self.memories, self._received, strict=False)
        return [memory for memory, blob in pairs if blob.nbytes and meet(_addresses(blob), spans)]

    def _differing(self) -> list[Memory]:
        kept = memoryview(bytearray(self._arrived))
        lengths = [len(blob) for blob in self._received]
        starts = itertools.accumulate(map(aligned, lengths), initial=0)
        anew = self._again([kept[start : start + length] for start, length in zip(starts, lengths, strict=False)])
        pairs = zip(self.memories, [leaf for value in anew for leaf in leaves(value)], strict=True)
        return [memory for memory, leaf in pairs if fingerprint(memory.value) != fingerprint(leaf)]


def parameter_names(target: Any) -> list[str]:
    """Give the names of a function's parameters, those of a module as its forward names them; [] where they hide."""
    torch = sys.modules.get("torch")
    try:
        is_module = torch is not None and isinstance(target, torch.nn.Module)
        return list(inspect.signature(target.forward if is_module else target).parameters)
    except (ValueError, TypeError, AttributeError):
        return []


def encodable(text: str) -> str:
    """Give the text with what UTF-8 cannot hold (lone surrogates) replaced."""
    return text.encode("utf-8", "replace").decode()


def is_tensor(value: Any) -> bool:
    """Tell whether a value is a torch tensor, without importing torch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def meet(own: Span, spans: Sequence[Span]) -> bool:
    """Tell whether some of the spans lies, at least in part, in the own one."""
    start, end = own
    for low, high in spans:  # noqa: SIM110  (asked at every call, and `any` takes twice as long)
        if low < end and start < high:
            return True
    return False


def _addresses(buffer: bytearray | memoryview) -> Span:
    start = _address(buffer)
    return start, start + len(buffer)


def _address(buffer: Any) -> int:
    """Give where something lies that has its bytes one behind the other and may be written to; else TypeError."""
    return ctypes.addressof(ctypes.c_char.from_buffer(buffer))


def span(value: Any) -> Span:
    """Give the addresses of an array's or a tensor's first byte and of the one behind its last; (0, 0) without any."""
    if isinstance(value, np.ndarray):
        if not value.size:
            return 0, 0
        if value.flags.forc:
            start = _address_of_array(value)
            return start, start + value.nbytes
        low, high = np.lib.array_utils.byte_bounds(value)
        return int(low), int(high)
    if value.is_cpu and value.numel() and not value.is_sparse:
        storage = value.untyped_storage()
        return storage.data_ptr(), storage.data_ptr() + storage.nbytes()
    return 0, 0


def _address_of_array(array: np.ndarray[Any, Any]) -> int:
    try:
        return _address(array)
    except (TypeError, ValueError):
        # Read-only, in Fortran's order, or of a kind that is not known outside of NumPy: this takes longer.
        start: int = array.__array_interface__["data"][0]
        return start


def _form(value: Any) -> tuple[Any, ...]:
    if isinstance(value, np.ndarray):
        # An array that lies in memory of another's moves only together with that; to ask where it lies takes longer.
        return value.shape, value.strides, id(value.base)
    return value.shape, value.stride(), value.data_ptr()


def fingerprint(value: Any) -> tuple[Any, ...]:
    """Give shape, strides and the bytes of a value."""
    if isinstance(value, np.ndarray):
        return value.shape, value.strides, value.tobytes()
    import torch

    whole = torch.empty(0, dtype=torch.uint8).set_(value.detach().untyped_storage())
    return tuple(value.shape), value.stride(), whole.numpy().tobytes()


def leaves(value: Any) -> Sequence[Any]:
    """Give the arrays and tensors inside a value."""
    torch = sys.modules.get("torch")
    if isinstance(value, np.ndarray) or (torch is not None and isinstance(value, torch.Tensor)):
        return (value,)
    if isinstance(value, list | tuple):
        return [leaf for item in value for leaf in leaves(item)]
    if isinstance(value, dict):
        return [leaf for item in value.values() for leaf in leaves(item)]
    return ()


class EarlierResults:
    """The last few results, kept alive so that memory used again is not mistaken for memory shared."""

    def __init__(self) -> None:
        self._kept: deque[tuple[list[Any], list[Span]]] = deque(maxlen=KEPT_RESULTS)
        self._spans: list[Span] = []

    def meet(self, spans: Sequence[Span]) -> bool:
        """Tell whether a new result lies in the memory of an earlier one."""
        for start, end in spans:
            for low, high in self._spans:
                if low < end and start < high:
                    return True
        return False

    def keep(self, arrays: list[Any], spans: list[Span]) -> None:
        """Remember the arrays of a result, unless they are large."""
        if sum(end - start for start, end in spans) <= KEPT_BYTES // KEPT_RESULTS:
            self._kept.append((arrays, spans))
            self._spans = [one for _, kept in self._kept for one in kept]


@contextmanager
def largest_tensor(measure: bool) -> Iterator[list[int]]:
    """Measure the bytes of the largest tensor that torch operations make in the block (one number, 0 at first)."""
    largest = [0]
    if not measure:
        yield largest
        return
    with _measuring()(largest):
        yield largest


@functools.cache
def _measuring() -> Any:
    """Give the mode that measures: a class, which takes longer to make than most calls take."""
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils._pytree import tree_leaves

    class Measure(TorchDispatchMode):
        def __init__(self, largest: list[int]) -> None:
            super().__init__()  # type: ignore[no-untyped-call]
            self.largest = largest

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            result = func(*args, **(kwargs or {}))
            # Nearly all operations give one tensor, and a walk through a tree costs more than most of them.
            for leaf in (result,) if isinstance(result, torch.Tensor) else tree_leaves(result):
                if isinstance(leaf, torch.Tensor):
                    self.largest[0] = max(self.largest[0], leaf.untyped_storage().nbytes())
            return result

    return Measure
