"""What attention costs on this machine: entries of the scores, bytes of the largest tensor, seconds."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from autograder.sandbox.observed import largest_tensor

if TYPE_CHECKING:
    from torch import Tensor

# Runs of one length: so many, or as many as begin in this time.
REPEATS = 5
SECONDS = 0.5


@dataclass(frozen=True)
class Cost:
    """One length: T, the T * T entries, the bytes of the largest tensor that was made, and seconds on the clock."""

    length: int
    entries: int
    largest_bytes: int
    seconds: float


def random_inputs(length: int, d_head: int = 64, seed: int = 0) -> tuple[Tensor, Tensor, Tensor]:
    """Give query, key and value, each `(length, d_head)` in float32, the same ones for the same seed."""
    import torch

    generator = torch.Generator().manual_seed(seed)
    query, key, value = (torch.randn(length, d_head, generator=generator) for _ in range(3))
    return query, key, value


def measure(attend: Callable[..., Any], lengths: Sequence[int], d_head: int = 64) -> list[Cost]:
    """Measure `attend(query, key, value)` at each length: the fastest of a few runs, since others disturb a clock.

    The memory is measured in a run of its own, which the measuring slows down.
    """
    import torch

    costs = []
    with torch.inference_mode():
        for length in lengths:
            inputs = random_inputs(length, d_head)
            bytes_made = largest_bytes(attend, *inputs)
            costs.append(Cost(length, length * length, bytes_made, _fastest(attend, inputs)))
    return costs


def largest_bytes(call: Callable[..., Any], *arguments: Any, **options: Any) -> int:
    """Give the bytes of the largest tensor that PyTorch makes during a call."""
    with largest_tensor(True) as largest:
        call(*arguments, **options)
    return largest[0]


def _fastest(call: Callable[..., Any], inputs: tuple[Any, ...]) -> float:
    """Give the seconds of the fastest of a few runs, of fewer where one takes long."""
    begin = time.perf_counter()
    seconds: list[float] = []
    while not seconds or (len(seconds) < REPEATS and time.perf_counter() - begin < SECONDS):
        start = time.perf_counter()
        call(*inputs)
        seconds.append(time.perf_counter() - start)
    return min(seconds)
