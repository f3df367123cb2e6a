"""What an instructor and a learner read on the terminal."""

import io
from pathlib import Path

import msgspec
import pytest
from rich.cells import cell_len
from rich.console import Console

from autograder.batch import Batch
from autograder.course import Course, Exercise
from autograder.language import ENGLISH, Reader, say
from autograder.outputs.terminal import progress_bar, show_batch, show_check, show_class, show_exercise
from autograder.report import CheckResult, Diagnosis, ExerciseResult, Outcome, Report, report_name, write_report
from autograder.roster import Learner
from autograder.submission import Found, Refused, Submission


def exercise(name: str, points: float, *, bonus: bool = False) -> Exercise:
    return Exercise(name=name, title=name, points=points, functions=(name,), libraries=("numpy",), bonus=bonus)


def course(*exercises: Exercise) -> Course:
    exercises = exercises or (exercise("softmax", 20), exercise("causal_mask", 15))
    return Course(root=Path("."), name="c", title="C", languages=("en",), feedback="full", exercises=exercises)


def check(title: str, outcome: Outcome = Outcome.PASSED, message: str = "", **facts: str) -> CheckResult:
    earned = 2 if outcome is Outcome.PASSED else 0
    return CheckResult(title.replace(" ", "_"), title, outcome, 2, earned, message, **facts)


def result(name: str, points: float, earned: float, *checks: CheckResult, reason: str = "") -> ExerciseResult:
    return ExerciseResult(name, points, earned, reason, checks=list(checks))


def report(id: str, *exercises: ExerciseResult) -> Report:
    earned = sum(each.earned for each in exercises)
    return Report(submission=id, status="graded", points=35, earned=earned, exercises=list(exercises))


FULL = report("amara", result("softmax", 20, 20), result("causal_mask", 15, 15))


def console(width: int = 120, *, encoding: str = "utf-8", **settings: bool) -> Console:
    return Console(file=io.TextIOWrapper(io.BytesIO(), encoding=encoding), width=width, highlight=False, **settings)


def text(console: Console) -> str:
    console.file.flush()
    return console.file.buffer.getvalue().decode(console.file.encoding)


def class_table(*reports: Report, width: int = 120, of: Course | None = None) -> list[str]:
    out = console(width)
    show_class(out, reports, of or course())
    return [line.rstrip() for line in text(out).splitlines()]


def row(lines: list[str], id: str) -> list[str]:
    return next(line.split() for line in lines if line.startswith(id))


def learner_view(
    result: ExerciseResult,
    feedback: str = "full",
    sentence: str = "",
    encoding: str = "utf-8",
    reader: Reader = ENGLISH,
    width: int = 100,
) -> str:
    out = console(width, encoding=encoding)
    show_exercise(out, result, feedback, lambda hint: sentence, reader)
    return text(out)


# The class


def test_a_row_holds_earned_points_by_exercise_and_the_total():
    lines = class_table(FULL, report("bea", result("softmax", 20, 12.5), result("causal_mask", 15, 0)))
    assert row(lines, "submission") == ["submission", "/20", "/15", "/35", "remark"]
    assert row(lines, "amara") == ["amara", "20", "15", "35"]
    assert row(lines, "bea") == ["bea", "12.5", "0", "12.5"]


def test_bonus_points_have_a_column_apart_from_the_total():
    with_bonus = course(exercise("softmax", 20), exercise("causal_mask", 15), exercise("by_hand", 5, bonus=True))
    by_hand = ExerciseResult("by_hand", 5, 4, bonus=True)
    lines = class_table(
        report("amara", result("softmax", 20, 20), result("causal_mask", 15, 10), by_hand), of=with_bonus
    )
    assert row(lines, "amara") == ["amara", "20", "10", "4", "30", "4"]


def test_a_narrow_terminal_leaves_out_the_bonus_exercises_but_not_their_sum():
    core = [exercise(f"core_exercise{n}", 20) for n in range(4)]
    with_bonus = course(*core, *(exercise(f"extra_exercise{n}", 5, bonus=True) for n in range(3)))
    results = [
        ExerciseResult(each.name, each.points, each.points - 0.5, bonus=each.bonus) for each in with_bonus.exercises
    ]
    lines = class_table(report("amara", *results), of=with_bonus, width=80)
    assert row(lines, "amara") == ["amara", "19.5", "19.5", "19.5", "19.5", "78", "13.5"]
    lines = class_table(report("amara", *results), of=with_bonus, width=120)
    assert row(lines, "amara") == ["amara", "19.5", "19.5", "19.5", "19.5", "4.5", "4.5", "4.5", "78", "13.5"]


def test_a_submission_that_was_not_graded_has_dashes_and_the_reason():
    lines = class_table(Report(submission="amara", status="not_graded", reason="amara.zip is broken", points=35))
    assert row(lines, "amara") == ["amara", "-", "-", "-", "not", "graded:", "amara.zip", "is", "broken"]


def test_remarks_name_the_exercises_that_share_a_reason():
    lines = class_table(
        report("amara", result("softmax", 20, 0, reason="not handed in"), result("causal_mask", 15, 15)),
        report(
            "bea",
            result("softmax", 20, 0, reason="not handed in"),
            result("causal_mask", 15, 0, reason="not handed in"),
        ),
    )
    assert " ".join(row(lines, "amara")[4:]) == "softmax: not handed in"
    assert " ".join(row(lines, "bea")[4:]) == "everything: not handed in"


def test_a_bonus_that_was_not_handed_in_is_no_remark():
    left_out = ExerciseResult("by_hand", 5, 0, "not handed in", bonus=True)
    broken = ExerciseResult("tiles", 10, 0, "line 3: invalid syntax", bonus=True)
    of = course(exercise("softmax", 20), exercise("by_hand", 5, bonus=True), exercise("tiles", 10, bonus=True))
    lines = class_table(
        report("amara", result("softmax", 20, 20), left_out, broken),
        report("bea", result("softmax", 20, 20), left_out, ExerciseResult("tiles", 10, 10, bonus=True)),
        report("cem", result("softmax", 20, 0, reason="not handed in"), left_out),
        of=of,
    )
    assert " ".join(row(lines, "amara")[6:]) == "tiles: line 3: invalid syntax"
    assert row(lines, "bea")[6:] == []
    assert " ".join(row(lines, "cem")[6:]) == "everything: not handed in"


def test_a_remark_names_the_module_once_and_is_cut_where_the_reason_is_long():
    reason = "softmax.py cannot be loaded: " + "x" * 200
    lines = class_table(
        report("amara", result("softmax", 20, 0, reason=reason), result("causal_mask", 15, 15)), width=200
    )
    assert " ".join(row(lines, "amara")[4:]) == "softmax.py cannot be loaded: " + "x" * 81 + "..."


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        (Outcome.TIMED_OUT, "timed out"),
        (Outcome.OUT_OF_MEMORY, "ran out of memory"),
        (Outcome.CRASHED, "crashed"),
        (Outcome.ERROR, "could not be run"),
    ],
)
def test_an_ending_other_than_failure_is_remarked_once(outcome, words):
    checks = [check("one", outcome), check("two", outcome), check("three", Outcome.FAILED)]
    lines = class_table(report("amara", result("softmax", 20, 0, *checks), result("causal_mask", 15, 15)))
    assert " ".join(row(lines, "amara")[4:]) == f"softmax: {words}"


def test_a_narrow_terminal_gets_the_remarks_below_the_table():
    broken = result("softmax", 20, 0, reason="line 3: invalid syntax")
    lines = class_table(FULL, report("bea", broken, result("causal_mask", 15, 15)), width=60)
    assert row(lines, "bea") == ["bea", "0", "15", "15"]
    assert "bea  softmax: line 3: invalid syntax" in lines
    assert max(map(len, lines)) <= 60


def test_the_counts_and_the_mean_leave_out_what_was_not_graded():
    half = report("bea", result("softmax", 20, 10), result("causal_mask", 15, 0))
    lost = Report(submission="cem", status="not_graded", reason="broken", points=35)
    assert class_table(FULL, half, lost)[-1] == "2 of 3 submissions graded; mean 22.5 of 35 points"


def test_the_class_is_sorted_by_name():
    lines = class_table(*(report(id, *FULL.exercises) for id in ("zoë", "Bea", "amara")))
    assert [line.split()[0] for line in lines[4:7]] == ["amara", "Bea", "zoë"]


def test_nothing_in_a_name_acts_on_the_table():
    lines = class_table(report("\x1b[2J[red]a\u202eb\nc", *FULL.exercises))
    assert row(lines, "\\x1b[2J[red]a")[1:] == ["20", "15", "35"]
    assert lines[4].startswith("\\x1b[2J[red]a\\u202eb\\nc ")


def test_a_very_long_name_is_cut_to_its_column_also_where_letters_are_wide():
    lines = class_table(report("n" * 200, *FULL.exercises), report("字" * 200, *FULL.exercises))
    assert lines[4].startswith("n" * 21 + "... ")
    assert lines[5].startswith("字" * 10 + "... ")


def test_the_end_names_what_was_ignored_and_where_the_reports_are(tmp_path, monkeypatch):
    # In the repository itself the demo may have been run.
    monkeypatch.chdir(tmp_path)
    out = console()
    found = Found([], ["roster.csv", "\x1b.txt"])
    show_batch(out, Batch(found, Path("grades", "demo"), [FULL]), course())
    lines = text(out).splitlines()
    assert lines[-3:] == [
        "Not submissions, ignored: roster.csv, \\x1b.txt",
        f"Reports: {Path('grades', 'demo', 'reports')}",
        f"Marks:   {Path('grades', 'demo', 'grades.csv')}",
    ]


def class_of(*submissions: Submission | Refused, roster: list[Learner] | None = None) -> list[str]:
    out = console()
    reports = [report(each.id, *FULL.exercises) for each in submissions]
    show_batch(out, Batch(Found(list(submissions), []), Path("grades"), reports, roster=roster), course())
    return [line.rstrip() for line in text(out).splitlines()]


def test_names_stand_beside_ids_where_the_download_tells_them():
    lines = class_of(Submission("4711", {}, learner_name="okaforamara"), Refused("4712", "broken"))
    assert row(lines, "submission")[:2] == ["submission", "name"]
    assert row(lines, "4711") == ["4711", "okaforamara", "20", "15", "35"]
    assert row(lines, "4712") == ["4712", "20", "15", "35"]


def test_who_is_missing_and_who_is_unknown_is_named():
    roster = [Learner("amara"), Learner("bea", "Bea \x1b[2J"), Learner("cem")]
    lines = class_of(Submission("amara", {}), Refused("oscar", "broken"), roster=roster)
    assert "Handed nothing in: Bea \\x1b[2J (bea), cem" in lines
    assert "Not on the roster: oscar" in lines


def test_a_whole_class_that_handed_in_is_said_too():
    lines = class_of(Submission("amara", {}), roster=[Learner("amara")])
    assert "Handed nothing in: nobody" in lines
    assert not any(line.startswith("Not on the roster") for line in lines)
    assert not any(line.startswith("Handed nothing in") for line in class_of(Submission("amara", {})))


def test_what_was_chosen_is_said_and_of_very_much_only_the_first():
    lines = class_of(Submission("4711", {}, notes=("the newest was taken", "\x1b" * 300)))
    assert "4711: the newest was taken" in lines
    many = class_of(Submission("4711", {}, notes=tuple(f"note {n}" for n in range(25))))
    assert "4711: note 19" in many
    assert "4711: note 20" not in many
    assert "and 5 more notes like these" in many


def test_reports_of_nobody_in_the_class_are_named_since_gradebook_and_pages_have_them(tmp_path):
    out = console(200)
    (tmp_path / "reports").mkdir()
    for name in ("amara", "moved away", *(f"gone {number:02}" for number in range(20))):
        write_report(report(name, *FULL.exercises), tmp_path / "reports")
    show_batch(out, Batch(Found([Submission("amara", {})], []), tmp_path, [FULL]), course())
    (line,) = [line for line in text(out).splitlines() if line.startswith("Of earlier classes")]
    named = ", ".join(sorted(report_name(f"gone {number:02}") for number in range(20)))
    assert line == f"Of earlier classes, and still in gradebook and pages until you delete them: {named} and 1 more"


def test_a_class_that_was_stopped_says_how_much_is_left():
    out = console()
    found = Found([Refused("amara", ""), Refused("bea", ""), Refused("cem", "")], [])
    show_batch(out, Batch(found, Path("grades"), [FULL], stopped=True), course())
    assert "Stopped with 2 submissions not graded yet; what is graded is kept." in text(out)


def test_a_long_path_is_not_broken_into_lines():
    out = console(40)
    show_batch(out, Batch(Found([], []), Path("a" * 80), [FULL]), course())
    assert f"Reports: {Path('a' * 80, 'reports')}" in text(out).splitlines()


# Colours and progress


def test_there_are_no_escapes_where_the_output_is_no_terminal():
    out = console()
    show_class(out, [FULL], course())
    assert "\x1b" not in text(out)


def test_there_are_colours_on_a_terminal_and_none_with_no_color(monkeypatch):
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    coloured = console(force_terminal=True)
    show_class(coloured, [FULL], course())
    assert "\x1b[32m" in text(coloured)
    monkeypatch.setenv("NO_COLOR", "1")
    plain = console(force_terminal=True)
    show_class(plain, [FULL], course())
    assert "\x1b[32m" not in text(plain)


def test_the_progress_bar_shows_count_and_remaining_time_on_a_terminal_only(monkeypatch):
    monkeypatch.setenv("TERM", "xterm-256color")
    for settings, shown in (({"force_terminal": True}, True), ({}, False)):
        out = console(**settings)
        with progress_bar(out) as progress:
            progress.advance(progress.add_task("", total=4))
        assert ("1/4" in text(out)) is shown
        assert ("-:--:--" in text(out)) is shown


# The learner


def test_the_learner_reads_counts_and_every_check_by_its_title():
    view = learner_view(result("softmax", 20, 18, check("rows add up to one"), check("ties", Outcome.FAILED)))
    assert view.splitlines() == [
        "softmax  1 of 2 checks passed, 18 of 20 points",
        "  ✓ rows add up to one",
        "  ✗ ties",
        "",
    ]


def test_under_a_failed_check_stand_the_call_what_came_of_it_and_the_contract():
    failed = check("ties", Outcome.FAILED, "got nan\n  at [0]", counterexample="softmax([1, 1])", hint="softmax.ties")
    view = learner_view(result("softmax", 20, 0, failed), sentence="The contract says: ties share.")
    assert view.splitlines()[1:] == [
        "  ✗ ties",
        "      softmax([1, 1])",
        "      got nan",
        "        at [0]",
        "      The contract says: ties share.",
        "",
    ]


def test_a_sentence_of_the_contract_is_said_once():
    failed = [check(title, Outcome.FAILED, "got nan", hint="softmax.ties") for title in ("one", "two")]
    view = learner_view(result("softmax", 20, 2, *failed, check("three")), sentence="Ties share.")
    assert view.splitlines()[1:] == [
        "  ✗ one",
        "      got nan",
        "      Ties share.",
        "  ✗ two",
        "      got nan",
        "  ✓ three",
        "",
    ]


def test_a_stub_is_not_answered_with_a_list_of_failures():
    checks = [
        check("one", Outcome.FAILED, "not written yet (NotImplementedError)", counterexample="softmax([1])"),
        check("two", Outcome.FAILED, "a ValueError should be raised, not NotImplementedError"),
    ]
    view = learner_view(result("softmax", 20, 0, *checks))
    assert view.splitlines() == ["softmax  0 of 2 checks passed, 0 of 20 points", "  not written yet", ""]


def test_a_module_written_in_part_says_which_checks_met_the_stub():
    stub = check("one", Outcome.FAILED, "not written yet (NotImplementedError)", counterexample="softmax([1])")
    view = learner_view(result("softmax", 20, 0, check("two"), stub))
    assert view.splitlines()[1:] == ["  ✓ two", "  ✗ one", "      not written yet", ""]


def test_a_reason_stands_in_place_of_the_checks_that_it_kept_from_being_run():
    lost = [check(title, Outcome.FAILED, "line 5: expected ':'") for title in ("one", "two")]
    view = learner_view(result("softmax", 20, 0, *lost, reason="line 5: expected ':'"))
    assert view.splitlines() == ["softmax  0 of 20 points", "  line 5: expected ':'", ""]


@pytest.mark.parametrize(
    ("feedback", "said"),
    [
        ("full", {"ties", "got nan", "softmax([1, 1])", "ties share"}),
        ("hint", {"ties", "ties share"}),
        ("title", {"ties"}),
        ("none", set()),
    ],
)
def test_the_feedback_policy_decides_what_is_shown(feedback, said):
    failed = check("ties", Outcome.FAILED, "got nan", counterexample="softmax([1, 1])", hint="softmax.ties")
    view = learner_view(result("softmax", 20, 0, failed), feedback, "ties share")
    assert {words for words in ("ties", "got nan", "softmax([1, 1])", "ties share") if words in view} == said
    assert "0 of 1 checks passed, 0 of 20 points" in view


def test_public_tests_carry_no_points_and_are_shown_in_full_whatever_the_policy():
    out = console()
    public = msgspec.structs.replace(result("softmax", 0, 0, check("ties", Outcome.FAILED, "got nan")), public=True)
    show_check(out, [public], "none", lambda hint: "")
    assert text(out).splitlines()[:3] == ["softmax  0 of 1 checks passed", "  ✗ ties", "      got nan"]


def test_of_several_exercises_the_next_one_to_do_is_named():
    out = console()
    results = [result("softmax", 2, 2, check("a")), result("causal_mask", 2, 0, reason="there is no causal_mask.py")]
    show_check(out, results, "full", lambda hint: "")
    assert text(out).splitlines()[-1] == "1 of 2 exercises done; next: causal_mask"
    out = console()
    show_check(out, [results[0], results[0]], "full", lambda hint: "")
    assert text(out).splitlines()[-1] == "2 of 2 exercises done"


def test_the_bonus_is_counted_apart_and_is_next_when_the_others_are_done():
    by_hand = ExerciseResult("by_hand", 5, 0, "there is no by_hand.py", bonus=True)
    ablation = ExerciseResult("ablation", 10, 10, checks=[check("a")], bonus=True)
    softmax = result("softmax", 2, 0, check("a", Outcome.FAILED))
    for results, said in (
        ([by_hand, softmax, ablation], "0 of 1 exercises done, 1 of 2 bonus exercises done; next: softmax"),
        (
            [by_hand, result("softmax", 2, 2, check("a"))],
            "1 of 1 exercises done, 0 of 1 bonus exercises done; next: by_hand",
        ),
        ([by_hand, ablation], "1 of 2 bonus exercises done; next: by_hand"),
        ([ablation, ablation], "2 of 2 bonus exercises done"),
    ):
        out = console()
        show_check(out, results, "full", lambda hint: "")
        assert text(out).splitlines()[-1] == said
    assert learner_view(ablation).splitlines()[0] == "ablation  1 of 1 checks passed, 10 of 10 bonus points"


def test_a_check_that_timed_out_says_so_beside_its_title():
    assert "  ✗ ties (timed out)\n" in learner_view(result("softmax", 20, 0, check("ties", Outcome.TIMED_OUT)))


def test_nothing_in_a_message_acts_on_the_terminal():
    failed = check("ties", Outcome.FAILED, "\x1b]0;title\x07[link=http://evil]x[/link]\u202e\ttab")
    view = learner_view(result("softmax", 20, 0, failed))
    assert "      \\x1b]0;title\\x07[link=http://evil]x[/link]\\u202e" in view
    assert "\x1b" not in view


def test_a_flood_of_output_is_cut():
    view = learner_view(result("softmax", 20, 0, check("ties", Outcome.FAILED, "line\n" * 1000 + "x" * 100_000)))
    assert "      ... 977 more lines\n" in view
    view = learner_view(result("softmax", 20, 0, check("ties", Outcome.FAILED, "x" * 100_000)))
    assert view.count("x") == 1_000 + len("softmax".replace("softma", ""))


def test_a_terminal_without_the_signs_gets_letters():
    view = learner_view(result("softmax", 20, 0, check("ties"), check("sums", Outcome.FAILED)), encoding="ascii")
    assert view.splitlines()[1:3] == ["  + ties", "  x sums"]


# In Chinese

CHINESE = Reader("zh", {"ties": "并列最高"})


def said(english: str, **facts: object) -> dict[str, object]:
    phrase = say(english, **facts)
    return {"message": str(phrase), "phrase": phrase}


def test_a_learner_who_reads_chinese_reads_nothing_else():
    told = said("returned {found}, right is {right}", found="[1., 0.]", right="[0.5]")
    failed = check("ties", Outcome.FAILED, hint="softmax.ties", **told)
    out_of_time = check("ties", Outcome.TIMED_OUT, **said("one call took longer than {seconds} s", seconds=10))
    shown = result("softmax", 20, 2, check("ties"), failed, out_of_time)
    shown.diagnosis = [Diagnosis("no_shift", {"en": "Not shifted.", "zh": "没有先减去最大值。"}, "softmax([800.])")]
    assert learner_view(shown, sentence="题目规定：并列的分数得到相等的权重。", reader=CHINESE).splitlines() == [
        "softmax  3 项检查通过了 1 项，得分 2/20",
        "  问题出在这里：",
        "      没有先减去最大值。",
        "      softmax([800.])",
        "  ✓ 并列最高",
        "  ✗ 并列最高",
        "      返回的是 [1., 0.]，正确的是 [0.5]",
        "      题目规定：并列的分数得到相等的权重。",
        "  ✗ 并列最高（超时）",
        "      一次调用用了 10 秒还没有结束",
        "",
    ]


def test_a_reason_and_the_progress_are_in_chinese_too():
    lost = result("softmax", 20, 0)
    lost.lose(say("{file} cannot be loaded: {why}", file="softmax.py", why="ValueError: no"))
    out = console(100)
    show_check(out, [lost, result("causal_mask", 15, 15, check("ties"))], "full", lambda hint: "", CHINESE)
    lines = text(out).splitlines()
    assert lines[:2] == ["softmax  得分 0/20", "  softmax.py 无法载入：ValueError: no"]
    assert lines[-1] == "2 道题完成了 1 道；接下来：softmax"


def test_what_nobody_translated_is_shown_in_english():
    untold = result("softmax", 20, 0, check("sums", Outcome.FAILED, "assert 1 == 2"))
    untold.diagnosis = [Diagnosis("no_shift", {"en": "Not shifted."})]
    view = learner_view(untold, reader=CHINESE)
    assert "      Not shifted.\n" in view
    assert "  ✗ sums\n      assert 1 == 2\n" in view


def test_chinese_is_folded_between_its_letters_and_fills_its_lines():
    failed = check(
        "ties",
        Outcome.FAILED,
        **said("what {function} returned cannot be used: {error}", function="f", error="并列" * 40),
    )
    lines = learner_view(result("softmax", 20, 0, failed), reader=CHINESE, width=46).splitlines()
    assert lines[1] == "  ✗ 并列最高"
    assert lines[2] == "      f 返回的东西没法用：" + "并列" * 5
    assert [cell_len(line) for line in lines[3:-2]] == [46] * len(lines[3:-2])
