"""The learner's module beside its result."""

from autograder.own_code import LARGEST, with_code
from autograder.report import CheckResult, ExerciseResult, Outcome

LOST = ExerciseResult("softmax", 20, 0, checks=[CheckResult("t", "t", Outcome.FAILED, 20, 0)])
DONE = ExerciseResult("softmax", 20, 20, checks=[CheckResult("t", "t", Outcome.PASSED, 20, 20)])


def code_of(result, source):
    return with_code(result, {"softmax": source}).code


def test_what_lost_points_is_kept_with_its_code_and_what_is_right_without():
    assert code_of(LOST, b"x = 1\n") == "x = 1\n"
    assert code_of(DONE, b"x = 1\n") == ""


def test_nothing_is_kept_of_a_module_that_was_not_handed_in_or_is_too_large():
    assert with_code(LOST, {}).code == ""
    assert code_of(LOST, b"#" * (LARGEST + 1)) == ""


def test_code_is_read_as_python_reads_it_and_otherwise_as_far_as_it_can_be():
    assert code_of(LOST, "# -*- coding: gbk -*-\n# 遮罩\r\n".encode("gbk")) == "# -*- coding: gbk -*-\n# 遮罩\n"
    assert code_of(LOST, b"\xef\xbb\xbfx = 1") == "x = 1"
    assert code_of(LOST, b"x = '\xff'") == "x = '\ufffd'"
    # The last two are known to Python, but as no encodings of text.
    for name in ("nonsense", "undefined", "rot13"):
        assert code_of(LOST, f"# coding: {name}\n".encode()) == f"# coding: {name}\n"
