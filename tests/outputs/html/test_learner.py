"""The learner's page as a browser shows it, in both languages."""

import msgspec
import pytest

from autograder.outputs.html.learner import LearnerPages
from autograder.report import ExerciseResult, Outcome, Report

from .conftest import one_report


def page_of(course, report, languages=("en", "zh")):
    return LearnerPages(course, languages).page(report)


def texts(page, selector):
    return [text.strip() for text in page.locator(selector).all_inner_texts() if text.strip()]


def heat_map(page, nth):
    """Give the values of a heat map as rows, and the places where it differs."""
    rows = page.locator(".en .heat").nth(nth).locator("tbody tr").all()
    cells = [row.locator("td").all() for row in rows]
    values = [[cell.inner_text() for cell in row] for row in cells]
    differs = [(i, j) for i, row in enumerate(cells) for j, cell in enumerate(row) if cell.locator("mark").count()]
    return values, differs


def test_the_head_says_who_how_much_and_when(course, opened, report):
    page = opened(page_of(course, report))

    assert page.title() == "Chidi Eze · Attention by hand"
    assert texts(page, ".en h1") == ["Chidi Eze (chidi-eze)"]
    assert texts(page, ".en .total") == ["16 of 100 points"]
    assert texts(page, ".en .fact") == ["Handed in late, 2026-03-01 21:14 +0000", "softmax.py is the newer of two"]
    assert texts(page, ".en .summary tr") == [
        "Softmax\t16 of 20 points · 1 of 4 checks passed",
        "Causal mask\t0 of 15 points · 0 of 1 checks passed",
        "Attention\t0 of 20 points",
    ]


def right(result, earned=None):
    """Give a result of which every check passed."""
    checks = [msgspec.structs.replace(check, outcome=Outcome.PASSED, earned=check.points) for check in result.checks]
    own = {"checks": checks, "diagnosis": [], "code": "", "earned": earned or result.points}
    return msgspec.structs.replace(result, **own)


@pytest.mark.parametrize("feedback", ["full", "hint", "title", "none"])
def test_a_page_is_the_same_whosever_pages_were_made_before(course, report, feedback):
    course = msgspec.structs.replace(course, feedback=feedback)
    softmax, mask, *others = report.exercises
    exercises = [
        [right(softmax), right(mask), *others],
        report.exercises,
        [right(softmax), mask, *others],
        [right(softmax, earned=19), right(mask), *others],
        [msgspec.structs.replace(right(softmax), code="mine = 1", diagnosis=softmax.diagnosis), right(mask), *others],
        [msgspec.structs.replace(right(softmax), checks=right(softmax).checks[:2]), right(mask), *others],
    ]
    reports = [msgspec.structs.replace(report, exercises=each) for each in exercises]
    pages = LearnerPages(course, ("en", "zh"))
    assert [pages.page(each) for each in reports] == [page_of(course, each) for each in reports]
    assert len({pages.page(each) for each in reports}) >= 5


def test_a_bonus_is_told_where_it_was_handed_in(course, opened, report):
    report.exercises[3].earned, report.exercises[3].reason = 4.5, ""
    page = opened(page_of(course, report))
    assert texts(page, ".en .total") == ["16 of 100 points, and 4.5 for a bonus"]
    assert texts(page, ".en .summary tr")[-1] == "By hand\t4.5 of 5 bonus points"


def test_the_summary_leads_to_each_exercise(course, opened, report):
    page = opened(page_of(course, report))
    page.click(".en .summary >> text=Causal mask")
    assert page.url.endswith("#en-causal_mask")
    assert page.locator("#en-causal_mask").inner_text() == "Causal mask causal_mask.py"


def test_heat_maps_have_their_values_their_axes_and_the_cells_that_differ(course, opened, report):
    page = opened(page_of(course, report))

    assert texts(page, ".en .heat figcaption") == ["scores", "came back", "right", "came back", "right"]
    assert heat_map(page, 0) == ([["1000", "-inf", "-500"]], [])
    assert heat_map(page, 1) == ([["nan", "nan"], ["0.67", "0.33"]], [(0, 0), (0, 1)])
    assert heat_map(page, 2) == ([["0.5", "0.5"], ["0.67", "0.33"]], [(0, 0), (0, 1)])
    assert heat_map(page, 3) == ([["0", "0"], ["1", "0"]], [(0, 0), (1, 1)])
    mask = page.locator(".en .heat").nth(3)
    assert mask.locator("th[scope=rowgroup]").inner_text() == "query"
    assert mask.locator("th[scope=colgroup]").inner_text() == "key"
    assert mask.locator("th[scope=col]").all_inner_texts() == ["0", "1"]


def test_a_failed_check_tells_the_contract_the_input_and_what_came_of_it(course, opened, report):
    page = opened(page_of(course, report))
    failed = page.locator(".en .failed").first

    assert texts(failed, "summary") == ["✗ ties share"]
    assert texts(failed, "blockquote") == ["Scores that tie for the top get equal weights, however large they are."]
    assert texts(failed, ".call") == ["softmax([1., 1.])"]
    assert texts(failed, ".message") == ["NaN at (0, 0)"]
    assert texts(page, ".en .passed") == ["✓ a row of scores becomes its weights"]
    assert texts(page, ".en .failed >> nth=2 >> summary") == ["✗ float16 (timed out)"]


def test_a_message_that_only_repeats_the_figures_is_left_out(course, opened, report):
    page = opened(page_of(course, report))
    assert page.locator(".en section[data-exercise=causal_mask] .message").count() == 0
    assert texts(page, ".en section[data-exercise=causal_mask] figcaption") == ["came back", "right"]


def test_figures_that_stand_there_already_are_not_drawn_again(course, opened, report):
    mask = report.exercises[1]
    mask.checks = [mask.checks[0], msgspec.structs.replace(mask.checks[0], title="once more")]
    page = opened(page_of(course, report))
    failed = page.locator(".en section[data-exercise=causal_mask] .failed")
    assert [each.locator(".heat").count() for each in failed.all()] == [2, 0]
    assert [each.locator(".message").count() for each in failed.all()] == [0, 1]


def test_after_the_first_few_failed_checks_the_others_are_folded_but_printed(course, opened, report):
    mask = report.exercises[1]
    mask.checks = [msgspec.structs.replace(mask.checks[0], message=f"number {n}", figures=[]) for n in range(6)]
    page = opened(page_of(course, report))
    messages = page.locator(".en section[data-exercise=causal_mask] .message").all()

    assert [message.is_visible() for message in messages] == [True] * 4 + [False] * 2
    page.emulate_media(media="print")
    assert [message.is_visible() for message in messages] == [True] * 6


def test_beside_figures_the_call_has_its_arguments_by_name(course, opened, report):
    report.exercises[0].checks[1].call = "softmax(scores)"
    report.exercises[0].checks[2].call = "softmax(scores)"
    page = opened(page_of(course, report))
    assert texts(page, ".en .failed .call") == ["softmax(scores)", "softmax([2.])"]


def test_the_line_that_raised_is_marked_in_the_learners_own_code(course, opened, report):
    page = opened(page_of(course, report))
    code = page.locator(".en .code")

    assert texts(code.first, ".raised td") == [
        "    return scores.nothing raised here: no warning, and in 1 more check".strip()
    ]
    assert code.first.locator("tr").count() == 5
    assert texts(code.nth(1), ".raised") == ["2\tx = ( this line"]


def test_hints_open_one_after_the_other(course, opened, report):
    page = opened(page_of(course, report))
    hints = page.locator(".en section[data-exercise=softmax] .hint")

    assert hints.count() == 5
    assert [hint.locator("> p").is_visible() for hint in hints.all()] == [False] * 5
    hints.nth(0).locator("> summary").click()
    assert [hint.locator("> p").is_visible() for hint in hints.all()] == [True] + [False] * 4
    assert texts(hints.nth(1), "> summary") == ["Hint 2 of 5"]


def test_the_switch_shows_the_page_in_chinese(course, opened, report):
    page = opened(page_of(course, report))
    assert (page.locator(".en h1").is_visible(), page.locator(".zh h1").is_visible()) == (True, False)

    page.check("#show-zh")

    assert (page.locator(".en h1").is_visible(), page.locator(".zh h1").is_visible()) == (False, True)
    assert texts(page, ".zh .total") == ["得分 16/100"]
    assert texts(page, ".zh section >> nth=0 >> .marks") == ["得分 16/20 · 4 项检查通过了 1 项"]
    assert texts(page, ".zh .diagnosis p") == ["问题出在这里：", "exp 溢出了。可以加上什么？"]
    assert texts(page, ".zh blockquote >> nth=0") == ["并列最高的分数得到相等的权重，不管它们有多大。"]
    assert texts(page, ".zh .code >> nth=0 >> .raised em") == ["在这里抛出异常：no warning，另外还有 1 项检查"]


def test_a_page_in_one_language_has_no_switch(course, opened, report):
    page = opened(page_of(course, report, ["zh"]))
    assert page.locator(".switch").count() == 0
    assert page.locator("html").get_attribute("lang") == "zh"
    assert page.locator(".zh h1").is_visible()


VALUES = {"softmax([1., 1.])", "NaN at (0, 0)", "0.67", "scores.nothing"}
HELP = {"Scores that tie for the", "What may be added"}


@pytest.mark.parametrize(
    ("feedback", "seen"),
    [
        ("full", VALUES | HELP | {"ties share", "Hint 1"}),
        ("hint", HELP | {"ties share", "Hint 1"}),
        ("title", {"ties share", "Hint 1"}),
        ("none", set()),
    ],
)
def test_the_feedback_policy_decides_what_is_in_the_page(course, report, feedback, seen):
    report.exercises = report.exercises[:1]

    html = page_of(msgspec.structs.replace(course, feedback=feedback), report, ["en"])

    assert {words for words in VALUES | HELP | {"ties share", "Hint 1"} if words in html} == seen
    assert "16 of 20 points · 1 of 4 checks passed" in html


def test_public_tests_are_shown_in_full_whatever_the_policy(course, report):
    report.exercises[0].public = True
    assert "softmax([1., 1.])" in page_of(msgspec.structs.replace(course, feedback="none"), report)


def test_a_submission_that_was_not_graded_says_so_and_has_no_marks(course, opened):
    lost = Report(submission="amara", status="not_graded", reason="amara.zip is broken", points=100)
    page = opened(page_of(course, lost))
    assert texts(page, ".en .total") == ["Not graded yet"]
    assert texts(page, ".en .reason") == ["amara.zip is broken"]
    assert page.locator(".en .summary").count() == 0


def test_a_module_that_is_still_a_stub_is_not_answered_with_a_list(course, opened):
    stub = one_report().exercises[0]
    for check in stub.checks:
        check.outcome, check.message = "failed", "not written yet (NotImplementedError)"
    stub = msgspec.convert(msgspec.to_builtins(stub), ExerciseResult)
    page = opened(page_of(course, one_report(exercises=[stub])))
    assert texts(page, ".en .reason") == ["not written yet"]
    assert page.locator(".en .checks, .en .code").count() == 0


def test_the_page_follows_the_readers_light_or_dark(course, opened, report):
    html = page_of(course, report)
    colours = {}
    for scheme in ("light", "dark"):
        page = opened(html, color_scheme=scheme)
        colours[scheme] = [
            page.evaluate(f"getComputedStyle(document.querySelector('{selector}')).backgroundColor")
            for selector in ("body", ".en .allowed")
        ]
    assert colours == {
        "light": ["rgb(255, 255, 255)", "rgb(32, 112, 180)"],
        "dark": ["rgb(13, 17, 23)", "rgb(102, 155, 210)"],
    }


def test_paper_shows_every_check_but_neither_hints_nor_the_switch(course, opened, report):
    page = opened(page_of(course, report), color_scheme="dark")
    page.emulate_media(media="print", color_scheme="dark")
    assert page.locator(".switch").is_visible() is False
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.locator(".en .hint > p").first.is_visible() is False
    assert page.locator(".en .code td").first.is_visible() is True


def test_every_colour_is_read_easily_on_its_ground(course, opened, report):
    """Each cell's text has the contrast that WCAG asks of normal text, in light and in dark."""
    from autograder.report import Figure

    report.exercises[0].checks[1].figures = [
        Figure("scale", "weights", "", "", [[str(step / 10) for step in range(11)]]),
        Figure("signed", "numbers", "", "", [[str(step) for step in range(-5, 6)]]),
        Figure("mask", "mask", "", "", [["0", "1"]]),
    ]
    for scheme in ("light", "dark"):
        page = opened(page_of(course, report), color_scheme=scheme)
        poor = page.evaluate(
            """() => {
              const luminance = (text) => text.match(/[\\d.]+/g).slice(0, 3).map(Number)
                .map((c) => c / 255).map((c) => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
                .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
              return [...document.querySelectorAll('.en .heat tbody td')].map((cell) => {
                const style = getComputedStyle(cell);
                const [a, b] = [luminance(style.color), luminance(style.backgroundColor)].sort((x, y) => y - x);
                return [cell.className, (a + 0.05) / (b + 0.05)];
              }).filter(([, contrast]) => contrast < 4.5);
            }"""
        )
        assert poor == []
