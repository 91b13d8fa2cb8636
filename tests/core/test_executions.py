"""What two instrumentations recorded is one call; a tool that calls itself stays two."""

from __future__ import annotations

from typing import Any

import pytest

from agenttrace.core.span import Span, SpanError
from agenttrace.core.tool import Parameter, ToolDefinition
from agenttrace.core.trace import Trace

HANDLER, CLIENT, SERVER = "framework.handler", "mcp.client", "mcp.server"
SEARCH = ToolDefinition("search", (Parameter("city"), Parameter("days", default=3)))
PARIS = {"city": "Paris"}


def tool(
    key: int, parent: int | None = None, *, scope: str | None = None, call_id: Any = None, **fields: Any
) -> Span:
    attributes = {"otel.scope.name": scope, "gen_ai.tool.call.id": call_id}
    return Span(
        **{
            "trace_key": 1,
            "span_key": key,
            "parent_key": parent,
            "index": key,
            "name": "search",
            "span_type": "tool",
            "start_ns": key * 10,
            "end_ns": 1000 - key * 10,
            "input": PARIS,
            "attributes": {name: value for name, value in attributes.items() if value is not None},
            **fields,
        }
    )


def of_type(key: int, parent: int | None, span_type: str, name: str = "step") -> Span:
    return tool(key, parent, span_type=span_type, name=name)


def count(*spans: Span) -> int:
    return len(Trace(spans).tool_calls)


class TestOneCall:
    def test_is_a_tool_inside_one_of_the_same_name_and_arguments_from_another_scope(self):
        assert count(tool(1, scope=HANDLER), tool(2, 1)) == 1
        assert count(tool(1), tool(2, 1, scope=HANDLER)) == 1
        assert count(tool(1, scope=CLIENT), tool(2, 1, scope=SERVER)) == 1

    def test_is_one_with_the_same_call_id_whatever_the_scope_and_the_arguments(self):
        assert count(tool(1, call_id="c1"), tool(2, 1, call_id="c1", input={"city": "Oslo"})) == 1

    def test_may_have_three_spans(self):
        assert count(tool(1, scope=HANDLER), tool(2, 1, scope=CLIENT), tool(3, 2, scope=SERVER)) == 1

    def test_may_have_other_spans_between_its_own(self):
        assert count(tool(1, scope=HANDLER), of_type(2, 1, "chain"), tool(3, 2)) == 1

    def test_has_the_defaults_that_the_inner_span_recorded(self):
        outer = tool(1, scope=HANDLER)
        (call,) = Trace([outer, tool(2, 1, input={"city": "Paris", "days": 3}, tool=SEARCH)]).tool_calls
        assert (call.arguments, call.tool) == ({"city": "Paris", "days": 3}, SEARCH)

    def test_does_not_have_what_the_framework_injects_into_the_tool(self):
        injected = {"city": "Paris", "days": 3, "config": {"thread": 7}}
        (call,) = Trace([tool(1, scope=HANDLER), tool(2, 1, input=injected)]).tool_calls
        assert (call.arguments, call.tool) == (PARIS, None)

    def test_has_what_the_framework_converted_for_the_tool(self):
        parameters = Parameter("days"), Parameter("order"), Parameter("unit", default="C")
        definition = ToolDefinition("search", parameters)
        outer = tool(1, scope=HANDLER, input={"days": "4", "order": {"id": 7}})
        converted = {"days": 4, "order": {"id": 7, "note": None}, "unit": "C"}
        (call,) = Trace([outer, tool(2, 1, input=converted, tool=definition)]).tool_calls
        assert (call.arguments, call.tool) == (converted, definition)

    @pytest.mark.parametrize(("first", "second"), [(None, PARIS), (PARIS, None)])
    def test_has_the_arguments_of_the_span_that_recorded_them(self, first, second):
        (call,) = Trace([tool(1, scope=HANDLER, input=first), tool(2, 1, input=second)]).tool_calls
        assert call.arguments == PARIS

    def test_has_what_the_tool_returned_and_not_what_was_made_of_it(self):
        (call,) = Trace([tool(1, scope=HANDLER, output='{"id": 7}'), tool(2, 1, output={"id": 7})]).tool_calls
        assert call.output == {"id": 7}
        (call,) = Trace([tool(1, scope=HANDLER, output="done"), tool(2, 1)]).tool_calls
        assert call.output == "done"

    def test_failed_where_the_tool_failed_and_the_framework_answered(self):
        error = SpanError("ValueError", "no such city")
        inner = tool(2, 1, status="error", error=error)
        (call,) = Trace([tool(1, scope=HANDLER, output="Error: no such city"), inner]).tool_calls
        assert (call.failed, call.error, call.output) == (True, error, "Error: no such city")

    def test_failed_where_the_framework_failed_after_the_tool(self):
        outer = tool(1, scope=HANDLER, status="error", error=SpanError("TypeError", "not JSON"))
        (call,) = Trace([outer, tool(2, 1, output=object)]).tool_calls
        assert (call.failed, call.error) == (True, outer.error)

    def test_did_not_fail_where_a_further_attempt_inside_it_succeeded(self):
        first = tool(2, 1, status="error", error=SpanError("Timeout", ""), end_ns=30)
        (call,) = Trace([tool(1, scope=HANDLER), first, tool(3, 1, output="sun", start_ns=40)]).tool_calls
        assert (call.failed, call.output) == (False, "sun")

    def test_has_the_place_and_the_times_of_the_outer_span(self):
        agent = of_type(1, None, "agent", "desk")
        (call,) = Trace([agent, tool(2, 1, scope=HANDLER), tool(3, 2)]).tool_calls
        assert (call.index, call.agent, call.path, call.start_ns, call.end_ns) == (
            0,
            "desk",
            ("desk",),
            20,
            980,
        )
        assert (call.span_id, call.parent_id) == (f"{2:016x}", f"{1:016x}")

    def test_encloses_what_is_called_inside_its_inner_span(self):
        trace = Trace([tool(1, scope=HANDLER), tool(2, 1), tool(3, 2, name="fetch")])
        assert [call.name for call in trace.tool_calls] == ["search", "fetch"]


class TestTwoCalls:
    def test_are_those_of_a_tool_that_calls_itself(self):
        assert count(tool(1), tool(2, 1)) == 2
        assert count(tool(1), tool(2, 1, input={"city": "Oslo"})) == 2
        assert count(tool(1, scope=HANDLER), tool(2, 1, scope=HANDLER)) == 2

    def test_are_those_of_a_tool_that_calls_itself_and_that_a_framework_records_too(self):
        assert count(tool(1, scope=HANDLER), tool(2, 1), tool(3, 2)) == 2
        assert count(tool(1, scope=HANDLER), tool(2, 1), tool(3, 2, scope=HANDLER), tool(4, 3)) == 2

    def test_have_other_arguments(self):
        assert count(tool(1, scope=HANDLER), tool(2, 1, input={"city": "Oslo"})) == 2
        assert count(tool(1, scope=HANDLER, input={}), tool(2, 1)) == 2

    def test_have_other_names(self):
        assert count(tool(1, scope=HANDLER), tool(2, 1, name="fetch")) == 2

    def test_have_other_call_ids(self):
        assert count(tool(1, call_id="c1"), tool(2, 1, scope=HANDLER, call_id="c2")) == 2

    def test_stand_beside_each_other(self):
        assert count(tool(1, scope=HANDLER), tool(2)) == 2

    def test_are_that_of_an_agent_and_that_of_a_sub_agent_inside_it(self):
        assert count(tool(1, scope=HANDLER), of_type(2, 1, "agent"), tool(3, 2)) == 2


@pytest.mark.parametrize("scopes", [(None, None), (HANDLER, None), (HANDLER, CLIENT)], ids=str)
@pytest.mark.parametrize("parents", [{1: 1}, {1: 2, 2: 1}, {1: 2, 2: 3, 3: 1}], ids=str)
def test_parents_that_form_a_loop_do_not_hang_anything(parents, scopes):
    spans = [tool(key, parent, scope=scopes[key % 2]) for key, parent in parents.items()]
    assert 1 <= count(*spans) <= len(parents)


def test_a_child_may_have_begun_before_its_parent():
    """The clocks of two machines differ."""
    assert count(tool(2, scope=CLIENT), tool(1, 2, scope=SERVER)) == 1


def test_ten_thousand_levels_are_read():
    trace = Trace([tool(key, key - 1 or None, name=f"t{key % 2}", scope=HANDLER) for key in range(1, 3_001)])
    assert len(trace.tool_calls) == 3_000
