"""`attend check` where there is no jail, no fork and no Unix socket: the same words as on Linux, only slower.

Each command runs in a virtual environment of its own whose interpreters, the learners' processes too, begin with
`sitecustomize.py`: it takes away what Python does not have on Windows.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
ATTEND = "from autograder.cli import main; main()"
WRONG = {
    "softmax": """
import os
import numpy as np

def softmax(scores, axis=-1, temperature=1.0):
    print("here")
    if temperature <= 0:
        os._exit(3)
    exponentials = np.exp(scores / temperature)
    return exponentials / exponentials.sum(axis=axis, keepdims=True)
""",
    "attention": """
import torch

def attention(query, key, value, allowed=None):
    if query.shape[-1] != key.shape[-1]:
        raise ValueError("query")
    scores = query @ key.transpose(-2, -1)
    if allowed is not None:
        scores = scores.masked_fill(allowed, -torch.inf)
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights
""",
}


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory):
    """Give the python of a virtual environment that believes to be on another system, and finds the kit."""
    venv = tmp_path_factory.mktemp("elsewhere")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True)
    python = venv / "bin" / "python"
    ask = "import sysconfig; print(sysconfig.get_path('purelib'))"
    site_packages = Path(subprocess.run([python, "-c", ask], capture_output=True, text=True, check=True).stdout.strip())
    for entry in Path(sysconfig.get_path("purelib")).iterdir():
        if entry.suffix != ".pth" and not (site_packages / entry.name).exists():
            (site_packages / entry.name).symlink_to(entry)
    shutil.copy(Path(__file__).with_name("sitecustomize.py"), site_packages)
    (site_packages / "kit.pth").write_text(f"{REPOSITORY}\n")
    return python


def attend(python, *arguments, code=ATTEND, **environment):
    keep = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "LC_", "LANG"))}
    return subprocess.run(
        [python, "-c", code, *map(str, arguments)],
        cwd=REPOSITORY,
        env={**keep, "LC_ALL": "C.UTF-8", "COLUMNS": "100", **environment},
        capture_output=True,
        timeout=300,
    )


def lacks(python, name):
    module, _, attribute = name.partition(":")
    code = f"import {module}" + (f"; {module}.{attribute}" if attribute else "")
    return subprocess.run([python, "-I", "-c", code], capture_output=True).returncode != 0


@pytest.mark.parametrize(
    "name", ["landlock", "pyseccomp", "resource", "fcntl", "os:fork", "signal:SIGKILL", "socket:AF_UNIX", "os:killpg"]
)
def test_there_is_nothing_of_linux_elsewhere(elsewhere, name):
    assert not lacks(sys.executable, name)
    assert lacks(elsewhere, name)


@pytest.mark.parametrize(
    ("exercise", "answer"), [("softmax", "right"), ("softmax", "wrong"), ("attention", "right"), ("attention", "wrong")]
)
def test_a_check_says_the_same_everywhere(elsewhere, tmp_path, exercise, answer):
    solution = REPOSITORY / "solutions" / f"{exercise}.py"
    text = solution.read_text(encoding="utf-8") if answer == "right" else WRONG[exercise]
    (tmp_path / f"{exercise}.py").write_text(text, encoding="utf-8")
    here = attend(sys.executable, "check", exercise, "--in", tmp_path)
    there = attend(elsewhere, "check", exercise, "--in", tmp_path)
    assert there.stdout.decode() == here.stdout.decode()
    assert there.returncode == here.returncode == (0 if answer == "right" else 1)
    assert b"checks passed" in there.stdout
    assert b"Traceback" not in there.stderr


def test_a_loop_that_never_ends_is_stopped_without_a_fork_server(elsewhere, tmp_path):
    (tmp_path / "causal_mask.py").write_text("def causal_mask(n_queries, n_keys=None):\n    while True: pass\n")
    course = tmp_path / "course.toml"
    text = (REPOSITORY / "course.toml").read_text(encoding="utf-8").replace("call_seconds = 10", "call_seconds = 1")
    paths = {name: f'"{(REPOSITORY / path).as_posix()}"' for name, path in PATHS.items()}
    for name, path in PATHS.items():
        text = text.replace(f'{name} = "{path}"', f"{name} = {paths[name]}")
    course.write_text(text, encoding="utf-8")
    there = attend(elsewhere, "check", "causal_mask", "--in", tmp_path, "--course", course)
    assert "(timed out)" in there.stdout.decode()
    assert "two checks before it ran out of time" in there.stdout.decode()
    assert there.returncode == 1


PATHS = {
    "exercises": "exercises",
    "solutions": "solutions",
    "suites": "autograder/suites",
    "faults": "autograder/faults",
    "variants": "tests/variants",
}


def test_grading_strangers_is_refused_by_name_where_there_is_no_jail(elsewhere, tmp_path):
    (tmp_path / "class" / "li").mkdir(parents=True)
    shutil.copy(REPOSITORY / "solutions" / "causal_mask.py", tmp_path / "class" / "li")
    there = attend(elsewhere, "grade", tmp_path / "class", "--out", tmp_path / "out", "--no-gradebook")
    assert there.returncode == 2
    assert there.stderr.decode().splitlines()[-1].startswith("attend: the jail is not complete on this machine")


@pytest.mark.parametrize("arguments", [[], ["hint", "softmax", "--lang", "zh"], ["check", "softmax"]])
def test_a_console_that_cannot_show_a_letter_ends_no_command(elsewhere, tmp_path, arguments):
    folder = tmp_path / "exercises"
    folder.mkdir()
    (folder / "softmax.py").write_text(WRONG["softmax"].replace("here", "遮罩 → ∞"), encoding="utf-8")
    code = f"import os; os.chdir({str(tmp_path)!r}); {ATTEND}"
    extra = ["--course", REPOSITORY] if arguments else []
    there = attend(elsewhere, *arguments, *extra, code=code, PYTHONIOENCODING="cp1252", LC_ALL="C")
    assert b"Traceback" not in there.stderr
    assert there.returncode == (1 if "check" in arguments else 0)
    assert there.stdout


def test_files_are_read_as_utf8_whatever_the_system_takes_for_its_encoding(elsewhere, tmp_path):
    """Python tells of every file that is opened without an encoding; in the kit there is none."""
    folder = tmp_path / "exercises"
    folder.mkdir()
    (folder / "softmax.py").write_text(WRONG["softmax"].replace("here", "遮罩"), encoding="utf-8")
    for arguments in (["check", "softmax"], ["hint", "softmax", "--lang", "zh"], ["reset", "softmax"]):
        there = attend(
            elsewhere, *arguments, "--in", folder, "--course", REPOSITORY,
            PYTHONWARNDEFAULTENCODING="1", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0", LC_ALL="C",
        )  # fmt: skip
        assert there.returncode in (0, 1)
        warned = [line for line in there.stderr.decode().splitlines() if "EncodingWarning" in line]
        assert [line for line in warned if str(REPOSITORY / "autograder") in line] == []
