"""What the kit looks like once it is installed: what learners get, and what they must not get."""

import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from autograder.course import load_course
from autograder.release.learner_course import learner_course

REPOSITORY = Path(__file__).parents[1]
HEAVY = ("torch", "numpy", "pytest", "nbgrader", "scipy", "hypothesis", "matplotlib", "ipywidgets", "jupyterlab")


def built(kind: str, folder: Path) -> zipfile.ZipFile:
    """The archive that the build backend makes, as pip asks it to."""
    build = f"import hatchling.build as backend, sys; print(backend.build_{kind}(sys.argv[1]))"
    result = subprocess.run(
        [sys.executable, "-c", build, str(folder)], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    return zipfile.ZipFile(folder / result.stdout.strip())


def loaded_by(code: str) -> set[str]:
    """The top-level modules in memory after `code` ran in a fresh interpreter."""
    report = "import sys; print('loaded', *sorted({name.partition('.')[0] for name in sys.modules}))"
    result = subprocess.run(
        [sys.executable, "-c", f"{code}\n{report}"], capture_output=True, text=True, check=True, cwd=REPOSITORY
    )
    return set(result.stdout.splitlines()[-1].split())


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    return built("wheel", tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def folders(wheel: zipfile.ZipFile) -> set[str]:
    return {"/".join(Path(name).parts[:2]) for name in wheel.namelist()}


def test_the_wheel_holds_the_program_and_nothing_else(wheel: zipfile.ZipFile):
    tops = {Path(name).parts[0] for name in wheel.namelist()}
    assert tops == {"autograder", "attention_by_hand-0.1.0.dist-info"}


@pytest.mark.parametrize("part", ["cli.py", "sandbox", "outputs", "release", "locale"])
def test_the_wheel_holds_what_a_learner_needs(folders: set[str], part: str):
    assert f"autograder/{part}" in folders


@pytest.mark.parametrize(
    "part",
    [
        "autograder/suites",
        "autograder/faults",
        "autograder/skeleton",
        "autograder/stand_ins",
        "solutions",
        "tests",
        "exercises",
    ],
)
def test_the_wheel_leaves_out_what_gives_answers_away(folders: set[str], wheel: zipfile.ZipFile, part: str):
    assert part not in folders
    assert not [name for name in wheel.namelist() if part.rpartition("/")[2] in Path(name).parts]


def test_the_wheel_holds_the_templates_and_catalogues(wheel: zipfile.ZipFile):
    names = set(wheel.namelist())
    assert {"autograder/outputs/html/templates/learner.html.j2", "autograder/outputs/html/templates/style.css"} <= names
    assert "autograder/locale/zh/pages.po" in names


def test_no_region_of_a_solution_is_in_the_wheel(wheel: zipfile.ZipFile):
    packed = [wheel.read(name).decode() for name in wheel.namelist()]
    for solution in (REPOSITORY / "solutions").glob("*.py"):
        openings = solution.read_text().split("### BEGIN SOLUTION")[1:]
        regions = [text.partition("### END SOLUTION")[0] for text in openings]
        assert regions
        assert not [region for region in regions for text in packed if region.strip() in text]


@pytest.mark.parametrize(
    "module", ["labs.own_code", "labs.lab", "labs.library", "notebook", "tried", "watch", "witness", "public_server"]
)
def test_what_a_learner_starts_needs_nothing_that_the_wheel_leaves_out(
    wheel: zipfile.ZipFile, tmp_path: Path, module: str
):
    wheel.extractall(tmp_path)
    code = f"import autograder.{module}, autograder.outputs.watch; print(autograder.__file__)"
    result = subprocess.run(
        [sys.executable, "-P", "-c", code],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
    )
    assert result.stderr == ""
    assert result.stdout.strip() == str(tmp_path / "autograder" / "__init__.py")


def test_the_wheel_brings_the_licence(wheel: zipfile.ZipFile):
    name = "attention_by_hand-0.1.0.dist-info/licenses/LICENSE"
    assert wheel.read(name) == (REPOSITORY / "LICENSE").read_bytes()


def test_the_wheel_makes_the_command(wheel: zipfile.ZipFile):
    entry_points = wheel.read("attention_by_hand-0.1.0.dist-info/entry_points.txt").decode()
    assert entry_points == "[console_scripts]\nattend = autograder.cli:main\n"


def test_an_editable_install_puts_a_path_into_site_packages_and_no_code(tmp_path: Path):
    archive = built("editable", tmp_path)
    names = [name for name in archive.namelist() if ".dist-info/" not in name]
    assert names == ["_attention_by_hand.pth"]
    assert archive.read(names[0]).decode().strip() == str(REPOSITORY)


def test_every_direct_dependency_is_pinned_in_the_constraints():
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
    groups = [project["project"]["dependencies"], *project["project"]["optional-dependencies"].values()]
    wanted = {requirement.partition(">=")[0] for group in groups for requirement in group}
    lines = (REPOSITORY / "constraints.txt").read_text().splitlines()
    pinned = {line.partition("==")[0] for line in lines if not line.startswith("#")}
    assert pinned == wanted


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["pages", "--help"],
        *([command, "--help"] for command in ("grade", "check", "hint", "reset", "solution", "release", "new", "lab")),
    ],
)
def test_help_loads_nothing_heavy(arguments: list[str]):
    code = (
        f"import sys; sys.argv = ['attend', *{arguments!r}]\n"
        "from autograder.cli import main\n"
        "try:\n"
        "    main()\n"
        "except SystemExit as end:\n"
        "    assert not end.code, end.code\n"
    )
    assert loaded_by(code).isdisjoint(HEAVY)


def test_the_course_at_a_glance_loads_nothing_heavy():
    code = "from autograder.cli import run; assert run([]) == 0"
    assert loaded_by(code).isdisjoint(HEAVY)


def test_reading_the_course_loads_nothing_heavy():
    code = "from autograder.course import find_course, load_course; load_course(find_course())"
    assert loaded_by(code).isdisjoint(HEAVY)


@pytest.fixture(scope="module")
def learner(wheel: zipfile.ZipFile, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as learners have it, beside one with what the wheel installs."""
    folder = tmp_path_factory.mktemp("learner")
    wheel.extractall(folder / "installed")
    shutil.copytree(REPOSITORY / "exercises", folder / "course" / "exercises")
    (folder / "course" / "course.toml").write_text(learner_course(load_course(REPOSITORY), ("en", "zh")), "utf-8")
    return folder


def typed(learner: Path, code: str) -> subprocess.CompletedProcess[str]:
    """What Python says in the learner's folder, where nothing of the repository is on the path."""
    return subprocess.run(
        [sys.executable, "-P", "-c", code],
        capture_output=True,
        encoding="utf-8",
        cwd=learner / "course",
        env=os.environ | {"PYTHONPATH": str(learner / "installed"), "COLUMNS": "200"},
    )


def test_a_notebook_checks_with_nothing_but_what_is_installed(learner: Path):
    ended = typed(learner, "from autograder.notebook import check; check('causal_mask', 'en')")
    assert ended.stderr == ""
    assert "causal_mask  0 of 8 checks passed" in ended.stdout


def test_a_command_for_those_who_teach_says_in_one_line_that_it_cannot_be_had_here(learner: Path):
    for arguments in (["verify"], ["--lang", "en", "verify"], ["grade", ".", "--course", "course.toml"]):
        ended = typed(learner, f"from autograder.cli import run; raise SystemExit(run({arguments!r}))")
        assert ended.stderr == (
            "attend: this needs the repository of the course; what is installed here is the learners' copy\n"
        )
        assert ended.returncode == 2
