"""Many examples of a wide input, and the smallest that fails.

An example is made of whole numbers that somebody chooses. A generator does at first, in every run alike and in no time;
where an example does not hold Hypothesis chooses, which finds the smallest, and is loaded only then.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Callable
from typing import Any

# Gives a number from the first to the second, both of them too.
Choose = Callable[[int, int], int]
SEED = 20170612
SEARCHED_FOR_EACH = 5


class Examples:
    """Arguments that `make` makes of the numbers it lets be chosen; whoever tries them must leave them as they are.

    What is chosen as small as it can be should make the smallest example.
    """

    def __init__(self, count: int, make: Callable[[Choose], tuple[Any, ...]]) -> None:
        self._count = count
        self._make = make

    def hold(self, check: Callable[..., None]) -> None:
        """Try all; where one raises, raise what the smallest that Hypothesis finds then raises."""
        try:
            for example in self._drawn:
                check(*example)
        except Exception:
            self._search(check)
            # Asked again it holds everywhere.
            raise

    @functools.cached_property
    def _drawn(self) -> list[tuple[Any, ...]]:
        choose = random.Random(SEED).randint
        return [self._make(choose) for _ in range(self._count)]

    def _search(self, check: Callable[..., None]) -> None:
        from hypothesis import Phase, given, settings
        from hypothesis import strategies as st

        @settings(
            max_examples=SEARCHED_FOR_EACH * self._count,
            phases=(Phase.generate, Phase.shrink),
            derandomize=True,
            database=None,
            deadline=None,
            report_multiple_bugs=False,
        )
        @given(st.composite(lambda draw: self._make(lambda low, high: draw(st.integers(low, high))))())
        def trial(example: tuple[Any, ...]) -> None:
            check(*example)

        trial()
