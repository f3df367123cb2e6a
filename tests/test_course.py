"""course.toml -> Course: what is read, what is refused, and how the refusal is worded."""

import fnmatch
from datetime import UTC, datetime
from pathlib import Path

import pytest

from autograder.course import Course, CourseError, Exercise, Limits, find_course, load_course
from autograder.figures import parameter_names

REPOSITORY = Path(__file__).parents[1]
SMALL = """
name = "small"
title = "A small course"
languages = ["en"]
feedback = "hint"

[[exercises]]
name = "softmax"
title = "Softmax"
points = 3
functions = ["softmax"]
libraries = ["numpy"]

[[exercises]]
name = "heads"
title = "Heads"
points = 4.5
functions = ["split", "merge"]
libraries = ["numpy", "torch"]

[[exercises]]
name = "tiles"
title = "Tiles"
points = 2
bonus = true
functions = ["tiles"]
libraries = ["torch"]
"""


def written(folder: Path, text: str) -> Path:
    file = folder / "course.toml"
    file.write_text(text, encoding="utf-8")
    return file


def complaint(folder: Path, text: str) -> str:
    file = written(folder, text)
    with pytest.raises(CourseError) as caught:
        load_course(file)
    message = str(caught.value)
    assert message.startswith(f"{file}: ")
    assert "\n" not in message
    return message.removeprefix(f"{file}: ")


def with_stand_in(module: str, path: str) -> str:
    return SMALL.replace("points = 3", f'points = 3\nstand_ins = {{ {module} = "{path}" }}')


@pytest.fixture
def small(tmp_path: Path) -> Course:
    return load_course(written(tmp_path, SMALL))


def test_the_shipped_course_has_five_core_exercises_of_100_points_in_all():
    course = load_course(REPOSITORY)
    points = {exercise.name: exercise.points for exercise in course.exercises if not exercise.bonus}
    assert points == {"softmax": 20, "causal_mask": 15, "padding_mask": 20, "attention": 20, "multi_head": 25}
    assert course.points == 100


def test_the_shipped_course_opens_with_the_warm_up_and_ends_with_the_stretch_exercises_for_a_bonus():
    exercises = load_course(REPOSITORY).exercises
    assert [(exercise.name, exercise.points) for exercise in exercises if exercise.bonus] == [
        ("by_hand", 5),
        ("tiled_attention", 10),
        ("ablation", 10),
    ]
    assert [exercise.bonus for exercise in exercises] == [True, *[False] * 5, True, True]


def test_the_shipped_course_says_how_hard_each_exercise_is_and_how_long_it_takes():
    expected = {
        exercise.name: (exercise.difficulty, exercise.minutes) for exercise in load_course(REPOSITORY).exercises
    }
    assert expected == {
        "by_hand": (1, 20),
        "softmax": (2, 60),
        "causal_mask": (1, 30),
        "padding_mask": (2, 60),
        "attention": (3, 90),
        "multi_head": (3, 120),
        "tiled_attention": (3, 90),
        "ablation": (2, 60),
    }


def test_the_shipped_course_states_its_limits():
    limits = load_course(REPOSITORY).limits
    assert limits == Limits(
        call_seconds=10, exercise_seconds=60, submission_seconds=180, memory_mib=1024, output_kib=64, value_mib=64
    )


def test_the_shipped_course_has_the_files_that_it_names():
    course = load_course(REPOSITORY)
    for exercise in course.exercises:
        assert course.solution_of(exercise).is_file()
        assert course.stub_of(exercise).is_file()
        assert course.suite_of(exercise).is_file()
        assert course.hints_of(exercise, "en").is_file()
        assert course.hints_of(exercise, "zh").is_file()
    assert b"def attention" in course.stand_in_sources(course.exercise("multi_head"))["attention"]


@pytest.mark.parametrize("exercise", ["by_hand", "softmax"])
@pytest.mark.parametrize(
    "call",
    [
        "scipy.special.softmax",
        "scipy.special.log_softmax",
        "scipy.special.logsumexp",
        "jax.nn.softmax",
        "torch.softmax",
        "torch.log_softmax",
        "torch.logsumexp",
        "torch._softmax",
        "torch.Tensor.softmax",
        "torch.special.log_softmax",
        "torch.nn.Softmax",
        "torch.nn.Softmin",
        "torch.nn.LogSoftmax",
        "torch.nn.functional.softmax",
        "torch.nn.functional.gumbel_softmax",
        "torch.nn.functional.softmin",
        "torch.nn.functional.scaled_dot_product_attention",
        "torch.ops.aten._softmax.default",
        "torch.sparse.softmax",
    ],
)
def test_softmax_may_not_call_a_library_softmax(call: str, exercise: str):
    assert is_banned(call, exercise)


@pytest.mark.parametrize("exercise", ["by_hand", "softmax"])
@pytest.mark.parametrize("call", ["numpy.logaddexp", "numpy.logaddexp.reduce", "numpy.exp", "torch.exp"])
def test_softmax_may_call_what_a_softmax_is_made_from(call: str, exercise: str):
    assert not is_banned(call, exercise)


@pytest.mark.parametrize("exercise", ["attention", "multi_head", "tiled_attention", "ablation"])
@pytest.mark.parametrize(
    "call",
    [
        "torch.nn.functional.scaled_dot_product_attention",
        "torch._C._nn.scaled_dot_product_attention",
        "torch._scaled_dot_product_attention_math",
        "torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default",
        "torch.ops.aten._flash_attention_forward.default",
        "torch.nn.functional.multi_head_attention_forward",
        "torch._native_multi_head_attention",
        "torch.nn.MultiheadAttention",
        "torch.nn.modules.activation.MultiheadAttention",
        "torch.nn.TransformerEncoderLayer",
        "torch.nn.modules.transformer.Transformer",
        "torch.nn.attention.flex_attention.flex_attention",
        "torch.nn.attention.sdpa_kernel",
    ],
)
def test_the_attention_exercises_may_not_call_a_library_attention(call: str, exercise: str):
    assert is_banned(call, exercise)


@pytest.mark.parametrize("exercise", ["attention", "multi_head", "tiled_attention", "ablation"])
@pytest.mark.parametrize(
    "call", ["torch.softmax", "torch.nn.functional.softmax", "torch.nn.Linear", "attention.attention"]
)
def test_the_attention_exercises_may_call_softmax_and_linear_layers(call: str, exercise: str):
    assert not is_banned(call, exercise)


def is_banned(call: str, exercise: str) -> bool:
    patterns = load_course(REPOSITORY).exercise(exercise).banned
    return any(fnmatch.fnmatchcase(call, pattern) for pattern in patterns)


def test_exercises_keep_the_order_of_the_file(small: Course):
    assert [exercise.name for exercise in small.exercises] == ["softmax", "heads", "tiles"]


def test_bonus_points_do_not_count_among_the_points(small: Course):
    assert small.points == 7.5


def test_an_exercise_is_due_when_it_says_else_when_the_course_does(tmp_path: Path):
    dated = SMALL.replace('feedback = "hint"', 'feedback = "hint"\ndue = 2026-03-01T23:59:00+01:00')
    course = load_course(written(tmp_path, dated.replace("points = 4.5", "points = 4.5\ndue = 2026-03-08T12:00:00Z")))
    assert course.due_of(course.exercise("softmax")) == datetime(2026, 3, 1, 22, 59, tzinfo=UTC)
    assert course.due_of(course.exercise("heads")) == datetime(2026, 3, 8, 12, tzinfo=UTC)
    assert course.last_due == datetime(2026, 3, 1, 22, 59, tzinfo=UTC)


def test_without_a_date_of_the_course_the_last_one_of_an_exercise_is_its_own(small: Course, tmp_path: Path):
    course = load_course(written(tmp_path, SMALL.replace("points = 4.5", "points = 4.5\ndue = 2026-03-08T12:00:00Z")))
    assert course.due_of(course.exercise("softmax")) is None
    assert course.last_due == datetime(2026, 3, 8, 12, tzinfo=UTC)


def test_what_is_left_out_has_a_default(small: Course, tmp_path: Path):
    assert small.limits == Limits()
    assert small.paths.exercises == tmp_path / "exercises"
    assert small.exercise("softmax").bonus is False
    assert small.exercise("softmax").stand_ins == {}
    assert small.last_due is None
    assert small.exercise("softmax").difficulty is None
    assert small.exercise("softmax").minutes is None


def test_paths_are_taken_from_the_folder_of_the_course(tmp_path: Path):
    course = load_course(written(tmp_path, SMALL + '[paths]\nsolutions = "private/solutions"\nsuites = "private"\n'))
    heads = course.exercise("heads")
    assert course.root == tmp_path
    assert course.stub_of(heads) == tmp_path / "exercises" / "heads.py"
    assert course.solution_of(heads) == tmp_path / "private" / "solutions" / "heads.py"
    assert course.suite_of(heads) == tmp_path / "private" / "test_heads.py"


def test_paths_are_absolute_when_the_course_is_named_relative_to_the_current_folder(tmp_path: Path, monkeypatch):
    written(tmp_path, SMALL)
    monkeypatch.chdir(tmp_path)
    course = load_course(Path("course.toml"))
    assert course.root == tmp_path
    assert load_course(Path()) == course


def test_an_exercise_is_found_by_its_name(small: Course):
    assert small.exercise("heads").functions == ("split", "merge")


def test_an_exercise_is_found_by_its_file_as_a_shell_completes_it(small: Course, monkeypatch):
    small.paths.exercises.mkdir()
    monkeypatch.chdir(small.root)
    for name in ("heads.py", "exercises/heads.py", str(small.paths.exercises / "heads.py")):
        assert small.exercise(name).name == "heads"


@pytest.mark.parametrize("other", ["elsewhere/heads.py", "heads.txt", "exercises/heads", "HEADS.py"])
def test_a_file_that_is_not_the_courses_is_no_exercise(small: Course, monkeypatch, other):
    monkeypatch.chdir(small.root)
    with pytest.raises(CourseError, match="no exercise named"):
        small.exercise(other)


def test_an_unknown_exercise_is_answered_with_the_known_ones(small: Course):
    with pytest.raises(CourseError, match=r"no exercise named 'sotfmax'; the exercises are: softmax, heads, tiles"):
        small.exercise("sotfmax")


def test_banned_calls_may_be_named_one_by_one_or_by_the_name_of_a_list(tmp_path: Path):
    entry = 'functions = ["softmax"]\nbanned = ["library", "torch.exp"]'
    text = SMALL.replace('functions = ["softmax"]', entry) + '[banned]\nlibrary = ["a.b", "c.*"]\n'
    course = load_course(written(tmp_path, text))
    assert course.exercise("softmax").banned == ("a.b", "c.*", "torch.exp")
    assert course.exercise("heads").banned == ()


def test_a_stand_in_is_read_from_the_folder_of_the_course(tmp_path: Path):
    course = load_course(written(tmp_path, with_stand_in("heads", "in/heads.py")))
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "heads.py").write_bytes(b"split = merge = len\n")
    assert course.stand_in_sources(course.exercise("softmax")) == {"heads": b"split = merge = len\n"}
    assert course.stand_in_sources(course.exercise("heads")) == {}


def test_a_stand_in_that_the_folder_lacks_comes_with_the_package(tmp_path: Path):
    course = load_course(written(tmp_path, with_stand_in("attention", "autograder/stand_ins/attention.py")))
    shipped = (REPOSITORY / "autograder" / "stand_ins" / "attention.py").read_bytes()
    assert course.stand_in_sources(course.exercise("softmax")) == {"attention": shipped}


def test_a_missing_stand_in_is_named_with_its_key(tmp_path: Path):
    course = load_course(written(tmp_path, with_stand_in("heads", "in/heads.py")))
    with pytest.raises(CourseError, match=r"exercises\.softmax\.stand_ins: there is no file in/heads\.py"):
        course.stand_in_sources(course.exercise("softmax"))


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ('title = "Heads"', 'titel = "Heads"', "titel: unknown key; remove it or correct its spelling"),
        ("points = 4.5\n", "", "points: missing; add it"),
        ("points = 4.5", 'points = "4.5"', "points: expected a number, got text; correct the value"),
        ("points = 4.5", "points = true", "points: expected a number, got bool; correct the value"),
        ("points = 4.5", "points = -1", "points: -1.0 is no number of points; give 0 or more"),
        ("points = 4.5", "points = nan", "points: nan is no number of points; give 0 or more"),
        ('["split", "merge"]', "[]", "functions: empty; list the names that the module must define"),
        ('["split", "merge"]', '"split"', "functions: expected a list, got text; correct the value"),
        ('["split", "merge"]', '["split", 2]', "functions[1]: expected text, got a whole number; correct the value"),
        ('["split", "merge"]', '["a-b"]', "functions: 'a-b' is no Python name; use letters, digits and '_'"),
        ('["numpy", "torch"]', '["jax"]', "libraries: 'jax' is not known; choose from: numpy, torch"),
        (
            "points = 4.5",
            "points = 4.5\ndifficulty = 0",
            "difficulty: 0 is no difficulty; give 1 (easy), 2 or 3 (hard)",
        ),
        (
            "points = 4.5",
            "points = 4.5\ndifficulty = 4",
            "difficulty: 4 is no difficulty; give 1 (easy), 2 or 3 (hard)",
        ),
        (
            "points = 4.5",
            'points = 4.5\ndifficulty = "easy"',
            "difficulty: expected a whole number, got text; correct the value",
        ),
        ("points = 4.5", "points = 4.5\nminutes = 0", "minutes: 0 is no time to work; give 1 or more"),
        (
            "points = 4.5",
            "points = 4.5\nminutes = 7.5",
            "minutes: expected a whole number, got a number; correct the value",
        ),
        (
            "points = 4.5",
            'points = 4.5\nbanned = ["library"]',
            "banned: 'library' is neither a dotted name nor a list under [banned]; the lists are: none",
        ),
        (
            "points = 4.5",
            "points = 4.5\ndue = 2026-03-01T23:59:00",
            "due: 2026-03-01T23:59:00 is in no time zone; add its offset, as in 2026-03-01T23:59:00+01:00",
        ),
        (
            "points = 4.5",
            "points = 4.5\ndue = 2026-03-01",
            "due: expected a date with a time and a zone, as in 2026-03-01T23:59:00+01:00, got date; correct the value",
        ),
    ],
)
def test_a_mistake_in_an_exercise_is_answered_with_its_key_and_what_to_do(
    tmp_path: Path, before: str, after: str, expected: str
):
    assert before in SMALL
    assert complaint(tmp_path, SMALL.replace(before, after)) == f"exercises.heads.{expected}"


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ('name = "small"', 'nmae = "small"', "nmae: unknown key; remove it or correct its spelling"),
        ('name = "small"', 'name = "a/b"', "name: 'a/b' cannot name files; use letters, digits, '-' and '_'"),
        ('title = "A', 'root = "."\ntitle = "A', "root: unknown key; remove it, the course lies where the file lies"),
        ('feedback = "hint"\n', "", "feedback: missing; add it"),
        ('"hint"', '"loud"', "feedback: 'loud' is not known; choose from: full, hint, title, none"),
        ('["en"]', '["en", "fr"]', "languages: 'fr' is not known; choose from: en, zh"),
        ('["en"]', "[]", "languages: empty; choose from: en, zh"),
        ('name = "heads"\n', "", "exercises.number 2.name: missing; add it"),
        ('"heads"', '"class"', "exercises.class.name: 'class' is no Python name; use letters, digits and '_'"),
        ('"heads"', '"../a"', "exercises.../a.name: '../a' is no Python name; use letters, digits and '_'"),
        ('"heads"', '"softmax"', "exercises.softmax: described twice; rename one or remove it"),
    ],
)
def test_a_mistake_is_answered_with_its_key_and_what_to_do(tmp_path: Path, before: str, after: str, expected: str):
    assert before in SMALL
    assert complaint(tmp_path, SMALL.replace(before, after)) == expected


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ("[limits]\ncall_seconds = -1", "limits.call_seconds: -1.0 is no limit; give a number above 0"),
        ("[limits]\nmemory_mib = 0", "limits.memory_mib: 0 is no limit; give a number above 0"),
        ("[limits]\ncall_seconds = inf", "limits.call_seconds: inf is no limit; give a number above 0"),
        ("[limits]\ncall_seconds = nan", "limits.call_seconds: nan is no limit; give a number above 0"),
        ("[limits]\nmemory_mib = 1.5", "limits.memory_mib: expected a whole number, got a number; correct the value"),
        ("[limits]\ncall_secs = 1", "limits.call_secs: unknown key; remove it or correct its spelling"),
        ("[paths]\nsuites = 3", "paths.suites: expected the path of a folder as text; correct the value"),
        ("[paths]\nsuite = '.'", "paths.suite: unknown key; remove it or correct its spelling"),
    ],
)
def test_a_mistake_in_a_table_is_answered_with_its_key_and_what_to_do(tmp_path: Path, table: str, expected: str):
    assert complaint(tmp_path, f"{SMALL}{table}\n") == expected


def test_a_table_where_a_value_stands_is_named(tmp_path: Path):
    expected = "limits: expected a table, got a whole number; correct the value"
    assert complaint(tmp_path, f"limits = 3\n{SMALL}") == expected


def test_a_course_without_exercises_is_refused(tmp_path: Path):
    head = SMALL.partition("[[")[0]
    expected = "exercises: empty; describe at least one under [[exercises]]"
    assert complaint(tmp_path, f"exercises = []\n{head}") == expected


def test_broken_toml_is_answered_with_its_line(tmp_path: Path):
    expected = "not TOML: Invalid value (at line 2, column 9); correct it there"
    assert complaint(tmp_path, 'name = "small"\ntitle = \n') == expected


def test_a_file_that_is_not_utf8_is_refused(tmp_path: Path):
    (tmp_path / "course.toml").write_bytes(b'name = "\xff"')
    with pytest.raises(CourseError, match=r"course\.toml: byte 8 is not UTF-8; save the file as UTF-8"):
        load_course(tmp_path)


def test_a_byte_order_mark_is_read_over(tmp_path: Path):
    (tmp_path / "course.toml").write_bytes(b"\xef\xbb\xbf" + SMALL.encode())
    assert load_course(tmp_path).name == "small"


def test_a_missing_file_is_named(tmp_path: Path):
    with pytest.raises(CourseError, match=r"course\.toml: cannot be read \(No such file or directory\); name a "):
        load_course(tmp_path)


def test_the_nearest_course_above_a_folder_is_found(tmp_path: Path):
    file = written(tmp_path, SMALL)
    (tmp_path / "a" / "b").mkdir(parents=True)
    assert find_course(tmp_path / "a" / "b") == file
    assert find_course(tmp_path) == file


def test_the_current_folder_is_where_the_search_starts(tmp_path: Path, monkeypatch):
    file = written(tmp_path, SMALL)
    monkeypatch.chdir(tmp_path)
    assert find_course() == file


def test_outside_any_course_the_one_beside_the_package_is_found(tmp_path: Path):
    assert find_course(tmp_path) == REPOSITORY / "course.toml"


def test_where_there_is_no_course_the_error_says_where_to_go(tmp_path: Path, monkeypatch):
    monkeypatch.setattr("autograder.course.__file__", str(tmp_path / "autograder" / "course.py"))
    with pytest.raises(CourseError, match=r"no course\.toml in .* or above it; go to the folder of the course"):
        find_course(tmp_path)


def test_a_course_cannot_be_changed_after_loading(small: Course):
    with pytest.raises(AttributeError):
        small.exercise("softmax").points = 100


def test_an_exercise_made_in_code_is_checked_like_one_from_the_file():
    with pytest.raises(ValueError, match="points: -2 is no number of points"):
        Exercise(name="softmax", title="Softmax", points=-2, functions=("softmax",), libraries=("numpy",))


def with_axes(axes: str) -> str:
    return SMALL.replace('functions = ["split", "merge"]', f'functions = ["split", "merge"]\naxes = {{ {axes} }}')


def test_an_exercise_may_name_the_axes_of_what_is_drawn(tmp_path):
    course = load_course(written(tmp_path, with_axes('x = ["position", "feature"], "split[1]" = ["query", "key"]')))
    assert course.exercise("heads").axes == {"x": ("position", "feature"), "split[1]": ("query", "key")}
    assert course.exercise("softmax").axes == {}


@pytest.mark.parametrize(
    ("axes", "expected"),
    [
        ('x = ["query"]', "exercises.heads.axes[...]: expected a list of length 2, got 1; correct the value"),
        ('x = "query"', "exercises.heads.axes[...]: expected a list, got text; correct the value"),
        ('x = ["query", " "]', "exercises.heads.axes.x: ' ' cannot be read; name the rows and the columns"),
        (
            '"softmax[0]" = ["a", "b"]',
            "exercises.heads.axes.softmax[0]: 'softmax' is none of the functions; they are: split, merge",
        ),
        (
            '"split[-1]" = ["a", "b"]',
            "exercises.heads.axes: 'split[-1]' is no parameter, function or place in what comes back, as in 'split[1]'",
        ),
    ],
)
def test_axes_that_cannot_be_drawn_are_refused(tmp_path, axes, expected):
    assert complaint(tmp_path, with_axes(axes)) == expected


def test_the_shipped_course_names_the_axes_of_every_exercise_and_only_of_what_there_is():
    for exercise in load_course(REPOSITORY).exercises:
        names = parameter_names(load_course(REPOSITORY).solution_of(exercise).read_bytes())
        parameters = {parameter for function in exercise.functions for parameter in names[function]}
        assert exercise.axes
        assert {key.partition("[")[0] for key in exercise.axes} <= parameters | set(exercise.functions)
