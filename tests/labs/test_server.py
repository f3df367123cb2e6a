"""`attend lab`: which folder and language it opens, and what it says where that cannot be."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from autograder.cli import run
from autograder.labs.errors import LabError
from autograder.labs.server import command, labs_folder, require_jupyterlab

from .conftest import REPOSITORY, learners_folder

ENDS_IN_ITS_OWN_TIME = """
import signal, sys, time
def end(*_):
    time.sleep(1)
    sys.exit(5)
signal.signal(signal.SIGINT, end)
print("ready", flush=True)
time.sleep(60)
"""
OPENS_IT = """
import sys
from pathlib import Path
from autograder.labs import server
server.command = lambda *_: [sys.executable, "-c", sys.argv[1]]
sys.exit(server.open_labs(Path(sys.argv[2]), "en"))
"""


class Ended:
    """A JupyterLab that has ended, with a status."""

    def __init__(self, status):
        self.wait = lambda: status


@pytest.fixture
def started(monkeypatch):
    """Record the commands that would be started, and have them end well."""
    commands = []
    monkeypatch.setattr("autograder.labs.server.subprocess.Popen", lambda it: commands.append(it) or Ended(0))
    return commands


def test_the_labs_of_a_language_open_in_the_learners_folder(tmp_path):
    assert command(tmp_path, "zh", []) == [
        sys.executable,
        "-m",
        "jupyterlab",
        f"--ServerApp.root_dir={tmp_path}",
        "--LabApp.default_url=/lab/tree/labs/zh",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
        "--LabApp.news_url=None",
    ]


def test_further_options_are_jupyterlabs_and_come_last(tmp_path, started):
    folder = learners_folder(tmp_path / "exercises")

    assert run(["lab", "--lang", "en", "--in", str(folder), "--no-browser", "--ServerApp.port=9999"]) == 0
    assert started[0][3] == f"--ServerApp.root_dir={folder}"
    assert started[0][-2:] == ["--no-browser", "--ServerApp.port=9999"]


def test_the_language_is_the_users_unless_named(monkeypatch, started):
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    assert run(["lab"]) == 0
    assert run(["lab", "--lang", "en"]) == 0

    assert [command[4] for command in started] == [
        "--LabApp.default_url=/lab/tree/labs/zh",
        "--LabApp.default_url=/lab/tree/labs/en",
    ]


def test_the_folder_is_the_one_named_else_the_nearest_with_labs(tmp_path, monkeypatch):
    course = REPOSITORY / "exercises"
    here = learners_folder(tmp_path / "exercises")
    monkeypatch.chdir(tmp_path)
    assert labs_folder(None, course).resolve() == here

    monkeypatch.chdir(here)
    assert labs_folder(None, course) == here
    assert labs_folder(tmp_path, course) == tmp_path

    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert labs_folder(None, course) == course


def test_a_folder_without_notebooks_is_one_line_in_the_language_that_was_asked_for(tmp_path, started, capfd):
    assert run(["lab", "--in", str(tmp_path), "--lang", "zh"]) == 2

    folder = tmp_path / "labs" / "zh"
    assert capfd.readouterr().err == f"attend: {folder} 里没有 notebook；请到课程的文件夹里运行，或者用 --in 指明它\n"
    assert started == []


def test_a_language_that_the_course_is_not_in_is_refused(started, capfd):
    assert run(["lab", "--lang", "fr"]) == 2
    assert capfd.readouterr().err == "attend: --lang fr: the course is in en and zh; ask for one of these\n"


def test_what_is_not_installed_is_named_with_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setattr("autograder.labs.server.importlib.util.find_spec", lambda name: None)

    with pytest.raises(LabError) as caught:
        require_jupyterlab("en", tmp_path)
    assert str(caught.value) == (
        "the labs need jupyterlab, ipywidgets, matplotlib; pip install 'attention-by-hand[lab]'"
    )


def test_in_a_bundle_it_comes_from_the_wheel_there_as_the_readme_has_it(monkeypatch, tmp_path):
    monkeypatch.setattr("autograder.labs.server.importlib.util.find_spec", lambda name: None)
    monkeypatch.setattr("autograder.labs.server.sys.executable", str(tmp_path / ".venv" / "bin" / "python"))
    (tmp_path / "attention_by_hand-0.1.0-py3-none-any.whl").touch()

    with pytest.raises(LabError) as caught:
        require_jupyterlab("en", tmp_path)
    python = Path(".venv", "bin", "python")
    assert str(caught.value) == (
        f"the labs need jupyterlab, ipywidgets, matplotlib; in {tmp_path} type: "
        f'{python} -m pip install -c constraints.txt "./attention_by_hand-0.1.0-py3-none-any.whl[lab]"'
    )


def test_the_exit_status_is_jupyterlabs(monkeypatch):
    monkeypatch.setattr("autograder.labs.server.subprocess.Popen", lambda command: Ended(7))
    assert run(["lab", "--lang", "en"]) == 7


@pytest.mark.skipif(os.name != "posix", reason="Ctrl-C reaches a group of processes otherwise elsewhere")
def test_ctrl_c_is_left_to_jupyterlab_which_ends_its_kernels_first():
    exercises = str(REPOSITORY / "exercises")
    process = subprocess.Popen(
        [sys.executable, "-c", OPENS_IT, ENDS_IN_ITS_OWN_TIME, exercises],
        stdout=subprocess.PIPE,
        start_new_session=True,
        cwd=REPOSITORY,
    )
    assert process.stdout.readline() == b"ready\n"
    # Both are in the terminal's group, and the parent needs a moment to leave the signal alone.
    time.sleep(0.5)
    os.killpg(process.pid, signal.SIGINT)

    assert process.wait(30) == 5
