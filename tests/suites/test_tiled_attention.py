"""What three wrong tiled attentions are told, each in plain words, by the real grader."""

from pathlib import Path

import msgspec
import pytest

from autograder.course import load_course
from autograder.grade import grade_all
from autograder.report import CheckResult, Outcome
from autograder.submission import Submission

ROOT = Path(__file__).resolve().parents[2]
NAME = "tiled_attention"
SOLUTION = (ROOT / "solutions/tiled_attention.py").read_text(encoding="utf-8")

TILE = "no_tensor_is_larger_than_one_tile"
LONG = "nothing_is_kept_of_a_matrix_of_scores_that_does_not_fit_the_memory_limit"
BORDER = "the_causal_border_runs_through_all_blocks"


def changed(*replacements: tuple[str, str]) -> str:
    source = SOLUTION
    for old, new in replacements:
        assert old in source
        source = source.replace(old, new)
    return source


WRONG = {
    "always 64": changed(("for start in", "block_size = 64\n    for start in")),
    "one block": changed(("for start in", "block_size = max(1, n_keys)\n    for start in")),
    # Made in pieces, and every piece still there at the end.
    "kept": changed(
        ("for start in", "kept = []\n    for start in"),
        ("        new_largest =", "        kept.append(scores)\n        new_largest ="),
    ),
    "mask": changed(
        (
            "for start in",
            "n_queries = query.shape[-2]\n"
            "    later = torch.ones(n_queries, n_keys, dtype=torch.bool).triu(1 + n_keys - n_queries)\n"
            "    for start in",
        ),
        (
            "_without_later_keys(scores, start, n_keys)",
            "scores.masked_fill(later[:, start : start + block_size], -math.inf)",
        ),
    ),
    "local": changed(("_without_later_keys(scores, start, n_keys)", "_without_later_keys(scores, 0, n_keys)")),
    "whole blocks": changed(
        ("torch.arange(start, start + width)", "torch.full((width,), start)"),
    ),
}


@pytest.fixture(scope="module")
def checks() -> dict[str, dict[str, CheckResult]]:
    course = load_course(ROOT)
    course = msgspec.structs.replace(course, exercises=(course.exercise(NAME),))
    reports: dict[str, dict[str, CheckResult]] = {}

    def receive(report):
        (result,) = report.exercises
        reports[report.submission] = {check.name.removeprefix("test_"): check for check in result.checks}

    submissions = [Submission(name, {NAME: source.encode()}) for name, source in {"right": SOLUTION, **WRONG}.items()]
    grade_all(submissions, course, receive=receive)
    return reports


def failed(checks: dict[str, CheckResult]) -> set[str]:
    return {name for name, check in checks.items() if check.outcome is not Outcome.PASSED}


@pytest.mark.parametrize("wrong", ["always 64", "one block"])
def test_whoever_ignores_block_size_is_told_so(checks, wrong):
    message = checks[wrong][TILE].message
    assert message.startswith("block_size is ignored: the largest tensor has ")
    assert ("(the whole matrix of scores)" in message) == (wrong == "one block")
    assert BORDER not in failed(checks[wrong])


def test_one_block_of_all_keys_does_not_fit_either(checks):
    assert checks["one block"][LONG].outcome is Outcome.OUT_OF_MEMORY


def test_whoever_keeps_the_pieces_runs_out_of_memory_and_is_told_what_was_kept(checks):
    assert failed(checks["kept"]) == {LONG}
    check = checks["kept"][LONG]
    assert check.outcome is Outcome.OUT_OF_MEMORY
    assert check.message == "more memory than the limit of 1024 MiB"
    assert check.title == LONG.replace("_", " ")


def test_a_mask_for_the_whole_matrix_is_too_large_too(checks):
    assert failed(checks["mask"]) == {TILE}
    assert checks["mask"][TILE].message.startswith("a boolean mask of the whole matrix: with block_size=8 ")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (
            "local",
            "not causal: query 0 may read the keys up to 0 and reads key 1 too, across a border between blocks of 1",
        ),
        ("whole blocks", "not causal: query 0 may read the keys up to 0 and reads key 1 too, in the same block of 2"),
    ],
)
def test_whoever_is_not_causal_is_told_which_key_was_read_across_which_border(checks, wrong, said):
    assert checks[wrong][BORDER].message.startswith(said)
    assert TILE in failed(checks[wrong])


def test_the_check_of_a_long_length_takes_nearly_all_the_time_and_is_one_of_its_own(checks):
    seconds = {name: check.seconds for name, check in checks["right"].items()}
    assert not failed(checks["right"])
    assert max(seconds, key=seconds.__getitem__) == LONG
