"""Markdown for pull requests, rendered by a parser of CommonMark with tables, as its readers see it."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from agenttrace.core.example import Example
from agenttrace.core.report import EvaluationReport, ScoringResult
from agenttrace.core.score import Score
from agenttrace.reports import append_step_summary, markdown_report
from agenttrace.reports.markdown import STEP_SUMMARY, in_cell, in_line, scorer_table
from tests.reports.reports_for_tests import HOSTILE, hostile_report, shop_report

OURS = {"details", "summary", "code"}


def tokens_of(text):
    """Every token, those inside lines too."""
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        yield token
        yield from token.children or ()


def check_harmless(text):
    """Nothing but code, our own HTML and our own words: no link, no image, no mention."""
    for token in tokens_of(text):
        assert token.type not in (
            "link_open",
            "image",
            "hr",
            "blockquote_open",
            "bullet_list_open",
            "lheading_open",
        )
        if token.type in ("html_block", "html_inline"):
            without_code = re.sub(r"<code>[^<>]*</code>", "", token.content)
            assert set(re.findall(r"</?(\w*)", without_code)) <= OURS
            assert not re.search(r"[@#\[]|http", without_code)
        if token.type == "text":
            assert not re.search(r"[@#<>\[\]`|_*~]|http", token.content), token.content


def test_the_headline_the_scorers_and_each_failure_are_there():
    text = markdown_report(shop_report())
    lines = text.splitlines()
    assert lines[0] == "### ❌ nightly: 1 of 4 passed (2 failed, 1 errored)"
    assert "| Tool Order | 0.50 over 2 of 4 | 1 passed, 1 failed, 1 errored |" in lines
    assert text.count("<details>") == text.count("</details>") == 3
    assert (
        "<details><summary>❌ <code>wrong</code>: <code>0 of 2 expected calls aligned (in_order); "
        "amount: expected 12, got 12.5</code></summary>"
    ) in lines
    assert "- 2  notify                       missing" in lines
    assert "~ 1  refund(order=2, amount=12)" in lines
    (table,) = [token for token in tokens_of(text) if token.type == "table_open"]
    assert table.map
    fences = [token for token in tokens_of(text) if token.type == "fence"]
    assert [fence.info for fence in fences] == ["diff"] * 3


def test_a_report_in_which_all_passed_is_short():
    text = markdown_report(EvaluationReport(results=shop_report().results[:1], name="nightly"))
    assert text.startswith("### ✅ nightly: 1 of 1 passed\n")
    assert "<details>" not in text
    assert len(text.splitlines()) < 10


def test_a_comparison_given_as_lines_stands_above_the_examples():
    text = markdown_report(shop_report(), ["2 newly failing", "```", "refund | worse"])
    assert text.index("newly failing") < text.index("<details>")
    assert "````diff\n2 newly failing\n```\nrefund | worse\n````" in text


def test_a_requirement_and_an_interruption_are_said():
    metadata = {"requirement": "pass_rate >= 0.8, got 0.25", "interrupted": True, "not_run": 3}
    text = markdown_report(EvaluationReport(results=shop_report().results, metadata=metadata))
    assert "Required: `pass_rate >= 0.8, got 0.25`" in text
    assert "**interrupted: 3 of 7 were not run**" in text


def test_hostile_text_has_no_effect():
    text = markdown_report(hostile_report(), [HOSTILE])
    check_harmless(text)
    assert "octocat" in text
    assert not [
        character for character in text if not (character.isprintable() or character in "\n\ufe0f\ufffe")
    ]


PIECES = (
    *("`", "``", "```", "~~~", "\n", "|", "\\", "<b>", "</details>", "</code>", "@a", "x", " ", "- ", "# "),
    *("[a](b)", "![a](b)", "http://a.b", "www.a.b", "*", "_", "1. ", "---", "===", "\t", "&lt;", "<!--"),
    *("-->", "    ", "\x00"),
)
pieces = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)


@given(pieces)
def test_no_text_breaks_out_of_code(text):
    check_harmless(markdown_report(hostile_report(text), [text]))


@given(pieces)
def test_a_cell_stays_one_cell(text):
    rows = list(tokens_of(scorer_table([(text, "1.00 over 1 of 1", "1 passed")])))
    assert [token.type for token in rows].count("td_open") == 3


@pytest.mark.parametrize("text", ["Tool Order", "Größe 7", "a, b (c)"])
def test_plain_words_stay_as_they_are(text):
    assert in_line(text) == in_cell(text) == text


def test_what_does_not_fit_is_left_out_and_said():
    results = tuple(
        ScoringResult(
            example=Example(name=f"example {n}"),
            outcome="failed",
            scores=(Score.of("Answer", 0.0, 0.5, reason="x" * 5_000, diff="- x\n" * 3_000),),
            position=n,
        )
        for n in range(100)
    )
    text = markdown_report(EvaluationReport(results=results), ["line"] * 100_000)
    assert 30_000 < len(text) <= 60_000
    left_out = int(re.search(r"… (\d+) more examples did not pass; they are left out", text)[1])
    assert left_out + text.count("<details>") == 100
    check_harmless(text)
    assert len(markdown_report(EvaluationReport(results=results), limit=5_000)) <= 5_000


def test_many_scorers_are_cut_too():
    assert "… 9950 more scorers" in scorer_table([(f"scorer {n}", "1.00", "1 passed") for n in range(10_000)])


class TestTheStepSummary:
    def test_is_appended_where_the_ci_names_a_file(self, monkeypatch, tmp_path):
        monkeypatch.setenv(STEP_SUMMARY, str(tmp_path / "summary.md"))
        append_step_summary("one")
        append_step_summary("two\n")
        assert (tmp_path / "summary.md").read_text() == "one\n\ntwo\n\n"

    def test_is_nothing_elsewhere(self, monkeypatch):
        monkeypatch.delenv(STEP_SUMMARY, raising=False)
        append_step_summary("one")

    def test_cannot_be_written_is_an_os_error(self, monkeypatch, tmp_path):
        monkeypatch.setenv(STEP_SUMMARY, str(tmp_path))
        with pytest.raises(OSError):
            append_step_summary("one")
