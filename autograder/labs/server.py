"""`attend lab`: JupyterLab, opened where the notebooks of a language are."""

from __future__ import annotations

import importlib.util
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from autograder.labs.errors import LabError
from autograder.language import say


def open_labs(exercises: Path, language: str, options: Sequence[str] = ()) -> int:
    """Run JupyterLab until it ends, and give its exit status; `options` are passed to it as they are.

    Its files begin at the learner's folder, so that one's own modules can be edited beside the notebooks.
    Raises LabError where there are no labs in the language, or JupyterLab is not installed.
    """
    require_labs(exercises, language)
    require_jupyterlab(language, exercises.resolve().parent)
    process = subprocess.Popen(command(exercises, language, options))
    # Ctrl-C is JupyterLab's to answer: it asks whether it is meant, and ends its kernels.
    answered = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        return process.wait()
    finally:
        signal.signal(signal.SIGINT, answered)


def labs_folder(chosen: Path | None, exercises: Path) -> Path:
    """Give the folder that holds `labs/`: the chosen one, else this one or its `exercises`, else the course's own."""
    near = [chosen] if chosen else [Path.cwd(), Path.cwd() / "exercises"]
    return next((folder for folder in near if (folder / "labs").is_dir()), chosen or exercises)


def command(exercises: Path, language: str, options: Sequence[str]) -> list[str]:
    """Give the command that opens the labs of a language; later options win, so a user's come last."""
    opened = [
        f"--ServerApp.root_dir={exercises.resolve()}",
        f"--LabApp.default_url=/lab/tree/labs/{language}",
        # Nothing that is done here is for anybody else to know.
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
        "--LabApp.news_url=None",
    ]
    return [sys.executable, "-m", "jupyterlab", *opened, *options]


def require_labs(exercises: Path, language: str) -> None:
    """Raise LabError where there are no notebooks to open."""
    folder = exercises / "labs" / language
    if not any(folder.glob("*.ipynb")):
        line = say("{folder} holds no notebooks; go to the folder of the course, or name it with --in", folder=folder)
        raise LabError(line, language)


def require_jupyterlab(language: str, bundle: Path) -> None:
    """Raise LabError where what the notebooks are opened with is not installed.

    In the folder of a `bundle` the line names the command of its README: nowhere else is there a kit to be had.
    """
    missing = [name for name in ("jupyterlab", "ipywidgets", "matplotlib") if importlib.util.find_spec(name) is None]
    if not missing:
        return
    names = ", ".join(missing)
    wheel = next(bundle.glob("attention_by_hand-*.whl"), None)
    if wheel is None:
        raise LabError(say("the labs need {missing}; pip install 'attention-by-hand[lab]'", missing=names), language)
    python = Path(sys.executable)
    shown = python.relative_to(bundle) if python.is_relative_to(bundle) else python
    command = f'{shown} -m pip install -c constraints.txt "./{wheel.name}[lab]"'
    raise LabError(
        say("the labs need {missing}; in {folder} type: {command}", missing=names, folder=bundle, command=command),
        language,
    )
