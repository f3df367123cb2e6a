"""The course as `course.toml` describes it: exercises, points, limits, languages, feedback policy.

Exceptions:
    CourseError   one line that names the file and the key, and says what to do
"""

import keyword
import math
import re
import tomllib
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from autograder.downloads.model import Wanted
from autograder.language import Reader, read_catalogues, say

FILE_NAME = "course.toml"
SPARE_STUBS = "stubs"
FEEDBACK = ("full", "hint", "title", "none")
LANGUAGES = ("en", "zh")
LIBRARIES = ("numpy", "torch")
DIFFICULTIES = {1: say("easy"), 2: say("medium"), 3: say("hard")}
_TOML_KINDS = {
    "object": "a table",
    "array": "a list",
    "str": "text",
    "float": "a number",
    "int": "a whole number",
    "datetime | null": "a date with a time and a zone, as in 2026-03-01T23:59:00+01:00",
    "int | null": "a whole number",
}


class CourseError(Exception):
    """The course cannot be read, or does not have what was asked for."""


class Limits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What learner code may take: seconds on the clock, MiB of memory above the start, KiB of output, MiB a value."""

    call_seconds: float = 10.0
    exercise_seconds: float = 60.0
    submission_seconds: float = 180.0
    memory_mib: int = 1024
    output_kib: int = 64
    value_mib: int = 64

    def __post_init__(self) -> None:
        for name, limit in msgspec.structs.asdict(self).items():
            if not 0 < limit < math.inf:
                raise ValueError(f"{name}: {limit} is no limit; give a number above 0")


class Paths(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where the parts of the course lie; relative to `course.toml` in the file, absolute in a loaded `Course`."""

    exercises: Path = Path("exercises")
    solutions: Path = Path("solutions")
    suites: Path = Path("autograder/suites")
    faults: Path = Path("autograder/faults")
    variants: Path = Path("tests/variants")

    def below(self, root: Path) -> "Paths":
        """The same paths, taken from `root`."""
        return Paths(**{name: root / path for name, path in msgspec.structs.asdict(self).items()})


class Exercise(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One module that learners write.

    `functions` are the names it must define, `libraries` what it may need loaded, `banned` the dotted names (or
    patterns of them) that it may not call, `stand_ins` the Python sources that take the place of other exercises
    while this one is graded: module name -> file. `due` is when it has to be handed in, where the course's own date is
    not meant. `difficulty` (1 to 3) and `minutes` tell learners what to expect, and have no part in a mark. `titles`
    are what it is called in languages other than English: language -> title.

    `axes` names rows and columns (the last two axes) of arrays that are drawn, `["query", "key"]` for one. Its keys are
    the names of parameters ("allowed"), and for what comes back those of `functions` ("causal_mask"), with a position
    where several things do ("attention[1]" is the second one). Other arrays have a row and a column.
    """

    name: str
    title: str
    points: float
    functions: tuple[str, ...]
    libraries: tuple[str, ...]
    bonus: bool = False
    banned: tuple[str, ...] = ()
    stand_ins: dict[str, str] = {}
    due: datetime | None = None
    difficulty: int | None = None
    minutes: int | None = None
    axes: dict[str, tuple[str, str]] = {}
    titles: dict[str, str] = {}

    def __post_init__(self) -> None:
        _require_identifiers("name", [self.name])
        if not 0 <= self.points < math.inf:
            raise ValueError(f"points: {self.points} is no number of points; give 0 or more")
        if not self.functions:
            raise ValueError("functions: empty; list the names that the module must define")
        _require_identifiers("functions", self.functions)
        _require_one_of("libraries", self.libraries, LIBRARIES)
        _require_identifiers("stand_ins", self.stand_ins)
        _require_zone(self.due)
        if self.difficulty is not None and self.difficulty not in DIFFICULTIES:
            raise ValueError(f"difficulty: {self.difficulty} is no difficulty; give 1 (easy), 2 or 3 (hard)")
        if self.minutes is not None and self.minutes < 1:
            raise ValueError(f"minutes: {self.minutes} is no time to work; give 1 or more")
        _require_axes(self.axes, self.functions)
        if self.titles:
            _require_one_of("titles", list(self.titles), LANGUAGES)


class Course(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A course: what `course.toml` says, and the folder (`root`) that it was read from.

    `banned` names the lists of calls that exercises refer to; a loaded exercise holds the calls themselves.
    """

    root: Path
    name: str
    title: str
    languages: tuple[str, ...]
    feedback: str
    exercises: tuple[Exercise, ...]
    limits: Limits = Limits()
    paths: Paths = Paths()
    banned: dict[str, tuple[str, ...]] = {}
    due: datetime | None = None
    titles: dict[str, str] = {}

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[A-Za-z0-9_-]+", self.name):
            raise ValueError(f"name: {self.name!r} cannot name files; use letters, digits, '-' and '_'")
        _require_one_of("languages", self.languages, LANGUAGES)
        _require_one_of("feedback", [self.feedback], FEEDBACK)
        if self.titles:
            _require_one_of("titles", list(self.titles), LANGUAGES)
        _require_zone(self.due)
        _require_distinct_names(self.exercises)
        for exercise in self.exercises:
            self._require_known_lists(exercise)

    def _require_known_lists(self, exercise: Exercise) -> None:
        for entry in exercise.banned:
            if "." not in entry and entry not in self.banned:
                raise ValueError(
                    f"exercises.{exercise.name}.banned: {entry!r} is neither a dotted name nor a list under [banned]; "
                    f"the lists are: {', '.join(self.banned) or 'none'}"
                )

    @property
    def points(self) -> float:
        """The points of the core exercises; bonus exercises come on top."""
        return sum(exercise.points for exercise in self.exercises if not exercise.bonus)

    def due_of(self, exercise: Exercise) -> datetime | None:
        """When an exercise has to be handed in: by its own date, else by the course's."""
        return exercise.due or self.due

    @property
    def last_due(self) -> datetime | None:
        """The course's date, else the last one of an exercise: what a gradebook with one date per assignment keeps."""
        return self.due or max((exercise.due for exercise in self.exercises if exercise.due), default=None)

    @property
    def wanted(self) -> Wanted:
        """The exercises as whoever reads submissions looks for them."""
        return Wanted({exercise.name: exercise.functions for exercise in self.exercises})

    def exercise(self, name: str) -> Exercise:
        """The exercise of that name or of that file of the course's; CourseError lists the names when there is none."""
        wanted = self._name_of_module(name)
        for exercise in self.exercises:
            if exercise.name == wanted:
                return exercise
        names = ", ".join(exercise.name for exercise in self.exercises)
        raise CourseError(
            say("there is no exercise named {name}; the exercises are: {names}", name=repr(name), names=names)
        )

    def _name_of_module(self, name: str) -> str:
        """Give `softmax` for `softmax.py`, also where a shell has completed its path; other files are not meant."""
        file = Path(name)
        is_here = len(file.parts) == 1 or file.absolute().parent == self.paths.exercises
        return file.stem if file.suffix == ".py" and is_here else name

    def reader(self, language: str) -> Reader:
        """Whoever reads this course in a language: the titles and sentences of its checks and public tests in it.

        Raises LanguageError where a catalogue is broken.
        """
        return Reader(language, read_catalogues(self.catalogues(language), language))

    def catalogues(self, language: str) -> list[Path]:
        """Where the course's own sentences are in a language: beside its hidden suites and beside its public tests."""
        folders = (self.paths.exercises / "public_tests", self.paths.suites)
        return [folder / f"{language}.po" for folder in folders]

    def stub_of(self, exercise: Exercise) -> Path:
        """The module that learners complete."""
        return self.paths.exercises / f"{exercise.name}.py"

    def spare_stub_of(self, exercise: Exercise) -> Path:
        """The stub once more, as a bundle brings it: nobody writes in that one."""
        return self.root / SPARE_STUBS / f"{exercise.name}.py"

    def solution_of(self, exercise: Exercise) -> Path:
        """The reference module; only the instructor's copy has it."""
        return self.paths.solutions / f"{exercise.name}.py"

    def suite_of(self, exercise: Exercise) -> Path:
        """The hidden suite; only the instructor's copy has it."""
        return self.paths.suites / f"test_{exercise.name}.py"

    def family_of(self, exercise: Exercise) -> Path:
        """The wrong implementations; only the instructor's copy has them."""
        return self.paths.faults / f"{exercise.name}.py"

    def variants_of(self, exercise: Exercise) -> list[Path]:
        """Right answers in different styles, which the suite must accept; only the instructor's copy has them."""
        return sorted(self.variants_folder_of(exercise).glob("*.py"))

    def variants_folder_of(self, exercise: Exercise) -> Path:
        """Where the right answers lie, each in a file of its own; only the instructor's copy has them."""
        return self.paths.variants / exercise.name

    def contract_of(self, exercise: Exercise, language: str = "en") -> Path:
        """The sentences that the instructions promise and the suite checks, by their keys."""
        return self.paths.exercises / "contract" / f"{exercise.name}.{language}.toml"

    def hints_of(self, exercise: Exercise, language: str = "en") -> Path:
        """The staged hints, from a first idea on."""
        return self.paths.exercises / "hints" / f"{exercise.name}.{language}.toml"

    def instructions_of(self, exercise: Exercise, language: str = "en") -> Path:
        """What learners read before they write."""
        ending = "md" if language == "en" else f"{language}.md"
        return self.paths.exercises / "instructions" / f"{exercise.name}.{ending}"

    def public_tests_of(self, exercise: Exercise) -> Path:
        """The tests that learners run themselves."""
        return self.paths.exercises / "public_tests" / f"test_{exercise.name}.py"

    def stand_in_sources(self, exercise: Exercise) -> dict[str, bytes]:
        """Module name -> Python source of each stand-in; CourseError names a file that cannot be read."""
        return {module: self._read_stand_in(exercise, path) for module, path in exercise.stand_ins.items()}

    def _read_stand_in(self, exercise: Exercise, path: str) -> bytes:
        # A learner's folder has no stand-ins of its own: there they come with the installed package.
        candidates = [self.root / path, _home() / path]
        for candidate in candidates:
            if candidate.is_file():
                return candidate.read_bytes()
        key = f"exercises.{exercise.name}.stand_ins"
        raise CourseError(f"{self.root / FILE_NAME}: {key}: there is no file {path}; correct the path or add the file")


def libraries_of(exercises: Iterable[Exercise]) -> tuple[str, ...]:
    """Give what the exercises compute with, each library once."""
    return tuple(dict.fromkeys(name for exercise in exercises for name in exercise.libraries))


def load_course(path: Path) -> Course:
    """The course described by `path`, a course.toml or the folder that holds one. Raises CourseError."""
    file = course_file(path)
    return parse_course(read_course(file), file)


def course_file(path: Path) -> Path:
    """The absolute path of the course.toml that `path`, itself or its folder, stands for."""
    return (path / FILE_NAME if path.is_dir() else path).absolute()


def parse_course(text: str, file: Path) -> Course:
    """The course that `text` describes, as if `file` held it. Raises CourseError."""
    described = parse_toml(text, file)
    if "root" in described:
        raise CourseError(f"{file}: root: unknown key; remove it, the course lies where the file lies")
    try:
        course = msgspec.convert({**described, "root": str(file.parent)}, Course, dec_hook=_to_path)
    except msgspec.ValidationError as error:
        raise CourseError(f"{file}: {_explain(str(error), described)}") from None
    return msgspec.structs.replace(
        course,
        paths=course.paths.below(course.root),
        exercises=tuple(_with_calls_for_lists(exercise, course.banned) for exercise in course.exercises),
    )


def read_course(file: Path) -> str:
    """The text of a course.toml, with its line ends as they are. Raises CourseError."""
    try:
        # Editors on Windows put a byte order mark first, which TOML does not know.
        return file.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise CourseError(f"{file}: cannot be read ({error.strerror}); name a course.toml or its folder") from None
    except UnicodeDecodeError as error:
        raise CourseError(f"{file}: byte {error.start} is not UTF-8; save the file as UTF-8") from None


def parse_toml(text: str, file: Path) -> dict[str, Any]:
    """What `text` says, unjudged. Raises CourseError where it is no TOML."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise CourseError(f"{file}: not TOML: {error}; correct it there") from None


def find_course(start: Path | None = None) -> Path:
    """The nearest course.toml at or above `start` (default: the current folder), else the one beside this package.

    Raises CourseError where there is none.
    """
    start = (start or Path.cwd()).absolute()
    for folder in [start, *start.parents, _home()]:
        if (folder / FILE_NAME).is_file():
            return folder / FILE_NAME
    raise CourseError(
        say("there is no {file} in {folder} or above it; go to the folder of the course", file=FILE_NAME, folder=start)
    )


def meant_course(named: str = "") -> "Course":
    """The course that a path names, else the kit's own, else the nearest. Raises CourseError."""
    own = own_course()
    return load_course(Path(named) if named else own if own.is_file() else find_course())


def own_course() -> Path:
    """The course.toml beside this package, whether it is there or not."""
    return _home() / FILE_NAME


def _home() -> Path:
    """The folder that holds this package: the repository, or site-packages."""
    return Path(__file__).resolve().parents[1]


def _to_path(kind: type, value: object) -> Path:
    if kind is Path and isinstance(value, str) and value:
        return Path(value)
    raise ValueError("Expected the path of a folder as text")


def _with_calls_for_lists(exercise: Exercise, lists: dict[str, tuple[str, ...]]) -> Exercise:
    calls = (call for entry in exercise.banned for call in lists.get(entry, (entry,)))
    return msgspec.structs.replace(exercise, banned=tuple(calls))


def _require_identifiers(key: str, names: Iterable[str]) -> None:
    for name in names:
        if not name.isidentifier() or keyword.iskeyword(name):
            raise ValueError(f"{key}: {name!r} is no Python name; use letters, digits and '_'")


def _require_axes(axes: dict[str, tuple[str, str]], functions: Sequence[str]) -> None:
    for key, names in axes.items():
        result = re.fullmatch(r"(.+)\[(?:0|[1-9][0-9]*)\]", key, re.DOTALL)
        if result and result[1] not in functions:
            raise ValueError(f"axes.{key}: {result[1]!r} is none of the functions; they are: {', '.join(functions)}")
        if not result and not key.isidentifier():
            example = f"{functions[0]}[1]"
            raise ValueError(f"axes: {key!r} is no parameter, function or place in what comes back, as in {example!r}")
        for name in names:
            if not name.strip() or not name.isprintable():
                raise ValueError(f"axes.{key}: {name!r} cannot be read; name the rows and the columns")


def _require_zone(due: datetime | None) -> None:
    if due is not None and due.tzinfo is None:
        raise ValueError(f"due: {due.isoformat()} is in no time zone; add its offset, as in {due.isoformat()}+01:00")


def _require_one_of(key: str, values: Sequence[str], known: Sequence[str]) -> None:
    if not values:
        raise ValueError(f"{key}: empty; choose from: {', '.join(known)}")
    for value in values:
        if value not in known:
            raise ValueError(f"{key}: {value!r} is not known; choose from: {', '.join(known)}")


def _require_distinct_names(exercises: Sequence[Exercise]) -> None:
    if not exercises:
        raise ValueError("exercises: empty; describe at least one under [[exercises]]")
    seen: set[str] = set()
    for exercise in exercises:
        if exercise.name in seen:
            raise ValueError(f"exercises.{exercise.name}: described twice; rename one or remove it")
        seen.add(exercise.name)


def _explain(message: str, described: dict[str, Any]) -> str:
    """msgspec's message, with the key in front and what to do at the end."""
    problem, _, place = message.partition(" - at `$")
    key = _readable_key(place.rstrip("`").lstrip("."), described)
    if field := re.fullmatch(r"Object contains unknown field `(.*)`", problem):
        return f"{_joined(key, field[1])}: unknown key; remove it or correct its spelling"
    if field := re.fullmatch(r"Object missing required field `(.*)`", problem):
        return f"{_joined(key, field[1])}: missing; add it"
    if problem.startswith("Expected "):
        in_toml = re.sub(r"`([\w |]+)`", lambda kind: _TOML_KINDS.get(kind[1], kind[1]), problem[1:])
        return f"{key}: e{in_toml}; correct the value"
    return _joined(key, problem)


def _joined(key: str, rest: str) -> str:
    return f"{key}.{rest}" if key else rest


def _readable_key(place: str, described: dict[str, Any]) -> str:
    """`exercises[0].points` as `exercises.softmax.points`: nobody counts tables from 0."""
    index = re.match(r"exercises\[(\d+)\]", place)
    if not index:
        return place
    entry = described["exercises"][int(index[1])]
    name = entry.get("name") if isinstance(entry, dict) else None
    named = name if isinstance(name, str) else f"number {int(index[1]) + 1}"
    return f"exercises.{named}{place[index.end() :]}"
