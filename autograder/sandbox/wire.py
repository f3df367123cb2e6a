"""The typed messages between the grader and a learner's process.

A frame is two lengths, a MessagePack header and the raw bytes of its arrays (blobs). The header is small and bounded,
so hostile bytes cannot make the reader build many objects; the blobs are copied once each.
"""

from __future__ import annotations

import hashlib
import socket
import struct
import time
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
    """A request with its number and the lengths of its blobs."""

    serial: int
    message: Request
    blobs: list[int]


class ReplyEnvelope(msgspec.Struct, array_like=True, frozen=True):
    """A reply with the number of the request it answers, the lengths of its blobs and the seconds that it took."""

    serial: int
    message: Reply
    blobs: list[int]
    seconds: float = 0.0


class SealedRequest(msgspec.Struct, array_like=True, frozen=True):
    """A `RequestEnvelope` whose message is in bytes already."""

    serial: int
    message: msgspec.Raw
    blobs: list[int]


class SealedReply(msgspec.Struct, array_like=True, frozen=True):
    """A `ReplyEnvelope` whose message has not been read."""

    serial: int
    message: msgspec.Raw
    blobs: list[int]
    seconds: float = 0.0


class Question(msgspec.Struct, frozen=True):
    """A request as it travels, without a number: equal where the same is asked."""

    message: bytes
    lengths: list[int]
    payload: bytes

    @property
    def size(self) -> int:
        """Its bytes."""
        return len(self.message) + len(self.payload)


class Answer(msgspec.Struct, frozen=True):
    """A reply as it arrived; nothing in it has been looked at yet but the number of what it answers."""

    message: memoryview
    lengths: list[int]
    payload: memoryview
    seconds: float

    @property
    def size(self) -> int:
        """Its bytes."""
        return len(self.message) + len(self.payload)

    def digest(self) -> bytes:
        """Give a few bytes that only an answer which says the same has; how long it took is no part of that."""
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


class Exchange(msgspec.Struct, frozen=True):
    """A question, the digest of its answer, and whether that was an exception (digested without its frames)."""

    question: Question
    digest: bytes
    raised: bool


NOT_A_MESSAGE = (msgspec.MsgspecError, RecursionError, UnicodeDecodeError, OverflowError)
_encoder = msgspec.msgpack.Encoder()
_request_decoder = msgspec.msgpack.Decoder(RequestEnvelope)
_reply_decoder = msgspec.msgpack.Decoder(SealedReply)
_message_decoder: msgspec.msgpack.Decoder[Reply] = msgspec.msgpack.Decoder(Reply)


def encode(envelope: ReplyEnvelope | SealedRequest | RequestEnvelope) -> bytes:
    """Give the header of a frame."""
    return _encoder.encode(envelope)


def question(request: Request, blobs: Blobs) -> Question:
    """Give a request as it travels."""
    return Question(_encoder.encode(request), blobs.lengths(), blobs.joined())


def numbered(serial: int, asked: Question) -> bytes:
    """Give the header of a question's frame."""
    return _encoder.encode(SealedRequest(serial, msgspec.Raw(asked.message), asked.lengths))


def decode_answer(serial: int, header: bytes | bytearray, payload: memoryview) -> Answer:
    """Read a reply's header but for the message in it; Malformed for anything else, or where the number is another."""
    try:
        sealed = _reply_decoder.decode(header)
    except NOT_A_MESSAGE as error:
        raise Malformed(f"not a reply: {str(error)[:200]}") from None
    if sealed.serial != serial:
        raise Malformed("an answer to another question")
    return Answer(memoryview(sealed.message), sealed.blobs, payload, sealed.seconds)


def decode_request(header: bytes | bytearray) -> RequestEnvelope:
    """Read a request's header; Malformed for anything else."""
    try:
        return _request_decoder.decode(header)
    except NOT_A_MESSAGE as error:
        raise Malformed(f"not a request: {str(error)[:200]}") from None


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

    def send(self, header: bytes, payload: bytes, deadline: float | None = None) -> None:
        """Write one frame.

        Raises:
            Unsendable: when the header is larger than a header may be.
            Closed: when nobody listens any more.
            TimeoutError: when the deadline passes.

        """
        self.keep(header, payload)
        self.flush(deadline)

    def keep(self, header: bytes, payload: bytes) -> None:
        """Have a frame written with the next ones. Unsendable when the header is larger than a header may be."""
        if len(header) > HEADER_LIMIT:
            raise Unsendable(f"a message of {len(header)} bytes beside its arrays")
        frame = LENGTHS.pack(len(header), len(payload)) + header + payload
        self._kept.append(frame)
        self.kept_bytes += len(frame)

    def flush(self, deadline: float | None = None) -> None:
        """Write all frames that were kept. Closed and TimeoutError as for `send`."""
        frames = b"".join(self._kept) if len(self._kept) != 1 else self._kept[0]
        self._kept.clear()
        self.kept_bytes = 0
        try:
            self._wait_until(deadline)
            self._connection.sendall(frames)
        except TimeoutError:
            raise
        except OSError as error:
            raise Closed(str(error)) from None

    @property
    def has_more(self) -> bool:
        """Whether the next frame is there already."""
        if len(self._ahead) < LENGTHS.size:
            return False
        header_length, payload_length = LENGTHS.unpack_from(self._ahead)
        end: int = LENGTHS.size + header_length + payload_length
        return len(self._ahead) >= end

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
