"""The typed messages between the grader and a learner's process.

A frame is two lengths, a MessagePack header and the raw bytes of its arrays (blobs). The header is small and bounded,
so hostile bytes cannot make the reader build many objects; the blobs are copied once each.
"""

from __future__ import annotations

import hashlib
import socket
import struct
import time
from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec

from autograder.sandbox.values import BLOB_LIMIT, Blobs, Malformed, Unsendable, Value, WireError, aligned
from autograder.sandbox.violation import Violation


class Closed(WireError):
    """The other side has gone."""


LENGTHS = struct.Struct("!II")
HEADER_LIMIT = 4 << 20
MAX_BLOBS = 10_000
DIGEST_BYTES = 32
# A worker that cannot inherit its line connects to a port of this machine, and sends the secret that it was given.
CALL_BACK = "call back"
PORT_BYTES = 2
SECRET_BYTES = 32
# What one call of the system may bring; most frames are smaller.
CHUNK = 64 << 10


class JailSettings(msgspec.Struct, frozen=True, tag="jail"):
    """What the worker gives up: bytes of memory over the baseline, seconds of processor time, folders it may read."""

    memory: int
    cpu_seconds: int
    readable: tuple[str, ...]


class Speciality(msgspec.Struct, frozen=True, tag="speciality"):
    """What a learner may not use, whether stand-ins still may, and the libraries that it needs (none named: all)."""

    banned: tuple[str, ...]
    stand_ins: bool
    libraries: tuple[str, ...] = ()


class End(msgspec.Struct, frozen=True):
    """How a process ended: by a signal (its number) or with an exit status. Neither is ever a verdict."""

    killed: bool
    code: int


class Gradient(msgspec.Struct, frozen=True):
    """Ask for gradients: positions of the arguments, one cotangent per returned tensor (None: not used)."""

    wrt: tuple[int, ...]
    cotangents: list[Value]


class Load(msgspec.Struct, frozen=True, tag="load"):
    """The learner's module. `stand_ins` maps module names to source made of library calls."""

    module: str
    source: bytes
    stand_ins: dict[str, bytes]
    banned: tuple[str, ...]
    output_limit: int
    blob_limit: int


class Call(msgspec.Struct, frozen=True, tag="call"):
    """Call a function by name, or an instance made by `New` by its number."""

    target: str | int
    arguments: list[Value]
    keywords: dict[str, Value]
    seed: int
    measure: bool = False
    gradient: Gradient | None = None


class New(msgspec.Struct, frozen=True, tag="new"):
    """Make an instance of a class of the learner's; with a dtype it is converted, with a state that is loaded.

    It is known by its number until another gets it.
    """

    number: int
    target: str
    arguments: list[Value]
    keywords: dict[str, Value]
    seed: int
    dtype: str = ""
    state: Value = None


Operation = Literal["load", "state", "train", "eval", "to", "describe"]


class Manage(msgspec.Struct, frozen=True, tag="manage"):
    """Operate on an instance: load a state dict, give it back, switch mode or dtype, describe it."""

    target: int
    operation: Operation
    argument: Value = None


Request = Load | Call | New | Manage


class Frame(msgspec.Struct, array_like=True, frozen=True):
    """One line of the learner's own code in a traceback."""

    line: int
    function: str
    text: str


class Facts(msgspec.Struct, frozen=True):
    """What else a call tells. `modified` and `shared` hold names of arguments; `largest_tensor` is in bytes."""

    output: str = ""
    warnings: tuple[tuple[str, str], ...] = ()
    modified: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()
    writeable: bool = True
    largest_tensor: int | None = None
    violations: tuple[Violation, ...] = ()


class Ready(msgspec.Struct, frozen=True, tag="ready"):
    """The first word of a worker: which layers of the jail hold, and why others do not."""

    layers: tuple[str, ...]
    missing: dict[str, str]


class Scanned(msgspec.Struct, frozen=True, tag="scanned"):
    """What the syntax tree shows, said before any line of the learner's has run."""

    violations: tuple[Violation, ...]


class Loaded(msgspec.Struct, frozen=True, tag="loaded"):
    """The module was executed."""

    facts: Facts


class Returned(msgspec.Struct, frozen=True, tag="returned"):
    """A value came back. `gradients` has one entry per position asked for, `parameters` one per parameter."""

    value: Value
    facts: Facts
    gradients: list[Value] = []
    parameters: dict[str, Value] = {}
    gradient_problem: str = ""


class Created(msgspec.Struct, frozen=True, tag="created"):
    """The instance exists."""

    facts: Facts


class Raised(msgspec.Struct, frozen=True, tag="raised"):
    """An exception: the nearest built-in type, its own name, its message and the learner's own frames."""

    builtin: str
    name: str
    message: str
    frames: tuple[Frame, ...]
    facts: Facts


class Unfit(msgspec.Struct, frozen=True, tag="unfit"):
    """A value came back that may not cross."""

    reason: str
    facts: Facts


Reply = Ready | Scanned | Loaded | Returned | Created | Raised | Unfit


class RequestEnvelope(msgspec.Struct, array_like=True, frozen=True):
    """Requests that are made at once, and for each the lengths of its blobs."""

    messages: list[Request]
    blobs: list[list[int]]


class ReplyEnvelope(msgspec.Struct, array_like=True, frozen=True):
    """A reply, which of the requests it answers (the first is 1), and the lengths of its blobs."""

    number: int
    message: Reply
    blobs: list[int]


class SealedRequest(msgspec.Struct, array_like=True, frozen=True):
    """A `RequestEnvelope` whose messages are in bytes already."""

    messages: list[msgspec.Raw]
    blobs: list[list[int]]


class SealedReply(msgspec.Struct, array_like=True, frozen=True):
    """A `ReplyEnvelope` whose message has not been read."""

    number: int
    message: msgspec.Raw
    blobs: list[int]


class Question(msgspec.Struct, frozen=True):
    """A request as it travels: equal where the same is asked."""

    message: bytes
    lengths: list[int]
    payload: bytes

    @property
    def size(self) -> int:
        """Its bytes."""
        return len(self.message) + len(self.payload)


class Sheet:
    """Questions that are asked at once, in one frame: written once for all who are asked them."""

    def __init__(self, questions: Sequence[Question]) -> None:
        self.questions = tuple(questions)
        messages = [msgspec.Raw(question.message) for question in questions]
        header = _encoder.encode(SealedRequest(messages, [question.lengths for question in questions]))
        self.frame = framed(header, b"".join(question.payload for question in questions))


class Answer(msgspec.Struct, frozen=True):
    """A reply as it arrived; nothing in it has been looked at yet but the number of what it answers."""

    message: memoryview
    lengths: list[int]
    payload: memoryview

    @property
    def size(self) -> int:
        """Its bytes."""
        return len(self.message) + len(self.payload)

    def digest(self) -> bytes:
        """Give a few bytes that only an answer which says the same has."""
        return _digest(self.message, self.lengths, self.payload)

    def digest_without_frames(self) -> bytes:
        """Give the same for an exception wherever it was raised: the lines are the learner's own. Malformed."""
        reply = self.read()
        if not isinstance(reply, Raised):
            return self.digest()
        message = _encoder.encode(msgspec.structs.replace(reply, frames=()))
        return _digest(message, self.lengths, self.payload)

    def read(self) -> Reply:
        """Give the message. Raises Malformed."""
        try:
            return _message_decoder.decode(self.message)
        except NOT_A_MESSAGE as error:
            raise Malformed(f"not a reply: {str(error)[:200]}") from None

    def blobs(self) -> Blobs:
        """Give the bytes of its arrays, which may be taken once. Raises Malformed."""
        return split_blobs(self.payload, self.lengths)

    def frame(self, number: int) -> bytes:
        """Give the frame in which it arrives as the answer to the question of that number."""
        return framed(_encoder.encode(SealedReply(number, msgspec.Raw(self.message), self.lengths)), self.payload)


class Exchange(msgspec.Struct, frozen=True):
    """A question, its answer, the digest of that, and whether it was an exception (digested without its frames)."""

    question: Question
    answer: Answer
    digest: bytes
    raised: bool


NOT_A_MESSAGE = (msgspec.MsgspecError, RecursionError, UnicodeDecodeError, OverflowError)
_encoder = msgspec.msgpack.Encoder()
_request_decoder = msgspec.msgpack.Decoder(RequestEnvelope)
_reply_decoder = msgspec.msgpack.Decoder(SealedReply)
_message_decoder: msgspec.msgpack.Decoder[Reply] = msgspec.msgpack.Decoder(Reply)


def encode(envelope: ReplyEnvelope | RequestEnvelope) -> bytes:
    """Give the header of a frame."""
    return _encoder.encode(envelope)


def question(request: Request, blobs: Blobs) -> Question:
    """Give a request as it travels."""
    return Question(_encoder.encode(request), blobs.lengths(), blobs.joined())


def opening(serial: int) -> bytes:
    """Give the frame that goes before a sheet and comes before its answers: the sheet's number on the line.

    Whatever was said too much before is no answer to this sheet.
    """
    return framed(_encoder.encode(serial), b"")


def decode_answer(number: int, header: bytes | bytearray, payload: memoryview) -> Answer:
    """Read a reply's header but for the message in it; Malformed for anything else, or where the number is another."""
    try:
        sealed = _reply_decoder.decode(header)
    except NOT_A_MESSAGE as error:
        raise Malformed(f"not a reply: {str(error)[:200]}") from None
    if sealed.number != number:
        raise Malformed("an answer to another question")
    return Answer(memoryview(sealed.message), sealed.blobs, payload)


def answers_in(frames: bytes) -> Iterator[Answer]:
    """Take frames apart that hold the answers to a sheet, one after the other."""
    start, number = 0, 0
    while start < len(frames):
        header_length, payload_length = LENGTHS.unpack_from(frames, start)
        start, number = start + LENGTHS.size + header_length, number + 1
        payload = memoryview(bytearray(frames[start : start + payload_length]))
        yield decode_answer(number, frames[start - header_length : start], payload)
        start += payload_length


def requests_in(header: bytes | bytearray, payload: memoryview) -> Iterator[tuple[Request, Blobs]]:
    """Give the requests of a frame, each with blobs of its own. Malformed where it is no such frame."""
    try:
        envelope = _request_decoder.decode(header)
    except NOT_A_MESSAGE as error:
        raise Malformed(f"not a request: {str(error)[:200]}") from None
    if len(envelope.messages) == 1 == len(envelope.blobs):
        yield envelope.messages[0], split_blobs(payload, envelope.blobs[0])
        return
    if len(envelope.messages) != len(envelope.blobs):
        raise Malformed(f"{len(envelope.messages)} requests and the blobs of {len(envelope.blobs)}")
    start = 0
    for message, lengths in zip(envelope.messages, envelope.blobs, strict=True):
        end = start + sum(map(aligned, lengths))
        # A copy, so that nobody who looks around what one call was given finds what the next will be.
        yield message, split_blobs(memoryview(bytearray(payload[start:end])), lengths)
        start = end


def framed(header: bytes | bytearray, payload: bytes | memoryview) -> bytes:
    """Give the bytes of a frame. Unsendable when the header is larger than a header may be."""
    if len(header) > HEADER_LIMIT:
        raise Unsendable(f"a message of {len(header)} bytes beside its arrays")
    return b"".join((LENGTHS.pack(len(header), len(payload)), header, payload))


def _digest(message: bytes | memoryview, lengths: list[int], payload: memoryview) -> bytes:
    digest = hashlib.blake2b(message, digest_size=DIGEST_BYTES)
    digest.update(_encoder.encode(lengths))
    digest.update(payload)
    return digest.digest()


class Channel:
    """A socket that carries frames. An operation ends by its deadline (monotonic clock) or raises TimeoutError."""

    def __init__(self, connection: socket.socket, blob_limit: int = BLOB_LIMIT) -> None:
        self._connection = connection
        self._blob_limit = blob_limit
        # Received, but behind the end of what was asked for.
        self._ahead = b""
        self._kept: list[bytes] = []
        self.kept_bytes = 0

    def keep(self, header: bytes, payload: bytes) -> None:
        """Have a frame written with the next ones. Unsendable when the header is larger than a header may be."""
        frame = framed(header, payload)
        self._kept.append(frame)
        self.kept_bytes += len(frame)

    def flush(self, deadline: float | None = None) -> None:
        """Write all frames that were kept. Closed and TimeoutError as for `write`."""
        frames = b"".join(self._kept) if len(self._kept) != 1 else self._kept[0]
        self._kept.clear()
        self.kept_bytes = 0
        self.write(frames, deadline)

    def write(self, frames: bytes, deadline: float | None = None) -> None:
        """Write frames.

        Raises:
            Closed: when nobody listens any more.
            TimeoutError: when the deadline passes.

        """
        try:
            self._wait_until(deadline)
            self._connection.sendall(frames)
        except TimeoutError:
            raise
        except OSError as error:
            raise Closed(str(error)) from None

    def may_bring(self, frames: bytes) -> bool:
        """Tell whether these frames may be the next: nothing else has arrived so far."""
        return frames.startswith(self._ahead) or self._ahead.startswith(frames)

    @property
    def whole_frames(self) -> int:
        """How many frames have arrived whole and are not read."""
        count = start = 0
        while start + LENGTHS.size <= len(self._ahead):
            start += LENGTHS.size + sum(LENGTHS.unpack_from(self._ahead, start))
            count += start <= len(self._ahead)
        return count

    def take(self, frames: bytes) -> bool:
        """Read these frames if they have arrived whole as the next; else nothing is read."""
        if not self._ahead.startswith(frames):
            return False
        self._ahead = self._ahead[len(frames) :]
        return True

    def await_more(self, deadline: float | None = None) -> None:
        """Wait until more has arrived. Closed and TimeoutError as for `receive`."""
        self._ahead += self._receive(deadline)

    def receive(self, deadline: float | None = None) -> tuple[bytes, memoryview]:
        """Read one frame: the header and the bytes behind it.

        Raises:
            Malformed: for lengths beyond the limits (nothing of that size is read).
            Closed: at the end of the stream.
            TimeoutError: when the deadline passes.

        """
        while len(self._ahead) < LENGTHS.size:
            self._ahead += self._receive(deadline)
        header_length, payload_length = LENGTHS.unpack_from(self._ahead)
        if header_length > HEADER_LIMIT or payload_length > self._blob_limit:
            raise Malformed(f"a frame of {header_length} + {payload_length} bytes")
        start = LENGTHS.size + header_length
        end = start + payload_length
        if len(self._ahead) >= end:
            # Nearly every frame arrives whole.
            header, payload = self._ahead[LENGTHS.size : start], bytearray(self._ahead[start:end])
            self._ahead = self._ahead[end:]
            return header, memoryview(payload)
        self._ahead = self._ahead[LENGTHS.size :]
        return bytes(self._read(header_length, deadline)), memoryview(self._read(payload_length, deadline))

    def close(self) -> None:
        """Close the socket."""
        self._connection.close()

    def _receive(self, deadline: float | None) -> bytes:
        try:
            self._wait_until(deadline)
            received = self._connection.recv(CHUNK)
        except TimeoutError:
            raise
        except OSError as error:
            raise Closed(str(error)) from None
        if not received:
            raise Closed("end of stream")
        return received

    def _read(self, count: int, deadline: float | None) -> bytearray:
        data = bytearray(count)
        known = min(count, len(self._ahead))
        data[:known] = self._ahead[:known]
        self._ahead = self._ahead[known:]
        rest = memoryview(data)[known:]
        while rest:
            rest = rest[self._receive_into(rest, deadline) :]
        return data

    def _receive_into(self, rest: memoryview, deadline: float | None) -> int:
        try:
            self._wait_until(deadline)
            count = self._connection.recv_into(rest)
        except TimeoutError:
            raise
        except OSError as error:
            raise Closed(str(error)) from None
        if not count:
            raise Closed("end of stream")
        return count

    def _wait_until(self, deadline: float | None) -> None:
        if deadline is None:
            if self._connection.gettimeout() is not None:
                self._connection.settimeout(None)
            return
        remaining = deadline - time.monotonic()
        if remaining <= 0:
            raise TimeoutError
        self._connection.settimeout(remaining)


def split_blobs(payload: memoryview, lengths: list[int]) -> Blobs:
    """Cut the bytes behind a header into its blobs; Malformed when the lengths do not add up."""
    if len(lengths) > MAX_BLOBS:
        raise Malformed(f"{len(lengths)} blobs")
    if lengths and min(lengths) < 0:
        raise Malformed("a blob of negative length")
    parts = []
    start = 0
    for length in lengths:
        parts.append(payload[start : start + length])
        start += aligned(length)
    if start != len(payload):
        raise Malformed("blob lengths that do not add up")
    return Blobs(parts)
