"""The `run` script: makes the environment once, repairs it, and then gets out of the way.

A stand-in for Python and pip, written in sh, keeps these tests fast; everything else is the real script.
"""

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

RUN = Path(__file__).parents[1] / "run"
TOOLS = ("sh", "cat", "chmod", "cksum", "cp", "dirname", "head", "mkdir", "mv", "rm", "tail", "touch")
# Tells its version, makes environments, and as pip writes down what it was asked to install and makes one command.
PYTHON = """#!/bin/sh
home={home}
if [ "$1" = -I ]; then
    echo "{version} $0"
    exit {status}
fi
case "$2" in
    venv) echo "venv" >>"$home/log"; mkdir -p "$3/bin"; cp "$0" "$3/bin/python" ;;
    pip)
        [ "$3" = install ] || {{ [ -e "${{0%/*}}/pip" ]; exit; }}
        echo "pip $*" >>"$home/log"
        [ ! -e "$home/slow" ] || while [ -e "$home/slow" ]; do touch "$home/started"; sleep 1; done
        if [ -e "$home/fail" ]; then cat "$home/fail"; exit 1; fi
        printf '#!/bin/sh\\nfor each; do printf "<%%s>" "$each"; done\\n' >"${{0%/*}}/show"
        touch "${{0%/*}}/pip"
        cp "${{0%/*}}/show" "${{0%/*}}/fails"; echo "exit 7" >>"${{0%/*}}/fails"
        printf '#!/bin/sh\\npwd\\n' >"${{0%/*}}/where"
        printf '#!/bin/sh\\ncat\\n' >"${{0%/*}}/echo-input"
        chmod +x "${{0%/*}}"/* ;;
esac
"""


def restore_interrupt() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Kit:
    """A folder with the script, and a PATH that holds a few tools and whatever Pythons a test puts there."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.root = home / "the kit"
        self.path = home / "bin"
        self.root.mkdir()
        self.path.mkdir()
        shutil.copy(RUN, self.root / "run")
        (self.root / "pyproject.toml").write_text("[project]\n")
        (self.root / "constraints.txt").write_text("torch==2.13.0\n")
        for tool in TOOLS:
            os.symlink(shutil.which(tool) or tool, self.path / tool)
        self.script("sleep", f"#!/bin/sh\nexec {shutil.which('sleep')} 0.05\n")

    def script(self, name: str, text: str) -> Path:
        file = self.path / name
        file.write_text(text)
        file.chmod(0o755)
        return file

    def python(self, name: str = "python3", version: str = "3.12.4", status: int = 0) -> Path:
        return self.script(name, PYTHON.format(home=f"'{self.home}'", version=version, status=status))

    def start(self, *arguments: str, cwd: Path | None = None, stdin: int = subprocess.DEVNULL) -> subprocess.Popen:
        return subprocess.Popen(
            [str(self.root / "run"), *arguments],
            cwd=cwd or self.root,
            env={"PATH": str(self.path)},
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            # Whoever runs these tests in the background ignores it, and so would the process.
            preexec_fn=restore_interrupt,
        )

    def run(self, *arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess:
        process = self.start(*arguments, cwd=cwd)
        out, err = process.communicate(timeout=30)
        return subprocess.CompletedProcess(arguments, process.returncode, out, err)

    @property
    def log(self) -> list[str]:
        """What was made and installed so far."""
        file = self.home / "log"
        return file.read_text().splitlines() if file.exists() else []

    @property
    def steps(self) -> list[str]:
        return [line.split()[0] for line in self.log]


@pytest.fixture
def kit(tmp_path: Path) -> Kit:
    return Kit(tmp_path)


@pytest.fixture
def ready(kit: Kit) -> Kit:
    kit.python()
    assert kit.run("show").returncode == 0
    (kit.home / "log").unlink()
    return kit


def wait_until(condition) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_the_first_use_makes_the_environment_and_installs_the_kit_against_the_constraints(kit: Kit):
    kit.python()
    result = kit.run("show", "done")
    assert result.stdout == "<done>"
    assert kit.steps == ["venv", "pip"]
    assert kit.log[1].endswith("-c constraints.txt -e .[lab,grade,cluster,dev]")


def test_the_first_use_says_in_one_line_what_it_does_and_that_it_takes_minutes(kit: Kit):
    python = kit.python(version="3.12.4")
    result = kit.run("show")
    assert result.stderr == f"run: making .venv with Python 3.12.4 ({python}); the first time takes a few minutes\n"


def test_the_second_use_only_runs_the_command(ready: Kit):
    result = ready.run("show", "again")
    assert (result.stdout, result.stderr) == ("<again>", "")
    assert ready.steps == []


@pytest.mark.parametrize("file", ["pyproject.toml", "constraints.txt"])
def test_a_changed_description_is_installed_into_the_same_environment(ready: Kit, file: str):
    (ready.root / file).write_text("changed\n")
    assert ready.run("show").stderr == "run: bringing .venv up to date; this may take a few minutes\n"
    assert ready.steps == ["pip"]
    assert ready.run("show").stderr == ""


def test_another_python_behind_the_environment_makes_it_anew(ready: Kit):
    python = ready.root / ".venv" / "bin" / "python"
    python.write_text(python.read_text().replace("3.12.4", "3.13.1"))
    assert ready.run("show").returncode == 0
    assert ready.steps == ["venv", "pip"]


def test_a_python_that_has_gone_makes_the_environment_anew(ready: Kit):
    (ready.root / ".venv" / "bin" / "python").unlink()
    assert ready.run("show", "x").stdout == "<x>"
    assert ready.steps == ["venv", "pip"]


def test_a_folder_that_was_moved_makes_the_environment_anew(ready: Kit):
    # The commands in .venv/bin name the old folder.
    ready.root = ready.root.rename(ready.home / "moved")
    assert ready.run("show").returncode == 0
    assert ready.steps == ["venv", "pip"]


def test_an_environment_that_someone_else_made_is_added_to(kit: Kit):
    kit.python()
    own = kit.root / ".venv" / "bin"
    own.mkdir(parents=True)
    shutil.copy(kit.path / "python3", own / "python")
    (own / "pip").touch()
    (own / "their-tool").touch()
    assert kit.run("show", "x").stdout == "<x>"
    assert kit.steps == ["pip"]
    assert (own / "their-tool").exists()


def test_shims_that_do_not_work_are_passed_over(kit: Kit):
    kit.script("python3", "#!/bin/sh\necho 'pyenv: python3: command not found' >&2\nexit 127\n")
    kit.script("python3.13", "#!/bin/sh\necho hello\n")
    python = kit.python("python3.12")
    assert f"({python})" in kit.run("show").stderr


def test_pythons_that_are_too_old_or_too_new_are_passed_over(kit: Kit):
    kit.python("python3", version="3.9.2", status=3)
    kit.python("python3.13", version="3.14.0", status=3)
    python = kit.python("python", version="3.11.9")
    assert f"({python})" in kit.run("show").stderr


def test_unfit_pythons_are_named_when_there_is_no_other(kit: Kit):
    kit.python("python3", version="3.9.2", status=3)
    kit.python("python", version="3.14.0", status=3)
    result = kit.run("show")
    assert result.returncode == 1
    assert result.stderr == (
        "run: needs Python 3.11 to 3.13, but python3 is 3.9.2; python is 3.14.0; install one of these and try again\n"
    )


def test_no_python_at_all_is_one_clear_line(kit: Kit):
    result = kit.run("show")
    assert result.returncode == 1
    assert result.stderr == (
        "run: needs Python 3.11 to 3.13, and there is no Python on the PATH; install one and try again\n"
    )


def test_a_python_without_ensurepip_is_one_clear_line(kit: Kit):
    python = kit.python(status=4)
    result = kit.run("show")
    assert result.returncode == 1
    assert result.stderr == (
        f"run: {python} cannot make virtual environments (on Debian and Ubuntu: apt install python3-venv)\n"
    )


def test_a_python_without_ensurepip_is_passed_over_when_there_is_another(kit: Kit):
    kit.python(status=4)
    python = kit.python("python3.11", version="3.11.9")
    assert f"({python})" in kit.run("show").stderr


def test_a_failed_install_shows_the_end_of_its_log_and_stops(kit: Kit):
    kit.python()
    (kit.home / "fail").write_text("".join(f"line {number}\n" for number in range(1, 41)))
    result = kit.run("show")
    assert (result.returncode, result.stdout) == (1, "")
    lines = result.stderr.splitlines()
    assert lines[1:-1] == [f"line {number}" for number in range(21, 41)]
    log = kit.root / ".venv" / "set-up.log"
    assert lines[-1] == f"run: the set-up failed; above is the end of {log}. The next ./run tries again"


def test_a_failed_install_is_repaired_by_the_next_use(kit: Kit):
    kit.python()
    (kit.home / "fail").write_text("no network\n")
    kit.run("show")
    (kit.home / "fail").unlink()
    assert kit.run("show", "x").stdout == "<x>"
    assert kit.steps == ["venv", "pip", "venv", "pip"]


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_set_up_is_repaired_by_the_next_use(kit: Kit, ending: signal.Signals):
    kit.python()
    (kit.home / "slow").touch()
    process = kit.start("show")
    wait_until((kit.home / "started").exists)
    os.killpg(process.pid, ending)
    process.communicate(timeout=30)
    assert process.returncode != 0
    (kit.home / "slow").unlink()
    assert kit.run("show", "x").stdout == "<x>"
    assert kit.steps == ["venv", "pip", "venv", "pip"]
    assert not (kit.root / ".venv.lock").exists()


def test_a_lock_whose_holder_never_wrote_its_name_is_taken_over(kit: Kit):
    kit.python()
    (kit.root / ".venv.lock").mkdir()
    assert kit.run("show", "x").stdout == "<x>"
    assert not (kit.root / ".venv.lock").exists()


def test_two_at_once_set_up_once(kit: Kit):
    kit.python()
    (kit.home / "slow").touch()
    first = kit.start("show", "first")
    wait_until((kit.home / "started").exists)
    second = kit.start("show", "second")
    assert second.stderr is not None
    assert second.stderr.readline().startswith("run: another ./run is setting up .venv; waiting for it")
    (kit.home / "slow").unlink()
    assert first.communicate(timeout=30)[0] == "<first>"
    assert second.communicate(timeout=30)[0] == "<second>"
    assert kit.steps == ["venv", "pip"]


def test_many_that_find_the_same_dead_lock_set_up_once(kit: Kit):
    kit.python()
    (kit.root / ".venv.lock").mkdir()
    ended = subprocess.Popen(["true"])
    ended.wait()
    (kit.root / ".venv.lock" / "pid").write_text(f"{ended.pid}\n")
    processes = [kit.start("show", "x") for _ in range(6)]
    assert [process.communicate(timeout=30)[0] for process in processes] == ["<x>"] * 6
    assert kit.steps == ["venv", "pip"]


def test_arguments_arrive_exactly(ready: Kit):
    arguments = ["a b", "", "*", '"q"', "$HOME", "`x`", "-x", "--", "back\\slash", "two\nlines", "亲手"]
    assert ready.run("show", *arguments).stdout == "".join(f"<{argument}>" for argument in arguments)


def test_the_exit_status_is_passed_on(ready: Kit):
    assert ready.run("fails").returncode == 7


def test_the_callers_folder_is_kept(ready: Kit):
    elsewhere = ready.home / "else where"
    elsewhere.mkdir()
    assert ready.run("where", cwd=elsewhere).stdout == f"{elsewhere.resolve()}\n"


def test_the_set_up_leaves_the_commands_input_alone(kit: Kit):
    kit.python()
    process = kit.start("echo-input", stdin=subprocess.PIPE)
    assert process.communicate("typed\n", timeout=30)[0] == "typed\n"


def test_commands_from_the_path_find_the_environment_first(ready: Kit):
    result = ready.run("sh", "-c", 'echo "$VIRTUAL_ENV"; command -v show')
    venv = ready.root / ".venv"
    assert result.stdout == f"{venv}\n{venv / 'bin' / 'show'}\n"


def test_an_unknown_command_is_one_clear_line(ready: Kit):
    result = ready.run("atend")
    assert (result.returncode, result.stderr) == (127, "run: there is no command named atend\n")


def test_run_alone_prints_its_usage_and_sets_nothing_up(kit: Kit):
    result = kit.run()
    assert result.returncode == 2
    assert result.stderr.startswith("usage: ./run COMMAND [ARGUMENT ...]\n")
    assert not (kit.root / ".venv").exists()


def test_help_is_usage_too(kit: Kit):
    result = kit.run("--help")
    assert result.returncode == 0
    assert result.stdout.startswith("usage: ./run COMMAND [ARGUMENT ...]\n")
