"""The grader's side of a learner's process: start it, call it, stop it at its deadline, and say how it ended.

Nothing the other side says is trusted beyond its form. An exception of the learner's arrives as the built-in type of
that name; the end of the process arrives as a `LearnerEnded`, which no `except Exception` of a suite can swallow.
"""

from __future__ import annotations

import builtins
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import msgspec

from autograder.language import Phrase, recognised, say
from autograder.notebooks.places import place_of
from autograder.sandbox import wire
from autograder.sandbox.starting import NotStarted, Process, SandboxError, Starter, start_deadline
from autograder.sandbox.values import Blobs, Malformed, Unsendable, Value, WireError, pack, unpack
from autograder.sandbox.violation import Violation
from autograder.sandbox.wire import Facts, Frame, Reply, Request

__all__ = [
    "Budget", "Crashed", "Exited", "Gradients", "Interrupted", "JailMissing", "LastCall", "Learner", "LearnerEnded",
    "LearnerException", "Limits", "Module", "NotStarted", "OutOfMemory", "RemoteModule", "SandboxError", "TimedOut",
    "UnfitResult",
]  # fmt: skip

# What a process says of a value that cannot be sent, and of one that no gradient can be asked for.
UNSENDABLE = (
    say("a value nested more than {depth} deep"),
    say("a value of type {kind}"),
    say("a string of {count} characters"),
    say("an integer of more than 64 bits"),
    say("a dict with a key of type {kind}"),
    say("more than {count} items in its collections"),
    say("an array of dtype {dtype} with {count} dimensions"),
    say("an array of {size} MiB; at most {limit} MiB may be returned"),
    say("a {layout} tensor of dtype {dtype} on {device}"),
    say("a tensor with {count} dimensions"),
)
NO_GRADIENT = (say("what was returned is not made of tensors"), say("the shape is {found}, not {right}"))


class JailMissing(SandboxError):
    """A layer of the jail cannot be had on this machine."""


class Interrupted(SandboxError):
    """The grader itself ended it, since nobody waits for the answer any more."""


class LearnerException(Exception):
    """An exception raised by the learner's code; every one is also of the built-in type of that name.

    `source` is that of the module, in which the lines of the `frames` are counted.
    """

    name: str = ""
    source: bytes = b""
    message: str = ""
    frames: tuple[Frame, ...] = ()


class UnfitResult(Exception):
    """The learner's function returned something that is neither array, tensor nor plain value."""


class LearnerEnded(BaseException):
    """The learner's process ended during a call. Not an Exception, so that no test can mistake it for one."""


class TimedOut(LearnerEnded):
    """It took longer than it may."""


class OutOfMemory(LearnerEnded):
    """It asked for more memory than it may have."""


class Exited(LearnerEnded):
    """It called an exit function."""


class Crashed(LearnerEnded):
    """It was killed by a signal, or stopped answering in the protocol's words."""


class Limits(msgspec.Struct, frozen=True):
    """What one learner's process may use."""

    call_seconds: float
    cpu_seconds: int
    memory: int
    output: int
    value: int


class Module(msgspec.Struct, frozen=True):
    """What is loaded into the process: the learner's source, the stand-ins it may import, the names it may not use."""

    name: str
    source: bytes
    stand_ins: dict[str, bytes] = {}
    banned: tuple[str, ...] = ()


class Budget:
    """Seconds that may be spent in learner calls; a smaller budget may draw on a larger one."""

    def __init__(self, seconds: float, what: Phrase | str, parent: Budget | None = None) -> None:
        self.seconds = seconds
        self.what = what
        self.spent = 0.0
        self._parent = parent

    def tightest(self) -> tuple[float, Phrase]:
        """Give the smallest number of seconds left along the chain, and the words for that limit."""
        said = say("the {seconds} s for {what} are used up", seconds=f"{self.seconds:g}", what=self.what)
        return _sooner((self.seconds - self.spent, said), self._parent.tightest() if self._parent else None)

    def spend(self, seconds: float) -> None:
        """Take seconds off this budget and those above it."""
        self.spent += seconds
        if self._parent:
            self._parent.spend(seconds)


class Gradients:
    """What a call returned and what flowed back. An entry is None where nothing flows."""

    def __init__(self, result: Any, arguments: tuple[Any, ...], parameters: dict[str, Any], problem: str) -> None:
        self.result = result
        self.problem = problem
        self._arguments = arguments
        self._parameters = parameters

    @property
    def arguments(self) -> tuple[Any, ...]:
        """The gradients asked for, in order; UnfitResult when the result had the wrong form for them."""
        self._insist()
        return self._arguments

    @property
    def parameters(self) -> dict[str, Any]:
        """The gradients of the module's parameters by name."""
        self._insist()
        return self._parameters

    def _insist(self) -> None:
        if self.problem:
            why = recognised(self.problem[:300], NO_GRADIENT)
            raise UnfitResult(say("no gradient can be asked for: {why}", why=why))


class ModuleDescription(msgspec.Struct, frozen=True):
    """What an instance is made of."""

    is_module: bool
    parameters: dict[str, tuple[int, ...]]
    buffers: tuple[str, ...]
    children: dict[str, str]


class LastCall(msgspec.Struct, frozen=True):
    """The last call, kept so that a failing check can show it; `result` is None where nothing came back."""

    function: str
    arguments: tuple[Any, ...]
    keywords: dict[str, Any]
    result: Any = None


class Learner:
    """A module of the learner's, in a process of its own; public names of the module are called as attributes."""

    def __init__(
        self,
        starter: Starter,
        module: Module,
        *,
        limits: Limits,
        readable: tuple[str, ...],
        budget: Budget,
        trust: bool = False,
    ) -> None:
        self.last = Facts()
        self.last_call: LastCall | None = None
        self.names: tuple[str, ...] = ()
        self.violations: list[Violation] = []
        self.layers: tuple[str, ...] = ()
        self.time_outs = 0
        self._loading = False
        self._starter = starter
        self._module = module
        self._limits = limits
        self._settings = wire.JailSettings(limits.memory, limits.cpu_seconds, readable)
        self._budget = budget
        self._trust = trust
        self._process: Process | None = None
        self.interrupted = False
        self._serial = 0
        self._generation = 0

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *arguments, **keywords: self._call(name, name, arguments, keywords, measure=False)

    @property
    def seconds(self) -> float:
        """Seconds spent in calls so far."""
        return self._budget.spent

    @contextmanager
    def on_another_budget(self, budget: Budget) -> Iterator[None]:
        """Let the calls of this block cost the learner nothing: they are asked by us, and are no part of a mark."""
        own, self._budget = self._budget, budget
        try:
            yield
        finally:
            self._budget = own

    @property
    def out_of_time(self) -> Phrase | None:
        """The limit of exercise or submission that is used up, in words; None while there is time."""
        left, why = self._budget.tightest()
        return why if left <= 0 else None

    @property
    def measured(self) -> _Measured:
        """The same functions, with the largest tensor measured."""
        return _Measured(self)

    def load(self) -> None:
        """Start the process and execute the module.

        Raises:
            LearnerException: what the module raised (or SyntaxError).
            LearnerEnded: when the process ended meanwhile.
            SandboxError: when no process, or no jail, can be had.

        """
        self._start()
        self._loading = True
        try:
            self._load()
        finally:
            self._loading = False

    def _load(self) -> None:
        blobs = Blobs(limit=self._limits.value)
        request = wire.Load(
            self._module.name,
            self._module.source,
            self._module.stand_ins,
            self._module.banned,
            self._limits.output,
            self._limits.value,
        )
        scanned, _ = self._ask(request, blobs)
        if isinstance(scanned, wire.Raised):
            raise _as_exception(scanned, self._module.source)
        if isinstance(scanned, wire.Scanned):
            self._note(scanned.violations)
        loaded, _ = self._hear(time.monotonic())
        if isinstance(loaded, wire.Raised):
            raise self._raised(loaded)
        if not isinstance(loaded, wire.Loaded):
            raise self._broken("a reply that answers something else")
        self.names = loaded.names
        self._remember(loaded.facts)

    def gradients(
        self, function: str, *arguments: Any, cotangents: tuple[Any, ...], wrt: tuple[int, ...], **keywords: Any
    ) -> Gradients:
        """Call a function and ask what flows back to the arguments at the positions `wrt`."""
        return self._gradients(function, function, arguments, keywords, cotangents, wrt)

    def new(self, class_name: str, *arguments: Any, **keywords: Any) -> RemoteModule:
        """Make an instance of a class of the learner's."""
        return self._new(class_name, arguments, keywords)

    def new_loaded(
        self, class_name: str, state: dict[str, Any], dtype: str, *arguments: Any, **keywords: Any
    ) -> RemoteModule:
        """Make an instance, convert it to a dtype (named as in torch) and load a state dict strictly, all at once."""
        return self._new(class_name, arguments, keywords, state, dtype)

    def _new(
        self,
        class_name: str,
        arguments: tuple[Any, ...],
        keywords: dict[str, Any],
        state: dict[str, Any] | None = None,
        dtype: str = "",
    ) -> RemoteModule:
        self._ready()
        self.last_call = LastCall(class_name, arguments, keywords)
        blobs = Blobs()
        packed = [pack(value, blobs, layout=True) for value in arguments]
        named = {name: pack(value, blobs, layout=True) for name, value in keywords.items()}
        loaded = pack(state, blobs, layout=True)
        reply, _ = self._ask(wire.New(class_name, packed, named, self._seed(), dtype, loaded), blobs)
        if not isinstance(reply, wire.Created):
            raise self._unexpected(reply)
        self._remember(reply.facts)
        return RemoteModule(self, class_name, reply.instance, self._generation)

    def interrupt(self) -> None:
        """Stop for good, from another thread: the call under way and all later ones end as `Interrupted`."""
        self.interrupted = True
        if (process := self._process) is not None:
            process.interrupt()

    def close(self) -> None:
        """End the process, whatever it is doing."""
        if self._process is not None:
            self._process.end()
            self._process = None

    def _start(self) -> None:
        self.close()
        self._insist_on_going_on()
        self._serial = 0
        self._generation += 1
        self._process = self._starter.start(self._settings)
        # It may have been told to stop before there was a process to end.
        self._insist_on_going_on()
        try:
            ready, _ = self._hear(time.monotonic(), start_deadline())
        except LearnerEnded as ended:
            raise NotStarted(f"a learner's process ended before it began: {ended}{self._explained()}") from None
        if not isinstance(ready, wire.Ready):
            raise NotStarted("a learner's process began with the wrong word")
        if ready.missing and not self._trust:
            raise JailMissing("; ".join(f"{layer}: {why}" for layer, why in ready.missing.items()))
        self.layers = ready.layers

    def _explained(self) -> str:
        why = self._starter.explain()
        return f"; {why}" if why else ""

    def _ready(self) -> None:
        if self._process is None:
            self.load()

    def _call(
        self, name: str, target: str | int, arguments: tuple[Any, ...], keywords: dict[str, Any], *, measure: bool
    ) -> Any:
        reply, blobs = self._send_call(name, target, arguments, keywords, measure=measure)
        return self._kept(self._accept(reply, blobs))

    def _send_call(
        self,
        name: str,
        target: str | int,
        arguments: tuple[Any, ...],
        keywords: dict[str, Any],
        *,
        measure: bool = False,
        wrt: tuple[int, ...] | None = None,
        cotangents: tuple[Any, ...] = (),
    ) -> tuple[Reply, Blobs]:
        self._ready()
        self.last_call = LastCall(name, arguments, keywords)
        blobs = Blobs()
        packed = [pack(value, blobs, layout=True) for value in arguments]
        named = {key: pack(value, blobs, layout=True) for key, value in keywords.items()}
        gradient = None
        if wrt is not None:
            gradient = wire.Gradient(wrt, [pack(value, blobs, layout=True) for value in cotangents])
        return self._ask(wire.Call(target, packed, named, self._seed(), measure, gradient), blobs)

    def _gradients(
        self,
        name: str,
        target: str | int,
        arguments: tuple[Any, ...],
        keywords: dict[str, Any],
        cotangents: tuple[Any, ...],
        wrt: tuple[int, ...],
    ) -> Gradients:
        reply, blobs = self._send_call(name, target, arguments, keywords, wrt=wrt, cotangents=cotangents)
        result = self._kept(self._accept(reply, blobs))
        assert isinstance(reply, wire.Returned)
        own = tuple(self._unpacked(value, blobs) for value in reply.gradients)
        if len(own) != len(wrt):
            raise self._broken("gradients that were not asked for")
        by_name = {key: self._unpacked(value, blobs) for key, value in reply.parameters.items()}
        return Gradients(result, own, by_name, reply.gradient_problem)

    def _manage(self, target: int, operation: wire.Operation, argument: Any = None) -> Any:
        blobs = Blobs()
        request = wire.Manage(target, operation, pack(argument, blobs, layout=True))
        reply, reply_blobs = self._ask(request, blobs)
        return self._accept(reply, reply_blobs)

    def _accept(self, reply: Reply, blobs: Blobs) -> Any:
        if not isinstance(reply, wire.Returned):
            raise self._unexpected(reply)
        self._remember(reply.facts)
        return self._unpacked(reply.value, blobs)

    def _kept(self, result: Any) -> Any:
        if self.last_call is not None:
            self.last_call = msgspec.structs.replace(self.last_call, result=result)
        return result

    def _unpacked(self, value: Value, blobs: Blobs) -> Any:
        try:
            return unpack(value, blobs)
        except Malformed as problem:
            raise self._broken(str(problem)) from None

    def _unexpected(self, reply: Reply) -> BaseException:
        if isinstance(reply, wire.Raised):
            return self._raised(reply)
        if isinstance(reply, wire.Unfit):
            self._remember(reply.facts)
            return UnfitResult(say("{value} came back", value=recognised(reply.reason[:300], UNSENDABLE)))
        return self._broken("a reply that answers something else")

    def _raised(self, reply: wire.Raised) -> BaseException:
        self._remember(reply.facts)
        if reply.builtin == "MemoryError" or "DefaultCPUAllocator" in reply.message:
            self.close()
            return OutOfMemory(say("more memory than the limit of {limit} MiB", limit=self._limits.memory >> 20))
        if reply.builtin == "SystemExit":
            self.close()
            said = say("the code called {name} instead of returning", name=reply.name)
            source = self._module.source
            return Exited(at_line(said, reply.frames[-1], source) if reply.frames else said)
        return _as_exception(reply, self._module.source)

    def _remember(self, facts: Facts) -> None:
        self.last = facts
        self._note(facts.violations)

    def _note(self, violations: tuple[Violation, ...]) -> None:
        self.violations.extend(violations[: max(0, 50 - len(self.violations))])

    def _seed(self) -> int:
        # From call to call another, in every run the same.
        return 1_000_003 * self._generation + self._serial

    def _ask(self, request: Request, blobs: Blobs) -> tuple[Reply, Blobs]:
        assert self._process is not None
        self._serial += 1
        started = time.monotonic()
        header = wire.encode(wire.RequestEnvelope(self._serial, request, wire.blob_lengths(blobs)))
        deadline, _ = self._deadline(started)
        try:
            self._process.channel.send(header, blobs, deadline)
        except (WireError, TimeoutError) as problem:
            if isinstance(problem, Unsendable):
                raise
            raise self._ended(problem, started) from None
        return self._hear(started)

    def _deadline(self, started: float) -> tuple[float, Phrase]:
        limit = f"{self._limits.call_seconds:g}"
        if self._loading:
            said = say("loading the module took longer than {seconds} s", seconds=limit)
        else:
            said = say("one call took longer than {seconds} s", seconds=limit)
        seconds, why = _sooner((self._limits.call_seconds, said), self._budget.tightest())
        return started + seconds, why

    def _hear(self, started: float, deadline: float | None = None) -> tuple[Reply, Blobs]:
        assert self._process is not None
        until = deadline if deadline is not None else self._deadline(started)[0]
        try:
            header, payload = self._process.channel.receive(until)
            envelope = wire.decode_reply(header)
            if envelope.serial != self._serial:
                raise Malformed("an answer to another question")
            blobs = wire.split_blobs(payload, envelope.blobs)
        except (WireError, TimeoutError) as problem:
            raise self._ended(problem, started) from None
        if deadline is None:
            self._budget.spend(time.monotonic() - started)
        return envelope.message, blobs

    def _broken(self, what: str) -> LearnerEnded:
        self.close()
        return Crashed(say("the process stopped answering properly ({what})", what=what))

    def _insist_on_going_on(self) -> None:
        if self.interrupted:
            self.close()
            raise Interrupted("nobody waits for the answer any more")

    def _ended(self, problem: Exception, started: float) -> LearnerEnded:
        assert self._process is not None
        self._insist_on_going_on()
        if isinstance(problem, TimeoutError):
            _, why = self._deadline(started)
            self.time_outs += 1
            self._budget.spend(time.monotonic() - started)
            self.close()
            return TimedOut(why)
        self._budget.spend(time.monotonic() - started)
        if isinstance(problem, Malformed):
            return self._broken(str(problem))
        end = self._process.wait()
        self.close()
        return self._told(end)

    def _told(self, end: wire.End | None) -> LearnerEnded:
        if end is None:
            return Crashed(say("the process closed its line to the grader"))
        if not end.killed:
            return Exited(say("the process exited (status {status}) instead of returning", status=end.code))
        if end.code == getattr(signal, "SIGXCPU", -1):
            self.time_outs += 1
            return TimedOut(say("more than {seconds} s of processor time", seconds=self._limits.cpu_seconds))
        return Crashed(say("the process was killed by {signal}", signal=_signal_name(end.code)))


class _Measured:
    """Calls like the learner's own, with the largest tensor measured."""

    def __init__(self, learner: Learner) -> None:
        self._learner = learner

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return lambda *arguments, **keywords: self._learner._call(name, name, arguments, keywords, measure=True)


class RemoteModule:
    """An instance in the learner's process."""

    def __init__(self, learner: Learner, name: str, number: int, generation: int) -> None:
        self._learner = learner
        self._name = name
        self._number = number
        self._generation = generation

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        self._insist()
        return self._learner._call(self._name, self._number, arguments, keywords, measure=False)

    def gradients(
        self, *arguments: Any, cotangents: tuple[Any, ...], wrt: tuple[int, ...], **keywords: Any
    ) -> Gradients:
        """Call the instance and ask what flows back to arguments and parameters."""
        self._insist()
        return self._learner._gradients(self._name, self._number, arguments, keywords, cotangents, wrt)

    def load(self, state: dict[str, Any]) -> None:
        """Load a state dict strictly."""
        self._manage("load", state)

    def state(self) -> dict[str, Any]:
        """Give the state dict."""
        found = self._manage("state")
        if not isinstance(found, dict):
            raise UnfitResult(say("state_dict() did not return a dict"))
        return found

    def train(self) -> None:
        """Switch to training mode."""
        self._manage("train")

    def eval(self) -> None:
        """Switch to evaluation mode."""
        self._manage("eval")

    def to(self, dtype: str) -> None:
        """Convert parameters to a dtype, named as in torch ("float64")."""
        self._manage("to", dtype)

    @property
    def description(self) -> ModuleDescription:
        """What the instance is made of."""
        try:
            return msgspec.convert(self._manage("describe"), ModuleDescription)
        except msgspec.ValidationError:
            raise UnfitResult(say("the module does not describe itself as an nn.Module does")) from None

    def _manage(self, operation: wire.Operation, argument: Any = None) -> Any:
        self._insist()
        return self._learner._manage(self._number, operation, argument)

    def _insist(self) -> None:
        if self._generation != self._learner._generation or self._learner._process is None:
            raise Crashed(say("the process that held this module has ended"))


def _as_exception(reply: wire.Raised, source: bytes = b"") -> LearnerException:
    """Make an exception that is both a LearnerException and of the named built-in type; `source` is the module's."""
    builtin = getattr(builtins, reply.builtin, None)
    if not (isinstance(builtin, type) and issubclass(builtin, Exception)):
        builtin = Exception
    bases = (LearnerException,) if builtin is Exception else (LearnerException, builtin)
    try:
        error: LearnerException = type(builtin.__name__, bases, {"__str__": _plain_message})(reply.message)
    except TypeError:
        # A built-in that needs more than a message (UnicodeDecodeError).
        error = type(builtin.__name__, (LearnerException,), {"__str__": _plain_message})(reply.message)
    error.message = reply.message
    error.name = reply.name
    error.frames = reply.frames
    error.source = source
    return error


def _plain_message(error: Any) -> str:
    return str(error.message)


def at_line(said: Phrase | str, frame: Frame, source: bytes = b"") -> Phrase:
    """Give a sentence with the line of the learner's that it is about, in a notebook that of its cell."""
    cell, line = place_of(frame.line, source)
    if cell:
        return say("{said} (cell {cell}, line {line}: {code})", said=said, cell=cell, line=line, code=frame.text)
    if not frame.text:
        return say("{said} (line {line})", said=said, line=frame.line)
    return say("{said} (line {line}: {code})", said=said, line=frame.line, code=frame.text)


def _sooner(own: tuple[float, Phrase], other: tuple[float, Phrase] | None) -> tuple[float, Phrase]:
    return other if other and other[0] < own[0] else own


def _signal_name(number: int) -> Phrase:
    try:
        return say("signal {number} ({name})", number=number, name=signal.Signals(number).name)
    except ValueError:
        return say("signal {number}", number=number)
