"""`attend`: one function per command. What a command needs is imported when it runs, so that --help is quick."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from functools import partial
from io import TextIOWrapper
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from autograder.course import Course
    from autograder.language import Phrase, Reader
    from autograder.roster import Learner

# By name, since importing what raises them is what a command that fails early has not done.
KNOWN_ERRORS = frozenset(
    [
        "autograder.course.CourseError",
        "autograder.downloads.model.SubmissionError",
        "autograder.report.ReportError",
        "autograder.grade.GradingError",
        "autograder.cluster.ClusterError",
        "autograder.release.stubs.ReleaseError",
        "autograder.roster.RosterError",
        "autograder.gradebook.GradebookError",
        "autograder.exports.ExportError",
        "autograder.gradescope.ArchiveError",
        "autograder.new.NewError",
        "autograder.faults.shelf.FamilyError",
        "autograder.verify.court.VerifyError",
        "autograder.hints.HintError",
        "autograder.reset.ResetError",
        "autograder.solution.SolutionError",
        "autograder.watch.WatchError",
        "autograder.language.LanguageError",
        "autograder.labs.errors.LabError",
        "autograder.similar.SimilarError",
        "autograder.notebooks.NotebookError",
        "autograder.session.SessionError",
    ]
)
INTERRUPTED = 130

# In --help the others stand apart, below these; learners' copies lack what those need.
FOR_LEARNERS = frozenset(["check", "hint", "reset", "solution", "lab"])
FOR_TEACHERS = "For those who teach the course"

CoursePath = Annotated[
    Path | None,
    typer.Option("--course", metavar="PATH", help="The course.toml, or its folder.", show_default="nearest"),
]
Database = Annotated[
    str,
    typer.Option("--db", metavar="URL", help="The gradebook's database.", show_default="gradebook.db in the folder"),
]
LearnerFolder = Annotated[Path | None, typer.Option("--in", metavar="DIR", help="Where your modules are.")]
OneExercise = Annotated[str, typer.Argument(metavar="EXERCISE", help="Its name, which is that of its module.")]
Language = Annotated[
    str, typer.Option("--lang", metavar="en|zh", help="In which language.", show_default="that of your system")
]
Trust = Annotated[bool, typer.Option("--trust", help="Grade also where a layer of the jail is missing.")]

Jobs = Annotated[int | None, typer.Option("--jobs", min=1, help="Processes at once.", show_default="all cores")]

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.callback(invoke_without_command=True)
def attend(context: typer.Context, language: Language = "") -> None:
    """Attention by hand: write softmax, masks and attention yourself, and be told what is wrong.

    Without a command: the course at a glance, and what to do next.
    """
    if context.invoked_subcommand is None:
        _show_course(language)
    elif language:
        context.default_map = {context.invoked_subcommand: {"language": language}}


@app.command()
def grade(
    path: Annotated[Path, typer.Argument(metavar="PATH", help="A folder of submissions, or one of them.")],
    out: Annotated[Path, typer.Option(help="The folder that reports and marks are written to.")] = Path("grades"),
    layout: Annotated[
        str, typer.Option(metavar="NAME", help="How PATH is laid out, where that is not recognised.")
    ] = "",
    roster: Annotated[
        Path | None, typer.Option(metavar="CSV", help="The class (id, name, email): names who handed nothing in.")
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="Grade also what has a report that is still good.")] = False,
    jobs: Jobs = None,
    scheduler: Annotated[
        str, typer.Option(metavar="URL", help="A Dask scheduler, whose workers grade: tcp://host:port or tls://.")
    ] = "",
    db: Database = "",
    gradebook: Annotated[bool, typer.Option(help="Keep nbgrader's gradebook, where nbgrader is installed.")] = True,
    pages: Annotated[bool, typer.Option(help="Make a page of feedback for each learner, and one of the class.")] = True,
    trust: Trust = False,
    course: CoursePath = None,
) -> None:
    """Grade a class: one folder or .zip for each submission, a download of Canvas, Moodle and others, or a single one.

    Layouts: folders, gradescope, nbgrader, moodle, canvas, clones, single.
    """
    if scheduler and jobs is not None:
        raise typer.BadParameter("--jobs is for this machine; with --scheduler say it to each worker: --nthreads")
    raise typer.Exit(_grade(path, out, trust, course, layout, roster, jobs, again, db, gradebook, pages, scheduler))


@app.command()
def pages(
    out: Annotated[Path, typer.Option(help="The folder that holds the reports.")] = Path("grades"),
    language: Annotated[
        str, typer.Option("--lang", metavar="en|zh", help="In one language.", show_default="all, with a switch")
    ] = "",
    roster: Annotated[
        Path | None, typer.Option(metavar="CSV", help="The class (id, name, email): names who handed nothing in.")
    ] = None,
    course: CoursePath = None,
) -> None:
    """Make the learners' pages of feedback and that of the class from the reports, without grading again."""
    from autograder.roster import read_roster

    learners = read_roster(roster) if roster else ()
    raise typer.Exit(0 if _make_pages(out, _course(course), language, learners) else 2)


@app.command()
def similar(
    path: Annotated[Path, typer.Argument(metavar="PATH", help="The folder of submissions that was graded.")],
    out: Annotated[Path, typer.Option(help="The folder that similar.html is written to.")] = Path("grades"),
    layout: Annotated[
        str, typer.Option(metavar="NAME", help="How PATH is laid out, where that is not recognised.")
    ] = "",
    language: Language = "",
    course: CoursePath = None,
) -> None:
    """Find submissions whose code is alike, for a person to look at; nothing is graded, and no mark changes."""
    from autograder.class_page import make_similar_page
    from autograder.language import Reader, chosen_language, say_many
    from autograder.outputs.terminal import progress_bar
    from autograder.outputs.text import visible
    from autograder.similar import find_similar
    from autograder.submission import Submission, find_submissions

    loaded = _course(course)
    reader = Reader(chosen_language(language, loaded.languages))
    found = find_submissions(path, [exercise.name for exercise in loaded.exercises], [out], layout)
    typer.echo(visible(found.said))
    handed = [each for each in found.submissions if isinstance(each, Submission)]
    with progress_bar(_console(stderr=True), "comparing") as bar:
        task = bar.add_task("comparing", total=len(handed))
        likeness = find_similar(handed, loaded, advance=lambda: bar.advance(task))
    page = make_similar_page(out, likeness, loaded, reader.language)
    count = likeness.n_pairs
    told = say_many("Alike:   {file} ({count} pair)", "Alike:   {file} ({count} pairs)", count, file=page)
    typer.echo(visible(reader.read(told)))


@app.command()
def gradebook(
    out: Annotated[Path, typer.Option(help="The folder that holds the reports.")] = Path("grades"),
    db: Database = "",
    roster: Annotated[
        Path | None, typer.Option(metavar="CSV", help="The class (id, name, email): gives the learners their names.")
    ] = None,
    course: CoursePath = None,
) -> None:
    """Fill nbgrader's gradebook from the reports of a class; what people entered there stays."""
    from autograder.roster import read_roster

    learners = read_roster(roster) if roster else ()
    _fill(out, db, _course(course), learners)


@app.command()
def export(
    grades: Annotated[Path, typer.Argument(metavar="GRADES", help="The folder that `attend grade` wrote.")],
    to: Annotated[str, typer.Option(metavar="NAME", help="For what.")],
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where it goes.", show_default="GRADES/exports/")
    ] = None,
    template: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Canvas' gradebook or Moodle's grading worksheet, as downloaded."),
    ] = None,
    column: Annotated[
        str,
        typer.Option(metavar="NAME", help="The column to fill.", show_default="that of the course's title, or Grade"),
    ] = "",
    roster: Annotated[
        Path | None, typer.Option(metavar="CSV", help="The class (id, name, email): tells whose address is whose.")
    ] = None,
    with_bonus: Annotated[bool, typer.Option("--with-bonus", help="Add to a mark what the bonus earned.")] = False,
    scaled: Annotated[bool, typer.Option("--scaled", help="Make marks fit the platform's maximum.")] = False,
    course: CoursePath = None,
) -> None:
    """Send the marks on: write them as a platform or another program reads them.

    For canvas, moodle, gradescope, nbgrader, junit, csv (a row for each check) or jsonl (a report a line).
    """
    from autograder.exports.formats import all_reports, export
    from autograder.exports.order import Order
    from autograder.outputs.text import visible
    from autograder.roster import read_roster

    loaded = _course(course)
    learners = read_roster(roster) if roster else ()
    order = Order(
        grades, loaded, all_reports(grades), out, template, column, learners, with_bonus=with_bonus, scaled=scaled
    )
    made = export(to, order)
    for sentence in made.said:
        typer.echo(visible(sentence))
    typer.echo(visible(f"Written: {made.place}"))
    raise typer.Exit(0 if made.complete else 3)


@app.command()
def gradescope(
    dest: Annotated[Path, typer.Argument(metavar="DEST.zip", help="Where the archive goes.")],
    with_bonus: Annotated[bool, typer.Option("--with-bonus", help="Add to a mark what the bonus earned.")] = False,
    trust: Trust = False,
    course: CoursePath = None,
) -> None:
    """Make the archive that has Gradescope grade with this kit; the solutions and hidden checks are in it."""
    from autograder.gradescope.archive import write_archive
    from autograder.outputs.text import visible

    typer.echo(visible(write_archive(_course(course), dest, trust=trust, with_bonus=with_bonus)))


@app.command()
def check(
    exercises: Annotated[list[str] | None, typer.Argument(metavar="[EXERCISE]...", help="All, unless named.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document for other programs.")] = False,
    watched: Annotated[bool, typer.Option("--watch", help="Check again whatever is saved, until you quit.")] = False,
    language: Language = "",
    folder: LearnerFolder = None,
    course: CoursePath = None,
) -> None:
    """Try your own modules, and see what is wrong with them."""
    if as_json and watched:
        raise typer.BadParameter("--json prints one document and --watch goes on: choose one of them")
    from autograder.language import chosen_language, say
    from autograder.outputs.terminal import show_check
    from autograder.practice import check, contract_sentence, learner_folder
    from autograder.progress import digests_of, record_check

    loaded = _course(course)
    reader = loaded.reader(chosen_language(language, loaded.languages))
    chosen = [loaded.exercise(name) for name in exercises or [exercise.name for exercise in loaded.exercises]]
    tried = learner_folder(folder, loaded)
    if folder is None and tried != Path.cwd():
        _say([say("the modules in {folder}:", folder=tried)], reader)
    sentence_of = partial(contract_sentence, course=loaded, language=reader.language)
    if watched:
        from autograder.outputs.watch import WatchView
        from autograder.watch import watch

        watch(tried, chosen, loaded, WatchView(_console(), loaded, reader, sentence_of))
        return
    # Taken first: a module saved during the check is not what was checked.
    digests = digests_of(tried, [exercise.name for exercise in chosen])
    results = check(tried, chosen, loaded)
    # And kept before they are shown, since whoever reads may stop reading.
    said = record_check(tried, results, digests)
    if as_json:
        from autograder.outputs.check_json import to_json

        print(to_json(results, loaded, partial(contract_sentence, course=loaded)), end="")
    else:
        show_check(_console(), results, loaded.feedback, sentence_of, reader)
    _say(said, reader)
    needed = [result for result in results if exercises or not result.bonus]
    raise typer.Exit(0 if all(result.passed for result in needed) else 1)


@app.command()
def hint(
    exercise: OneExercise,
    language: Language = "",
    again: Annotated[bool, typer.Option("--again", help="Show those you have seen already.")] = False,
    folder: LearnerFolder = None,
    course: CoursePath = None,
) -> None:
    """Get a hint when you are stuck: one at a time, from a first idea on, and never the code."""
    from autograder.hints import next_hint, read_hints, seen_hints
    from autograder.language import Reader, chosen_language
    from autograder.outputs.hints import show_hints
    from autograder.practice import learner_folder

    loaded = _course(course)
    spoken = chosen_language(language, loaded.languages)
    chosen = loaded.exercise(exercise)
    hints = read_hints(chosen, loaded, spoken)
    shown = (seen_hints if again else next_hint)(chosen.name, hints, learner_folder(folder, loaded))
    show_hints(_console(), shown, spoken, again=again)
    _say(shown.said, Reader(spoken))


@app.command()
def reset(
    exercise: OneExercise, language: Language = "", folder: LearnerFolder = None, course: CoursePath = None
) -> None:
    """Begin an exercise anew: put its stub back, and keep what you have written beside it."""
    from autograder.language import chosen_language, say
    from autograder.practice import learner_folder
    from autograder.reset import reset

    loaded = _course(course)
    spoken = chosen_language(language, loaded.languages)
    put = reset(loaded.exercise(exercise), learner_folder(folder, loaded), loaded)
    if put.kept:
        typer.echo(say("{file} is what you had written", file=put.kept).in_(spoken))
    again = say("{file} is the stub again", file=put.stub)
    already = say("{file} is the stub already; nothing was changed", file=put.stub)
    typer.echo((again if put.changed else already).in_(spoken))


@app.command()
def solution(
    exercise: OneExercise,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask first.")] = False,
    language: Language = "",
    folder: LearnerFolder = None,
    course: CoursePath = None,
) -> None:
    """See the solution beside your own code, where the course's copy has solutions."""
    from autograder.language import chosen_language, say
    from autograder.outputs.solution import show_solution
    from autograder.practice import learner_folder
    from autograder.solution import own_text, require_solution, solution_text

    loaded = _course(course)
    spoken = chosen_language(language, loaded.languages)
    chosen = loaded.exercise(exercise)
    require_solution(chosen, loaded)
    own = own_text(chosen, learner_folder(folder, loaded))
    question = say("Once seen, the solution of {exercise} cannot be unseen. Show it?", exercise=chosen.name)
    if not yes and not typer.confirm(question.in_(spoken), err=True):
        raise typer.Exit(1)
    show_solution(_console(), chosen.name, own, solution_text(chosen, loaded), spoken)


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def lab(
    context: typer.Context,
    language: Annotated[str, typer.Option("--lang", metavar="en|zh", help="In which language.")] = "",
    folder: Annotated[Path | None, typer.Option("--in", metavar="DIR", help="The folder that holds labs/.")] = None,
    course: CoursePath = None,
) -> None:
    """Open the labs in JupyterLab; further options, such as --no-browser, are JupyterLab's."""
    from autograder.labs.server import labs_folder, open_labs
    from autograder.language import chosen_language

    loaded = _course(course)
    chosen = chosen_language(language, loaded.languages)
    raise typer.Exit(open_labs(labs_folder(folder, loaded.paths.exercises), chosen, context.args))


@app.command()
def demo(trust: Trust = False, course: CoursePath = None) -> None:
    """Grade the small class that comes with the course, into grades/demo."""
    from autograder.submission import SubmissionError

    path = _course(course).root / "tests" / "data" / "class"
    if not path.is_dir():
        raise SubmissionError(f"{path} is not there: the class of the demo comes with the course's repository only")
    raise typer.Exit(_grade(path, Path("grades", "demo"), trust, course))


@app.command()
def release(
    dest: Annotated[
        Path | None, typer.Argument(metavar="DEST", help="Where the learner's bundle goes.", show_default=False)
    ] = None,
    zipped: Annotated[bool, typer.Option("--zip", help="Make DEST.zip, and no folder.")] = False,
    language: Annotated[
        str, typer.Option("--lang", metavar="en|zh|both", help="In which languages.", show_default="the course's")
    ] = "",
    github: Annotated[bool, typer.Option("--github", help="With a workflow that has GitHub check each push.")] = False,
    stubs: Annotated[bool, typer.Option("--stubs", help="Write exercises/*.py from solutions/*.py.")] = False,
    labs: Annotated[bool, typer.Option("--labs", help="Write the notebooks of exercises/labs/.")] = False,
    course: CoursePath = None,
) -> None:
    """Make what learners get from what instructors have: their bundle, without anything that gives answers away."""
    if dest is None and not stubs and not labs:
        raise typer.BadParameter("say what to release: DEST, where the learner's bundle goes, --stubs or --labs")
    loaded = _course(course)
    if stubs:
        from autograder.release import write_stubs

        for path in write_stubs(loaded):
            typer.echo(path)
    if labs:
        from autograder.labs.generate import write_labs

        for path in write_labs(loaded.paths.exercises / "labs", loaded.languages):
            typer.echo(path)
    if dest is not None:
        from autograder.outputs.text import visible
        from autograder.release.bundle import release_bundle

        typer.echo(visible(release_bundle(loaded, dest, language, zipped=zipped, github=github)))


@app.command()
def new(
    exercise: Annotated[str, typer.Argument(metavar="EXERCISE", help="Its name, which is that of its module.")],
    course: CoursePath = None,
) -> None:
    """Begin an exercise: write files that work already, to be replaced, and add it to the course."""
    from autograder.course import find_course
    from autograder.new import add_exercise

    for path in add_exercise(course or find_course(), exercise):
        typer.echo(path)


@app.command()
def nbgrader(
    folder: Annotated[Path, typer.Argument(metavar="COURSE_DIR", help="The folder that nbgrader works in.")],
    language: Annotated[str, typer.Option("--lang", metavar="en|zh|both", help="What notebooks are in.")] = "both",
    config: Annotated[bool, typer.Option(help="Write nbgrader_config.py, too.")] = True,
    course: CoursePath = None,
) -> None:
    """Make an nbgrader course: a source notebook for each exercise, and a configuration that grades in the jail."""
    from autograder.language import chosen_language
    from autograder.notebooks.course_folder import write_course_folder

    loaded = _course(course)
    if course is None:
        _insist_on_own_course(loaded)
    languages = loaded.languages if language == "both" else [chosen_language(language, loaded.languages)]
    for path in write_course_folder(folder, loaded, languages, config=config):
        typer.echo(path)


@app.command()
def verify(
    exercises: Annotated[list[str] | None, typer.Argument(metavar="[EXERCISE]...", help="All, unless named.")] = None,
    by_check: Annotated[bool, typer.Option("--checks", help="Show what each check catches, too.")] = False,
    all_named: Annotated[bool, typer.Option("--thorough", help="Have every pair named, not some of them.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything that was found out, as JSON.")] = False,
    jobs: Jobs = None,
    trust: Trust = False,
    course: CoursePath = None,
) -> None:
    """Put the hidden suites on trial: wrong answers must fail, right ones pass, and mistakes get their names."""
    from autograder.crew import processors
    from autograder.outputs.terminal import progress_bar
    from autograder.outputs.verdicts import show_verdicts, to_json
    from autograder.verify.court import verify

    loaded = _course(course)
    if course is None:
        _insist_on_own_course(loaded)
    chosen = [loaded.exercise(name) for name in exercises or [exercise.name for exercise in loaded.exercises]]
    with progress_bar(_console(stderr=True), "trying") as bar:
        task = bar.add_task("trying", total=None)
        verdicts = verify(
            loaded,
            chosen,
            jobs=jobs or processors(),
            all_named=all_named,
            trust=trust,
            progress=lambda held, known: bar.update(task, completed=held, total=known),
        )
    if as_json:
        typer.echo(to_json(verdicts))
    else:
        show_verdicts(_console(), verdicts, by_check=by_check)
    raise typer.Exit(0 if all(verdict.holds for verdict in verdicts) else 1)


for _registered in app.registered_commands:
    if (_registered.name or getattr(_registered.callback, "__name__", "")) not in FOR_LEARNERS:
        _registered.rich_help_panel = FOR_TEACHERS


def main() -> None:
    """Run the command that the shell gave, and end with its status."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Run a command and give its exit status; what is wrong for a known reason is one line on stderr and status 2."""
    _show_any_script()
    try:
        return int(app(list(arguments), prog_name="attend", standalone_mode=False) or 0)
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except SystemExit as error:
        if isinstance(error.__context__, BrokenPipeError):
            # rich ends so where nobody reads its output any more.
            return 1
        # Commands do not raise it themselves: a solution, suite or family did, in this process.
        print(f"attend: code of the course ended the program (exit {error.code}); take that out", file=sys.stderr)
        return 2
    except BrokenPipeError:
        # The reader has seen enough; Python must not complain again when it closes stdout. 1 is what rich ends with.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:
        if not (message := _known(error, arguments)):
            raise
        print(f"attend: {message}", file=sys.stderr)
        return 2


def _known(error: Exception, arguments: Sequence[str]) -> str:
    """Give the line for an error that the user can mend, or nothing for one that is ours."""
    from autograder.language import Reader, said_by, say
    from autograder.outputs.text import visible

    reader = Reader(_language_of(arguments))
    if any(f"{kind.__module__}.{kind.__qualname__}" in KNOWN_ERRORS for kind in type(error).__mro__):
        return visible(reader.read(said_by(error)))
    if _is_left_out(error) and FOR_LEARNERS.isdisjoint(arguments):
        return reader.read(say("this needs the repository of the course; what is installed here is the learners' copy"))
    if (
        getattr(getattr(error, "param", None), "metavar", "") == "EXERCISE"
        and type(error).__name__ == "MissingParameter"
    ):
        command = error.ctx.info_name  # type: ignore[attr-defined] # click has it
        return reader.read(
            say("which exercise? type attend {command} and its name; attend lists them", command=command)
        )
    # Typer's errors of usage come from click or from a copy of it, depending on its version.
    usage = getattr(error, "format_message", None)
    return f"{visible(usage())} (attend --help says more)" if usage else ""


def _is_left_out(error: Exception) -> bool:
    """Say whether a module of the kit itself is not there: a learner's wheel has none that give answers away."""
    return isinstance(error, ModuleNotFoundError) and (error.name or "").startswith("autograder.")


def _language_of(arguments: Sequence[str]) -> str:
    """Give the language that was asked for, else the user's: a command may have failed before it knew its course."""
    from autograder.course import LANGUAGES
    from autograder.language import chosen_language

    asked = [value for option, value in pairwise(arguments) if option == "--lang"]
    asked += [argument.removeprefix("--lang=") for argument in arguments if argument.startswith("--lang=")]
    return chosen_language(asked[-1] if asked and asked[-1] in LANGUAGES else "", LANGUAGES)


def _grade(
    path: Path,
    out: Path,
    trust: bool,
    course: Path | None,
    layout: str = "",
    roster: Path | None = None,
    jobs: int | None = None,
    again: bool = False,
    db: str = "",
    gradebook: bool = True,
    pages: bool = True,
    scheduler: str = "",
) -> int:
    from autograder.batch import grade_class
    from autograder.crew import processors
    from autograder.gradebook import nbgrader_is_there
    from autograder.outputs.terminal import progress_bar, show_batch
    from autograder.outputs.text import visible
    from autograder.roster import read_roster
    from autograder.submission import find_submissions

    loaded = _course(course)
    if course is None:
        _insist_on_own_course(loaded)
    learners = read_roster(roster) if roster else None
    found = find_submissions(path, loaded.wanted, [out], layout)
    typer.echo(visible(found.said))
    with progress_bar(_console(stderr=True)) as progress:
        task = progress.add_task("grading", total=len(found.submissions))
        batch = grade_class(
            found,
            loaded,
            out,
            trust=trust,
            advance=lambda: progress.advance(task),
            roster=learners,
            jobs=jobs or processors(),
            scheduler=scheduler,
            again=again,
        )
    show_batch(_console(), batch, loaded)
    if not batch.stopped and (db or (gradebook and nbgrader_is_there())):
        _fill(out, db, loaded, learners or ())
    if pages and batch.reports:
        _make_pages(out, loaded, "", learners or ())
    return batch.exit_status


def _make_pages(out: Path, course: Course, language: str, roster: Sequence[Learner]) -> bool:
    """Make the pages, in one language or else in all, the reader's first; say where they are and what has none."""
    from autograder.class_page import make_class_page
    from autograder.language import Reader, chosen_language, say, say_many
    from autograder.outputs.text import visible
    from autograder.pages import make_pages

    chosen = chosen_language(language, course.languages)
    others = [] if language else [other for other in course.languages if other != chosen]
    made = make_pages(out, course, [chosen, *others])
    counted = say_many(
        "Pages:   {folder} ({count} page, {written} of them new or changed)",
        "Pages:   {folder} ({count} pages, {written} of them new or changed)",
        made.written + made.kept,
        folder=made.folder,
        written=made.written,
    )
    of_class = make_class_page(out, course, chosen, roster)
    reader = Reader(chosen)
    typer.echo(visible(reader.read(counted)))
    typer.echo(visible(reader.read(say("Class:   {file}", file=of_class))))
    _say(made.trouble, reader)
    return not made.trouble


def _fill(out: Path, db: str, course: Course, learners: Sequence[Learner]) -> None:
    from autograder.gradebook import GradebookError, nbgrader_is_there

    if not nbgrader_is_there():
        raise GradebookError("a gradebook needs nbgrader, which is not installed; install attention-by-hand[grade]")
    from autograder.gradebook.fill import FILE_NAME, file_url, fill_gradebook, reports_in
    from autograder.outputs.text import visible

    url = db or file_url(out / FILE_NAME)
    filled = fill_gradebook(reports_in(out / "reports"), course, url, roster=learners)
    for sentence in filled.sentences():
        typer.echo(visible(sentence))


def _show_course(language: str) -> None:
    from autograder.language import Reader, chosen_language
    from autograder.outputs.overview import show_overview
    from autograder.practice import learner_folder
    from autograder.progress import digests_of, read_progress
    from autograder.submission import SubmissionError

    loaded = _course(None)
    spoken = chosen_language(language, loaded.languages)
    try:
        folder = learner_folder(None, loaded)
    except SubmissionError:
        # Nothing is written yet, and this is where it would be.
        folder = loaded.paths.exercises
    progress, said = read_progress(folder)
    digests = digests_of(folder, [exercise.name for exercise in loaded.exercises])
    show_overview(_console(), loaded, progress, folder, digests, spoken)
    _say([said] if said else [], Reader(spoken))


def _say(said: Sequence[Phrase], reader: Reader) -> None:
    """Tell on stderr what is no part of the answer."""
    from autograder.outputs.text import visible

    for phrase in said:
        typer.echo(visible(reader.read(phrase)), err=True)


def _insist_on_own_course(course: Course) -> None:
    """Refuse a course that was only found: its suites run in this process, and a learner may have made it."""
    from autograder.course import FILE_NAME, CourseError, own_course

    file = course.root / FILE_NAME
    if file.resolve() != own_course():
        raise CourseError(f"{file} is not the course of this kit; name it with --course if it is meant")


def _course(path: Path | None) -> Course:
    from autograder.course import find_course, load_course

    return load_course(path or find_course())


def _console(*, stderr: bool = False) -> Console:
    from rich.console import Console

    return Console(stderr=stderr, highlight=False)


def _show_any_script() -> None:
    """Let a terminal that cannot show a letter have its escape, where Python would end with an error."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
