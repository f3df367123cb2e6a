"""What a check asked of one learner, and which answers let it pass: the same answers let another learner pass, too.

A check is a function of what the learner's module answers: it draws the same numbers in every run, asks the same of
everyone who answered alike, and a right answer is mostly the same to the last bit. So a check that has passed need not
be computed again for the next learner; it is enough to ask what it asked and to compare what comes back. At the first
answer that is new the check itself is run, and finds the answers given so far.
"""

from __future__ import annotations

from dataclasses import dataclass

from autograder.sandbox.learner import Learner, Transcript
from autograder.sandbox.values import Malformed
from autograder.sandbox.wire import Answer, Question

# Different right solutions round differently; beyond so many ways to pass, a check is simply run.
MOST_WAYS = 64
MOST_BYTES = 4 << 20


@dataclass
class _Step:
    """A question, and for each known answer the next step; None where the check passes then."""

    question: Question
    raises: bool
    next: dict[bytes, _Step | None]

    def digest_of(self, answer: Answer) -> bytes:
        return answer.digest_without_frames() if self.raises else answer.digest()


class Remembered:
    """The ways in which one check has passed."""

    def __init__(self) -> None:
        self._first: _Step | None = None
        self._ways = 0
        self._bytes = 0

    def passes(self, learner: Learner) -> bool:
        """Ask along a known way. False when the check has to be run; the answers so far then wait for it."""
        step = self._first if learner.is_running else None
        while step is not None:
            answer = learner.ask_ahead(step.question)
            known, step = _known(step, answer)
            if not known:
                return False
            if step is None:
                return True
        return False

    def learn(self, transcript: Transcript) -> None:
        """Remember the way in which a check has just passed."""
        self._ways += 1
        self._bytes += transcript.size
        if not transcript.exchanges or self._ways > MOST_WAYS or self._bytes > MOST_BYTES:
            return
        following: _Step | None = None
        for exchange in reversed(transcript.exchanges):
            following = _Step(exchange.question, exchange.raised, {exchange.digest: following})
        self._first = _merged(self._first, following)


def _known(step: _Step, answer: Answer | None) -> tuple[bool, _Step | None]:
    if answer is None:
        return False, None
    try:
        digest = step.digest_of(answer)
    except Malformed:
        return False, None
    return digest in step.next, step.next.get(digest)


def _merged(known: _Step | None, new: _Step | None) -> _Step | None:
    """Put a way beside those that are known. Where the same answers led to another question the new one holds."""
    if known is None or new is None or known.question != new.question or known.raises != new.raises:
        return new
    for digest, following in new.next.items():
        known.next[digest] = _merged(known.next[digest], following) if digest in known.next else following
    return known
