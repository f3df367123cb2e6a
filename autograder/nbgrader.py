"""`nbgrader autograde` without a kernel: what it would have run is marked in the jail.

    from autograder.nbgrader import grade_in_jail
    grade_in_jail(c)

at the end of an nbgrader_config.py puts `InJail` in the place of nbgrader's `Execute`. What comes after it stays
nbgrader's: limits of output, saved grades, penalties, checks of metadata. Notebooks without cells of this kit, other
assignments of the same course, are executed as ever. Whether a notebook is one of this kit's is told by what
`generate_assignment` put into the gradebook, never by the learner's copy.

How nbgrader reads points (`nbgrader.utils.determine_grade`): a value is partial credit; an error, or anything on
stderr, is zero; no output is full marks. So each of this kit's grade cells gets a value, also where it was deleted.

Exceptions:
    NotGraded   a notebook that could not be graded; nbgrader then keeps no marks of this run, and says so
"""

from __future__ import annotations

import shutil
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import nbformat
from filelock import FileLock, Timeout
from nbconvert.exporters import NotebookExporter
from nbformat.notebooknode import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from nbgrader.api import Gradebook, MissingEntry, SourceCell
from nbgrader.converters.autograde import Autograde
from nbgrader.preprocessors import Execute, NbGraderPreprocessor
from traitlets import Bool, Unicode
from traitlets.config import Config

from autograder.course import meant_course
from autograder.language import Phrase, said_by
from autograder.notebooks import NotebookError
from autograder.notebooks.bench import Bench, BenchError, Mark, Task
from autograder.notebooks.cells import module_of
from autograder.notebooks.reading import code_cells, from_nodes
from autograder.notebooks.source import call_of, shown_part
from autograder.outputs.text import number, visible

LOCK = ".autograding.lock"
# In the metadata of a notebook that stands for one that could not be read, why that was.
UNREADABLE = "attend_unreadable"

Resources = dict[str, Any]


class NotGraded(Exception):
    """A notebook could not be graded: one line that says why."""


def grade_in_jail(config: Config, course: str = "", *, trust: bool = False) -> None:
    """Have `nbgrader autograde` grade in the jail; `course` is the path of a course.toml that is not the kit's own."""
    chosen = config.Autograde
    graders = _listed(chosen, "autograde_preprocessors")
    chosen.autograde_preprocessors = [InJail if _is_execute(each) else each for each in graders]
    chosen.sanitize_preprocessors = [Mended, *_listed(chosen, "sanitize_preprocessors")]
    chosen.exporter_class = JailExporter
    config.InJail.course = course
    config.InJail.trust = trust


def _listed(config: Config, name: str) -> list[Any]:
    """Give what a course has configured, or nbgrader's own list."""
    configured = config.get(name)
    return list(configured if isinstance(configured, list) else getattr(Autograde, name).default())


def _is_execute(preprocessor: Any) -> bool:
    return preprocessor is Execute or (isinstance(preprocessor, str) and preprocessor.rpartition(".")[2] == "Execute")


class OurCells:
    """The cells of this kit in a notebook, as the gradebook has them: name -> source cell, check and points."""

    def __init__(self, resources: Mapping[str, Any]) -> None:
        place = resources["nbgrader"]
        self.learner = str(place["student"])
        self.notebook = str(place["notebook"])
        self.known: dict[str, NotebookNode] = {}
        self.checks: dict[str, tuple[str, str]] = {}
        self.exercises: set[str] = set()
        with Gradebook(place["db_url"]) as gradebook:
            try:
                notebook = gradebook.find_notebook(self.notebook, place["assignment"])
            except MissingEntry:
                return
            points = {cell.name: cell.max_score for cell in notebook.grade_cells}
            solutions = {cell.name for cell in notebook.solution_cells}
            for cell in notebook.source_cells:
                self._take(cell, points, cell.name in solutions)

    def _take(self, cell: SourceCell, points: Mapping[str, float], solution: bool) -> None:
        grade = cell.name in points
        told = {"schema_version": 3, "grade_id": cell.name, "grade": grade, "solution": solution, "task": False}
        told |= {"locked": cell.locked, "cell_type": cell.cell_type, "checksum": cell.checksum}
        told |= {"points": points[cell.name]} if grade else {}
        self.known[cell.name] = NotebookNode(source=cell.source, cell_type=cell.cell_type, told=told)
        called = call_of(cell.source) if grade and cell.cell_type == "code" else None
        if called:
            self.checks[cell.name] = called
            self.exercises.add(called[0])

    def __bool__(self) -> bool:
        return bool(self.checks)


class Mended(NbGraderPreprocessor):  # type: ignore[misc]
    """Takes from a learner's cells what nbgrader's metadata may not say, so that one cell does not cost all marks.

    A cell of another notebook costs its learner everything in nbgrader 0.9.6, and a cell that was copied ends the run
    for all learners that follow.
    """

    def preprocess(self, nb: NotebookNode, resources: Resources) -> tuple[NotebookNode, Resources]:
        """Give what the gradebook says to cells that it knows, and nothing to others."""
        ours = OurCells(resources)
        if ours:
            left = dict(ours.known)
            # From the end: of several cells with one grade_id the last one counts.
            for cell in reversed(nb.cells):
                self._mend(cell, left)
        return nb, resources

    def _mend(self, cell: NotebookNode, left: dict[str, NotebookNode]) -> None:
        told = cell.metadata.pop("nbgrader", None)
        grade_id = told.get("grade_id") if isinstance(told, dict) else None
        known = left.pop(grade_id, None) if isinstance(grade_id, str) else None
        if known is not None:
            cell.metadata["nbgrader"] = NotebookNode(known.told)
        elif grade_id:
            shown = visible(str(grade_id))
            self.log.warning("Cell '%s' is there again or none of this notebook's, and counts as a plain one", shown)


class InJail(Execute):  # type: ignore[misc]
    """Stands in for nbgrader's `Execute`: solution cells are graded in the jail, and no kernel is started."""

    course = Unicode("", help="The course.toml to grade by; empty: the kit's own.").tag(config=True)
    trust = Bool(False, help="Grade also where a layer of the jail is missing.").tag(config=True)

    def preprocess(
        self, nb: NotebookNode, resources: Resources | None = None, km: Any = None
    ) -> tuple[NotebookNode, Resources]:
        """Write into each grade cell what it earned; a notebook of another course is executed by nbgrader."""
        resources = resources or {}
        ours = OurCells(resources)
        if not ours:
            return cast("tuple[NotebookNode, Resources]", super().preprocess(nb, resources, km))
        marks: dict[tuple[str, str], Mark] = {}
        for exercise in sorted(ours.exercises):
            graded = self._graded(nb, exercise, ours.learner)
            marks |= {(exercise, check): mark for check, mark in graded.items()}
        nb.cells = [*nb.cells, *self._deleted(nb, ours)]
        for cell in nb.cells:
            self._write(cell, ours, marks)
        return nb, resources

    def _graded(self, nb: NotebookNode, exercise: str, learner: str) -> Mapping[str, Mark]:
        chosen = meant_course(self.course).exercise(exercise)
        problem: Phrase | str = str(nb.metadata.get(UNREADABLE, ""))
        extract = module_of(from_nodes(nb.cells), chosen.functions, f"{exercise}.ipynb")
        for note in extract.notes:
            self.log.warning("%s, %s: %s", learner, exercise, visible(note))
        task = Task(learner, exercise, extract.source, problem or extract.problem)
        try:
            bench = self.parent.bench if isinstance(self.parent, JailExporter) else None
            if bench is not None:
                return bench(self.course, self.trust).grade(task)
            with Bench(self.course, trust=self.trust) as own:
                return own.grade(task)
        except BenchError as error:
            raise NotGraded(f"{exercise} of {learner} is not graded: {error}") from None

    def _deleted(self, nb: NotebookNode, ours: OurCells) -> list[NotebookNode]:
        """Make the grade cells again that the learner deleted."""
        there = {cell.metadata.get("nbgrader", {}).get("grade_id") for cell in nb.cells}
        made = []
        for name in ours.known.keys() - there:
            known = ours.known[name]
            if known.told["grade"] and known.cell_type == "code":
                metadata = {"nbgrader": NotebookNode(known.told), "deletable": False, "editable": False}
                made.append(new_code_cell(known.source, metadata=metadata))
        return sorted(made, key=lambda cell: list(ours.known).index(cell.metadata.nbgrader.grade_id))

    def _write(self, cell: NotebookNode, ours: OurCells, marks: Mapping[tuple[str, str], Mark]) -> None:
        """Write the output of a cell, as nbgrader reads points."""
        if cell.cell_type != "code":
            return
        cell.outputs, cell.execution_count = [], None
        told = cell.metadata.get("nbgrader", {})
        known = ours.known.get(told.get("grade_id"))
        if known is None or not known.told["grade"] or known.told["solution"]:
            return
        # Learners read this in their feedback, and have not seen what stands between the marks.
        cell.source = shown_part(known.source)
        worth = float(known.told["points"])
        mark = marks.get(ours.checks[told.grade_id]) if told.grade_id in ours.checks else None
        if mark is None:
            cell.outputs = _not_run(told.grade_id, worth)
        else:
            cell.outputs = _earned(mark, worth)


class JailExporter(NotebookExporter):
    """Lives as long as one run of `nbgrader autograde`, and holds what its notebooks share: the grading process.

    It begins with what an earlier run left half done, which nbgrader would take for finished.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)  # type: ignore[no-untyped-call]
        self._benches: dict[tuple[str, bool], Bench] = {}
        # nbgrader has no word for the end of a run; in the formgrader's server it is not the end of the process.
        weakref.finalize(self, _close, self._benches)
        if isinstance(self.parent, Autograde):
            self._lock = _begin_anew(self.parent)

    def bench(self, course: str, trust: bool) -> Bench:
        """Give the grading process of a course, which ends with this run."""
        if (course, trust) not in self._benches:
            self._benches[course, trust] = Bench(course, trust=trust)
        return self._benches[course, trust]

    def from_filename(self, filename: str, resources: Resources | None = None, **more: Any) -> tuple[Any, Resources]:
        """Read a notebook, and put one that says why in the place of one that cannot be read."""
        try:
            nbformat.read(filename, as_version=4)
        except Exception:
            ours = OurCells(resources or {})
            if not ours:
                raise
            return self.from_notebook_node(_stand_in(Path(filename), ours), resources)  # type: ignore[no-untyped-call,no-any-return]
        return super().from_filename(filename, resources=resources, **more)


def _close(benches: Mapping[Any, Bench]) -> None:
    for bench in benches.values():
        bench.close()


def _begin_anew(autograde: Autograde) -> FileLock | None:
    """Take away what a run that was killed left behind, unless another run is at it right now."""
    root = Path(autograde.coursedir.root)
    lock = FileLock(root / LOCK)
    try:
        lock.acquire(timeout=0)
    except (Timeout, OSError):
        autograde.log.warning("Another run is autograding in %s, so nothing is taken for half done", root)
        return None
    for submitted in autograde.assignments:
        learner, assignment = Path(submitted).parent.name, Path(submitted).name
        folder = root / autograde._format_dest(assignment, learner)
        if folder.is_dir() and _is_half_done(autograde, learner, assignment, folder):
            autograde.log.warning("%s is half done, and is graded again", folder)
            shutil.rmtree(folder)
    return lock


def _is_half_done(autograde: Autograde, learner: str, assignment: str, folder: Path) -> bool:
    """Say whether a notebook of this kit's is missing there, broken, or has a grade cell without an output."""
    submitted = Path(autograde.coursedir.root) / autograde.coursedir.format_path(
        autograde.coursedir.submitted_directory, learner, assignment
    )
    for path in sorted(submitted.glob("*.ipynb")):
        place = {"student": learner, "assignment": assignment, "notebook": path.stem}
        ours = OurCells({"nbgrader": {**place, "db_url": autograde.coursedir.db_url}})
        if ours and not _is_done(folder / path.name, ours):
            return True
    return False


def _is_done(path: Path, ours: OurCells) -> bool:
    try:
        notebook = nbformat.read(path, as_version=4)
    except Exception:
        return False
    filled = {cell.metadata.get("nbgrader", {}).get("grade_id") for cell in notebook.cells if cell.get("outputs")}
    return filled.issuperset(ours.checks)


def _stand_in(path: Path, ours: OurCells) -> NotebookNode:
    """Make a notebook of what the gradebook knows, in the place of one that nobody can read."""
    try:
        code_cells(path.read_bytes())
        why = "is no valid notebook; save it in Jupyter again"
    except NotebookError as error:
        why = str(said_by(error))
    except OSError as error:
        why = f"cannot be read: {error.strerror}"
    said = visible(f"{path.name} {why}")
    cells = [new_markdown_cell(f"`{said}`")]
    cells += [
        new_code_cell("" if known.told["solution"] else known.source, metadata={"nbgrader": NotebookNode(known.told)})
        for known in ours.known.values()
        if known.cell_type == "code"
    ]
    return cast("NotebookNode", new_notebook(cells=cells, metadata={UNREADABLE: said}))


def _earned(mark: Mark, worth: float) -> list[NotebookNode]:
    """Give the outputs of a graded cell: what is told in words, and the points as a value.

    The instructor may have given the cell another weight than the check has: then it earns the same share of that.
    """
    return [*_words(mark.said), _value(mark.share() * worth)]


def _not_run(grade_id: str, worth: float) -> list[NotebookNode]:
    """Give the outputs of the instructor's own cell: it cannot run here, and must not count as full."""
    if not worth:
        return []
    said = f"{grade_id} is no check of the kit, so it was not run; grade it by hand, or without grade_in_jail"
    return [*_words(said), _value(0.0)]


def _words(said: str) -> list[NotebookNode]:
    # As a stream, which nbgrader's pages show as plain text, whatever letters are in it.
    return [new_output("stream", name="stdout", text=f"{said}\n")] if said else []


def _value(points: float) -> NotebookNode:
    value = new_output("execute_result", data={"text/plain": number(points)}, execution_count=None)
    return cast("NotebookNode", value)
