"""Try the learner's bundle as somebody who has nothing else: `./run python tests/release/try_bundle.py [--zip FILE]`.

The zip is unpacked into an empty folder, a new virtual environment is made there, the wheel is installed with all that
it needs, and the commands of its README are typed. Nothing of this repository is on the path. Ends with status 1, and
what was seen, where a step does not give what a learner should see.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

from autograder.course import load_course
from autograder.release.bundle import release_bundle

REPOSITORY = Path(__file__).resolve().parents[2]
NAMES_OF_PYTHON = ("PYTHON", "PIP_REQUIRE_VIRTUALENV", "VIRTUAL_ENV")


class Learner:
    """Somebody in a folder, with a terminal."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        kept = {name: value for name, value in os.environ.items() if not name.startswith(NAMES_OF_PYTHON)}
        self.environment = kept | {"LC_ALL": "C.UTF-8", "COLUMNS": "100"}

    def types(self, command: str, *, sees: str, status: int = 0, within: str = ".") -> str:
        """Run a command of the shell; end the trial where it does not end so, or does not show a text like `sees`."""
        started = time.monotonic()
        ended = subprocess.run(
            command, shell=True, cwd=self.folder / within, env=self.environment, capture_output=True, encoding="utf-8"
        )
        print(f"{time.monotonic() - started:6.1f} s  $ {command}", flush=True)
        if ended.returncode != status or not re.search(sees, ended.stdout):
            print(f"status {ended.returncode}, not {status}, or nothing like {sees!r} in\n{ended.stdout}{ended.stderr}")
            raise SystemExit(1)
        return ended.stdout

    def writes(self, module: str, text: str) -> None:
        """Save a module."""
        (self.folder / "exercises" / module).write_text(text, encoding="utf-8")


def try_bundle(archive: Path, folder: Path) -> None:
    """Go from the zip to a first passing check, in English and Chinese."""
    with zipfile.ZipFile(archive) as opened:
        opened.extractall(folder)
    (unpacked,) = folder.iterdir()
    learner = Learner(unpacked)
    install(learner)
    learner.types(".venv/bin/attend", sees=r"(?s)softmax +20 .*Next: softmax")
    learner.types(".venv/bin/attend check softmax", sees="not written yet", status=1)
    learner.types(".venv/bin/attend hint softmax --lang en", sees="(?s)hint 1 of .*[a-z]{4}")
    learner.types(".venv/bin/attend hint softmax --lang zh", sees="(?s)提示.*[\u4e00-\u9fff]{4}")
    stub = (unpacked / "exercises" / "softmax.py").read_text(encoding="utf-8")
    learner.writes("softmax.py", stub.replace("    raise NotImplementedError", FIRST_TRY))
    learner.types(
        ".venv/bin/attend check softmax",
        sees=r"(?s)large scores do not overflow\s+softmax\(\[1000\., 1001\.\]\)\s.*The contract says: The result is",
        status=1,
    )
    for name in ("softmax", "attention"):
        learner.writes(f"{name}.py", (REPOSITORY / "solutions" / f"{name}.py").read_text(encoding="utf-8"))
    learner.types(".venv/bin/attend check softmax", sees="softmax  11 of 11 checks passed")
    learner.types("../.venv/bin/attend check softmax attention", sees="2 of 2 exercises done", within="exercises")
    learner.types("LC_ALL=zh_CN.UTF-8 .venv/bin/attend check softmax", sees="softmax  11 项检查")
    learner.types("../.venv/bin/python -m pytest -q public_tests/test_softmax.py", sees="11 passed", within="exercises")
    learner.writes("softmax.py", f"print('seen')\n{(REPOSITORY / 'solutions' / 'softmax.py').read_text('utf-8')}")
    learner.types("../.venv/bin/python -m pytest -s public_tests/test_softmax.py", sees="seen", within="exercises")
    learner.types("""../.venv/bin/python -c 'from autograder.notebook import check; check("softmax.py")'""",
                  sees="softmax  11 of 11 checks passed", within="exercises")  # fmt: skip
    learner.types(".venv/bin/attend", sees="2 of 5 exercises done")
    learner.types(".venv/bin/attend reset softmax", sees="is the stub again")
    assert (unpacked / "exercises" / "softmax.py").read_text(encoding="utf-8") == stub


FIRST_TRY = """    if temperature <= 0:
        raise ValueError("temperature")
    exponentials = np.exp(scores / temperature)
    return exponentials / exponentials.sum(axis=axis, keepdims=True)"""


def install(learner: Learner) -> None:
    """Type the commands that the README gives for Linux, and see that nothing comes from this repository."""
    readme = (learner.folder / "README.md").read_text(encoding="utf-8")
    block = re.search(r"\*\*Linux\*\*\n\n```sh\n(.*?)```", readme, re.DOTALL)
    assert block, "the README has no commands for Linux"
    first, *others = block[1].splitlines()
    # The Python that runs this script stands for the one that a learner has.
    learner.types(first.replace("python3", shlex.quote(sys.executable), 1), sees="")
    for command in others:
        learner.types(command, sees="Successfully installed")
    where = "import autograder, sys; print(autograder.__file__, *sys.path, sep=chr(10))"
    seen = learner.types(f'.venv/bin/python -c "{where}"', sees="site-packages/autograder/__init__.py")
    assert str(REPOSITORY) not in seen, seen


def main() -> None:
    """Make the bundle, or take one that is there, and try it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--zip", type=Path, help="a bundle that was made already")
    given = parser.parse_args().zip
    with TemporaryDirectory() as scratch:
        archive = given or Path(scratch, "bundle.zip")
        if given is None:
            print(release_bundle(load_course(REPOSITORY), Path(scratch, "bundle"), zipped=True))
        Path(scratch, "unpacked").mkdir()
        try_bundle(archive, Path(scratch, "unpacked"))
    print("from the zip to a first passing check: done")


if __name__ == "__main__":
    main()
