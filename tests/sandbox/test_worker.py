"""What a fork server does before there is a learner."""

import subprocess
import sys

import pytest

CALLS = ["Returned", "Raised"]
INSTANCES = ["Created", "Returned", "Returned", "Returned"]


@pytest.mark.parametrize(
    ("libraries", "replies"), [("numpy", CALLS), ("numpy torch", CALLS + INSTANCES)], ids=["NumPy", "both"]
)
def test_each_request_that_is_rehearsed_is_answered_as_a_learner_s_would_be(libraries, replies):
    # A rehearsal that fails is let pass, so that nobody else would tell.
    text = f"""
import sys
from autograder.sandbox import worker
from autograder.sandbox.wire import split_blobs
requests, told = worker.warm_up({libraries.split()!r}, times=2), sys.stdout
answers = worker.Answers()
kinds = [
    type(reply).__name__
    for request, lengths, payload in requests
    for reply, _ in answers.to(request, split_blobs(memoryview(bytearray(payload)), lengths))
]
print(*kinds, file=told)
"""
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["Scanned", "Loaded", *replies, *replies]
