"""A query that matches nothing: the page says what may have been meant, and what can be looked for at all."""

from __future__ import annotations

import html
import re

import pytest

from agenttrace.core.query_parsing import parse
from agenttrace.viewer.no_match import instead_of
from agenttrace.viewer.trace_list import trace_list


def shown(reads, query):
    status, text = trace_list(reads, {"q": query})
    assert status == 200
    return html.unescape(text)


def links_of(reads, query):
    return [each.link for each in instead_of(reads, parse(query))]


def newest(reads):
    return reads.traces.search(parse(""), limit=1).traces[0].trace_id


@pytest.mark.parametrize("digits", [12, 32])
def test_a_pasted_id_of_a_trace_leads_to_it(reads, digits):
    trace_id = newest(reads)
    text = shown(reads, trace_id[:digits])
    assert "No trace matches" in text
    assert f'href="/t/{trace_id}"' in text
    assert links_of(reads, trace_id[:digits].upper()) == [f"/t/{trace_id}"]


def test_a_pasted_id_of_a_run_leads_to_it(reads):
    run = reads.store.runs(limit=1)[0]
    assert f"/r/{run.run_id}" in shown(reads, run.run_id)


@pytest.mark.parametrize("query", ["ffffffffffff", "nothing", "abc", '"fff fff"', "-refund fffffff"])
def test_a_word_that_is_no_id_has_nothing_instead(reads, query):
    assert links_of(reads, query) == []


def test_a_value_that_no_trace_has_is_told_with_the_nearest_that_one_has(reads):
    text = shown(reads, "customer:acmee tool:refund")
    assert "No trace has customer:acmee. Did you mean" in text
    assert links_of(reads, "customer:acmee tool:refund") == ["/traces?q=customer%3Aacme+tool%3Arefund"]
    assert links_of(reads, "tool:refnd,notify dur>1h") == ["/traces?q=tool%3Arefund%2Cnotify+dur%3E1h"]
    assert links_of(reads, 'score:"Tool Oder"<0.7') == ["/traces?q=score%3A%22Tool+Order%22%3C0.7"]


@pytest.mark.parametrize("query", ["customer:acme dur>1h", "customer:zzzzzz", "-customer:acmee dur>1h"])
def test_a_value_that_traces_have_or_that_is_like_none_has_nothing_instead(reads, query):
    assert links_of(reads, query) == []


def test_every_term_that_the_page_explains_can_be_read(reads):
    text = shown(reads, "")
    terms = re.findall(r"<dt><code>(.*?)</code></dt>", text)
    assert len(terms) >= 10
    for each in terms:
        assert len(parse(each)) >= 1
    whole = " ".join(terms)
    assert all(key in whole for key in ("looped:", "failed:", "is:failed", "id:", "since:", 'score:"'))
