"""The learner's process: load one module, answer calls until the socket closes.

Nothing here knows a suite, a solution or an expected value. What this process says is only ever read as data.
"""

from __future__ import annotations

import builtins
import importlib
import linecache
import mmap
import os
import random
import socket
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import CodeType, FunctionType, ModuleType, TracebackType
from typing import Any

import msgspec
import numpy as np

from autograder.sandbox import banned, instances, jail, pages
from autograder.sandbox.names import torch_lines
from autograder.sandbox.observed import (
    Arguments,
    BoundedText,
    BoundedWarnings,
    EarlierResults,
    Memory,
    Span,
    encodable,
    largest_tensor,
    leaves,
    parameter_names,
    span,
)
from autograder.sandbox.values import Blobs, Unsendable, Value, WireError, pack, unpack
from autograder.sandbox.wire import (
    CALL_BACK,
    PORT_BYTES,
    Call,
    Channel,
    Created,
    Facts,
    Frame,
    JailSettings,
    Load,
    Loaded,
    Manage,
    New,
    Raised,
    Ready,
    Reply,
    ReplyEnvelope,
    Request,
    Returned,
    Scanned,
    Unfit,
    encode,
    requests_in,
    split_blobs,
)

MAX_MESSAGE = 4000
BALLAST = 16 << 20
# Asked much at once, it answers at once what took no longer, and is no larger, than this.
LONGEST_SILENCE = 0.02
MOST_KEPT = 64 << 10
MAX_FRAMES = 10
REQUEST_BLOBS = 256 << 20
REHEARSED = b"""
import numpy as np
def same(*values):
    return values[0] + 1.0, *values
def refused(number):
    raise ValueError(f"{number} is too many")
"""
REHEARSED_WITH_TORCH = b"""
import torch
class Layer(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = torch.nn.Linear(width, width)
    def forward(self, value):
        return self.linear(value), value
"""
# Python adapts a function to what it is called with after eight calls or so.
REHEARSALS = 20
Rehearsed = Sequence[tuple[Request, list[int], bytes]]
RANDOM = b"random"
# Bound here, before learner code can; what `random.seed` does beside this is for seeds that are no numbers.
SEED_PYTHON = super(random.Random, random._inst).seed
SEED_NUMPY = np.random.seed


class NotDefined(AttributeError):
    """The module does not define a name that the exercise asks for."""


def serve(connection: socket.socket, settings: JailSettings, answers: Answers) -> None:
    """Enter the jail, say which layers hold, then answer requests until the grader closes the socket."""
    channel = Channel(connection, blob_limit=REQUEST_BLOBS)
    held = jail.enter(settings)
    _keep(channel, 0, Ready(held.layers, held.missing), Blobs())
    channel.flush()
    answers.take_ballast()
    while True:
        try:
            opening, _ = channel.receive()
            header, payload = channel.receive()
        except WireError:
            return
        channel.keep(opening, b"")
        said = time.monotonic()
        for number, (request, own) in enumerate(requests_in(header, payload), 1):
            for reply, blobs in answers.to(request, own):
                _keep(channel, number, reply, blobs)
                full = isinstance(reply, Scanned) or channel.kept_bytes > MOST_KEPT
                if full or time.monotonic() - said > LONGEST_SILENCE:
                    channel.flush()
                    said = time.monotonic()
        channel.flush()


def _keep(channel: Channel, number: int, reply: Reply, blobs: Blobs) -> None:
    channel.keep(encode(ReplyEnvelope(number, reply, blobs.lengths())), blobs.joined())


class Answers:
    """The state of one learner's process: the module, its instances, what has been observed."""

    def __init__(self, closed: banned.Watch | None = None) -> None:
        """`closed` is a watch that has closed the doors of this process already."""
        self._closed = closed
        self._module = ModuleType("nothing_loaded")
        self._filename = ""
        self._instances: dict[int, Any] = {}
        self._watch = banned.Watch((), frozenset())
        self._text = BoundedText(0)
        self._warnings = BoundedWarnings()
        self._earlier = EarlierResults()
        # The arrays of the last result, and where they lie.
        self._result: tuple[list[Any], list[Span]] = ([], [])
        self._blob_limit = 0
        self._names_random = True
        self._ballast: mmap.mmap | None = None

    def take_ballast(self) -> None:
        """Take address space, never touched, that is given back when memory runs out, so that it can still be said.

        It is each process's own: forks share memory that was mapped so before.
        """
        self._ballast = mmap.mmap(-1, BALLAST)

    def to(self, request: Request, blobs: Blobs) -> Iterator[tuple[Reply, Blobs]]:
        """Answer one request; a `Load` is answered twice, once before any line of the learner's has run."""
        if isinstance(request, Load):
            yield from self._load(request)
            return
        yield self._guarded(lambda: self._answer(request, blobs))

    def _answer(self, request: Call | New | Manage, blobs: Blobs) -> tuple[Reply, Blobs]:
        if isinstance(request, Call):
            return self._call(request, blobs)
        return self._new(request, blobs) if isinstance(request, New) else self._manage(request, blobs)

    def _load(self, request: Load) -> Iterator[tuple[Reply, Blobs]]:
        self._filename = f"<learner>/{request.module}.py"
        self._blob_limit = request.blob_limit
        self._text = BoundedText(request.output_limit)
        try:
            source = _text_of(request.source, self._filename)
            found = banned.scan(request.source, request.banned)
            code = compile(source, self._filename, "exec", dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            yield self._raised(error), Blobs()
            return
        linecache.cache[self._filename] = (len(source), None, source.splitlines(True), self._filename)
        self._watch = self._watch_for(request, code)
        # Before each call Python's and NumPy's chance is seeded only where it is named: it takes as long as some calls.
        self._names_random = True
        self._seed(0)
        self._names_random = any(RANDOM in text for text in (request.source, *request.stand_ins.values()))
        yield Scanned(found), Blobs()
        yield self._guarded(lambda: self._execute(request, code))

    def _watch_for(self, request: Load, code: CodeType) -> banned.Watch:
        if self._closed is not None and self._closed.is_of(request.banned):
            self._closed.learn_the_module(self._filename, code)
            return self._closed
        watch = banned.Watch(request.banned, frozenset({self._filename}))
        if not request.stand_ins:
            # A stand-in is made of the very calls that are banned.
            watch.close_kernels()
        return watch

    def _execute(self, request: Load, code: Any) -> tuple[Reply, Blobs]:
        for name, source in request.stand_ins.items():
            sys.modules[name] = self._stand_in(name, source)
        self._module = ModuleType(request.module)
        self._module.__file__ = self._filename
        sys.modules[request.module] = self._module
        with self._observing():
            exec(code, self._module.__dict__)
        return Loaded(self._facts()), Blobs()

    def _stand_in(self, name: str, source: bytes) -> ModuleType:
        module = ModuleType(name)
        exec(compile(source, f"<stand-in>/{name}.py", "exec", dont_inherit=True), module.__dict__)
        for key, value in list(vars(module).items()):
            if isinstance(value, FunctionType) and value.__module__ == name:
                setattr(module, key, self._unwatched(value))
        return module

    def _unwatched(self, function: FunctionType) -> Callable[..., Any]:
        def stand_in(*arguments: Any, **keywords: Any) -> Any:
            with self._watch.suspended():
                return function(*arguments, **keywords)

        stand_in.__name__ = function.__name__
        stand_in.__doc__ = function.__doc__
        return stand_in

    def _call(self, request: Call, blobs: Blobs) -> tuple[Reply, Blobs]:
        target = self._find(request.target)
        own = Arguments(list(blobs), lambda anew: _flat(*_arguments(request, Blobs(anew))))
        arguments, keywords = _arguments(request, blobs)
        own.memories = _memories(arguments, keywords)
        wanted = request.gradient
        inputs = [arguments[position].requires_grad_() for position in wanted.wrt] if wanted else []
        cotangents = [unpack(value, blobs, layout=True) for value in wanted.cotangents] if wanted else []
        self._seed(request.seed)
        largest = [0]
        self._observe(theirs=True)
        try:
            if request.measure:
                with largest_tensor(measure=True) as largest:
                    result = target(*arguments, **keywords)
            else:
                result = target(*arguments, **keywords)
            # To look at what came back runs code of the learner's, too: an array may have properties of its own.
            self._watch.come_back()
            facts = self._facts(own, result, target, largest[0] if request.measure else None)
            reply = self._returned(result, facts)
        finally:
            self._watch.end()
        reply = self._with_what_was_found(*reply)
        return self._with_gradients(reply, result, inputs, cotangents, target) if wanted else reply

    def _with_what_was_found(self, reply: Returned | Unfit, blobs: Blobs) -> tuple[Returned | Unfit, Blobs]:
        """Add what the watch has found since the facts were written: there may be no next answer to tell it."""
        found = self._watch.take()
        if not found:
            return reply, blobs
        facts = msgspec.structs.replace(reply.facts, violations=reply.facts.violations + found)
        return msgspec.structs.replace(reply, facts=facts), blobs

    def _returned(self, result: Any, facts: Facts) -> tuple[Returned | Unfit, Blobs]:
        blobs = Blobs(limit=self._blob_limit)
        try:
            value = pack(result, blobs)
        except Unsendable as problem:
            return Unfit(str(problem), facts), Blobs()
        self._earlier.keep(*self._result)
        return Returned(value, facts), blobs

    def _with_gradients(
        self, reply: tuple[Returned | Unfit, Blobs], result: Any, inputs: list[Any], cotangents: list[Any], target: Any
    ) -> tuple[Reply, Blobs]:
        returned, blobs = reply
        if not isinstance(returned, Returned):
            return reply
        parameters = dict(target.named_parameters()) if hasattr(target, "named_parameters") else {}
        with self._watch.flowing_back(), self._observing():
            problem, gradients = _gradients(result, cotangents, [*inputs, *parameters.values()])
        packed = [pack(gradient, blobs) for gradient in gradients]
        own, rest = packed[: len(inputs)], packed[len(inputs) :]
        by_name: dict[str, Value] = dict(zip(parameters, rest, strict=False))
        flowed = {"gradients": own, "parameters": by_name, "gradient_problem": problem}
        return self._with_what_was_found(msgspec.structs.replace(returned, **flowed), blobs)

    def _new(self, request: New, blobs: Blobs) -> tuple[Reply, Blobs]:
        target = self._find(request.target)
        arguments, keywords = _arguments(request, blobs)
        self._seed(request.seed)
        with self._observing(calls=False):
            instance = target(*arguments, **keywords)
        state = unpack(request.state, blobs, layout=True)
        with self._observing(watch=False):
            instances.convert_and_load(instance, request.dtype, state)
        self._instances[request.number] = instance
        return Created(self._facts()), Blobs()

    def _manage(self, request: Manage, blobs: Blobs) -> tuple[Reply, Blobs]:
        instance = self._find(request.target)
        argument = unpack(request.argument, blobs, layout=True)
        # The kit asks for these, not the learner, and torch does them in many small calls: nothing to watch for.
        with self._observing(watch=False):
            result = instances.OPERATIONS[request.operation](instance, argument)
        return self._returned(result, self._facts())

    def _seed(self, seed: int) -> None:
        """Give every source of chance that the module can name its seed."""
        if self._names_random:
            SEED_PYTHON(seed)
            random._inst.gauss_next = None  # type: ignore[attr-defined]
            SEED_NUMPY(seed % (1 << 32))
        torch = sys.modules.get("torch")
        if torch is not None:
            # torch.manual_seed seeds every kind of device and writes a traceback for each: 2 ms a call.
            torch.default_generator.manual_seed(seed)

    def _find(self, target: str | int) -> Any:
        if isinstance(target, int):
            return self._instances[target]
        try:
            return vars(self._module)[target]
        except KeyError:
            raise NotDefined(f"{self._module.__name__}.py does not define {target}") from None

    def _observe(self, *, watch: bool = True, calls: bool = True, theirs: bool = False) -> None:
        """Look at what happens from now on; at the end the watch is to be told."""
        sys.stdout = sys.stderr = self._text.stream()
        self._warnings.collect()
        if watch:
            self._watch.begin(calls=calls, theirs=theirs)

    @contextmanager
    def _observing(self, *, watch: bool = True, calls: bool = True) -> Iterator[None]:
        self._observe(watch=watch, calls=calls)
        try:
            yield
        finally:
            if watch:
                self._watch.end()

    def _facts(
        self, own: Arguments | None = None, result: Any = None, target: Any = None, largest: int | None = None
    ) -> Facts:
        arrays = list(leaves(result))
        spans = [span(leaf) for leaf in arrays]
        self._result = arrays, spans
        shared = _names(own.shared(spans), target) if own else []
        if arrays and self._earlier.meet(spans):
            shared.append("an earlier result")
        return Facts(
            output=self._text.take(),
            warnings=tuple(self._warnings.found),
            modified=tuple(_names(own.changed(), target)) if own else (),
            shared=tuple(shared),
            writeable=all(leaf.flags.writeable for leaf in arrays if isinstance(leaf, np.ndarray)),
            largest_tensor=largest,
            violations=self._watch.take(),
        )

    def _guarded(self, answer: Callable[[], tuple[Reply, Blobs]]) -> tuple[Reply, Blobs]:
        try:
            return answer()
        except BaseException as error:
            return self._raised(error), Blobs()

    def _raised(self, error: BaseException) -> Raised:
        if isinstance(error, MemoryError):
            if self._ballast is not None:
                self._ballast.close()
            traceback.clear_frames(error.__traceback__)
        facts = self._facts()
        name = encodable(type(error).__name__[:200])
        return Raised(_builtin_name(error), name, _message(error), self._frames(error), facts)

    def _frames(self, error: BaseException) -> tuple[Frame, ...]:
        if isinstance(error, SyntaxError) and error.filename in (self._filename, "<unknown>"):
            return (Frame(error.lineno or 0, "", encodable((error.text or "").strip()[:200])),)
        own = [entry for entry in _entries(error.__traceback__) if entry[0] == self._filename]
        return tuple(_frame(*entry) for entry in own[-MAX_FRAMES:])


def _text_of(source: bytes, filename: str) -> str:
    """Give a module as text; SyntaxError with the line where it is not UTF-8 or holds a null."""
    try:
        text = source.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _unreadable(f"byte 0x{source[error.start]:02x} is not UTF-8", source, error.start, filename) from None
    if "\0" in text:
        raise _unreadable("a null character", source, source.index(0), filename)
    return text


def _unreadable(what: str, source: bytes, position: int, filename: str) -> SyntaxError:
    number = source.count(b"\n", 0, position)
    line = source.split(b"\n")[number].replace(b"\0", b"").decode("utf-8", "replace")
    return SyntaxError(f"{what}; save the file as UTF-8", (filename, number + 1, None, line))


def _entries(trace: TracebackType | None) -> Iterator[tuple[str, int, str]]:
    for frame, line in traceback.walk_tb(trace):
        yield frame.f_code.co_filename, line, frame.f_code.co_name


def _frame(filename: str, line: int, function: str) -> Frame:
    return Frame(line, encodable(function[:100]), encodable(linecache.getline(filename, line).strip()[:200]))


def _arguments(request: Call | New, blobs: Blobs) -> tuple[list[Any], dict[str, Any]]:
    arguments = [unpack(value, blobs, layout=True) for value in request.arguments]
    return arguments, {name: unpack(value, blobs, layout=True) for name, value in request.keywords.items()}


def _flat(arguments: list[Any], keywords: dict[str, Any]) -> list[Any]:
    return [*arguments, *keywords.values()]


def _memories(arguments: list[Any], keywords: dict[str, Any]) -> list[Memory]:
    places: list[tuple[int | str, Any]] = [*enumerate(arguments), *keywords.items()]
    return [Memory(leaf, place) for place, value in places for leaf in leaves(value)]


def _names(memories: list[Memory], target: Any) -> list[str]:
    """Name arguments as the learner does; their signature is only read when there is something to tell."""
    if not memories:
        return []
    names = parameter_names(target)
    return [_name(memory.place, names) for memory in memories]


def _name(place: int | str, names: list[str]) -> str:
    if isinstance(place, str):
        return place
    return names[place] if place < len(names) else f"argument {place + 1}"


def _gradients(result: Any, cotangents: list[Any], inputs: list[Any]) -> tuple[str, list[Any]]:
    import torch

    outputs = list(result) if isinstance(result, list | tuple) else [result]
    pairs = [(out, cot) for out, cot in zip(outputs, cotangents, strict=False) if cot is not None]
    if not pairs or not all(isinstance(out, torch.Tensor) for out, _ in pairs):
        return "what was returned is not made of tensors", [None] * len(inputs)
    for out, cotangent in pairs:
        if out.shape != cotangent.shape:
            return f"the shape is {tuple(out.shape)}, not {tuple(cotangent.shape)}", [None] * len(inputs)
    attached = [(out, cotangent.to(out.dtype)) for out, cotangent in pairs if out.requires_grad]
    if not attached:
        return "", [None] * len(inputs)
    flowing = [value for value in inputs if value.requires_grad]
    with torch.enable_grad():
        # The same gradients as with `grad_outputs`, for which torch imports sympy first.
        total = sum((out * cotangent).sum() for out, cotangent in attached)
    found = iter(torch.autograd.grad([total], flowing, allow_unused=True))
    return "", [next(found) if value.requires_grad else None for value in inputs]


def _builtin_name(error: BaseException) -> str:
    for ancestor in type.mro(type(error)):
        if vars(builtins).get(ancestor.__name__) is ancestor:
            return str(ancestor.__name__)
    return "BaseException"


def _message(error: BaseException) -> str:
    if isinstance(error, SyntaxError):
        return encodable(str(error.msg)[:MAX_MESSAGE])
    try:
        return encodable(str(error)[:MAX_MESSAGE])
    except BaseException:
        return "(its message cannot be shown)"


def run(connection: socket.socket, settings: JailSettings, answers: Answers) -> None:
    """Be the worker: serve, and end without any of the learner's exit handlers."""
    status = 1
    try:
        serve(connection, settings, answers)
        status = 0
    finally:
        os._exit(status)


def keep_only(descriptor: int, also: tuple[int, ...] = ()) -> socket.socket:
    """Close every descriptor but one socket's and those of `also`; the standard ones lead nowhere."""
    null = os.open(os.devnull, os.O_RDWR)
    kept = os.dup(descriptor)
    for standard in (0, 1, 2):
        os.dup2(null, standard)
    kept = os.dup2(kept, 3)
    start = 4
    for other in (*sorted(also), os.sysconf("SC_OPEN_MAX")):
        os.closerange(start, other)
        start = other + 1
    return socket.socket(fileno=kept)


def _connection(named: str) -> socket.socket:
    if named != CALL_BACK:
        return keep_only(int(named))
    told = sys.stdin.buffer.read()
    line = socket.create_connection(("127.0.0.1", int.from_bytes(told[:PORT_BYTES])))
    line.sendall(told[PORT_BYTES:])
    return line


def main() -> None:
    """Be a worker of its own, without a fork server: socket, settings and libraries are named on the command line."""
    connection = _connection(sys.argv[1])
    settings = msgspec.json.decode(sys.argv[2].encode(), type=JailSettings)
    warm_up(sys.argv[3:], times=1)
    run(connection, settings, Answers())


def warm_up(libraries: list[str], times: int = REHEARSALS) -> Rehearsed:
    """Import the libraries once, with what they import on first use, so that no learner's process does it again.

    Gives what was rehearsed, so many `times`.
    """
    begin(libraries)
    if "torch" in libraries:
        _warm_up_torch()
    requests = rehearsed(times)
    rehearse(requests)
    return requests


def begin(libraries: list[str]) -> None:
    """Import the libraries, and no more than every learner's process needs: enough where there will be few of them."""
    jail.prepare()
    pages.keep_freed()
    for library in libraries:
        importlib.import_module(library)
    instances.remember_torch()
    sys.path[:] = [path for path in sys.path if _is_a_library_folder(path)]
    if (torch := sys.modules.get("torch")) is not None:
        torch.set_num_threads(1)
        torch.manual_seed(0)
        # Its first operation reads what a jailed process cannot read.
        torch.ones(1) + 1


def _warm_up_torch() -> None:
    import torch

    # Its first call imports sympy.
    torch.broadcast_shapes((1,), (1,))
    torch_lines()
    # Forward only: a backward pass would start threads, which a fork loses.
    with torch.no_grad(), banned.function_mode(lambda function: None, {}), largest_tensor(measure=True):
        layer = torch.nn.Linear(2, 2)
        layer.load_state_dict(layer.state_dict())
        heads = layer(torch.ones(1, 2, 2))
        torch.nn.functional.scaled_dot_product_attention(heads, heads, heads)
        torch.nn.functional.dropout(torch.einsum("bij,bkj->bik", heads, heads), 0.5)


def rehearse(rehearsed: Rehearsed) -> None:
    """Answer requests as in a learner's process: what the first ones have to import or to make, each fork then has.

    Where a request needs what was taken out of this process, the rest is left as it is.
    """
    streams = sys.stdout, sys.stderr
    _forget_found_names()
    try:
        banned.scan(REHEARSED, ("numpy.same",))
        answers = Answers()
        for request, lengths, payload in rehearsed:
            for reply, sent in answers.to(request, split_blobs(memoryview(bytearray(payload)), lengths)):
                encode(ReplyEnvelope(1, reply, sent.lengths()))
    except Exception:
        return
    finally:
        sys.stdout, sys.stderr = streams
        sys.modules.pop("rehearsal", None)
        linecache.cache.pop("<learner>/rehearsal.py", None)


def rehearsed(times: int = REHEARSALS) -> Rehearsed:
    """Give requests of many kinds: they are made before anything is taken out of the process."""
    torch = sys.modules.get("torch")
    source = REHEARSED + REHEARSED_WITH_TORCH if torch else REHEARSED
    requests: list[tuple[Request, Blobs]] = [(Load("rehearsal", source, {}, (), 1 << 10, 1 << 20), Blobs())]
    for seed in range(times):
        requests += _calls(seed, torch)
        requests += _instances(seed, torch) if torch else ()
    return [(request, blobs.lengths(), blobs.joined()) for request, blobs in requests]


def _calls(seed: int, torch: Any) -> Iterator[tuple[Request, Blobs]]:
    array, blobs = np.zeros((2, 3)), Blobs()
    tensors = (torch.zeros(2, 3), torch.zeros(2, 3).mT, torch.ones(3, dtype=torch.bool)) if torch else ()
    yield Call("same", [pack(value, blobs, layout=True) for value in (array, array.T, *tensors)], {}, seed), blobs
    yield Call("refused", [], {"number": seed}, seed), Blobs()


def _instances(seed: int, torch: Any) -> Iterator[tuple[Request, Blobs]]:
    made, called = Blobs(), Blobs()
    state = {"linear.weight": torch.zeros(3, 3), "linear.bias": torch.zeros(3)}
    yield New(0, "Layer", [3], {}, seed, "float64", pack(state, made, layout=True)), made
    value = torch.zeros(2, 3, dtype=torch.float64)
    yield Call(0, [pack(value, called, layout=True)], {}, seed, True), called
    yield Manage(0, "state"), Blobs()
    yield Manage(0, "describe"), Blobs()


def _forget_found_names() -> None:
    """Empty Python's cache of found attributes: it counts a reference to each name, so that to let go of one that some
    import looked up means to write to that name's page.
    """
    if forget := getattr(sys, "_clear_type_cache", None):
        forget()


def _is_a_library_folder(path: str) -> bool:
    return any(os.path.realpath(path).startswith(folder) for folder in jail.readable_paths())


if __name__ == "__main__":
    main()
