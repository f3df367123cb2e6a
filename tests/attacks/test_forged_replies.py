"""Answers that the learner's code writes to the grader's line by itself: none is worth more than a returned value."""

import json
import math

import numpy as np
import pytest
import torch

from autograder.report import to_json
from autograder.sandbox.learner import Budget, Crashed, Exited, LearnerEnded, LearnerException, TimedOut

FORGER = """
import msgspec, os, struct, threading, time

def bare(header, payload=b""):
    return struct.pack("!II", len(header), len(payload)) + header + payload

def frame(serial, message, payload=b"", blobs=(), number=1):
    # The serial is that of the sheet of questions, whose answers are numbered from 1.
    answer = msgspec.msgpack.encode([number, message, list(blobs)])
    return bare(msgspec.msgpack.encode(serial)) + bare(answer, payload)

def returned(serial, value, number=1, **facts):
    return frame(serial, {"type": "returned", "value": value, "facts": facts}, number=number)

def raised(serial, builtin, name="E", message="temperature scores", **facts):
    return frame(serial, {"type": "raised", "builtin": builtin, "name": name, "message": message, "frames": [],
                          "facts": facts})

def say(data):
    while data:
        data = data[os.write(3, data):]

def two():
    return 2

"""


@pytest.fixture
def forging(learner_of):
    """Give a function that makes a learner whose `f` runs a body and, where the body falls through, returns 1."""

    def make(body, **options):
        lines = "".join(f"    {line}\n" for line in body.splitlines())
        return learner_of(f"{FORGER}def f():\n{lines}    return 1\n", **options)

    return make


@pytest.mark.parametrize("serial", [0, 1, 3, 2**40])
def test_an_answer_with_another_number_is_a_crash(forging, serial):
    with pytest.raises(Crashed, match="an answer to another question"):
        forging(f"say(returned({serial}, 5))").f()


@pytest.mark.parametrize("number", [0, 2, 2**40])
def test_an_answer_to_another_question_of_the_sheet_is_a_crash(forging, number):
    with pytest.raises(Crashed, match="an answer to another question"):
        forging(f"say(returned(2, 5, number={number}))").f()


@pytest.mark.parametrize(
    "data",
    ["struct.pack('!II', 0xFFFFFFFF, 0xFFFFFFFF)", "struct.pack('!II', 10, 0xFFFFFFFF) + b'x' * 10",
     "struct.pack('!II', 0, 0)", "struct.pack('!II', 4, 0) + bytes(4)", "b'HTTP/1.1 200 OK\\r\\n\\r\\n'",
     "frame(2, {'type': 'passed'})", "frame(2, {'type': 'ready', 'layers': [], 'missing': {}})",
     "frame(2, {'type': 'scanned', 'violations': []})", "frame(2, {'type': 'loaded', 'facts': {}})",
     "frame(2, {'type': 'created', 'facts': {}})", "returned(2, ['array', 'object', [1], 0])",
     "returned(2, ['array', 'float64', [2 ** 40], 0])", "returned(2, ['tensor', 'float64', [1], 7])",
     "returned(2, ['items', 'set', []])", "returned(-2, 5)", "returned(2, ['items', 'list', [None] * 10001])"],
)  # fmt: skip
def test_what_is_no_answer_to_the_question_is_a_crash_at_once(forging, data):
    learner = forging(f"say({data})\ntime.sleep(9)")
    with pytest.raises(Crashed, match="stopped answering properly"):
        learner.f()
    assert learner.two() == 2


@pytest.mark.parametrize(
    "body",
    ["say(struct.pack('!II', 100, 100) + b'x')\ntime.sleep(9)",
     "for byte in struct.pack('!II', 4000, 0) + bytes(4000):\n    say(bytes([byte]))\n    time.sleep(0.01)"],
    ids=["half an answer", "an answer byte by byte"],
)  # fmt: skip
def test_an_answer_that_never_ends_runs_out_of_time(forging, body):
    learner = forging(body)
    with pytest.raises(TimedOut):
        learner.f()
    assert 0.9 < learner.seconds < 3
    assert learner.two() == 2


def test_a_forged_answer_is_no_more_than_a_returned_one_and_the_next_is_a_crash(forging):
    learner = forging("say(returned(2, 5))")
    assert learner.f() == 5
    with pytest.raises(Crashed):
        learner.two()
    assert learner.two() == 2


def test_a_thread_that_answers_ahead_gives_values_and_nothing_else(forging):
    body = """
def answer():
    for serial in range(2, 6):
        say(returned(serial, 5, modified=[], violations=[]))
threading.Thread(target=answer, daemon=True).start()
time.sleep(9)
"""
    learner = forging(body)
    assert [learner.f(), learner.two(), learner.two()] == [5, 5, 5]
    assert learner.seconds > 0


def test_seconds_are_those_of_the_graders_own_clock(forging):
    budget = Budget(60.0, "exercise")
    learner = forging("time.sleep(0.2)\nsay(returned(2, 5))", budget=budget)
    learner.f()
    assert 0.2 < budget.spent < 5


def test_violations_without_number_are_kept_to_a_few(forging):
    learner = forging("say(returned(2, 5, violations=[['n' * 100, 1, 't']] * 30000))")
    learner.f()
    assert len(learner.violations) == 50


def test_gradients_that_were_not_asked_for_are_a_crash(learner_of):
    reply = "{'type': 'returned', 'value': 1, 'facts': {}, 'gradients': [1, 2]}"
    learner = learner_of(f"{FORGER}def f(x):\n    say(frame(2, {reply}))\n")
    with pytest.raises(Crashed, match="gradients that were not asked for"):
        learner.gradients("f", torch.ones(2), cotangents=(torch.ones(2),), wrt=(0,))


@pytest.mark.parametrize("number", ["-1", "99", "2 ** 62"])
def test_an_instance_that_was_never_made_is_an_error_of_the_learners(learner_of, number):
    forged = f"say(frame(2, {{'type': 'created', 'instance': {number}, 'facts': {{}}}}))\n        os._exit(0)"
    source = f"{FORGER}class C:\n    def __init__(self):\n        {forged}\n"
    with pytest.raises((LearnerException, LearnerEnded)):
        learner_of(source).new("C")(1)


@pytest.mark.parametrize(
    "builtin",
    ["type", "object", "__import__", "eval", "exit", "None", "__debug__", "__build_class__", "", "no such name", "\x00",
     "KeyboardInterrupt", "GeneratorExit", "BaseException", "BaseExceptionGroup", "ExceptionGroup", "StopIteration",
     "StopAsyncIteration", "UnicodeDecodeError", "UnicodeError", "SyntaxError", "ImportError", "OSError", "Warning"],
)  # fmt: skip
def test_whatever_type_is_claimed_an_ordinary_exception_arrives(forging, builtin):
    with pytest.raises(LearnerException) as caught:
        forging(f"say(raised(2, {builtin!r}))").f()
    assert isinstance(caught.value, Exception)
    assert not isinstance(caught.value, KeyboardInterrupt | SystemExit | GeneratorExit)
    assert str(caught.value) == "temperature scores"


def test_a_claimed_exit_is_an_exit(forging):
    with pytest.raises(Exited):
        forging("say(raised(2, 'SystemExit'))").f()


IN_REPORTS = {
    "a long message": "raised(serial, 'ValueError', message='x' * 3_000_000)",
    "a long name": "raised(serial, 'ValueError', name='N' * 3_000_000)",
    "the name of a missing definition": "raised(serial, 'AttributeError', name='NotDefined', message='x' * 3_000_000)",
    "an escape for the terminal": "raised(serial, 'ValueError', message='\\x1b[2J\\x07\\u202e scoreless')",
    "a tensor larger than any": "returned(serial, 5, largest_tensor=2 ** 62)",
    "a violation with a long name": "returned(serial, 5, violations=[['N' * 3_000_000, 2 ** 62, 't' * 500_000]])",
    "a violation on line minus one": "returned(serial, 5, violations=[['\\x1b[2J', -1, '']])",
    "output without end": "returned(serial, 5, output='x' * 3_000_000)",
    "a long reason": "frame(serial, {'type': 'unfit', 'reason': 'x' * 3_000_000, 'facts': {}})",
    "arguments that do not exist": "returned(serial, 5, modified=['m' * 999_999], shared=['\\x1b'] * 100_000)",
    "a text": "returned(serial, 'x' * 3_000_000)",
    "warnings without number": "returned(serial, 5, warnings=[['W', 'w']] * 100_000)",
}


def test_forged_answers_leave_reports_short_and_readable_and_earn_nothing(graded, solution):
    # The first sheet, to load the module, has the number 1.
    attack = "serial = 2\ndef softmax(scores):\n    say({forged})\n    os._exit(0)\n"
    *reports, honest = graded(*(FORGER + attack.format(forged=forged) for forged in IN_REPORTS.values()), solution)
    for name, report in zip(IN_REPORTS, reports, strict=True):
        data = to_json(report)
        # Read as strictly as JSON can be: NaN and infinity are not part of it.
        strict = json.loads(data, parse_constant=lambda constant: pytest.fail(constant))
        assert (strict["status"], strict["earned"], len(data) < 20_000) == ("graded", 0, True), name
        assert all(math.isfinite(check.seconds) for exercise in report.exercises for check in exercise.checks)
    assert honest.earned == 3


def test_a_message_that_utf8_cannot_hold_is_a_crash(forging):
    said = "frame(2, {'type': 'unfit', 'reason': 'QQQ', 'facts': {}}).replace(b'QQQ', b'\\xed\\xa0\\x80')"
    with pytest.raises(Crashed, match="not a reply"):
        forging(f"say({said})").f()


def test_the_forger_speaks_the_real_protocol(forging):
    # Otherwise every test here would pass for the wrong reason.
    reply = "{'type': 'returned', 'value': ['array', 'float64', [2], 0], 'facts': {}}"
    forged = f"say(frame(2, {reply}, struct.pack('2d', 1, 2), [16]))\ntime.sleep(9)"
    assert np.array_equal(forging(forged).f(), [1.0, 2.0])
    with pytest.raises(ValueError, match="temperature"):
        forging("say(raised(2, 'ValueError'))").f()
