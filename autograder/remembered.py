"""What a check asked of one learner, and which answers let it pass: the same answers let another learner pass, too.

A check is a function of what the learner's module answers: it draws the same numbers in every run, asks the same of
everyone who answered alike, and a right answer is mostly the same to the last bit. So a check that has passed need not
be computed again for the next learner; it is enough to ask what it asked and to compare what comes back. At an answer
that is new the check itself is run, and finds the answers to what it asks.

What right modules are asked is known then, and is asked at once: to wait for each answer takes longer than to compute
most of them. A module that answers wrong is so asked more than the check, which stops at the first wrong answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from autograder.sandbox.ahead import Heard
from autograder.sandbox.learner import Learner, Transcript
from autograder.sandbox.values import Malformed
from autograder.sandbox.wire import Answer, Exchange, Question, Sheet

# Different right solutions round differently; beyond so many ways to pass, a check is simply run.
MOST_WAYS = 64
MOST_BYTES = 4 << 20
MOST_BYTES_OF_FRAMES = 256 << 10
# At one time no more is asked than is answered soon: until then nothing is known of a process that has ended.
MOST_AT_ONCE = 32
MOST_BYTES_AT_ONCE = 32 << 10


@dataclass
class _Step:
    """A question, and for each known answer the next step; None where the check passes then.

    `raises` is whether some of the answers are exceptions.
    """

    question: Question
    raises: bool
    next: dict[bytes, _Step | None]

    def digest_of(self, answer: Answer) -> bytes:
        return answer.digest_without_frames() if self.raises else answer.digest()


class _Way:
    """A walk from step to step."""

    def __init__(self, first: _Step) -> None:
        self.is_lost = False
        self._step: _Step | None = first

    @property
    def is_at_end(self) -> bool:
        """Whether the check passes here."""
        return self._step is None and not self.is_lost

    def follow(self, question: Question, answer: Answer) -> None:
        """Go on to what follows an answer; lost where it is new, or another question came next."""
        step = self._step
        known = _known(step, answer) if step and step.question == question and not self.is_lost else None
        if known is None:
            self.is_lost = True
        else:
            (self._step,) = known


class Remembered:
    """The ways in which one check has passed."""

    def __init__(self) -> None:
        self._first: _Step | None = None
        # A check that does not ask the same after the same answers depends on more than those, and is always run.
        self._varies = False
        # What the first to pass was asked, and the frames in which the sheets were answered by those who passed.
        self._sheets: list[Sheet] = []
        self._frames: list[list[bytes]] = []
        self._ways = 0
        self._bytes = 0
        self._bytes_of_frames = 0

    def passes(self, learner: Learner, *, at_once: bool) -> bool:
        """Ask along a known way. False when the check has to be run; the answers so far then wait for it.

        With `at_once` all is asked that is ever asked ahead, at an answer that is new too: whether it is new depends on
        who was graded before, and a module may answer otherwise when it was asked more.
        """
        if self._first is None or not learner.is_running:
            return False
        if at_once and learner.is_hasty:
            return self._passes_at_once(learner)
        return self._passes_step_by_step(learner)

    def learn(self, transcript: Transcript) -> None:
        """Remember the way in which a check has just passed."""
        self._ways += 1
        self._bytes += transcript.size
        if self._varies or not transcript.exchanges or self._ways > MOST_WAYS or self._bytes > MOST_BYTES:
            return
        following: _Step | None = None
        for exchange in reversed(transcript.exchanges):
            following = _Step(exchange.question, exchange.raised, {exchange.digest: following})
        if self._first is None:
            portions = _portions([exchange.question for exchange in transcript.exchanges])
            self._sheets = [Sheet(portion) for portion in portions]
        try:
            self._first = _merged(self._first, following) if self._first else following
        except _Varies:
            self._first, self._varies = None, True
            self._frames.clear()
            return
        self._learn_frames(transcript.exchanges)

    def _passes_at_once(self, learner: Learner) -> bool:
        ways = self._frames
        told: list[Heard] = []
        for number, sheet in enumerate(self._sheets):
            heard = learner.ask_ahead(sheet, {way[number] for way in ways})
            if heard is None:
                return False
            ways = [way for way in ways if way[number] == heard.known]
            told.append(heard)
        return bool(ways) or self._leads_to_the_end(told)

    def _leads_to_the_end(self, told: Sequence[Heard]) -> bool:
        assert self._first is not None
        way = _Way(self._first)
        for heard in told:
            for question, (answer, _) in zip(heard.sheet.questions, heard.answers, strict=True):
                way.follow(question, answer)
        return way.is_at_end

    def _passes_step_by_step(self, learner: Learner) -> bool:
        assert self._first is not None
        way = _Way(self._first)
        for question in [question for sheet in self._sheets for question in sheet.questions]:
            heard = learner.ask_ahead(Sheet([question]), singly=True)
            if heard is None:
                return False
            way.follow(question, heard.answers[0][0])
            if way.is_lost:
                return False
        return way.is_at_end

    def _learn_frames(self, exchanges: Sequence[Exchange]) -> None:
        """Remember the answers as they come: to compare them is less work than to follow them one by one.

        An exception comes with lines of the learner's, which the next one does not have; and arrays lie where their
        bytes arrived, so that a check which writes to one leaves another answer than came.
        """
        asked = [question for sheet in self._sheets for question in sheet.questions]
        if asked != [exchange.question for exchange in exchanges] or not all(map(_is_as_it_came, exchanges)):
            return
        answers = iter(exchanges)
        frames = [
            b"".join(next(answers).answer.frame(number) for number, _ in enumerate(sheet.questions, 1))
            for sheet in self._sheets
        ]
        self._bytes_of_frames += sum(map(len, frames))
        if self._bytes_of_frames <= MOST_BYTES_OF_FRAMES:
            self._frames.append(frames)


def _portions(questions: Sequence[Question]) -> Iterator[list[Question]]:
    """Cut what is asked into what may be asked at once."""
    portion: list[Question] = []
    size = 0
    for question in questions:
        if portion and (len(portion) >= MOST_AT_ONCE or size + question.size > MOST_BYTES_AT_ONCE):
            yield portion
            portion, size = [], 0
        portion.append(question)
        size += question.size
    yield portion


def _known(step: _Step, answer: Answer) -> tuple[_Step | None] | None:
    """Give what follows a known answer, in a tuple; None for one that is new."""
    try:
        digest = step.digest_of(answer)
    except Malformed:
        return None
    return (step.next[digest],) if digest in step.next else None


def _is_as_it_came(exchange: Exchange) -> bool:
    return not exchange.raised and exchange.answer.digest() == exchange.digest


class _Varies(Exception):
    """Something else was asked after the same answers."""


def _merged(known: _Step | None, new: _Step | None) -> _Step | None:
    """Put a way beside those that are known. _Varies where the same answers led elsewhere."""
    if known is None and new is None:
        return None
    if known is None or new is None or known.question != new.question:
        raise _Varies
    known.raises |= new.raises
    for digest, following in new.next.items():
        known.next[digest] = _merged(known.next[digest], following) if digest in known.next else following
    return known
