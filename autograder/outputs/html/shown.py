"""How much of a result the course's feedback policy lets a learner see."""

from __future__ import annotations

import msgspec

from autograder.report import CheckResult, ExerciseResult, Outcome


def shown(result: ExerciseResult, feedback: str) -> ExerciseResult:
    """Give what may be shown: everything ("full"), no inputs and values ("hint"), "title" of each check, or "none".

    Public tests, which carry no points, are nobody's secret.
    """
    if feedback == "full" or not result.points:
        return result
    if feedback == "none":
        return msgspec.structs.replace(result, checks=[], diagnosis=[], code="")
    with_hints = feedback == "hint"
    return msgspec.structs.replace(
        result,
        diagnosis=[
            msgspec.structs.replace(diagnosis, counterexample="", figures=[])
            for diagnosis in (result.diagnosis if with_hints else [])
        ],
        checks=[_without_values(check, with_hints=with_hints) for check in result.checks],
        code=result.code if result.reason else "",
    )


def is_unwritten(result: ExerciseResult) -> bool:
    """Say whether every check met a function that is still a stub: then a list of them tells nothing."""
    return bool(result.checks) and not result.reason and all(map(_is_stub, result.checks))


def _is_stub(check: CheckResult) -> bool:
    return check.outcome is Outcome.FAILED and "NotImplementedError" in check.message


def _without_values(check: CheckResult, *, with_hints: bool) -> CheckResult:
    return msgspec.structs.replace(
        check, message="", phrase=None, counterexample="", figures=[], line=0, hint=check.hint if with_hints else ""
    )
