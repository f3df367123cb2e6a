"""A workflow for classrooms on GitHub: each push of a learner's repository, made of the bundle, is checked there.

Facts, from "Workflow syntax for GitHub Actions": workflows lie in `.github/workflows/`; a step has either `uses` or
`run`; `run` is given to a shell that ends at the first failure; `if: always()` has a step run after one that failed;
what is appended to the file `$GITHUB_STEP_SUMMARY` is shown, as Markdown, beside the run.
"""

from __future__ import annotations

from string import Template

from autograder.language import say
from autograder.release.readme import TEXTS

WORKFLOW = ".github/workflows/check.yml"


def workflow_text(language: str) -> str:
    """Give the workflow, what learners see of it in their language."""
    text = (TEXTS / "check.yml").read_text(encoding="utf-8")
    return Template(text).substitute(
        exercise=say("exercise").in_(language),
        passed=say("checks passed").in_(language),
    )
