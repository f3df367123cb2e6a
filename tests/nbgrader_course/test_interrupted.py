"""A run that is killed loses nothing: what it left half done is graded when it is started again."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from .conftest import PLAIN_CONFIG, NbgraderCourse
from .learners import RIGHT, hand_in

SLOW = "import time\n" + RIGHT.replace("    return", "    time.sleep(0.2)\n    return")
SECONDS_TO_WAIT = 90


@pytest.fixture
def killed(assigned, released, tmp_path) -> NbgraderCourse:
    """Give a course whose grading was killed while it was at the second notebook of a learner."""
    course = assigned.copied(tmp_path / "nbgrader")
    work = {"double": released.filled("double"), "twice": released.filled("twice", SLOW)}
    hand_in(course.folder / "submitted", {"amara": work, "bea": work})
    run = subprocess.Popen(
        [sys.executable, "-m", "nbgrader", "autograde", "small", "--student", "amara"],
        cwd=course.folder, env=course.environment, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    second = course.folder / "autograded" / "amara" / "small" / "twice.ipynb"
    end = time.monotonic() + SECONDS_TO_WAIT
    while not second.exists() and time.monotonic() < end:
        time.sleep(0.005)
    os.killpg(run.pid, signal.SIGKILL)
    run.wait()
    assert second.exists()
    assert not any(cell.get("outputs") for cell in json.loads(second.read_text())["cells"])
    return course


def test_a_killed_run_is_made_up_for_by_the_next_one(killed):
    done = killed.command("autograde", "small")
    assert done.returncode == 0, done.stderr
    assert "amara/small is half done, and is graded again" in done.stderr
    assert killed.exported() == {"amara": 10, "bea": 10}


def test_nbgrader_by_itself_takes_what_is_half_done_for_finished(killed):
    (killed.folder / "nbgrader_config.py").write_text(PLAIN_CONFIG)
    done = killed.command("autograde", "small", "--student", "amara")
    assert "Skipping existing assignment" in done.stderr
    assert killed.exported() == {"amara": 5}


def test_what_is_done_is_not_done_again(graded):
    before = {path: path.stat().st_mtime_ns for path in (graded.folder / "autograded").rglob("*.ipynb")}
    done = graded.command("autograde", "small")
    assert done.returncode == 0
    assert "half done" not in done.stderr
    assert {path: path.stat().st_mtime_ns for path in (graded.folder / "autograded").rglob("*.ipynb")} == before
