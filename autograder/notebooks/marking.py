"""The marks of one exercise for nbgrader's cells, with what their learner may be told."""

from __future__ import annotations

from autograder.course import Course
from autograder.grade import Grader
from autograder.gradebook.texts import comment_of
from autograder.language import said_by
from autograder.notebooks.bench import Mark, Task, Verdict
from autograder.outputs.text import visible_lines
from autograder.outputs.wrapping import wrapped
from autograder.policy import allowed_check
from autograder.practice import contract_sentence
from autograder.report import CheckResult, ExerciseResult, Outcome
from autograder.sandbox.learner import SandboxError
from autograder.session import Checks
from autograder.submission import Submission

# nbgrader's pages cut longer lines of an output off.
WIDTH = 92


def answer(task: Task, course: Course, grader: Grader, checks: Checks) -> Verdict:
    """Grade the exercise of a task; whatever fails on our side is trouble, and no mark."""
    exercise = course.exercise(task.exercise)
    modules = {} if task.problem else {exercise.name: task.module}
    problems = {exercise.name: task.problem} if task.problem else {}
    submission = Submission(task.learner, modules, problems=problems)
    try:
        with grader.desk_for(submission) as desk:
            result = grader.grade_exercise(exercise, submission, desk, checks)
    except SandboxError as error:
        return Verdict(trouble=str(said_by(error)))
    except Exception as error:
        return Verdict(trouble=f"the grader failed: {type(error).__name__}: {error}")
    return Verdict({check.name: _mark(check, result, course) for check in result.checks})


def _mark(check: CheckResult, result: ExerciseResult, course: Course) -> Mark:
    return Mark(check.earned, check.points, check.outcome is Outcome.PASSED, _said(check, result, course))


def _said(check: CheckResult, result: ExerciseResult, course: Course) -> str:
    """Say of a failed check what the course's feedback policy lets its learner read, in the course's first language."""
    comment = comment_of(check, result, course)
    if check.outcome is Outcome.PASSED or comment is None:
        return ""
    hint = allowed_check(check, course.feedback).hint
    sentence = contract_sentence(hint, course, course.languages[0]) if hint else ""
    lines = [*comment.split("\n"), *(visible_lines(sentence) if sentence else [])]
    return "\n".join(folded for line in lines for folded in wrapped(line, WIDTH))
