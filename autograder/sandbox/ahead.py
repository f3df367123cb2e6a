"""Answers that are there before the check that is going to ask for them."""

from __future__ import annotations

from collections import deque

from autograder.sandbox.ended import LearnerEnded
from autograder.sandbox.wire import Answer, Question, Sheet, answers_in


class Heard:
    """What was answered to a sheet of questions, and the seconds that it has cost.

    `known` are the frames of others that were heard again: they are taken apart when somebody asks for an answer.
    """

    def __init__(
        self,
        sheet: Sheet,
        seconds: float,
        *,
        known: bytes | None = None,
        answers: list[tuple[Answer, float]] | None = None,
    ) -> None:
        self.sheet = sheet
        self.seconds = seconds
        self.known = known
        self._answers = answers

    @property
    def answers(self) -> list[tuple[Answer, float]]:
        """Each answer, with what it has cost."""
        if self._answers is None:
            told = answers_in(self.known or b"")
            # What each of them took is not known: all of it is put on the first.
            self._answers = [(answer, 0.0 if number else self.seconds) for number, answer in enumerate(told)]
        return self._answers

    @property
    def size(self) -> int:
        """The bytes of all answers."""
        return len(self.known) if self.known is not None else sum(answer.size for answer, _ in self._answers or ())


class Ahead:
    """The answers that wait, in the order in which they are going to be asked for."""

    def __init__(self) -> None:
        self._heard: list[Heard] = []
        self._waiting: deque[tuple[Question, Answer | LearnerEnded, float]] = deque()

    @property
    def is_empty(self) -> bool:
        """Whether no answer waits."""
        return not self._heard and not self._waiting

    @property
    def size(self) -> int:
        """The bytes of what waits and has not been asked for."""
        return sum(heard.size for heard in self._heard)

    def keep(self, heard: Heard) -> None:
        """Let the answers to one more sheet wait."""
        self._heard.append(heard)

    def keep_end(self, question: Question, ended: LearnerEnded) -> None:
        """Let it wait that the process ended over a question."""
        self._take_apart()
        self._waiting.append((question, ended, 0.0))

    def take(self, question: Question) -> Answer | LearnerEnded | None:
        """Give what was answered to the next question; None where that is another one."""
        self._take_apart()
        if not self._waiting or self._waiting[0][0] != question:
            return None
        _, answer, _ = self._waiting.popleft()
        return answer

    def clear(self) -> float:
        """Forget all that waits, and give the seconds that it has cost."""
        if self.is_empty:
            return 0.0
        in_vain = sum(seconds for _, _, seconds in self._waiting) + sum(heard.seconds for heard in self._heard)
        self._heard.clear()
        self._waiting.clear()
        return in_vain

    def _take_apart(self) -> None:
        for heard in self._heard:
            pairs = zip(heard.sheet.questions, heard.answers, strict=True)
            self._waiting.extend((question, answer, seconds) for question, (answer, seconds) in pairs)
        self._heard.clear()
