"""Values on their way between two processes: each is rebuilt from (dtype, shape, bytes) alone.

Nothing is ever unpickled, so no subclass and no object crosses: a subclass becomes its base, anything else is refused.
"""

from __future__ import annotations

import ctypes
import functools
import math
import sys
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import msgspec
import numpy as np

if TYPE_CHECKING:
    import torch


class WireError(Exception):
    """Something that could not be said or understood."""


class Unsendable(WireError):
    """A value that may not cross; the message says what it was."""


class Malformed(WireError):
    """Bytes that are not a message of this protocol."""


BLOB_LIMIT = 64 << 20
MAX_STRING = 1 << 19
MAX_DIMENSIONS = 16
MAX_DEPTH = 12
MAX_ITEMS = 10_000
# Every blob begins at a multiple of this, so that an array can lie where its bytes arrived.
ALIGNMENT = 16
FILL = bytes(ALIGNMENT)
# So many bytes are sooner copied than looked at in place.
SMALL = 1 << 10
ITEM_SIZES = {
    "bool": 1, "uint8": 1, "int8": 1, "uint16": 2, "int16": 2, "uint32": 4, "int32": 4, "uint64": 8, "int64": 8,
    "float16": 2, "bfloat16": 2, "float32": 4, "float64": 8, "complex64": 8, "complex128": 16,
}  # fmt: skip
DTYPES = {name: np.dtype(name) for name in ITEM_SIZES if name != "bfloat16"}


class Layout(msgspec.Struct, array_like=True, frozen=True):
    """How an array lies in its blob. Strides and offset count elements; None is C order."""

    strides: tuple[int, ...]
    offset: int


class Array(msgspec.Struct, array_like=True, frozen=True, tag="array"):
    """A NumPy array (or NumPy scalar: shape ())."""

    dtype: str
    shape: tuple[int, ...]
    blob: int
    writeable: bool = True
    layout: Layout | None = None


class Tensor(msgspec.Struct, array_like=True, frozen=True, tag="tensor"):
    """A dense torch tensor on the CPU."""

    dtype: str
    shape: tuple[int, ...]
    blob: int
    layout: Layout | None = None


class Items(msgspec.Struct, array_like=True, frozen=True, tag="items"):
    """A list or a tuple."""

    kind: Literal["list", "tuple"]
    items: list[Value]


class Table(msgspec.Struct, array_like=True, frozen=True, tag="table"):
    """A dict whose keys are str, int, float, bool or None."""

    items: list[tuple[bool | int | float | str | None, Value]]


Value = None | bool | int | float | str | Array | Tensor | Items | Table
COLLECTIONS = (Items, Table)
ARRAYS = (np.ndarray, np.generic)


Element = TypeVar("Element")


class Blobs:
    """The raw bytes beside a message. Each blob is taken once, so that a header cannot multiply them.

    The items of the message's collections are counted here too: a small header could hold millions of them.
    """

    def __init__(self, blobs: list[memoryview] | None = None, limit: int = BLOB_LIMIT) -> None:
        self._blobs: list[memoryview | None] = list(blobs or [])
        self.limit = limit
        # Only what is added counts; what has arrived is there.
        self._size = 0
        self._items = 0

    def add(self, data: bytes | bytearray | memoryview) -> int:
        """Append one blob and return its index; Unsendable beyond the limit."""
        self._size += aligned(len(data))
        if self._size > self.limit:
            raise Unsendable(f"more than {self.limit >> 20} MiB of values")
        self._blobs.append(memoryview(data))
        return len(self._blobs) - 1

    def has_room_for(self, items: int) -> bool:
        """Count the items of one more collection; False when the message then holds too many."""
        self._items += items
        return self._items <= MAX_ITEMS

    def take(self, index: int) -> memoryview:
        """Give a blob away; Malformed when there is none or it was taken before."""
        if not 0 <= index < len(self._blobs):
            raise Malformed(f"no blob {index}")
        blob = self._blobs[index]
        if blob is None:
            raise Malformed(f"blob {index} is used twice")
        self._blobs[index] = None
        return blob

    def __iter__(self) -> Iterator[memoryview]:
        return (blob for blob in self._blobs if blob is not None)

    def joined(self) -> bytes:
        """Give the bytes as they travel: each blob, and what fills it up to a multiple of the alignment."""
        chunks: list[memoryview | bytes] = []
        for blob in self._blobs:
            if blob is not None:
                chunks.append(blob)
                if missing := -len(blob) % ALIGNMENT:
                    chunks.append(FILL[:missing])
        return b"".join(chunks)

    def lengths(self) -> list[int]:
        """Give the lengths that belong into an envelope."""
        return [len(blob) for blob in self._blobs if blob is not None]


def aligned(length: int) -> int:
    """Give the bytes that a blob of this length takes on the wire."""
    return length + -length % ALIGNMENT


def pack(value: object, blobs: Blobs, *, layout: bool = False, depth: int = 0) -> Value:
    """Turn a value into its wire form; with `layout`, strides are kept.

    Raises:
        Unsendable: for anything but arrays, tensors, bool, int, float, str, None and tuples, lists and dicts of those.

    """
    if depth > MAX_DEPTH:
        raise Unsendable(f"a value nested more than {MAX_DEPTH} deep")
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        return _pack_tensor(value, blobs, layout=layout)
    if isinstance(value, ARRAYS):
        return _pack_array(value, blobs, layout=layout)
    if value is None or isinstance(value, bool | float | str):
        return _pack_plain(value)
    if isinstance(value, int):
        return _pack_integer(value)
    if isinstance(value, list | tuple):
        kind: Literal["list", "tuple"] = "list" if isinstance(value, list) else "tuple"
        return Items(kind, [pack(item, blobs, layout=layout, depth=depth + 1) for item in _bounded(value, blobs)])
    if isinstance(value, dict):
        entries = _bounded(value.items(), blobs)
        return Table([(_pack_key(key), pack(item, blobs, layout=layout, depth=depth + 1)) for key, item in entries])
    raise Unsendable(f"a value of type {type(value).__name__}")


def _pack_plain(value: bool | float | str | None) -> bool | float | str | None:
    if isinstance(value, float):
        return float.__float__(value)
    if not isinstance(value, str):
        return value
    if len(value) > MAX_STRING:
        raise Unsendable(f"a string of {len(value)} characters")
    return str.__str__(value).encode("utf-8", "replace").decode()


def _pack_integer(value: int) -> int:
    if not -(1 << 63) <= value < 1 << 64:
        raise Unsendable("an integer of more than 64 bits")
    return int.__int__(value)


def _pack_key(key: object) -> bool | int | float | str | None:
    if key is None or isinstance(key, bool | float | str):
        return _pack_plain(key)
    if isinstance(key, int):
        return _pack_integer(key)
    raise Unsendable(f"a dict with a key of type {type(key).__name__}")


def _bounded(values: Collection[Element], blobs: Blobs) -> Collection[Element]:
    if not blobs.has_room_for(len(values)):
        raise Unsendable(f"more than {MAX_ITEMS} items in its collections")
    return values


def _pack_array(value: np.ndarray[Any, Any] | np.generic, blobs: Blobs, *, layout: bool) -> Array:
    array = np.asarray(value)
    if type(array) is not np.ndarray:
        array = np.ndarray.view(array, np.ndarray)
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    name = _name_of_array(array.dtype)
    if name not in ITEM_SIZES or array.ndim > MAX_DIMENSIONS:
        raise Unsendable(f"an array of dtype {name} with {array.ndim} dimensions")
    writeable = bool(array.flags.writeable)
    if layout and array.size and not array.flags.c_contiguous:
        low, high = np.lib.array_utils.byte_bounds(array)
        blob = blobs.add(ctypes.string_at(low, high - low))
        strides = tuple(stride // array.itemsize for stride in array.strides)
        return Array(name, array.shape, blob, writeable, Layout(strides, (array.ctypes.data - low) // array.itemsize))
    _refuse_large(array.nbytes, blobs)
    return Array(name, array.shape, blobs.add(array.tobytes()), writeable)


def _refuse_large(size: int, blobs: Blobs) -> None:
    if size > blobs.limit:
        raise Unsendable(f"an array of {size >> 20} MiB; at most {blobs.limit >> 20} MiB may be returned")


def _pack_tensor(value: torch.Tensor, blobs: Blobs, *, layout: bool) -> Tensor:
    import torch

    if type(value) is torch.Tensor and not layout and (array := _array_of(value)) is not None:
        # Nearly every tensor that is returned.
        _refuse_large(array.nbytes, blobs)
        return Tensor(_name_of_array(array.dtype), array.shape, blobs.add(array.tobytes()))
    with torch._C.DisableTorchFunctionSubclass():
        tensor = value if type(value) is torch.Tensor else torch.Tensor.detach(value).as_subclass(torch.Tensor)
        if tensor.requires_grad:
            tensor = tensor.detach()
        name = _name_of(tensor.dtype)
        if tensor.layout is not torch.strided or not tensor.is_cpu or name not in ITEM_SIZES:
            raise Unsendable(f"a {tensor.layout} tensor of dtype {tensor.dtype} on {tensor.device}")
        shape = tuple(tensor.shape)
        if len(shape) > MAX_DIMENSIONS:
            raise Unsendable(f"a tensor with {tensor.dim()} dimensions")
        if tensor.is_complex() or tensor.is_neg():
            tensor = tensor.resolve_conj().resolve_neg()
        if layout and not tensor.is_contiguous() and tensor.numel():
            return Tensor(name, shape, blobs.add(_storage_span(tensor)), Layout(tensor.stride(), 0))
        _refuse_large(tensor.nbytes, blobs)
        # NumPy has no bfloat16, and its bits are the same as an integer's.
        plain = tensor.view(torch.int16) if tensor.dtype is torch.bfloat16 else tensor
        return Tensor(name, shape, blobs.add(plain.numpy().tobytes()))


def _array_of(tensor: torch.Tensor) -> np.ndarray[Any, Any] | None:
    """Give a tensor as NumPy sees it; None where it does not."""
    try:
        array: np.ndarray[Any, Any] = (tensor.detach() if tensor.requires_grad else tensor).numpy()
    except (RuntimeError, TypeError, ValueError):
        return None
    return array if array.ndim <= MAX_DIMENSIONS else None


@functools.lru_cache(maxsize=64)
def _name_of_array(dtype: np.dtype[Any]) -> str:
    return dtype.name


@functools.cache
def _name_of(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _storage_span(tensor: torch.Tensor) -> bytes:
    import torch

    reach = 1 + sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
    span = tensor.as_strided((reach,), (1,), tensor.storage_offset())
    return span.view(torch.uint8).numpy().tobytes()


def unpack(value: Value, blobs: Blobs, *, layout: bool = False, depth: int = 0) -> Any:
    """Build a fresh base value. Layouts are obeyed only where `layout` says so (towards the learner).

    Arrays lie in the blobs themselves, which nothing else uses: a message costs its own size and no more.

    Raises:
        Malformed: when dtype, shape, layout and blob do not fit together.

    """
    if isinstance(value, Array):
        return _unpack_array(value, _checked(value, blobs, layout))
    if isinstance(value, Tensor):
        return _unpack_tensor(value, _checked(value, blobs, layout))
    if not isinstance(value, COLLECTIONS):
        return value
    if depth > MAX_DEPTH or (depth == MAX_DEPTH and value.items):
        raise Malformed(f"a value nested more than {MAX_DEPTH} deep")
    if not blobs.has_room_for(len(value.items)):
        raise Malformed(f"more than {MAX_ITEMS} items")
    if isinstance(value, Items):
        items = [unpack(item, blobs, layout=layout, depth=depth + 1) for item in value.items]
        return items if value.kind == "list" else tuple(items)
    return {key: unpack(item, blobs, layout=layout, depth=depth + 1) for key, item in value.items}


def _checked(value: Array | Tensor, blobs: Blobs, layout: bool) -> memoryview:
    blob = blobs.take(value.blob)
    size = ITEM_SIZES.get(value.dtype)
    shape = value.shape
    if size is None or len(shape) > MAX_DIMENSIONS or (shape and not 0 <= min(shape) <= max(shape) < 1 << 48):
        raise Malformed(f"an array of dtype {value.dtype[:20]!r} and shape {shape[:MAX_DIMENSIONS]}")
    if value.layout is None:
        if math.prod(shape) * size != len(blob):
            raise Malformed(f"{len(blob)} bytes for shape {shape} of {value.dtype}")
    elif not layout or len(value.layout.strides) != len(shape) or len(blob) % size:
        raise Malformed("a layout that is not allowed here")
    return blob


def _unpack_array(value: Array, buffer: memoryview) -> np.ndarray[Any, Any]:
    if value.dtype == "bfloat16":
        raise Malformed("a NumPy array of dtype bfloat16")
    try:
        array = _array_in(value.shape, value.dtype, buffer, value.layout)
    except (ValueError, TypeError, OverflowError) as error:
        raise Malformed(f"an array that cannot be built: {error}") from None
    if not value.writeable:
        array.flags.writeable = False
    return array


def _array_in(
    shape: tuple[int, ...], name: str, buffer: memoryview, layout: Layout | None = None
) -> np.ndarray[Any, Any]:
    if name == "bool":
        _let_bytes_be_bools(buffer)
    if layout is None:
        return np.ndarray(shape, DTYPES[name], buffer)
    dtype = DTYPES[name]
    strides = tuple(stride * dtype.itemsize for stride in layout.strides)
    return np.ndarray(shape, dtype, buffer, layout.offset * dtype.itemsize, strides)


def _let_bytes_be_bools(buffer: memoryview) -> None:
    """A bool of any other byte than 0 and 1 would be neither True nor False."""
    if len(buffer) <= SMALL and not bytes(buffer).translate(None, b"\0\1"):
        return
    flat: np.ndarray[Any, Any] = np.frombuffer(buffer, dtype=np.uint8)
    np.minimum(flat, 1, out=flat)


def _unpack_tensor(value: Tensor, buffer: memoryview) -> torch.Tensor:
    import torch

    try:
        if buffer and value.layout is None and value.dtype != "bfloat16":
            # By way of NumPy, which knows no bfloat16: one step where torch takes two.
            return torch.from_numpy(_array_in(value.shape, value.dtype, buffer))
        dtype: torch.dtype = getattr(torch, value.dtype)
        if not buffer:
            return torch.empty(value.shape, dtype=dtype)
        if value.layout is None:
            return torch.frombuffer(buffer, dtype=dtype).view(value.shape)
        if dtype is torch.bool:
            _let_bytes_be_bools(buffer)
        return torch.frombuffer(buffer, dtype=dtype).as_strided(value.shape, value.layout.strides, value.layout.offset)
    except (RuntimeError, TypeError, ValueError, OverflowError) as error:
        raise Malformed(f"a tensor that cannot be built: {error}") from None
