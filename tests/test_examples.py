"""Examples are drawn once, tried each time, and looked for anew only where one does not hold."""

import subprocess
import sys

import pytest

from autograder.examples import Examples


def number_to_a_hundred(choose):
    return (choose(0, 100),)


def tried(examples):
    found = []
    examples.hold(lambda *example: found.append(example))
    return found


def test_every_run_tries_the_same():
    first, second = (Examples(12, lambda choose: (choose(0, 100), "ab"[choose(0, 1)])) for _ in range(2))
    assert tried(first) == tried(first) == tried(second)
    assert len(tried(first)) == 12
    assert len(set(tried(first))) > 6
    assert {letter for _, letter in tried(first)} == {"a", "b"}


def test_what_fails_is_told_by_its_smallest_example():
    def small(number):
        assert number < 17, f"{number} is too large"

    with pytest.raises(AssertionError, match=r"^17 is too large"):
        Examples(30, lambda choose: (choose(0, 1000),)).hold(small)


def test_what_fails_only_once_fails():
    calls = []

    def fickle(number):
        calls.append(number)
        assert len(calls) != 3, "the third"

    with pytest.raises(AssertionError, match=r"^the third"):
        Examples(5, lambda choose: (choose(0, 9),)).hold(fickle)


def test_drawing_does_not_depend_on_who_is_asked_first():
    def wrong(number):
        raise AssertionError(number)

    examples = Examples(8, number_to_a_hundred)
    with pytest.raises(AssertionError):
        examples.hold(wrong)
    assert tried(examples) == tried(Examples(8, number_to_a_hundred))


def test_hypothesis_is_loaded_only_to_look_for_the_smallest():
    code = (
        "import sys; from autograder.examples import Examples; "
        "Examples(9, lambda choose: (choose(0, 9),)).hold(lambda number: None); "
        "sys.exit('hypothesis' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
