"""The page of a class in a browser: sorted, filtered, followed to a learner, and deaf to what learners wrote."""

import random
import re
import threading

import pytest
from jinja2 import Environment, FileSystemLoader

from autograder.class_page import make_class_page
from autograder.outputs.html import rendering
from autograder.outputs.html.class_facts import percent
from autograder.pages import make_pages
from autograder.report import CheckResult, Diagnosis, ExerciseResult, Outcome, Report, to_json, write_report
from autograder.roster import Learner

from .test_hostile import ASKED, ATTACKS, CONTROLS, EVIL, QUOTED, RAN, Evil, hostile_report

N_LEARNERS = 400
FAMILY_NAMES = ["Eze", "Novak", "Okafor", "Lindqvist", "Müller", "李", "Śliwa", "O'Brien"]
NO_SHIFT = Diagnosis("no_shift", {"en": "The largest score is not subtracted.", "zh": "没有先减去最大值。"})


def learner(place, choose):
    """Give a report in which every tenth learner did not subtract, and every twentieth was not graded."""
    id, name = f"id-{place:03}", f"{choose.choice(FAMILY_NAMES)} {place}"
    if place % 20 == 7:
        return Report(submission=id, status="not_graded", reason="no zip archive", points=100, learner_name=name)
    wrong = place % 10 == 0
    outcome = Outcome.FAILED if wrong else Outcome.PASSED
    checks = [
        CheckResult("a", "a row", Outcome.PASSED, 10, 10),
        CheckResult("b", "a shift", outcome, 10, 0 if wrong else 10),
    ]
    softmax = ExerciseResult("softmax", 20, 10 if wrong else 20, diagnosis=[NO_SHIFT] if wrong else [], checks=checks)
    mask = ExerciseResult(
        "causal_mask", 15, choose.choice([0, 7.5, 15]), checks=[CheckResult("c", "it", outcome, 15, 0)]
    )
    return Report(
        submission=id, status="graded", points=100, learner_name=name, late=place % 50 == 1,
        handed_in="2026-03-01T21:14:05+00:00", seconds=place / 10, exercises=[softmax, mask],
    )  # fmt: skip


@pytest.fixture(scope="module")
def grades(course, tmp_path_factory):
    """Give a folder with the pages of 400 learners, two of whom have pages of their own, and of one missing."""
    out, choose = tmp_path_factory.mktemp("grades"), random.Random(1)
    (out / "reports").mkdir()
    for place in range(N_LEARNERS):
        # Not as reports are kept, safe from power cuts: that takes its time.
        (out / "reports" / f"id-{place:03}.json").write_bytes(to_json(learner(place, choose)))
    (out / "few" / "reports").mkdir(parents=True)
    for name in ("id-000.json", "id-010.json"):
        (out / "few" / "reports" / name).write_bytes((out / "reports" / name).read_bytes())
    make_pages(out / "few", course, ["en", "zh"])
    (out / "few" / "feedback").rename(out / "feedback")
    make_class_page(out, course, "en", [Learner("nora", "Nora Missing")])
    return out


@pytest.fixture
def page(browser, grades):
    context = browser.new_context()
    page = context.new_page()
    page.goto((grades / "class.html").as_uri())
    yield page
    context.close()


def column(page, place):
    return page.locator(f"#table tbody tr:not([hidden]) > :nth-child({place})").all_inner_texts()


def shown(page):
    return page.locator("#table tbody tr:not([hidden])").count()


def test_it_says_how_many_there_are(page):
    facts = page.locator(".facts li").all_inner_texts()

    assert facts[0] == "380 learners graded"
    assert {"20 not graded", "1 handed nothing in", "8 late"} <= set(facts)
    assert page.locator("#counted").inner_text() == "401 of 401 learners"
    counts = [int(text) for text in page.locator(".chart .count").all_text_contents()]
    assert sum(counts) == 380


def test_a_click_on_a_heading_sorts_the_best_first_and_then_the_other_way_round(page):
    total = page.get_by_role("button", name="Total")
    total.click()
    marks = column(page, 2)
    numbers = [float(mark) for mark in marks if mark]
    assert numbers == sorted(numbers, reverse=True) and len(numbers) == 380
    assert marks[380:] == [""] * 21
    assert page.locator("th[aria-sort]").evaluate_all("all => all.map(each => each.ariaSort)") == ["descending"]
    total.click()
    marks = column(page, 2)
    assert [float(mark) for mark in marks[:380]] == numbers[::-1] and marks[380:] == [""] * 21


def test_names_are_sorted_as_in_a_class_list_also_by_key(page):
    button = page.get_by_role("button", name="Learner")
    button.focus()
    page.keyboard.press("Enter")
    down = [re.split(r"\sid-", text)[0] for text in column(page, 1)]
    page.keyboard.press("Enter")
    names = [re.split(r"\sid-", text)[0] for text in column(page, 1)]
    assert names == down[::-1]
    eze = [name for name in names if name.startswith("Eze ")]
    assert len(eze) > 10 and eze == sorted(eze, key=lambda name: int(name.split()[1]))
    families = [name.split()[0] for name in names if name[0] in "ENMŚ"]
    assert families == sorted(families, key="Eze Müller Nora Novak Śliwa".split().index)


def test_a_slash_goes_to_the_filter_and_what_is_typed_there_stays_in_the_table(page):
    page.keyboard.press("/")
    page.keyboard.type("müller 10")
    names = column(page, 1)
    assert names and all(name.startswith("Müller ") and "10" in name for name in names)
    assert page.locator("#counted").inner_text() == f"{len(names)} of 401 learners"
    page.keyboard.press("Escape")
    assert shown(page) == 401 and page.locator("#find").input_value() == ""


@pytest.mark.parametrize(("kind", "count"), [("late", 8), ("not_graded", 20), ("missing", 1), ("graded", 380)])
def test_one_kind_of_learners_is_left(page, kind, count):
    page.locator("#kind").select_option(kind)
    assert shown(page) == count


def test_a_mistake_leads_to_the_learners_who_made_it(page):
    group = page.locator(".group", has_text="The largest score is not subtracted.")
    assert group.locator("strong").inner_text() == "40 learners, 11\u00a0%"
    group.get_by_role("button", name="Show them in the table").click()
    assert shown(page) == 40
    assert all(re.search(r"id-\d\d0$", name) for name in column(page, 1))
    assert (
        page.locator("#picked").inner_text()
        == "40 learners, 11\u00a0% · Softmax · The largest score is not subtracted."
    )

    group.locator("summary").click()
    group.locator("a").first.click()
    assert re.search(r"/feedback/id-0\d0\.html#en-softmax$", page.url)
    assert page.locator(":target").inner_text() == "Softmax softmax.py"
    assert page.locator(".en .diagnosis").first.inner_text().endswith("The largest score is not subtracted.")


def test_everyone_is_shown_again(page):
    page.locator(".pick").first.click()
    page.get_by_role("button", name="Show everyone again").click()
    assert shown(page) == 401 and not page.locator("#picked").is_visible()


def test_a_rate_leads_to_the_check_that_it_is_about(page):
    page.locator(".rates a").nth(1).click()
    check = page.locator("tr:target")
    assert check.is_visible()
    assert check.locator("td").all_inner_texts() == ["89\u00a0%", "a shift", "340 of 380 passed"]


def test_nothing_is_wider_than_a_screen_and_nothing_breaks_the_policy(browser, grades):
    for width in (420, 1000, 1700):
        context = browser.new_context(viewport={"width": width, "height": 800})
        page, said = context.new_page(), []
        page.on("console", lambda message, said=said: said.append(message.text))
        page.on("pageerror", lambda error, said=said: said.append(str(error)))
        page.goto((grades / "class.html").as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert said == []
        context.close()


def test_names_can_be_blurred_while_others_look_on(page):
    page.locator("#hide-names").check()
    assert page.locator("#table .who").first.evaluate("each => getComputedStyle(each).filter") != "none"


def test_on_paper_there_are_no_buttons_and_every_name_is_there(page):
    page.emulate_media(media="print")
    assert not page.locator(".tools").is_visible()
    assert not page.locator(".pick").first.is_visible()
    assert page.locator(".group .names a").first.is_visible()


def test_without_scripts_everything_can_be_read(browser, grades):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((grades / "class.html").as_uri())
    assert page.locator("#table tbody tr").count() == 401
    assert not page.locator(".tools").is_visible()
    context.close()


def test_the_page_speaks_chinese(course, opened, tmp_path):
    for place in range(12):
        write_report(learner(place, random.Random(1)), tmp_path / "reports")
    page = opened(make_class_page(tmp_path, course, "zh").read_bytes(), locale="zh-CN")

    assert page.locator("html").get_attribute("lang") == "zh"
    assert page.locator(".course").inner_text() == "亲手算一遍 Attention"
    assert page.locator(".facts li").first.inner_text() == "已评分 11 人"
    assert page.locator(".group .what").all_inner_texts() == ["2 人，占 18\u00a0% · Softmax", "没有先减去最大值。"]
    page.locator(".pick").click()
    assert page.locator("#counted").inner_text() == "共 12 人，显示 2 人"
    body = page.locator("body").inner_text()
    assert not re.search(r"\b(learners?|points|Total|late|Who|graded)\b", body)


TOGETHER = "".join(text for name, text in ATTACKS.items() if name != "form") + CONTROLS


@pytest.fixture
def attacked(course, browser, tmp_path, monkeypatch):
    """Give a function that opens a class full of `attack`, takes every lure, and tells what ran and was asked for."""
    context = browser.new_context()

    def open_page(attack, *, escaping=True, policy=True):
        if not escaping:
            careless = Environment(loader=FileSystemLoader(rendering.TEMPLATES), autoescape=False)
            careless.filters["prose"] = str
            monkeypatch.setattr(rendering, "environment", lambda: careless)
        if not policy:
            monkeypatch.setattr(rendering, "content_policy", lambda styles, scripts=(): "")
        attack = attack.replace(EVIL, server.address)
        write_report(hostile_report(attack), tmp_path / "reports")
        refused = Report(submission=f"torn{attack}", status="not_graded", reason=attack, points=5, learner_name=attack)
        write_report(refused, tmp_path / "reports")
        roster = [Learner(f"missing{attack}", attack), Learner("x", attack)]
        page = context.new_page()
        page.goto(make_class_page(tmp_path, course, "en", roster).as_uri())
        page.evaluate("document.querySelectorAll('[onfocus]').forEach((each) => each.focus())")
        page.evaluate("document.querySelectorAll('.lure').forEach((each) => each.click())")
        page.wait_for_timeout(200)
        return set(page.evaluate("window.ran || []")), server.asked, page

    with Evil() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield open_page
        server.shutdown()
        thread.join()
    context.close()


def test_without_escaping_and_without_the_policy_the_attacks_work(attacked):
    ran, asked, _ = attacked(TOGETHER, escaping=False, policy=False)
    # The page's own background covers a stranger's.
    assert ran >= RAN and asked >= ASKED - {"/background"}


@pytest.mark.parametrize("defence", ["escaping", "policy"])
def test_with_either_defence_alone_what_learners_wrote_does_nothing(attacked, defence):
    ran, asked, _ = attacked(TOGETHER, escaping=defence == "escaping", policy=defence == "policy")
    assert (ran, asked) == (set(), set())


@pytest.mark.parametrize("attack", [TOGETHER, ATTACKS["form"], QUOTED], ids=["together", "form", "quoted"])
def test_what_learners_wrote_is_read_as_text_and_the_page_still_works(attacked, attack):
    ran, asked, page = attacked(attack)
    assert (ran, asked) == (set(), set())
    used = page.evaluate("[...new Set([...document.body.querySelectorAll('*')].map((each) => each.localName))]")
    assert set(used).isdisjoint({"img", "iframe", "link", "object", "form", "video", "style"})
    assert page.locator("script").count() == 1
    assert page.locator("[onfocus], [style], [onerror], [onload]").count() == 0
    assert attack[:20] in page.locator("#table").inner_text()
    page.locator(".pick").first.click()
    assert page.locator("#counted").inner_text() == "1 of 4 learners"


@pytest.mark.parametrize(("share", "said"), [(0, "0 %"), (0.001, "1 %"), (0.5, "50 %"), (0.999, "99 %"), (1, "100 %")])
def test_what_is_not_all_never_reads_as_all(share, said):
    assert percent(share) == said.replace(" ", "\u00a0")
