"""What is measured: entries by arithmetic, bytes by looking at PyTorch, seconds by a clock."""

import torch

from autograder.labs.cost import largest_bytes, measure, random_inputs
from autograder.labs.library import attention


def test_four_times_as_long_is_sixteen_times_the_entries_and_the_largest_tensor():
    short, long = measure(attention, [128, 512])

    assert (short.length, short.entries, long.entries) == (128, 16_384, 262_144)
    assert (short.largest_bytes, long.largest_bytes) == (4 * 128 * 128, 4 * 512 * 512)
    assert short.seconds > 0


def test_the_largest_tensor_is_the_largest_and_not_the_last():
    def large_then_small(x):
        return (x[:, None] * x).sum()

    assert largest_bytes(large_then_small, torch.ones(100)) == 4 * 100 * 100


def test_every_machine_measures_the_same_inputs():
    first, again = random_inputs(8), random_inputs(8)

    assert all(torch.equal(one, other) for one, other in zip(first, again, strict=True))
    assert first[0].shape == (8, 64)
    assert not torch.equal(first[0], first[1])


def test_a_slow_run_is_not_repeated(monkeypatch):
    times = iter(range(100))
    monkeypatch.setattr("autograder.labs.cost.time.perf_counter", lambda: float(next(times)))
    calls = []

    measure(lambda *inputs: calls.append(1), [4])

    # One run to measure the memory, and one of "a second" by this clock.
    assert len(calls) == 2
