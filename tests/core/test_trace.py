"""Traces: spans in start order, whatever their ids claim."""

import pytest

from agenttrace.core.span import Span, SpanError
from agenttrace.core.trace import Trace


def span(key, parent=None, *, name="work", start=None, **fields):
    return Span(
        trace_key=1,
        span_key=key,
        parent_key=parent,
        name=name,
        index=key,
        start_ns=key if start is None else start,
        end_ns=(key if start is None else start) + 10,
        **fields,
    )


class TestOrder:
    def test_is_that_of_the_starts(self):
        trace = Trace([span(3), span(1), span(2)])
        assert [s.span_key for s in trace.spans] == [1, 2, 3]

    def test_of_equal_starts_is_that_of_the_index(self):
        trace = Trace([span(2, start=5), span(1, start=5)])
        assert [s.span_key for s in trace.spans] == [1, 2]


class TestTree:
    def test_walks_parents_before_children(self):
        trace = Trace([span(1), span(2, 1), span(3, 2), span(4, 1)])
        assert [(depth, s.span_key) for depth, s in trace.walk()] == [(0, 1), (1, 2), (2, 3), (1, 4)]

    def test_a_span_whose_parent_is_missing_is_a_root(self):
        """Scenario 84."""
        trace = Trace([span(1), span(5, 99)])
        assert [s.span_key for s in trace.roots] == [1, 5]

    @pytest.mark.parametrize(
        "parents", [{1: 1}, {1: 2, 2: 1}, {1: 3, 2: 1, 3: 2}, {1: None, 2: 2, 3: 4, 4: 3}], ids=str
    )
    def test_parents_that_form_a_loop_do_not_hang_anything(self, parents):
        """Scenario 84."""
        trace = Trace([span(key, parent, span_type="tool") for key, parent in parents.items()])
        assert sorted(s.span_key for _, s in trace.walk()) == sorted(parents)
        assert len(trace.tool_calls) == len(parents)
        assert len(trace.to_dict()["spans"]) == len(parents)

    def test_of_ten_thousand_levels_or_a_hundred_thousand_children_is_walked(self):
        """Scenario 84."""
        deep = Trace([span(key, key - 1 or None) for key in range(1, 10_001)])
        assert max(depth for depth, _ in deep.walk()) == 9_999
        wide = Trace([span(1), *(span(key, 1) for key in range(2, 100_002))])
        assert sum(1 for _ in wide.walk()) == 100_001

    def test_spans_with_the_same_id_are_all_kept(self):
        assert sum(1 for _ in Trace([span(1), span(1), span(1)]).walk()) == 3

    def test_under_a_span_is_the_span_with_all_below_it(self):
        trace = Trace([span(1), span(2, 1), span(3, 2), span(4, 1)])
        assert [s.span_key for s in trace.under(2).spans] == [2, 3]
        assert len(trace.under(99)) == 0


class TestWholeTrace:
    def test_speaks_for_its_first_root(self):
        error = SpanError("ValueError", "bad")
        trace = Trace([span(1, name="agent", input={"q": 1}, output="a", error=error), span(2, 1)])
        assert (trace.name, trace.input, trace.output, trace.error) == ("agent", {"q": 1}, "a", error)

    def test_without_spans_is_empty_in_every_way(self):
        trace = Trace()
        assert (trace.name, trace.input, trace.output, trace.error, trace.root) == (
            "",
            None,
            None,
            None,
            None,
        )
        assert (trace.duration_ns, trace.tool_calls, list(trace.walk())) == (0, (), [])
        assert len(trace.trace_id) == 32

    def test_lasts_from_the_first_start_to_the_last_end(self):
        assert Trace([span(1, start=100), span(2, start=500)]).duration_ns == 410

    def test_gathers_what_was_said_of_its_roots(self):
        first = span(1, attributes={"agenttrace.tags": ["a", "b"], "agenttrace.metadata": {"x": 1}})
        second = span(2, attributes={"agenttrace.tags": ["b", "c"], "enduser.id": "u", "session.id": "s"})
        trace = Trace([first, second])
        assert trace.tags == ("a", "b", "c")
        assert (trace.customer_id, trace.session_id, trace.metadata) == ("u", "s", {"x": 1})


class TestToolCalls:
    def test_are_the_tool_spans_with_their_agents(self):
        trace = Trace(
            [
                span(1, name="boss", span_type="agent"),
                span(2, 1, name="helper", span_type="agent"),
                span(3, 2, name="search", span_type="tool", input={"city": "Paris"}, output="sunny"),
                span(4, 1, name="plan", span_type="chain"),
                span(5, 4, name="notify", span_type="tool", status="error", error=SpanError("E", "")),
            ]
        )
        first, second = trace.tool_calls
        assert (first.name, first.arguments, first.output, first.agent, first.index) == (
            *("search", {"city": "Paris"}, "sunny", "boss/helper", 0),
        )
        assert (second.agent, second.path, second.failed) == ("boss", ("boss", "plan"), True)

    def test_count_nested_ones_and_failed_attempts(self):
        trace = Trace([span(1, span_type="tool"), span(2, 1, span_type="tool", status="error")])
        assert [call.failed for call in trace.tool_calls] == [False, True]
