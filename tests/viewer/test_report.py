"""Reports: one file that asks for nothing, with the numbers of the pages, with values or without them."""

import base64
import hashlib
import os
import re
import stat
from html.parser import HTMLParser

import pytest
import shop
from click.testing import CliRunner
from test_pages import HOSTILE, Read, hostile_store

from agenttrace.cli.main import cli
from agenttrace.core.example import Example
from agenttrace.core.report import EvaluationReport
from agenttrace.core.trace import Trace
from agenttrace.evaluation.evaluate import run_evaluation
from agenttrace.scorers import ExactMatchScorer, ToolOrderScorer
from agenttrace.tracer import Tracer
from agenttrace.viewer import report as report_module
from agenttrace.viewer.compact import compact, used_rules
from agenttrace.viewer.compare_page import compare_page
from agenttrace.viewer.report import run_report, trace_report


def policy_of(text):
    return re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', text)[1]


def check_file(text):
    """Nothing in it leads out of it, and its policy allows its own sheet alone."""
    page = Read(text)
    assert page.of("script") == []
    assert page.of("link") == []
    assert not {"img", "iframe", "form", "object"} & {name for name, _ in page.elements}
    assert all((attrs.get("href") or "#").startswith("#") for _, attrs in page.elements)
    assert not re.search(r"https?://|url\(|@import", text)
    sheet = re.search(r"<style>(.*?)</style>", text, re.S)[1]
    digest = base64.b64encode(hashlib.sha256(sheet.encode()).digest()).decode()
    assert f"style-src 'sha256-{digest}'" in policy_of(text)
    assert policy_of(text).startswith("default-src 'none'")
    return page


def test_a_trace_as_a_file_has_its_scores_calls_and_values(reads):
    trace = shop.trace_of(reads.store)
    page = check_file(trace_report(trace, reads.store.scores(trace.trace_id)))
    assert "Where is my parcel 23?" in page.text
    assert "holds inputs and outputs" in page.text
    assert {f"s-{span.span_id}" for span in trace.spans} <= {attrs.get("id") for _, attrs in page.elements}


def test_without_values_only_names_and_numbers_are_left(reads):
    trace = next(
        trace
        for line in reads.store.traces(limit=60)
        if (trace := reads.store.trace(line.trace_id)).spans[-1].error
    )
    page = check_file(trace_report(trace, reads.store.scores(trace.trace_id), values=False))
    assert "card declined" not in page.text
    assert "order_id" not in page.text
    assert "acme" not in page.text
    assert "PaymentError" in trace_report(trace)


def test_the_only_example_that_did_not_pass_stands_open_in_the_report_of_a_run(reads):
    def opened(*outputs):
        examples = [Example(input=text, expected_output="a", name=text) for text in outputs]
        scorers = [ExactMatchScorer()]
        report = run_evaluation(examples, scorers, function=lambda text: text, store="memory")
        page = Read(run_report(report, reads=reads))
        rows = [attrs for name, attrs in page.elements if name == "details"]
        return [("open" in row) for row in rows if "example" in (row.get("class") or "")]

    assert opened("a", "b", "a") == [True, False, False]  # what failed stands first
    assert opened("b", "c") == [False, False]
    assert opened("a") == [False]


def test_a_run_against_another_is_below_150_kilobytes_and_has_the_numbers_of_the_page(reads, shop_path):
    runs = [run for run in reads.store.runs() if run.name == "refunds"]
    report = EvaluationReport.from_dict(reads.store.run(runs[0].run_id))
    text = run_report(report, against=reads.store.run(runs[1].run_id), reads=reads)
    page = check_file(text)
    assert len(text.encode()) < 150_000
    assert "0 of 12 passed" in page.text
    assert "6 of 6 examples got worse" in page.text
    bare = run_report(report, against=reads.store.run(runs[1].run_id), reads=reads, values=False)
    assert "Please refund" not in check_file(bare).text
    assert "expected calls aligned" not in bare
    assert "refund-1" in bare


def test_sixty_examples_of_three_trials_are_below_150_kilobytes(tmp_path):
    tracer = Tracer(project_name="shop", store=str(tmp_path / "traces.db"))
    runs = [
        run_evaluation(
            shop.examples(60),
            [ToolOrderScorer()],
            function=shop.agent_of(tracer, careless=careless),
            tracer=tracer,
            trials=3,
            eval_run_name="refunds",
        )
        for careless in (False, True)
    ]
    assert tracer.flush(timeout=60)
    text = run_report(runs[1], against=runs[0].to_dict())
    page = check_file(text)
    assert len(text.encode()) < 150_000
    assert page.text.count("amount: expected") >= 60  # each diff is there
    assert {f"#e-{n}" for n in range(60)} <= {attrs.get("href") for _, attrs in page.elements}
    assert {f"e-{n}" for n in range(60)} <= {attrs.get("id") for _, attrs in page.elements}
    tracer.shutdown()


def test_a_file_is_the_same_page_in_fewer_characters():
    html = '<table><tr><td class="a b">1</td>\n<td class="c" data-span="x">a=&#34;b&#34;</td></tr></table>'
    assert compact(html) == '<table><tr><td class="a b">1<td class=c>a=&#34;b&#34;</tr></table>'
    assert compact("<pre>a\n\nb</pre>") == "<pre>a\n\nb</pre>"


def test_the_last_value_before_a_slash_keeps_its_quotes_so_that_the_slash_is_none_of_it():
    assert compact('<rect class="tool" height="8"/>') == '<rect class=tool height="8"/>'


def test_a_file_has_the_rules_that_its_page_needs():
    sheet = """/* x */ :root { --a: 1; } .on, .off b { color: red; } #no { top: 0 }
    @media (max-width: 9px) { .on { left: 0; } .off { left: 1px; } } @media print { .off { top: 1px } }
    a:is(.on, .off) { top: 0 }"""
    assert used_rules(sheet, '<p class="on">') == (
        ":root{--a:1}.on{color:red}@media (max-width: 9px){.on{left:0}}"
    )


def test_a_report_and_the_page_show_the_same_numbers(reads):
    runs = [run for run in reads.store.runs() if run.name == "refunds"]
    report = EvaluationReport.from_dict(reads.store.run(runs[0].run_id))
    asked = {"a": runs[1].run_id, "b": runs[0].run_id, "show": "all"}
    in_page = Read(compare_page(reads, asked)[1]).text
    in_file = Read(run_report(report, against=reads.store.run(runs[1].run_id), reads=reads)).text
    number = re.compile(r"\d+ of \d+|Tool Order \S+ → \S+|[-+]0\.\d+|p = \S+")
    assert set(number.findall(in_page)) <= set(number.findall(in_file))
    assert len(set(number.findall(in_page))) > 3


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_text_in_a_file_too(tmp_path, text):
    store = hostile_store(tmp_path / "traces.db", text)
    trace = store.trace(f"{7:032x}")
    page = check_file(trace_report(trace, store.scores(trace.trace_id)))
    assert not [name for _, attrs in page.elements for name in attrs if name.startswith("on")]
    assert "7*7" in page.text or "7*7" not in text


def run(*arguments):
    return CliRunner().invoke(cli, [str(one) for one in arguments], standalone_mode=False)


def test_the_command_writes_a_trace_a_run_and_a_comparison(tmp_path, shop_path, reads):
    trace = shop.trace_of(reads.store)
    for name, arguments in {
        "trace": [trace.trace_id[:10]],
        "run": ["refunds"],
        "compared": ["refunds", "--against", "last~2"],
        "bare": ["refunds", "--no-values"],
    }.items():
        path = tmp_path / f"{name}.html"
        done = run("report", *arguments, "--store", shop_path, "-o", path)
        assert done.exception is None, done.output
        check_file(path.read_text())
    assert "examples got worse" in (tmp_path / "compared.html").read_text()


def test_what_cannot_be_found_or_written_is_an_error(tmp_path, shop_path):
    assert "no run 'nothing'" in str(
        run("report", "nothing", "--store", shop_path, "-o", tmp_path / "x").exception
    )
    wrong = tmp_path / "no" / "x.html"
    assert "cannot write" in str(run("report", "refunds", "--store", shop_path, "-o", wrong).exception)


def test_a_notebook_shows_the_page_of_a_report_a_trace_and_a_score_in_a_closed_frame(reads):
    trace = shop.trace_of(reads.store)
    report = EvaluationReport.from_dict(reads.store.run(reads.store.runs()[0].run_id))
    for value, word in ((report, "passed"), (trace, "handle_ticket"), (report[0].scores[0], "Faithfulness")):
        text = value._repr_html_()
        assert text.startswith('<iframe title="agenttrace" sandbox srcdoc="&lt;!doctype')
        assert text.count("<") == 2
        assert word in text


def test_the_head_of_a_file_says_what_the_head_of_the_page_says(reads):
    from agenttrace.viewer.trace_page import trace_page

    def head(text):
        return Read(re.split('class="?facts"?>', text)[1].partition("</p>")[0]).text

    for line in reads.store.traces(limit=60)[::7]:
        page = head(trace_page(reads, {"id": line.trace_id})[1])
        file = head(trace_report(reads.store.trace(line.trace_id), reads.store.scores(line.trace_id)))
        assert file
        assert set(file.split(" · ")) <= set(page.split(" · ")) | {"ok"}, (file, page)


class Elements(HTMLParser):
    """What a browser makes of a page: its tags with their attributes, and its text."""

    def __init__(self, html):
        super().__init__()
        self.tags = []
        self.words = []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, tuple((name, value) for name, value in attrs if not name.startswith("data-"))))

    def handle_data(self, data):
        self.words += data.split()


@pytest.mark.parametrize("text", ['" x="1"/><b>', "'><img src=x>", "a=b/>", ' data-x="y" ', "</td> <td>"])
def test_a_compact_page_has_the_elements_and_the_text_of_the_whole_one(reads, monkeypatch, text):
    pages = []
    monkeypatch.setattr(
        report_module, "compact", lambda html: pages.append((html, compact(html))) or pages[-1][1]
    )
    for line in reads.store.traces()[:5]:
        trace_report(reads.store.trace(line.trace_id), reads.store.scores(line.trace_id))
    trace_report(Trace.from_calls([{"name": text, "arguments": {text: text}}]))
    for html, small in pages:
        whole, less = Elements(html), Elements(small)
        assert less.tags == whole.tags
        assert less.words == whole.words
    assert any(tag == "rect" for tag, _ in Elements(pages[0][0]).tags)


@pytest.mark.skipif(os.name == "nt", reason="modes are of POSIX")
def test_a_new_file_is_for_its_user_alone_and_an_old_one_keeps_its_mode(shop_path, tmp_path):
    new, old = tmp_path / "new.html", tmp_path / "old.html"
    old.write_text("old")
    old.chmod(0o644)
    for path in (new, old):
        done = CliRunner().invoke(cli, ["report", "last", "--store", str(shop_path), "-o", str(path)])
        assert done.exit_code == 0, done.output
    assert [stat.S_IMODE(path.stat().st_mode) for path in (new, old)] == [0o600, 0o644]


def test_the_file_of_a_trace_has_its_labels_its_loop_and_what_people_say_unless_without_values(tmp_path):
    tracer = Tracer("shop", store=tmp_path / "t.db")
    look = tracer.observe(span_type="tool")(lambda order: "?")

    def agent():
        tracer.update_metadata({"release": "2.5.0"})
        tracer.set_customer_id("acme")
        for _ in range(4):
            look(7)

    tracer.observe(span_type="agent")(agent)()
    tracer.flush()
    trace_id = tracer.store.traces(limit=1)[0].trace_id
    tracer.annotate(trace_id, thumbs="down", note="went round", by="ann")
    tracer.shutdown()
    texts = []
    for options in ([], ["--no-values"]):
        path = tmp_path / "x.html"
        asked = ["report", trace_id, "--store", str(tmp_path / "t.db"), "-o", str(path), *options]
        assert CliRunner().invoke(cli, asked).exit_code == 0
        check_file(path.read_text())
        texts.append(path.read_text())
    for words in ("customer:acme", "release:2.5.0", "called the same way 4 times", "went round"):
        assert words in texts[0], words
        assert words not in texts[1], words


def test_a_sum_of_costs_is_shown_without_the_noise_of_binary_fractions(tmp_path):
    from agenttrace.viewer.span_page import _without_noise

    assert _without_noise(0.0007587500000000001) == 0.00075875
    assert _without_noise(1200) == 1200
