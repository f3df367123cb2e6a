"""How much of a failed hidden check may be shown: `feedback` in course.toml, kept in one place for every output.

    full    everything
    hint    titles, the sentence of the contract or the hint, the words of a diagnosis; no input and no value
    title   the titles of the checks and how each ended
    none    the marks, and how many checks passed

Outputs show what is left in the result that they are given, and never look at the policy themselves. Public tests
stand in the learner's own folder, so nothing of them is left out.
"""

from __future__ import annotations

import msgspec

from autograder.report import CheckResult, Diagnosis, ExerciseResult, Report

NOT_WRITTEN = "not written yet (NotImplementedError)"


def allowed(result: ExerciseResult, policy: str) -> ExerciseResult:
    """Give the result of an exercise with what may not be shown removed; `result` stays as it is.

    `policy` is one of `autograder.course.FEEDBACK`; of any other word nothing but the marks is shown.
    """
    if policy == "full" or result.public:
        return result
    return msgspec.structs.replace(
        result,
        checks=[allowed_check(check, policy) for check in result.checks],
        diagnosis=[allowed_diagnosis(diagnosis) for diagnosis in result.diagnosis if policy == "hint"],
        # Beside a reason it shows the line meant; else its marked lines would tell which checks raised where.
        code=result.code if result.reason else "",
    )


def allowed_report(report: Report, policy: str) -> Report:
    """Give a report in which every exercise shows only what may be shown."""
    return msgspec.structs.replace(report, exercises=[allowed(result, policy) for result in report.exercises])


def allowed_check(check: CheckResult, policy: str) -> CheckResult:
    """Give a hidden check with what may not be shown removed; built anew, so that a field added later is not shown."""
    if policy == "full":
        return check
    # That nothing is written yet is no secret, and the one thing to know about such a check.
    kept = CheckResult("", "", check.outcome, 0.0, 0.0, NOT_WRITTEN if check.is_stub else "")
    if policy in ("hint", "title"):
        kept.name, kept.title, kept.points, kept.earned = check.name, check.title, check.points, check.earned
    if policy == "hint":
        kept.hint = check.hint
    return kept


def allowed_diagnosis(diagnosis: Diagnosis) -> Diagnosis:
    """Give the words of a diagnosis, without the input that shows it."""
    return Diagnosis(diagnosis.fault, diagnosis.explanation)
