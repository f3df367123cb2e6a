"""Values cross as (dtype, shape, bytes): bit for bit, with or without their layout, and nothing else crosses."""

import enum
from collections import OrderedDict, namedtuple
from fractions import Fraction

import msgspec
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from autograder.sandbox.values import (
    MAX_DEPTH,
    MAX_DIMENSIONS,
    MAX_ITEMS,
    MAX_STRING,
    Array,
    Blobs,
    Items,
    Layout,
    Malformed,
    Table,
    Tensor,
    Unsendable,
    Value,
    pack,
    unpack,
)
from autograder.sandbox.wire import split_blobs

NUMPY_DTYPES = (
    "bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64",
    "float16", "float32", "float64", "complex64", "complex128",
)  # fmt: skip
TORCH_DTYPES = (*NUMPY_DTYPES, "bfloat16")
REPEATABLE = settings(derandomize=True, database=None, deadline=None, max_examples=60)

Pair = namedtuple("Pair", "output weights")


class Colour(enum.IntEnum):
    RED = 3


class Name(str):
    def __str__(self):
        return "not the text"


class Number(float):
    def __float__(self):
        return 99.0


class Marks(np.ndarray):
    pass


class Scores(torch.Tensor):
    pass


def crossed(value, *, layout=False):
    """Send a value through the wire's own bytes and back."""
    blobs = Blobs()
    packed = pack(value, blobs, layout=layout)
    header = msgspec.msgpack.encode(packed)
    payload = bytearray(blobs.joined())
    arrived = split_blobs(memoryview(payload), blobs.lengths())
    return unpack(msgspec.msgpack.decode(header, type=Value), arrived, layout=layout)


def bits(value):
    if isinstance(value, torch.Tensor):
        return value.contiguous().as_strided((value.numel(),), (1,)).view(torch.uint8).numpy().tobytes()
    return value.tobytes()


def indexed(draw, array):
    """Take a view of an array: a step (negative ones too) along each axis, then another order of the axes."""
    steps = draw(st.tuples(*[st.sampled_from([1, 2, -1, -2]) for _ in range(array.ndim)]))
    view = array[tuple(slice(None, None, step) for step in steps)]
    return view.transpose(draw(st.permutations(range(array.ndim))))


@st.composite
def numpy_arrays(draw):
    dtype = np.dtype(draw(st.sampled_from(NUMPY_DTYPES)))
    shape = draw(arrays.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4))
    size = int(np.prod(shape, dtype=int)) * dtype.itemsize
    raw = draw(st.binary(min_size=size, max_size=size))
    flat = np.frombuffer(raw, np.uint8)
    flat = flat % 2 == 1 if dtype.kind == "b" else flat.view(dtype)
    return indexed(draw, flat.reshape(shape).copy())


@st.composite
def tensors(draw):
    dtype = getattr(torch, draw(st.sampled_from(TORCH_DTYPES)))
    shape = draw(arrays.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4))
    size = int(np.prod(shape, dtype=int)) * dtype.itemsize
    raw = torch.tensor(list(draw(st.binary(min_size=size, max_size=size))), dtype=torch.uint8)
    flat = raw % 2 == 1 if dtype is torch.bool else raw.view(dtype)
    steps = draw(st.tuples(*[st.sampled_from([1, 2]) for _ in shape]))
    view = flat.view(shape)[tuple(slice(None, None, step) for step in steps)]
    return view.permute(draw(st.permutations(range(view.dim()))))


@given(numpy_arrays(), st.booleans())
@REPEATABLE
def test_any_array_arrives_bit_for_bit(array, layout):
    arrived = crossed(array, layout=layout)
    assert type(arrived) is np.ndarray
    assert (arrived.dtype, arrived.shape, bits(arrived)) == (array.dtype, array.shape, bits(array))


@given(tensors(), st.booleans())
@REPEATABLE
def test_any_tensor_arrives_bit_for_bit(tensor, layout):
    arrived = crossed(tensor, layout=layout)
    assert type(arrived) is torch.Tensor
    assert (arrived.dtype, arrived.shape, bits(arrived)) == (tensor.dtype, tensor.shape, bits(tensor))


@given(numpy_arrays())
@REPEATABLE
def test_with_its_layout_an_array_keeps_its_strides(array):
    arrived = crossed(array, layout=True)
    if array.size and not array.flags.c_contiguous:
        assert arrived.strides == array.strides
    else:
        assert arrived.flags.c_contiguous


@given(tensors())
@REPEATABLE
def test_with_its_layout_a_tensor_keeps_its_strides(tensor):
    arrived = crossed(tensor, layout=True)
    if tensor.numel() and not tensor.is_contiguous():
        assert arrived.stride() == tensor.stride()
    else:
        assert arrived.is_contiguous()


@given(numpy_arrays())
@REPEATABLE
def test_without_its_layout_an_array_arrives_in_order(array):
    assert crossed(array).flags.c_contiguous


def test_a_broadcast_array_keeps_its_stride_of_zero_and_one_row_of_bytes():
    rows = np.broadcast_to(np.array([1.0, 2.0, 3.0]), (4, 3))
    blobs = Blobs()
    pack(rows, blobs, layout=True)
    assert blobs.lengths() == [24]
    arrived = crossed(rows, layout=True)
    assert arrived.strides == (0, 8)
    assert arrived.tolist() == [[1.0, 2.0, 3.0]] * 4


def test_an_expanded_tensor_keeps_its_stride_of_zero_and_one_row_of_bytes():
    rows = torch.tensor([1.0, 2.0, 3.0]).expand(4, 3)
    blobs = Blobs()
    pack(rows, blobs, layout=True)
    assert blobs.lengths() == [12]
    arrived = crossed(rows, layout=True)
    assert arrived.stride() == (0, 1)
    assert arrived.tolist() == [[1.0, 2.0, 3.0]] * 4


def test_a_slice_brings_no_bytes_from_outside_its_span():
    secret = np.arange(100.0)
    blobs = Blobs()
    pack(secret[40:50:3], blobs, layout=True)
    assert blobs.lengths() == [8 * 10]


@pytest.mark.parametrize("pattern", [0x7FF8000000000001, 0x7FF0DEADBEEF0001, 0xFFFFFFFFFFFFFFFF, 0x8000000000000000])
@pytest.mark.parametrize("layout", [False, True])
def test_the_payload_of_a_nan_and_the_sign_of_a_zero_survive(pattern, layout):
    array = np.array([pattern], np.uint64).view(np.float64)
    assert crossed(array, layout=layout).view(np.uint64).tolist() == [pattern]
    tensor = torch.from_numpy(array.copy())
    assert crossed(tensor, layout=layout).numpy().view(np.uint64).tolist() == [pattern]


def test_bfloat16_keeps_its_bits():
    tensor = torch.tensor([0x7FC1, 0x3F80, 0x0001, 0xFF80 - 0x10000], dtype=torch.int16).view(torch.bfloat16)
    arrived = crossed(tensor)
    assert arrived.dtype is torch.bfloat16
    assert arrived.view(torch.int16).tolist() == [0x7FC1, 0x3F80, 0x0001, -128]


@pytest.mark.parametrize("shape", [(), (0,), (3, 0), (0, 2, 5)])
@pytest.mark.parametrize("layout", [False, True])
def test_scalars_and_empty_arrays_keep_their_shape_and_dtype(shape, layout):
    for dtype in NUMPY_DTYPES:
        arrived = crossed(np.ones(shape, dtype), layout=layout)
        assert (arrived.shape, arrived.dtype, arrived.tolist()) == (shape, dtype, np.ones(shape, dtype).tolist())
    for dtype in TORCH_DTYPES:
        arrived = crossed(torch.ones(shape, dtype=getattr(torch, dtype)), layout=layout)
        assert (tuple(arrived.shape), str(arrived.dtype)) == (shape, f"torch.{dtype}")
        assert arrived.tolist() == torch.ones(shape, dtype=getattr(torch, dtype)).tolist()


def test_bytes_of_the_other_order_arrive_as_the_same_numbers():
    arrived = crossed(np.array([1.0, 258.0], ">f8"))
    assert arrived.dtype == np.dtype("float64")
    assert arrived.tolist() == [1.0, 258.0]


@pytest.mark.parametrize("layout", [False, True])
@pytest.mark.parametrize("writeable", [False, True])
def test_a_read_only_array_arrives_read_only_and_no_other(writeable, layout):
    array = np.arange(6.0).reshape(2, 3).T
    array.flags.writeable = writeable
    assert crossed(array, layout=layout).flags.writeable is writeable


def test_arrays_that_arrive_together_share_no_memory():
    first, second, third = crossed([np.zeros(3, np.uint8), np.ones(2), torch.ones(2)])
    first[:] = 7
    third[:] = 5
    assert second.tolist() == [1.0, 1.0]
    assert first.tolist() == [7, 7, 7]
    assert second.flags.aligned


def test_every_array_arrives_aligned_whatever_lies_before_it():
    for arrived in crossed(
        [np.zeros(size, dtype) for size, dtype in [(1, bool), (3, "float64"), (5, "int8"), (1, "complex128")]]
    ):
        assert arrived.flags.aligned


def test_a_tensor_of_one_element_arrives_whatever_its_stride():
    assert crossed(torch.tensor([1.5, 2.5])[::2]).tolist() == [1.5]


def test_a_conjugate_view_arrives_as_its_values():
    assert crossed(torch.tensor([1 + 2j]).conj()).tolist() == [1 - 2j]
    assert crossed(torch.tensor([1 + 2j]).conj().imag).tolist() == [-2.0]


def test_a_tensor_that_requires_gradients_arrives_without_them():
    arrived = crossed(torch.ones(2, requires_grad=True) * 2)
    assert arrived.tolist() == [2.0, 2.0]
    assert not arrived.requires_grad


PLAIN = st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False) | st.text(max_size=8)
KEYS = st.none() | st.text(max_size=4) | st.integers(-5, 5)
NESTED = st.recursive(
    PLAIN,
    lambda inner: (
        st.lists(inner, max_size=3) | st.lists(inner, max_size=3).map(tuple) | st.dictionaries(KEYS, inner, max_size=3)
    ),
    max_leaves=10,
)


@given(NESTED)
@REPEATABLE
def test_plain_values_and_collections_of_them_arrive_equal_and_of_the_same_type(value):
    text = value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
    arrived = crossed(value)
    assert type(arrived) is type(value)
    assert repr(arrived) == repr(text)


def test_arrays_deep_inside_collections_arrive():
    arrived = crossed({"weights": [(np.array([1.5]), torch.tensor(2))], 3: None})
    assert list(arrived) == ["weights", 3]
    ((array, tensor),) = arrived["weights"]
    assert array.tolist() == [1.5]
    assert tensor.item() == 2


def test_text_that_utf8_cannot_hold_is_replaced():
    assert crossed("a\ud800b") == "a?b"


@pytest.mark.parametrize(
    ("value", "base"),
    [
        (np.array([1.0, 2.0]).view(Marks), np.ndarray),
        (np.ma.masked_array([1.0, 2.0], [True, False]), np.ndarray),
        (np.float64(1.5), np.ndarray),
        (np.bool_(True), np.ndarray),
        (torch.ones(2).as_subclass(Scores), torch.Tensor),
        (torch.nn.Parameter(torch.ones(2)), torch.Tensor),
        (Pair(1, 2), tuple),
        (OrderedDict(a=1), dict),
        (torch.Size([2, 3]), tuple),
        (Colour.RED, int),
    ],
)
def test_a_subclass_becomes_its_base(value, base):
    arrived = crossed(value)
    assert type(arrived) is base
    assert np.shape(arrived) == np.shape(value)


def test_a_subclass_has_no_say_in_its_value():
    assert crossed(Name("the text")) == "the text"
    assert type(crossed(Name("the text"))) is str
    assert crossed(Number(1.5)) == 1.5
    assert type(crossed(Number(1.5))) is float


@pytest.mark.parametrize(
    ("value", "named"),
    [
        ({1, 2}, "type set"),
        (b"bytes", "type bytes"),
        (1j, "type complex"),
        (Fraction(1, 3), "type Fraction"),
        (object(), "type object"),
        (np, "type module"),
        (len, "type builtin_function_or_method"),
        ((x for x in "ab"), "type generator"),
        ([1, {2}], "type set"),
        ({(1, 2): 3}, "a key of type tuple"),
        (1 << 64, "an integer of more than 64 bits"),
        (-(1 << 63) - 1, "an integer of more than 64 bits"),
        ("x" * (MAX_STRING + 1), f"a string of {MAX_STRING + 1} characters"),
        ([0] * (MAX_ITEMS + 1), f"more than {MAX_ITEMS} items in its collections"),
        (dict.fromkeys(range(MAX_ITEMS + 1)), f"more than {MAX_ITEMS} items in its collections"),
        ([[0] * 101] * 100, f"more than {MAX_ITEMS} items in its collections"),
        (np.array([None]), "dtype object"),
        (np.array(["text"]), "dtype str"),
        (np.array(["2020-01-01"], "datetime64[D]"), "dtype datetime64"),
        (np.zeros(2, [("a", float)]), "dtype void"),
        (np.ones((1,) * (MAX_DIMENSIONS + 1)), f"with {MAX_DIMENSIONS + 1} dimensions"),
        (torch.ones((1,) * (MAX_DIMENSIONS + 1)), f"with {MAX_DIMENSIONS + 1} dimensions"),
        # More than NumPy knows.
        (torch.ones((1,) * 65), "with 65 dimensions"),
        (torch.eye(2).to_sparse(), "torch.sparse_coo tensor"),
        (torch.ones(2, device="meta"), "on meta"),
        (torch.ones(2).to(torch.float8_e5m2), "torch.float8_e5m2"),
    ],
    ids=lambda value: value if isinstance(value, str) and len(value) < 60 else type(value).__name__,
)
def test_what_may_not_cross_is_refused_by_its_name(value, named):
    with pytest.raises(Unsendable, match=named):
        pack(value, Blobs())


def test_nesting_beyond_the_limit_is_refused():
    value = []
    for _ in range(MAX_DEPTH):
        value = [value]
    assert crossed(value) == value
    with pytest.raises(Unsendable, match=f"nested more than {MAX_DEPTH} deep"):
        pack([value], Blobs())
    endless = []
    endless.append(endless)
    with pytest.raises(Unsendable, match="nested"):
        pack(endless, Blobs())


def test_more_bytes_than_the_limit_are_refused_before_they_are_copied():
    endless = np.broadcast_to(np.float64(0), (1 << 40,))
    with pytest.raises(Unsendable, match="an array of 8388608 MiB; at most 64 MiB may be returned"):
        pack(endless, Blobs())
    with pytest.raises(Unsendable, match="an array of 8388608 MiB; at most 64 MiB may be returned"):
        pack(torch.zeros(()).double().expand(1 << 40), Blobs())


def test_the_limit_counts_all_arrays_of_a_message():
    blobs = Blobs(limit=2 << 20)
    pack(np.zeros(1 << 20, np.uint8), blobs)
    with pytest.raises(Unsendable, match="more than 2 MiB of values"):
        pack(np.zeros((1 << 20) + 1, np.uint8), blobs)


def unpacked(value, *blobs, layout=False):
    return unpack(value, Blobs([memoryview(bytearray(blob)) for blob in blobs]), layout=layout)


@pytest.mark.parametrize("kind", [Array, Tensor])
@pytest.mark.parametrize(
    ("dtype", "shape", "length"),
    [
        ("object", (1,), 8),
        ("O", (1,), 8),
        ("float64", (2,), 8),
        ("float64", (-1,), 8),
        ("float64", (-1, -1), 8),
        ("float64", (1 << 62,), 8),
        ("float64", (1 << 48, 0), 0),
        ("float64", (1,) * (MAX_DIMENSIONS + 1), 8),
        ("<f8", (1,), 8),
        ("__class__", (1,), 8),
    ],
)
def test_a_description_that_does_not_fit_its_bytes_is_malformed(kind, dtype, shape, length):
    with pytest.raises(Malformed):
        unpacked(kind(dtype, shape, 0), bytes(length))


@pytest.mark.parametrize("kind", [Array, Tensor])
def test_a_blob_is_used_once_and_must_exist(kind):
    twice = Items("list", [kind("uint8", (2,), 0), kind("uint8", (2,), 0)])
    with pytest.raises(Malformed, match="used twice"):
        unpacked(twice, b"ab")
    for index in (-1, 1, 1 << 40):
        with pytest.raises(Malformed, match="no blob"):
            unpacked(kind("uint8", (2,), index), b"ab")


@pytest.mark.parametrize("kind", [Array, Tensor])
@pytest.mark.parametrize(
    "layout", [Layout((1,), 1), Layout((2,), 0), Layout((-1,), 0), Layout((1 << 40,), 0), Layout((1,), -1)]
)
def test_a_layout_that_leaves_its_bytes_is_malformed_even_where_layouts_are_obeyed(kind, layout):
    fields = {"layout": layout}
    with pytest.raises(Malformed):
        unpacked(kind("uint8", (3,), 0, **fields), b"abc", layout=True)


@pytest.mark.parametrize("kind", [Array, Tensor])
def test_the_grader_obeys_no_layout_at_all(kind):
    with pytest.raises(Malformed, match="a layout that is not allowed here"):
        unpacked(kind("uint8", (2, 3), 0, layout=Layout((0, 1), 0)), b"abc")


@pytest.mark.parametrize("kind", [Array, Tensor])
def test_a_bool_is_made_of_bytes_zero_and_one_whatever_was_sent(kind):
    arrived = unpacked(kind("bool", (4,), 0), bytes([0, 1, 2, 255]))
    assert arrived.tolist() == [False, True, True, True]
    assert bits(arrived) == bytes([0, 1, 1, 1])


def test_numpy_has_no_bfloat16():
    with pytest.raises(Malformed, match="a NumPy array of dtype bfloat16"):
        unpacked(Array("bfloat16", (1,), 0), b"ab")


def test_the_items_of_a_message_are_counted_on_arrival():
    rows = [Items("list", [0] * 100) for _ in range(100)]
    with pytest.raises(Malformed, match=f"more than {MAX_ITEMS} items"):
        unpacked(Items("list", rows))
    assert unpacked(Items("list", rows[1:])) == [[0] * 100] * 99


@pytest.mark.parametrize("wrap", [lambda inner: Items("list", [inner]), lambda inner: Table([("key", inner)])])
def test_nesting_beyond_the_limit_is_malformed_on_arrival(wrap):
    value = 1
    for _ in range(MAX_DEPTH + 2):
        value = wrap(value)
    with pytest.raises(Malformed, match=f"nested more than {MAX_DEPTH} deep"):
        unpacked(value)
