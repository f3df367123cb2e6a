"""Examples are drawn once, tried each time, and looked for anew only where one does not hold."""

import pytest
from hypothesis import strategies as st

from autograder.examples import Examples


def tried(examples):
    found = []
    examples.hold(lambda *example: found.append(example))
    return found


def test_every_run_tries_the_same():
    first, second = (Examples(12, st.integers(0, 100), st.sampled_from("ab")) for _ in range(2))
    assert tried(first) == tried(first) == tried(second)
    assert len(tried(first)) == 12
    assert len(set(tried(first))) > 6
    assert {letter for _, letter in tried(first)} == {"a", "b"}


def test_what_fails_is_told_by_its_smallest_example():
    def small(number):
        assert number < 17, f"{number} is too large"

    with pytest.raises(AssertionError, match=r"^17 is too large"):
        Examples(30, st.integers(0, 1000)).hold(small)


def test_what_fails_only_once_fails():
    calls = []

    def fickle(number):
        calls.append(number)
        assert len(calls) != 3, "the third"

    with pytest.raises(AssertionError, match=r"^the third"):
        Examples(5, st.integers(0, 9)).hold(fickle)


def test_drawing_does_not_depend_on_who_is_asked_first():
    def wrong(number):
        raise AssertionError(number)

    examples = Examples(8, st.integers(0, 100))
    with pytest.raises(AssertionError):
        examples.hold(wrong)
    assert tried(examples) == tried(Examples(8, st.integers(0, 100)))
