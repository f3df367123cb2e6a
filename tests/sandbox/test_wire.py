"""Frames between two processes; and a decoder that meets hostile bytes with a typed error, in time and in bounds."""

import random
import socket
import struct
import threading
import time
import tracemalloc

import msgspec
import numpy as np
import pytest
import torch

from autograder.sandbox.values import Array, Blobs, Items, Malformed, Table, Tensor, Unsendable, WireError, pack, unpack
from autograder.sandbox.wire import (
    HEADER_LIMIT,
    LENGTHS,
    MAX_BLOBS,
    Call,
    Channel,
    Closed,
    Created,
    Facts,
    Frame,
    Gradient,
    Load,
    Loaded,
    Manage,
    New,
    Raised,
    Ready,
    ReplyEnvelope,
    RequestEnvelope,
    Returned,
    Scanned,
    Sheet,
    Unfit,
    Violation,
    answers_in,
    decode_answer,
    encode,
    framed,
    question,
    requests_in,
)

BLOB_LIMIT = 8 << 20
# What a header of 4 MiB can become as Python objects, whatever is in it.
HEADER_OBJECTS = 160 << 20
SECONDS = 30.0


def reply_frame(message, blobs=None, *, number=1, lengths=None):
    blobs = blobs or Blobs()
    header = encode(ReplyEnvelope(number, message, blobs.lengths() if lengths is None else lengths))
    payload = blobs.joined()
    return LENGTHS.pack(len(header), len(payload)) + header + payload


def raw_frame(header, payload=b""):
    return LENGTHS.pack(len(header), len(payload)) + header + payload


def returned(value, *blobs):
    message = Returned(value, Facts())
    return reply_frame(message, Blobs([memoryview(blob) for blob in blobs]))


def read(data, *, keep_open=False, seconds=SECONDS):
    """Read one reply as the grader does: frame, header, blobs, every value in it."""
    ours, theirs = socket.socketpair()
    sender = threading.Thread(target=send_all, args=(theirs, data, keep_open), daemon=True)
    sender.start()
    try:
        answer = decode_answer(1, *Channel(ours, BLOB_LIMIT).receive(time.monotonic() + seconds))
        answer.digest()
        message, blobs = answer.read(), answer.blobs()
        if isinstance(message, Returned):
            values = [message.value, *message.gradients, *message.parameters.values()]
            return [unpack(value, blobs) for value in values]
        return message
    finally:
        ours.close()
        theirs.close()
        sender.join()


def send_all(connection, data, keep_open):
    try:
        connection.sendall(data)
        if not keep_open:
            connection.shutdown(socket.SHUT_WR)
    except OSError:
        return


def exchanged(message, blobs=None):
    """Send a frame through a real channel and decode it at the other end."""
    blobs = blobs or Blobs()
    ours, theirs = socket.socketpair()
    request = isinstance(message, Load | Call | New | Manage)
    lengths = blobs.lengths()
    header = encode(RequestEnvelope([message], [lengths]) if request else ReplyEnvelope(7, message, lengths))
    with ours, theirs:
        Channel(ours).write(framed(header, blobs.joined()), time.monotonic() + SECONDS)
        header, payload = Channel(theirs).receive(time.monotonic() + SECONDS)
    if request:
        ((decoded, arrived),) = requests_in(header, payload)
        return decoded, arrived
    answer = decode_answer(7, header, payload)
    return answer.read(), answer.blobs()


FACTS = Facts("text", (("UserWarning", "mind"),), ("scores",), ("scores",), False, 64, (Violation("f", 3, "f(x)"),))
MESSAGES = [
    Load("softmax", b"x = 1", {"attention": b"y = 2"}, ("torch.*softmax",), 64, 128),
    Call("softmax", [1, 2.5, "a", None], {"axis": -1}, 5, True, Gradient((0, 2), [None, 1.0])),
    Call(3, [], {}, 5),
    New(2, "MultiHeadAttention", [15, 3], {"dropout": 0.5}, 9),
    Manage(0, "describe"),
    Ready(("process",), {"landlock": "landlock is not installed"}),
    Scanned((Violation("torch.softmax", 2, "torch.softmax(x)"),)),
    Loaded(FACTS),
    Created(FACTS),
    Returned(Items("tuple", [1, Table([("a", None)])]), FACTS, [None, 2.0], {"weight": 1}, "a problem"),
    Raised("ValueError", "MyError", "no", (Frame(3, "softmax", "raise MyError"),), FACTS),
    Unfit("a value of type set", FACTS),
]


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: type(message).__name__)
def test_every_message_arrives_as_it_was_sent(message):
    assert exchanged(message)[0] == message


def test_arrays_travel_behind_the_header():
    blobs = Blobs()
    packed = [pack(np.arange(3.0), blobs), pack(torch.tensor([True, False]), blobs), pack(np.zeros((0, 2)), blobs)]
    message, arrived = exchanged(Returned(Items("list", packed), Facts()), blobs)
    first, second, third = unpack(message.value, arrived)
    assert first.tolist() == [0.0, 1.0, 2.0]
    assert second.tolist() == [True, False]
    assert third.shape == (0, 2)


def test_a_large_frame_crosses_while_it_is_read():
    ours, theirs = socket.socketpair()
    blobs = Blobs()
    packed = pack(np.arange(1 << 19), blobs)
    header = encode(ReplyEnvelope(1, Returned(packed, Facts()), blobs.lengths()))
    sender = threading.Thread(target=Channel(ours).write, args=(framed(header, blobs.joined()),))
    sender.start()
    with ours, theirs:
        header, payload = Channel(theirs).receive(time.monotonic() + SECONDS)
        sender.join()
    answer = decode_answer(1, header, payload)
    array = unpack(answer.read().value, answer.blobs())
    assert array[-1] == (1 << 19) - 1


def test_frames_that_were_kept_arrive_together_and_in_order():
    ours, theirs = socket.socketpair()
    sender, receiver = Channel(ours), Channel(theirs)
    with ours, theirs:
        for number in range(3):
            sender.keep(b"header %d" % number, bytes([number]) * 20)
        assert sender.kept_bytes == 3 * (LENGTHS.size + 8 + 20)
        theirs.setblocking(False)
        with pytest.raises(BlockingIOError):
            theirs.recv(1)
        sender.flush()
        assert sender.kept_bytes == 0
        seen = []
        for _ in range(3):
            header, payload = receiver.receive()
            seen.append((header, bytes(payload)))
    assert seen == [(b"header %d" % number, bytes([number]) * 20) for number in range(3)]


def test_known_frames_are_read_at_once_and_others_are_left_to_be_read():
    ours, theirs = socket.socketpair()
    receiver = Channel(theirs)
    first, second, other = raw_frame(b"a", b"b"), raw_frame(b"c", b"d"), raw_frame(b"c", b"e")
    with ours, theirs:
        ours.sendall(first + second[:-1])
        receiver.await_more()
        assert [receiver.may_bring(frames) for frames in (first, first + second, first + other, second)] == [
            True, True, True, False,
        ]  # fmt: skip
        assert receiver.whole_frames == 1
        assert receiver.take(first + second) is False
        assert receiver.take(first) is True
        ours.sendall(second[-1:])
        receiver.await_more()
        assert receiver.may_bring(other) is False
        assert receiver.take(other) is False
        assert [bytes(part) for part in receiver.receive()] == [b"c", b"d"]


def test_questions_on_one_sheet_arrive_in_order_each_with_memory_of_its_own():
    blobs = [Blobs(), Blobs(), Blobs()]
    calls = [Call("f", [pack(np.arange(number), own, layout=True)], {}, 0) for number, own in enumerate(blobs)]
    sheet = Sheet([question(call, own) for call, own in zip(calls, blobs, strict=True)])
    ours, theirs = socket.socketpair()
    with ours, theirs:
        Channel(ours).write(sheet.frame)
        arrived = list(requests_in(*Channel(theirs).receive()))
    assert [call for call, _ in arrived] == calls
    arrays = [unpack(call.arguments[0], own, layout=True) for call, own in arrived]
    assert [array.tolist() for array in arrays] == [[], [0], [0, 1]]
    assert [len(array.base) for array in arrays] == [0, 16, 16]


def test_a_sheet_of_more_questions_than_blobs_is_refused():
    header = encode(RequestEnvelope([Manage(0, "state"), Manage(0, "state")], [[]]))
    with pytest.raises(Malformed, match="2 requests and the blobs of 1"):
        list(requests_in(header, memoryview(b"")))


def test_frames_are_taken_apart_into_the_answers_they_hold():
    messages = [Returned(1, Facts()), Unfit("a value of type set", Facts())]
    frames = b"".join(reply_frame(message, number=number) for number, message in enumerate(messages, 1))
    answers = list(answers_in(frames))
    assert [answer.read() for answer in answers] == messages
    assert b"".join(answer.frame(number) for number, answer in enumerate(answers, 1)) == frames


def test_a_header_beyond_the_limit_is_not_sent():
    ours, theirs = socket.socketpair()
    with ours, theirs, pytest.raises(Unsendable, match=f"a message of {HEADER_LIMIT + 1} bytes"):
        Channel(ours).write(framed(bytes(HEADER_LIMIT + 1), b""))


def test_sending_to_nobody_says_so():
    ours, theirs = socket.socketpair()
    theirs.close()
    with ours, pytest.raises(Closed):
        Channel(ours).write(framed(b"header", bytes(1 << 20)))


def test_sending_to_one_who_does_not_read_ends_at_the_deadline():
    ours, theirs = socket.socketpair()
    started = time.monotonic()
    with ours, theirs, pytest.raises(TimeoutError):
        Channel(ours).write(framed(b"header", bytes(32 << 20)), time.monotonic() + 0.2)
    assert 0.2 <= time.monotonic() - started < 30.0


def test_the_end_of_the_stream_says_so():
    for data in (b"", b"\0\0\0", LENGTHS.pack(5, 0), LENGTHS.pack(2, 5) + b"ab"):
        with pytest.raises(Closed):
            read(data)


@pytest.mark.parametrize(
    "half",
    [b"", b"\0\0\0", LENGTHS.pack(5, 0), LENGTHS.pack(5, 0) + b"ab", LENGTHS.pack(0, 1 << 20), returned(1)[:-1]],
    ids=["nothing", "half a length", "no header", "half a header", "no payload", "all but the last byte"],
)
def test_half_a_frame_that_stalls_ends_at_the_deadline(half):
    started = time.monotonic()
    with pytest.raises(TimeoutError):
        read(half, keep_open=True, seconds=0.15)
    assert 0.15 <= time.monotonic() - started < 30.0


def test_a_frame_that_trickles_in_does_not_put_the_deadline_off():
    ours, theirs = socket.socketpair()
    ended = threading.Event()

    def trickle():
        while not ended.wait(0.03):
            theirs.send(b"\0")

    sender = threading.Thread(target=trickle)
    theirs.sendall(LENGTHS.pack(1000, 0))
    sender.start()
    started = time.monotonic()
    with pytest.raises(TimeoutError):
        Channel(ours).receive(time.monotonic() + 0.3)
    took = time.monotonic() - started
    ended.set()
    sender.join()
    ours.close()
    theirs.close()
    # All that is trickled would take half a minute.
    assert 0.3 <= took < 10.0


@pytest.mark.parametrize(
    ("header", "payload"),
    [(HEADER_LIMIT + 1, 0), (0, BLOB_LIMIT + 1), (2**32 - 1, 2**32 - 1), (0, 2**32 - 1), (2**31, 16)],
)
def test_lengths_beyond_the_limits_are_refused_before_anything_of_that_size_is_made(header, payload):
    tracemalloc.start()
    with pytest.raises(Malformed, match=f"a frame of {header} \\+ {payload} bytes"):
        read(LENGTHS.pack(header, payload), keep_open=True)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1 << 20


ONE = memoryview(bytes(8))


@pytest.mark.parametrize(
    "frame",
    [
        raw_frame(b""),
        raw_frame(b"\xc1"),
        raw_frame(b"\x81"),
        raw_frame(msgspec.msgpack.encode([1])),
        raw_frame(msgspec.msgpack.encode({"serial": 1, "message": {"type": "scanned"}, "blobs": []})),
        raw_frame(msgspec.msgpack.encode([1, {"type": "no such type"}, []])),
        raw_frame(msgspec.msgpack.encode([1 << 63, {"type": "scanned", "violations": []}, []])),
        raw_frame(msgspec.msgpack.encode([1, {"type": "unfit", "reason": b"\xff"}, []])),
        raw_frame(msgspec.msgpack.encode(["1", {"type": "scanned", "violations": []}, []])),
        raw_frame(msgspec.msgpack.encode([1, {"type": "scanned", "violations": []}, "0.5"])),
        raw_frame(encode(RequestEnvelope([Manage(0, "state")], [[]]))),
        raw_frame(encode(ReplyEnvelope(1, Returned(1, Facts()), [])) + b"\0"),
        raw_frame(encode(ReplyEnvelope(2, Returned(1, Facts()), []))),
        raw_frame(msgspec.msgpack.encode(msgspec.msgpack.Ext(1, b"code"))),
        raw_frame(b"\xdd\xff\xff\xff\xff"),
        raw_frame(b"\xdb\xff\xff\xff\xff"),
        raw_frame(b"\xdf\xff\xff\xff\xff"),
        reply_frame(Returned(1, Facts()), lengths=[16]),
        reply_frame(Returned(1, Facts()), lengths=[-16, 16]),
        reply_frame(Returned(1, Facts()), lengths=[1 << 62]),
        reply_frame(Returned(1, Facts()), lengths=[0] * (MAX_BLOBS + 1)),
        reply_frame(Returned(1, Facts()), Blobs([ONE]), lengths=[]),
        reply_frame(Returned(1, Facts()), Blobs([ONE]), lengths=[8, 8]),
        returned(Array("float64", (1,), 0)),
        returned(Array("float64", (1,), 1), ONE),
        returned(Array("float64", (1,), -1), ONE),
        returned(Items("list", [Array("float64", (1,), 0), Array("float64", (1,), 0)]), ONE),
        returned(Items("list", [Array("float64", (1,), 0), Tensor("float64", (1,), 0)]), ONE),
        returned(Array("float64", (-1,), 0), ONE),
        returned(Array("float64", (-1, -1), 0), ONE),
        returned(Tensor("float64", (1 << 47, 1 << 17), 0), ONE),
        returned(Array("float64", (1 << 47, 1 << 47, 0), 0), memoryview(b"")),
        returned(Tensor("float64", (1 << 47, 1 << 47, 0), 0), memoryview(b"")),
        returned(Array("object", (1,), 0), ONE),
        returned(Tensor("qint8", (8,), 0), ONE),
    ],
)
def test_each_kind_of_hostile_frame_is_a_typed_error(frame):
    with pytest.raises(WireError):
        read(frame)


def nested(depth, opening, middle, closing):
    header = encode(ReplyEnvelope(1, Returned("HERE", Facts()), []))
    return raw_frame(header.replace(b"\xa4HERE", opening * depth + middle + closing * depth))


@pytest.mark.parametrize("depth", [20, 200, 300, 400, 480, 1_000, 100_000])
@pytest.mark.parametrize(
    ("opening", "middle", "closing"),
    [
        (b"\x93\xa5items\xa4list\x91", b"\x01", b""),
        (b"\x93\xa5items\xa5tuple\x91", b"\x01", b""),
        (b"\x92\xa5table\x91\x92\x01", b"\x01", b""),
        (b"\x91", b"\x01", b""),
        (b"\x81\x01", b"\x01", b""),
    ],
    ids=["lists", "tuples", "tables", "bare lists", "bare maps"],
)
def test_deep_nesting_is_a_typed_error_at_any_depth(depth, opening, middle, closing):
    with pytest.raises(WireError):
        read(nested(depth, opening, middle, closing))


def seeds():
    """Give valid frames of every kind, for the fuzzer to spoil."""
    blobs = Blobs()
    values = [np.arange(6.0).reshape(2, 3), torch.ones(3, dtype=torch.bfloat16), np.array([True]), {"a": (1, "b", [])}]
    packed = pack(values, blobs)
    frames = [reply_frame(Returned(packed, FACTS, [pack(np.ones(2), blobs)], {"w": None}), blobs)]
    return frames + [
        reply_frame(message) for message in MESSAGES if not isinstance(message, Load | Call | New | Manage)
    ]


def spoilt(data, source):
    """Change, insert, remove, double or cut a few bytes."""
    data = bytearray(data)
    for _ in range(source.randint(1, 6)):
        start = source.randrange(len(data) + 1)
        end = min(len(data), start + source.randint(0, 8))
        kind = source.randrange(5)
        if kind == 0 and start < len(data):
            data[start] = source.choice([0, 1, 0x7F, 0x80, 0xFF, 0xDD, 0xDF, 0xCF, 0xD3, source.randrange(256)])
        elif kind == 1:
            data[start:start] = source.randbytes(source.randint(1, 9))
        elif kind == 2:
            del data[start:end]
        elif kind == 3:
            data[start:start] = data[start:end]
        else:
            del data[source.randrange(len(data) + 1) :]
    return bytes(data)


def reframed(data):
    """Give a spoilt frame lengths that fit again, so that the spoilt header is reached."""
    if len(data) < LENGTHS.size:
        return data
    header_length, _ = LENGTHS.unpack(data[: LENGTHS.size])
    body = data[LENGTHS.size :]
    header_length = min(header_length, len(body))
    return LENGTHS.pack(header_length, len(body) - header_length) + body


def outcome(frame):
    try:
        read(frame)
    except WireError as error:
        return type(error).__name__
    except TimeoutError:
        return "TimeoutError"
    return "read"


def test_frames_spoilt_at_random_are_read_or_give_a_typed_error_in_time():
    source = random.Random(20_240_229)
    frames = seeds()
    seen = {}
    for _ in range(2_500):
        frame = spoilt(source.choice(frames), source)
        started = time.monotonic()
        ended = outcome(reframed(frame) if source.random() < 0.8 else frame)
        assert time.monotonic() - started < SECONDS
        seen[ended] = seen.get(ended, 0) + 1
    assert set(seen) == {"read", "Malformed", "Closed"}
    assert min(seen.values()) > 20


def test_random_bytes_never_pass_for_a_reply():
    source = random.Random(7)
    for _ in range(1_000):
        body = source.randbytes(source.randint(0, 200))
        cut = source.randint(0, len(body))
        assert outcome(LENGTHS.pack(cut, len(body) - cut) + body) in {"Malformed", "Closed"}


def at_the_limit(kind, dtype, size):
    return returned(kind(dtype, (BLOB_LIMIT // size,), 0), memoryview(bytes(BLOB_LIMIT)))


def many_blobs(kind):
    parts = [memoryview(bytes(3)) for _ in range(5_000)]
    return returned(Items("list", [kind("uint8", (3,), index) for index in range(5_000)]), *parts)


def full_header(item):
    count = (HEADER_LIMIT - 400) // len(item)
    header = encode(ReplyEnvelope(1, Returned("HERE", Facts()), []))
    return raw_frame(
        header.replace(b"\xa4HERE", b"\x93\xa5items\xa4list\xdd" + struct.pack("!I", count) + item * count)
    )


@pytest.mark.parametrize(
    "frame",
    [
        lambda: at_the_limit(Array, "float64", 8),
        lambda: at_the_limit(Tensor, "bfloat16", 2),
        lambda: at_the_limit(Array, "bool", 1),
        lambda: at_the_limit(Tensor, "bool", 1),
        lambda: many_blobs(Array),
        lambda: many_blobs(Tensor),
        lambda: returned(Array("float64", (BLOB_LIMIT,), 0), memoryview(bytes(BLOB_LIMIT))),
        lambda: reply_frame(Returned(1, Facts()), lengths=[0] * (HEADER_LIMIT - 100)),
        lambda: full_header(b"\xc0"),
        lambda: full_header(b"\xcd\xff\xff"),
        lambda: full_header(b"\xa2\xc3\xa9"),
        lambda: full_header(b"\x93\xa5items\xa4list\x90"),
        lambda: full_header(b"\x92\xa5table\x90"),
        lambda: full_header(b"\x94\xa5array\xa0\x90\x00"),
    ],
    ids=[
        "an array", "a tensor", "bools", "bools of torch", "many arrays", "many tensors", "a wrong shape",
        "empty blobs", "None", "integers", "texts", "lists", "tables", "descriptions of arrays",
    ],
)  # fmt: skip
def test_reading_never_takes_more_memory_than_the_limit_and_a_constant(frame):
    data = frame()
    header_length, payload_length = LENGTHS.unpack(data[: LENGTHS.size])
    assert header_length > HEADER_LIMIT * 0.99 or payload_length > BLOB_LIMIT * 0.009
    tracemalloc.start()
    try:
        outcome(data)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    bound = payload_length + (4 << 20) if header_length < 1 << 20 else BLOB_LIMIT + HEADER_OBJECTS
    assert peak < bound


def test_a_mebibyte_of_text_in_a_message_stays_text():
    with pytest.raises(Malformed):
        read(raw_frame(msgspec.msgpack.encode({"type": "returned", "value": "x" * (1 << 20)})))
    (text,) = read(returned("x" * (1 << 20)))
    assert len(text) == 1 << 20
