"""The line to a learner's process: start one, ask it, stop it at its deadline, and say how it ended."""

from __future__ import annotations

import signal
import time
from collections.abc import Collection

import msgspec

from autograder.language import Phrase, say
from autograder.sandbox import wire
from autograder.sandbox.ahead import Heard
from autograder.sandbox.ended import Crashed, Exited, LearnerEnded, TimedOut
from autograder.sandbox.starting import NotStarted, Process, SandboxError, Starter, start_deadline
from autograder.sandbox.values import Malformed, WireError
from autograder.sandbox.wire import Answer, Question, Sheet, Speciality


class JailMissing(SandboxError):
    """A layer of the jail cannot be had on this machine."""


class Interrupted(SandboxError):
    """The grader itself ended it, since nobody waits for the answer any more."""


class Limits(msgspec.Struct, frozen=True):
    """What one learner's process may use."""

    call_seconds: float
    cpu_seconds: int
    memory: int
    output: int
    value: int


class Budget:
    """Seconds that may be spent in learner calls; a smaller budget may draw on a larger one."""

    def __init__(self, seconds: float, what: Phrase | str, parent: Budget | None = None) -> None:
        self.seconds = seconds
        self.what = what
        self.spent = 0.0
        self._parent = parent

    @property
    def left(self) -> float:
        """The smallest number of seconds left along the chain."""
        own = self.seconds - self.spent
        return min(own, self._parent.left) if self._parent else own

    @property
    def limit(self) -> Phrase:
        """The words for the limit that is reached first."""
        if self._parent and self._parent.left < self.seconds - self.spent:
            return self._parent.limit
        return say("the {seconds} s for {what} are used up", seconds=f"{self.seconds:g}", what=self.what)

    def spend(self, seconds: float) -> None:
        """Take seconds off this budget and those above it."""
        self.spent += seconds
        if self._parent:
            self._parent.spend(seconds)


class Line:
    """Asks one process at a time, whose end leaves nothing to be heard; the next is another.

    `generation` counts the processes. Every answer costs the budget the time that it took.
    """

    def __init__(
        self,
        starter: Starter,
        *,
        limits: Limits,
        readable: tuple[str, ...],
        budget: Budget,
        trust: bool,
        speciality: Speciality,
    ) -> None:
        self.budget = budget
        self.layers: tuple[str, ...] = ()
        self.time_outs = 0
        self.interrupted = False
        self.generation = 0
        self.loading = False
        self._starter = starter
        self._limits = limits
        self._settings = wire.JailSettings(limits.memory, limits.cpu_seconds, readable)
        self._trust = trust
        self._speciality = speciality
        self._process: Process | None = None
        # How many sheets it was asked.
        self._serial = 0
        # When the answer that is waited for began, and until when the budget has paid.
        self._started = 0.0
        self._charged = 0.0

    @property
    def is_open(self) -> bool:
        """Whether there is a process to ask."""
        return self._process is not None

    def open(self) -> None:
        """Start a process. SandboxError when none, or no jail, can be had."""
        self.close()
        self._insist_on_going_on()
        self.generation += 1
        self._serial = 0
        self._process = self._starter.start(self._settings, self._speciality)
        # It may have been told to stop before there was a process to end.
        self._insist_on_going_on()
        try:
            self._begin()
            ready = self._hear(0, start_deadline()).read()
        except (LearnerEnded, Malformed) as ended:
            raise NotStarted(f"a learner's process ended before it began: {ended}{self._explained()}") from None
        if not isinstance(ready, wire.Ready):
            raise NotStarted("a learner's process began with the wrong word")
        if ready.missing and not self._trust:
            raise JailMissing("; ".join(f"{layer}: {why}" for layer, why in ready.missing.items()))
        self.layers = ready.layers

    def ask(self, question: Question) -> Answer:
        """Ask the process. LearnerEnded when it ends instead of answering, or has to be ended."""
        ((answer, _),) = self.ask_all(Sheet([question])).answers
        return answer

    def ask_all(self, sheet: Sheet, known: Collection[bytes] = (), most_bytes: int | None = None) -> Heard:
        """Ask all questions at once. LearnerEnded when one is not answered, or when the answers are too large together.

        Which of them was the process's end is not known then: it answers in order, but may say several answers at once.
        The frames in `known` are the answers of others: such as are heard again need not be looked at one by one.
        """
        assert self._process is not None
        self._serial += 1
        self._begin()
        opening, spent = wire.opening(self._serial), self.budget.spent
        try:
            self._process.channel.write(opening + sheet.frame, self._deadline)
        except (WireError, TimeoutError) as problem:
            raise self._ended(problem) from None
        frames = self._hear_one_of({opening + frames: frames for frames in known})
        if frames is not None:
            return Heard(sheet, self.budget.spent - spent, known=frames)
        self._hear_opening(opening)
        return self._heard_one_by_one(sheet, spent, most_bytes)

    def _hear_one_of(self, known: dict[bytes, bytes]) -> bytes | None:
        """Give the known frames that come next, None as soon as it is none of them.

        The keys of `known` are the frames as they come, with their opening.
        """
        assert self._process is not None
        channel = self._process.channel
        while known := {said: frames for said, frames in known.items() if channel.may_bring(said)}:
            for said, frames in known.items():
                if channel.take(said):
                    return frames
            whole = channel.whole_frames
            self._await_more()
            if channel.whole_frames > max(whole, 1):
                # Each answer has the time of one call, in however many pieces it comes. The first frame is no answer.
                self._started = self._charged
        return None

    def _await_more(self) -> None:
        assert self._process is not None
        try:
            self._process.channel.await_more(self._deadline)
        except (WireError, TimeoutError) as problem:
            raise self._ended(problem) from None
        self._charge()

    def _hear_opening(self, opening: bytes) -> None:
        assert self._process is not None
        try:
            header, payload = self._process.channel.receive(self._deadline)
            if wire.framed(header, payload) != opening:
                raise Malformed("an answer to another question")
        except (WireError, TimeoutError) as problem:
            raise self._ended(problem) from None

    def _heard_one_by_one(self, sheet: Sheet, spent: float, most_bytes: int | None) -> Heard:
        answers: list[tuple[Answer, float]] = []
        for number in range(1, len(sheet.questions) + 1):
            answer = self._hear(number)
            answers.append((answer, self.budget.spent - spent))
            if most_bytes is not None and (most_bytes := most_bytes - answer.size) < 0:
                raise self.broken("more than may be said at once")
            spent = self.budget.spent
        return Heard(sheet, sum(cost for _, cost in answers), answers=answers)

    def hear_more(self) -> Answer:
        """Give the second answer to what has two."""
        self._begin()
        return self._hear(1)

    def broken(self, what: str) -> LearnerEnded:
        """End a process that does not answer as it should, and say so."""
        self.close()
        return Crashed(say("the process stopped answering properly ({what})", what=what))

    def interrupt(self) -> None:
        """Stop for good, from another thread: what is asked and all that comes later ends as `Interrupted`."""
        self.interrupted = True
        if (process := self._process) is not None:
            process.interrupt()

    def close(self) -> None:
        """End the process, whatever it is doing."""
        if self._process is not None:
            self._process.end()
            self._process = None

    def _explained(self) -> str:
        why = self._starter.explain()
        return f"; {why}" if why else ""

    @property
    def _deadline(self) -> float:
        return min(self._started + self._limits.call_seconds, self._charged + self.budget.left)

    def _too_long(self) -> Phrase:
        limit = f"{self._limits.call_seconds:g}"
        if self._deadline < self._started + self._limits.call_seconds:
            return self.budget.limit
        if self.loading:
            return say("loading the module took longer than {seconds} s", seconds=limit)
        return say("one call took longer than {seconds} s", seconds=limit)

    def _hear(self, number: int, deadline: float | None = None) -> Answer:
        assert self._process is not None
        until = self._deadline if deadline is None else deadline
        try:
            answer = wire.decode_answer(number, *self._process.channel.receive(until))
        except (WireError, TimeoutError) as problem:
            raise self._ended(problem) from None
        if deadline is None:
            self._charge()
            self._started = self._charged
        return answer

    def _begin(self) -> None:
        self._started = self._charged = time.monotonic()

    def _charge(self) -> None:
        now = time.monotonic()
        self.budget.spend(now - self._charged)
        self._charged = now

    def _insist_on_going_on(self) -> None:
        if self.interrupted:
            self.close()
            raise Interrupted("nobody waits for the answer any more")

    def _ended(self, problem: Exception) -> LearnerEnded:
        assert self._process is not None
        self._insist_on_going_on()
        if isinstance(problem, TimeoutError):
            why = self._too_long()
            self.time_outs += 1
            self._charge()
            self.close()
            return TimedOut(why)
        self._charge()
        if isinstance(problem, Malformed):
            return self.broken(str(problem))
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


def _signal_name(number: int) -> Phrase:
    try:
        return say("signal {number} ({name})", number=number, name=signal.Signals(number).name)
    except ValueError:
        return say("signal {number}", number=number)
