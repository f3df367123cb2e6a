"""The grader's side of a learner's process: start it, call it, stop it at its deadline, and say how it ended.

Nothing the other side says is trusted beyond its form. An exception of the learner's arrives as the built-in type of
that name; the end of the process arrives as a `LearnerEnded`, which no `except Exception` of a suite can swallow.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import Any

import msgspec

from autograder.language import Phrase, recognised, say
from autograder.sandbox import wire
from autograder.sandbox.ahead import Ahead, Heard
from autograder.sandbox.ended import (
    Crashed,
    Exited,
    LearnerEnded,
    LearnerException,
    OutOfMemory,
    TimedOut,
    UnfitResult,
    as_exception,
    at_line,
)
from autograder.sandbox.line import Budget, Interrupted, JailMissing, Limits, Line
from autograder.sandbox.starting import NotStarted, SandboxError, Starter
from autograder.sandbox.values import BLOB_LIMIT, Blobs, Malformed, Value, pack, unpack
from autograder.sandbox.violation import Violation
from autograder.sandbox.wire import Answer, Exchange, Facts, Question, Reply, Request, Sheet, Speciality

__all__ = [
    "Budget", "Crashed", "Exited", "Gradients", "Interrupted", "JailMissing", "LastCall", "Learner", "LearnerEnded",
    "LearnerException", "Limits", "Module", "NotStarted", "OutOfMemory", "RemoteModule", "SandboxError", "TimedOut",
    "UnfitResult", "at_line",
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
LONGEST_TRANSCRIPT = 1 << 20
# What waits for a check takes no more memory than one answer may, and no more time is given back in vain than this.
MOST_BYTES_AHEAD = BLOB_LIMIT
MOST_SECONDS_IN_VAIN = 1.0
NO_GRADIENT = (say("what was returned is not made of tensors"), say("the shape is {found}, not {right}"))


class Module(msgspec.Struct, frozen=True):
    """What is loaded into the process: the learner's source, the stand-ins it may import, the names it may not use.

    Where `libraries` are named, the process need have no others.
    """

    name: str
    source: bytes
    stand_ins: dict[str, bytes] = {}
    banned: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()

    @property
    def speciality(self) -> Speciality:
        """What its process has to have, and to be without."""
        return Speciality(self.banned, bool(self.stand_ins), self.libraries)


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


class Transcript:
    """What was asked and answered since a check began; nothing where it would grow too large."""

    def __init__(self) -> None:
        self.exchanges: list[Exchange] = []
        self.size = 0

    def add(self, question: Question, answer: Answer, reply: Reply) -> None:
        """Write down one more."""
        self.size += question.size + answer.size
        if not self.is_whole:
            self.exchanges.clear()
            return
        raised = isinstance(reply, wire.Raised)
        digest = answer.digest_without_frames() if raised else answer.digest()
        self.exchanges.append(Exchange(question, answer, digest, raised))

    @property
    def is_whole(self) -> bool:
        """Whether all of it is there."""
        return self.size <= LONGEST_TRANSCRIPT


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
        self.violations: list[Violation] = []
        self.transcript = Transcript()
        self._module = module
        self._limits = limits
        self._line = Line(
            starter, limits=limits, readable=readable, budget=budget, trust=trust, speciality=module.speciality
        )
        self._ahead = Ahead()
        # Time-outs and seconds when the check began.
        self._before = (0, 0.0)
        # Whether it may be asked several questions at once.
        self.is_hasty = True
        self._origin = 0
        self._asked = 0
        self._made = 0
        # Instances live as long as their process, and no longer than the check that made them.
        self._epoch = 0

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *arguments, **keywords: self._call(name, name, arguments, keywords, measure=False)

    @property
    def seconds(self) -> float:
        """Seconds spent in calls so far."""
        return self._line.budget.spent

    @property
    def layers(self) -> tuple[str, ...]:
        """The layers of the jail that held in the last process."""
        return self._line.layers

    @property
    def time_outs(self) -> int:
        """How many calls took longer than they may."""
        return self._line.time_outs

    @property
    def interrupted(self) -> bool:
        """Whether it was told to stop for good."""
        return self._line.interrupted

    @contextmanager
    def on_another_budget(self, budget: Budget) -> Iterator[None]:
        """Let the calls of this block cost the learner nothing: they are asked by us, and are no part of a mark."""
        own, self._line.budget = self._line.budget, budget
        try:
            yield
        finally:
            self._line.budget = own

    @property
    def out_of_time(self) -> Phrase | None:
        """The limit of exercise or submission that is used up, in words; None while there is time."""
        return self._line.budget.limit if self._line.budget.left <= 0 else None

    @property
    def is_running(self) -> bool:
        """Whether there is a process with the module in it."""
        return self._line.is_open

    def begin(self, check: str) -> None:
        """Begin a check: what it asks does not depend on what was asked before, not even by its random numbers."""
        self._origin = zlib.crc32(check.encode())
        self._asked = 0
        self._made = 0
        self._epoch += 1
        self.give_back()
        self._before = self._line.time_outs, self._line.budget.spent
        self.transcript = Transcript()
        self.last = Facts()
        self.last_call = None

    def ask_ahead(self, sheet: Sheet, known: Collection[bytes] = (), *, singly: bool = False) -> Heard | None:
        """Ask at once what the check is going to ask, which then finds the answers; None when the process ended.

        Which question ended it is not known, so that the check has to ask again; and from then on no learner's process
        of this module is asked more than one question at once. It is known where one is asked alone: the first, or
        each with `singly`. For `known` see `Line.ask_all`.
        """
        alone = singly or (len(sheet.questions) == 1 and self._ahead.is_empty)
        try:
            heard = self._line.ask_all(sheet, known, None if alone else MOST_BYTES_AHEAD - self._ahead.size)
        except LearnerEnded as ended:
            if alone:
                self._ahead.keep_end(sheet.questions[0], ended)
            else:
                self._take_back()
            return None
        self._ahead.keep(heard)
        return heard

    def forget(self) -> None:
        """Forget the answers that have let a check pass."""
        self._ahead.clear()

    def give_back(self) -> None:
        """Forget the answers that no check has asked for, and what they have cost."""
        in_vain = self._ahead.clear()
        self._line.budget.spend(-in_vain)
        self.is_hasty &= in_vain < MOST_SECONDS_IN_VAIN

    def _take_back(self) -> None:
        """Go on as if the check had asked nothing: what ended the process will do so again."""
        self._ahead.clear()
        self.is_hasty = False
        time_outs, spent = self._before
        self._line.time_outs = time_outs
        self._line.budget.spend(spent - self._line.budget.spent)

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
        self._line.open()
        self._epoch += 1
        self._line.loading = True
        try:
            self._load()
        finally:
            self._line.loading = False

    def _load(self) -> None:
        request = wire.Load(
            self._module.name,
            self._module.source,
            self._module.stand_ins,
            self._module.banned,
            self._limits.output,
            self._limits.value,
        )
        scanned, _ = self._read(self._line.ask(wire.question(request, Blobs())))
        if isinstance(scanned, wire.Raised):
            raise as_exception(scanned, self._module.source)
        if isinstance(scanned, wire.Scanned):
            self._note(scanned.violations)
        loaded, _ = self._read(self._line.hear_more())
        if isinstance(loaded, wire.Raised):
            raise self._raised(loaded)
        if not isinstance(loaded, wire.Loaded):
            raise self._line.broken("a reply that answers something else")
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
        number, self._made = self._made, self._made + 1
        reply, _ = self._ask(wire.New(number, class_name, packed, named, self._seed(), dtype, loaded), blobs)
        if not isinstance(reply, wire.Created):
            raise self._unexpected(reply)
        self._remember(reply.facts)
        return RemoteModule(self, class_name, number, self._epoch)

    def interrupt(self) -> None:
        """Stop for good, from another thread: the call under way and all later ones end as `Interrupted`."""
        self._line.interrupt()

    def close(self) -> None:
        """End the process, whatever it is doing."""
        self._line.close()

    def _ready(self) -> None:
        if not self._can_answer:
            self.load()

    @property
    def _can_answer(self) -> bool:
        return not self._ahead.is_empty or self._line.is_open

    def _ask(self, request: Request, blobs: Blobs) -> tuple[Reply, Blobs]:
        question = wire.question(request, blobs)
        self._asked += 1
        answer = self._answer_to(question)
        reply, arrived = self._read(answer)
        self.transcript.add(question, answer, reply)
        return reply, arrived

    def _answer_to(self, question: Question) -> Answer:
        if not self._ahead.is_empty:
            answer = self._ahead.take(question)
            if isinstance(answer, LearnerEnded):
                raise answer
            if answer is not None:
                return answer
            # A check that does not ask the same each time is no longer the one whose answers these are.
            self.give_back()
            self._ready()
        return self._line.ask(question)

    def _read(self, answer: Answer) -> tuple[Reply, Blobs]:
        try:
            return answer.read(), answer.blobs()
        except Malformed as problem:
            raise self._line.broken(str(problem)) from None

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
            raise self._line.broken("gradients that were not asked for")
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
            raise self._line.broken(str(problem)) from None

    def _unexpected(self, reply: Reply) -> BaseException:
        if isinstance(reply, wire.Raised):
            return self._raised(reply)
        if isinstance(reply, wire.Unfit):
            self._remember(reply.facts)
            return UnfitResult(say("{value} came back", value=recognised(reply.reason[:300], UNSENDABLE)))
        return self._line.broken("a reply that answers something else")

    def _raised(self, reply: wire.Raised) -> BaseException:
        self._remember(reply.facts)
        if reply.builtin == "MemoryError" or "DefaultCPUAllocator" in reply.message:
            self._line.close()
            return OutOfMemory(say("more memory than the limit of {limit} MiB", limit=self._limits.memory >> 20))
        if reply.builtin == "SystemExit":
            self.close()
            said = say("the code called {name} instead of returning", name=reply.name)
            source = self._module.source
            return Exited(at_line(said, reply.frames[-1], source) if reply.frames else said)
        return as_exception(reply, self._module.source)

    def _remember(self, facts: Facts) -> None:
        self.last = facts
        self._note(facts.violations)

    def _note(self, violations: tuple[Violation, ...]) -> None:
        self.violations.extend(violations[: max(0, 50 - len(self.violations))])

    def _seed(self) -> int:
        # From call to call and from check to check another, in every run the same.
        return self._origin + 1_000_003 * self._asked


class _Measured:
    """Calls like the learner's own, with the largest tensor measured."""

    def __init__(self, learner: Learner) -> None:
        self._learner = learner

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return lambda *arguments, **keywords: self._learner._call(name, name, arguments, keywords, measure=True)


class RemoteModule:
    """An instance in the learner's process."""

    def __init__(self, learner: Learner, name: str, number: int, epoch: int) -> None:
        self._learner = learner
        self._name = name
        self._number = number
        self._epoch = epoch

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
        if self._epoch != self._learner._epoch or not self._learner._can_answer:
            raise Crashed(say("the process that held this module has ended"))
