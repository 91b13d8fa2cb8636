"""Attributes of any type, under the names that agenttrace itself reads, cost no example its result."""

import pytest

from agenttrace import Example, Tracer, run_evaluation
from agenttrace.scorers import ToolOrderScorer

NAMES = [
    "gen_ai.agent.name",
    "agenttrace.tags",
    "agenttrace.metadata",
    "session.id",
    "enduser.id",
    "agenttrace.turn",
    "agenttrace.turns",
    "agenttrace.items",
    "agenttrace.logs",
    "agenttrace.recorded",
    "agenttrace.call_status",
    "gen_ai.tool.call.id",
    "gen_ai.request.model",
    "gen_ai.usage.input_tokens",
    "agenttrace.scope.name",
    "agenttrace.received",
    "agenttrace.returned",
]
VALUES = [None, 5, "text", ["a", 5, None], {"a": 1}, 1.5, True]


@pytest.mark.parametrize("where", ["tool", "root"])
@pytest.mark.parametrize("name", NAMES)
def test_an_attribute_of_another_type_harms_no_example(tmp_path, name, where):
    from agenttrace.cli.main import main

    path = tmp_path / "traces.db"
    tracer = Tracer("odd", store=str(path))

    @tracer.observe(span_type="tool")
    def search(value):
        if where == "tool":
            tracer.current_span().set_attribute(name, value)
        return 1

    @tracer.observe
    def agent(value):
        if where == "root":
            tracer.current_span().set_attribute(name, value)
        search(value)
        return "done"

    examples = [
        Example(name=str(number), input={"value": value}, expected_tools=[{"tool_name": "search"}])
        for number, value in enumerate(VALUES)
    ]
    report = run_evaluation(examples, [ToolOrderScorer()], function=agent, tracer=tracer)
    tracer.flush()
    if name not in ("agenttrace.recorded", "agenttrace.received"):  # which say that others recorded the span
        assert [result.outcome for result in report.results] == ["passed"] * len(VALUES)
    for summary in tracer.store.traces():
        trace = tracer.store.trace(summary.trace_id)
        assert all(isinstance(tag, str) for tag in trace.tags)
        assert isinstance(trace.metadata, dict)
        assert trace.session_id is None or isinstance(trace.session_id, str)
        for call in trace.tool_calls:
            assert isinstance(call.agent, str | None)
            assert type(call.turn) in (int, type(None))
        with pytest.raises(SystemExit) as left:
            main(["traces", "show", summary.trace_id, "--store", str(path)])
        assert left.value.code == 0
    tracer.shutdown()
    with pytest.raises(SystemExit) as left:
        main(["traces", "list", "--store", str(path)])
    assert left.value.code == 0
