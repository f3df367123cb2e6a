"""The suites as a plain pytest run: of whichever course they lie in, on the solutions or on a folder."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
NORMS = ROOT / "tests" / "data" / "layer_norm"


@pytest.fixture
def norms(tmp_path: Path) -> Path:
    """Give a course that lies apart from the program."""
    return Path(shutil.copytree(NORMS, tmp_path / "norms"))


def run_pytest(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
    )


def test_the_suites_of_another_course_grade_the_solutions_of_that_course(norms):
    solution = norms / "reference" / "layer_norm.py"
    assert "6 passed" in run_pytest("hidden", cwd=norms).stdout
    solution.write_text(solution.read_text().replace(".astype(x.dtype)", ""))
    ran = run_pytest("hidden/test_layer_norm.py", cwd=norms)
    assert ran.returncode == 1
    assert "test_float32_comes_back_as_float32" in ran.stdout
    assert "1 failed, 5 passed" in ran.stdout


def test_another_folder_can_be_graded(norms):
    ran = run_pytest(str(norms / "hidden"), "--submission=norms/class/ada", cwd=norms.parent)
    assert "6 failed" in ran.stdout


@pytest.mark.parametrize(
    ("option", "said"),
    [(["--submission=class/ada"], "6 failed"), (["--submission", "class/ada"], "write --submission=DIR, in one word")],
)
def test_nothing_of_the_folder_runs_in_the_process_of_the_suites(norms, tmp_path, option, said):
    proof = tmp_path / "proof"
    (norms / "class" / "ada" / "conftest.py").write_text(f"open({str(proof)!r}, 'w').close()\n")
    ran = run_pytest("hidden", *option, cwd=norms)
    assert said in ran.stdout + ran.stderr
    assert not proof.exists()
