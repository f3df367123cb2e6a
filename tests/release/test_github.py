"""The workflow for GitHub: it is what GitHub reads, and its commands do in a bundle what they promise."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from autograder.release.bundle import made_bundle
from autograder.release.github import WORKFLOW, workflow_text

SOLUTION = """import numpy as np


def double(numbers: np.ndarray, more: float = 0.0) -> np.ndarray:
    ### BEGIN SOLUTION
    raised = numbers * 0 + more
    return raised + numbers * 2
    ### END SOLUTION
"""
ANSWER = "def double(numbers, more=0.0):\n    return numbers + numbers + more\n"
PUBLIC = """import numpy as np
from double import double


def test_one_is_doubled():
    assert double(np.array([1.0])) == 2.0
"""


def steps(text):
    return yaml.safe_load(text)["jobs"]["check"]["steps"]


@pytest.fixture(scope="module")
def workflow():
    return workflow_text("en")


def test_it_is_what_github_reads(workflow):
    # YAML 1.1 takes the key `on` for True.
    whole = yaml.safe_load(workflow)
    assert set(whole) == {"name", True, "permissions", "jobs"}
    assert whole[True] == {"push": None, "workflow_dispatch": None}
    assert whole["permissions"] == {"contents": "read"}
    assert all(("uses" in step) != ("run" in step) for step in steps(workflow))


def test_the_report_is_kept_also_where_something_did_not_pass(workflow):
    kept = steps(workflow)[-1]
    assert kept["uses"].startswith("actions/upload-artifact@")
    assert (kept["if"], kept["with"]["path"]) == ("always()", "report.json")


def test_what_learners_see_of_it_is_in_their_language():
    assert "| 模块 | 通过的检查 |" in workflow_text("zh")


@pytest.fixture
def repository(small_course, tmp_path):
    """Give a learner's repository: a bundle, written out as it is pushed."""
    course = small_course({"course.toml": {'["en", "zh"]': '["en"]'}}, {"solutions/double.py": SOLUTION})
    for name, text in {"public_tests/test_double.py": PUBLIC, "instructions/double.md": "# Double\n"}.items():
        (course.paths.exercises / name).parent.mkdir(exist_ok=True)
        (course.paths.exercises / name).write_text(text)
    for name, content in made_bundle(course, ("en",), github=True).items():
        (tmp_path / "pushed" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "pushed" / name).write_bytes(content)
    return tmp_path / "pushed"


class Runner:
    """Runs steps as GitHub does; pip takes the bundle's own wheel, and what that needs from this Python."""

    def __init__(self, repository: Path) -> None:
        self.repository = repository
        target = repository.parent / "target"
        programs = repository.parent / "bin"
        programs.mkdir()
        (programs / "python").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
        (programs / "python").chmod(0o755)
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        self.variables = kept | {
            "PATH": f"{programs}:{target}/bin:{os.environ['PATH']}",
            "PYTHONPATH": str(target),
            "PIP_TARGET": str(target),
            "PIP_NO_DEPS": "1",
            "PIP_NO_INDEX": "1",
            "GITHUB_STEP_SUMMARY": str(repository.parent / "summary.md"),
        }

    def run(self, name: str) -> int:
        """Run the step of a name, and give its status."""
        text = (self.repository / WORKFLOW).read_text()
        command = next(step["run"] for step in steps(text) if step.get("name") == name)
        shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", command]
        return subprocess.run(shell, cwd=self.repository, env=self.variables, timeout=120).returncode


def test_its_commands_install_check_and_sum_up(repository):
    runner = Runner(repository)
    assert runner.run("Install attend") == 0
    assert runner.run("Check") == 1
    assert runner.run("Summary") == 0
    (repository / "exercises" / "double.py").write_text(ANSWER)
    assert runner.run("Check") == 0
    assert runner.run("Summary") == 0
    report = json.loads((repository / "report.json").read_text())
    assert [(each["name"], each["passed"], each["public"]) for each in report["exercises"]] == [("double", True, True)]
    table = "| exercise | checks passed |\n|---|---|\n| double | {} |\n"
    assert (repository.parent / "summary.md").read_text() == table.format("0/1") + table.format("1/1")


def test_the_bundle_knows_it_as_its_own_so_that_a_new_release_may_replace_it(repository):
    assert WORKFLOW in json.loads((repository / "bundle.json").read_text())["files"]
