"""What Hypothesis would try, drawn once for a run: drawing takes several times as long as trying."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy


class Examples:
    """Arguments drawn from strategies, in every run the same; whoever tries them must leave them as they are."""

    def __init__(self, count: int, *strategies: SearchStrategy[Any]) -> None:
        self._count = count
        self._strategies = strategies

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
        drawn: list[tuple[Any, ...]] = []
        self._search(lambda *example: drawn.append(example))
        return drawn

    def _search(self, check: Callable[..., None]) -> None:
        # Most suites need none of it.
        from hypothesis import Phase, given, settings
        from hypothesis.strategies import tuples

        @settings(
            max_examples=self._count,
            phases=(Phase.generate, Phase.shrink),
            derandomize=True,
            database=None,
            deadline=None,
            report_multiple_bugs=False,
        )
        @given(tuples(*self._strategies))
        def trial(example: tuple[Any, ...]) -> None:
            check(*example)

        trial()
