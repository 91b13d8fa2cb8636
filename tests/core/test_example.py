from __future__ import annotations

import copy
import pickle
from dataclasses import dataclass
from datetime import UTC, date, datetime

import pytest

from agenttrace.core.errors import DatasetError
from agenttrace.core.example import Example
from agenttrace.core.tool_call import ANY, ExpectedToolCall
from agenttrace.core.trace import Trace

OURS = ("expected_state", "turns", "skip", "xfail", "quarantine", "tags", "scorers", "simulate")


def test_every_field_of_the_seed_is_taken() -> None:
    example = Example(
        input="Who founded Microsoft?",
        actual_output="Bill Gates and Paul Allen.",
        expected_output="Bill Gates and Paul Allen founded Microsoft in New Mexico in 1975.",
        retrieval_context=["Bill Gates co-founded Microsoft with Paul Allen in 1975."],
        context=["Bill Gates and Paul Allen are the founders of Microsoft."],
        tools_called=["research_person", "research_company"],
        expected_tools=["research_person", "research_company"],
        additional_metadata={"research_source": "Wikipedia"},
        name="founders",
    )
    of_the_seed = {key: value for key, value in example.to_dict().items() if key not in OURS}
    assert of_the_seed == {
        "input": "Who founded Microsoft?",
        "actual_output": "Bill Gates and Paul Allen.",
        "expected_output": "Bill Gates and Paul Allen founded Microsoft in New Mexico in 1975.",
        "context": ["Bill Gates and Paul Allen are the founders of Microsoft."],
        "retrieval_context": ["Bill Gates co-founded Microsoft with Paul Allen in 1975."],
        "tools_called": ["research_person", "research_company"],
        "expected_tools": ["research_person", "research_company"],
        "additional_metadata": {"research_source": "Wikipedia"},
        "name": "founders",
        "example_id": example.example_id,
        "created_at": example.created_at,
    }


def test_every_field_is_optional_and_each_example_has_its_own_id() -> None:
    first, second = Example(), Example()
    assert first.input is None
    assert first.example_id != second.example_id


def test_the_creation_date_is_now_with_a_time_zone() -> None:
    created = datetime.fromisoformat(Example().created_at)
    assert created.tzinfo is not None
    assert abs((datetime.now(UTC) - created).total_seconds()) < 3600


def test_none_for_id_and_date_means_the_default() -> None:
    example = Example(example_id=None, created_at=None)  # type: ignore[arg-type]
    assert example.example_id
    assert example.created_at


def test_empty_text_and_empty_mapping_are_inputs() -> None:
    assert Example(input="").input == ""
    assert Example(input={}).input == {}


@pytest.mark.parametrize("value", ["text", ["a", "b"], {"a": [1]}, 3, 2.5, True, None, []])
def test_outputs_are_any_value(value: object) -> None:
    example = Example(actual_output=value, expected_output=value)
    assert example.actual_output == value
    assert type(example.expected_output) is type(value)


def test_an_unknown_field_is_an_error_with_a_suggestion() -> None:
    with pytest.raises(DatasetError) as caught:
        Example(expected_tool=["a"])  # type: ignore[call-arg]
    assert str(caught.value) == "an Example has no field 'expected_tool'; did you mean 'expected_tools'?"


def test_several_unknown_fields_are_all_named() -> None:
    with pytest.raises(DatasetError) as caught:
        Example(inptu="a", tagz=["b"])  # type: ignore[call-arg]
    assert str(caught.value) == (
        "an Example has no field 'inptu'; did you mean 'input'? And no field 'tagz'; did you mean 'tags'?"
    )


@pytest.mark.parametrize(
    ("field", "value", "text"),
    [
        ("input", 5, "input: got int 5, wanted a string (the one argument), a mapping of argument names"),
        ("input", {1: "x"}, "input: got dict {1: 'x'}, wanted"),
        ("input", b"x", "input: got bytes b'x', wanted"),
        ("context", "one text", "context: got str 'one text', wanted a list of strings; write ['one text']"),
        ("context", ["a", 3], "context[1]: got int 3, wanted a string"),
        ("retrieval_context", {"a"}, "retrieval_context: got set {'a'}, wanted a list of strings"),
        ("tools_called", "lookup", "tools_called: got str 'lookup', wanted a list of tool names"),
        ("tools_called", [3], "tools_called[0]: got int 3, wanted a tool's name or a mapping with 'name'"),
        ("tools_called", [{"nam": "x"}], "did you mean 'name'?"),
        ("additional_metadata", [], "additional_metadata: got list [], wanted a mapping with text keys"),
        ("name", 3, "name: got int 3, wanted a string"),
        ("example_id", 3, "example_id: got int 3, wanted a string"),
        ("created_at", "yesterday", "created_at: got 'yesterday', wanted a date in ISO format"),
        ("expected_tools", "lookup", "got the string 'lookup', wanted a list; write ['lookup']"),
        ("expected_tools", 3, "expected_tools: got int 3, wanted a list of tool names"),
        ("expected_tools", [None], "expected_tools[0]: got NoneType None, wanted a tool's name"),
        ("expected_tools", [""], "expected_tools[0]: an expected tool has an empty name"),
        ("expected_tools", ["a", {"tool_name": "b", "params": {}}], "did you mean 'parameters'?"),
        ("expected_tools", [{"tool_nam": "a"}], "did you mean 'tool_name'?"),
        ("expected_tools", [{}], "write {'tool_name': '…'}"),
        ("expected_tools", [{"tool_name": "a", "parameters": [1]}], "are a mapping of names to values"),
    ],
)
def test_a_value_of_the_wrong_type_names_field_got_and_wanted(field: str, value: object, text: str) -> None:
    with pytest.raises(DatasetError) as caught:
        Example(**{field: value})
    assert text in str(caught.value)
    assert caught.value.field is not None
    assert caught.value.field.startswith(field)


def test_an_assignment_is_checked_as_the_constructor_checks() -> None:
    example = Example(input="a")
    example.actual_output = {"any": "value"}
    with pytest.raises(DatasetError, match="context: got str 'x'"):
        example.context = "x"  # type: ignore[assignment]
    with pytest.raises(DatasetError, match="has no field 'actual_outputs'; did you mean 'actual_output'"):
        example.actual_outputs = "x"  # type: ignore[attr-defined]
    assert example.context is None
    assert example.actual_output == {"any": "value"}


def test_richer_expectations_are_left_to_their_parser() -> None:
    for tools in (
        [{"par": ["a", "b"]}, {"opt": "c"}, {"refund": {"id": 7}}],
        {"path": ["a"], "never": ["delete_*"]},
    ):
        assert Example(expected_tools=tools).expected_tools == tools


def test_tuples_become_lists() -> None:
    assert Example(context=("a", "b")).context == ["a", "b"]  # type: ignore[arg-type]


def test_to_dict_writes_matchers_by_their_file_form() -> None:
    class OneOf:
        def to_data(self) -> dict[str, object]:
            return {"$in": [1, ANY]}

    tools = [ExpectedToolCall(name="refund", arguments={"id": OneOf(), "to": ANY}, label="r", turn=2)]
    assert Example(expected_tools=tools).to_dict()["expected_tools"] == [
        {
            "tool_name": "refund",
            "parameters": {"id": {"$in": [1, {"$any": True}]}, "to": {"$any": True}},
            "as": "r",
            "turn": 2,
        }
    ]


def test_to_dict_writes_what_is_no_json_as_a_recorded_call_would() -> None:
    class Opaque:
        def __repr__(self) -> str:
            raise AssertionError("no code of the value's own runs")

    @dataclass
    class Point:
        x: int

    data = Example(actual_output=[date(2025, 6, 1), Point(1), (1, 2), Opaque()]).to_dict()["actual_output"]
    assert data[:3] == ["2025-06-01", {"x": 1}, [1, 2]]
    assert list(data[3]) == ["$type"]


def test_to_dict_survives_a_value_inside_itself() -> None:
    loop: list[object] = []
    loop.append(loop)
    assert isinstance(Example(actual_output=loop).to_dict()["actual_output"], list)


def test_from_dict_reads_what_to_dict_wrote() -> None:
    example = Example(
        input={"x": {"deep": [None, "", 0, False, 10**30, float("inf")]}}, expected_tools=[{"tool_name": "a"}]
    )
    assert Example.from_dict(example.to_dict()) == example


def test_from_dict_wants_a_mapping() -> None:
    with pytest.raises(DatasetError, match="an example is a mapping of fields to values, got list"):
        Example.from_dict([1])  # type: ignore[arg-type]


def test_the_source_is_no_part_of_equality_nor_of_the_data() -> None:
    plain = Example(input="a")
    placed = Example.from_dict(plain.to_dict(), source="tests/refunds.yaml:12")
    assert placed.source == "tests/refunds.yaml:12"
    assert plain.source is None
    assert placed == plain
    assert "source" not in placed.to_dict()
    assert placed.model_copy(update={"actual_output": 1}).source == "tests/refunds.yaml:12"


def test_an_example_survives_copying_and_pickling() -> None:
    example = Example(input={"a": [1]}, expected_tools=["x"])
    assert copy.deepcopy(example) == example
    assert pickle.loads(pickle.dumps(example)) == example


def test_the_repr_shows_what_is_set() -> None:
    assert repr(Example(input="a", example_id="1", created_at="2025-01-01")) == (
        "Example(input='a', example_id='1', created_at='2025-01-01')"
    )


CALL_FIELDS = ("name", "arguments", "arguments_error", "output", "error", "agent", "turn", "metadata")


def test_the_calls_of_a_trace_are_kept_as_the_mappings_that_read_back_as_them():
    recorded = [
        {"name": "find", "arguments": {"q": [1, None]}, "output": {"n": 1}, "agent": "desk", "turn": 2},
        {
            "name": "pay",
            "arguments": "{not json",
            "error": {"type": "Late", "message": "no"},
            "kind": "write",
        },
    ]
    calls = Trace.from_calls(recorded).tool_calls
    example = Example(tools_called=calls)
    assert example == Example.from_dict(example.to_dict())
    for again in (Trace.from_calls(example.tools_called).tool_calls, Trace.from_calls(calls).tool_calls):
        for before, after in zip(calls, again, strict=True):
            for field in (
                "name",
                "arguments",
                "arguments_error",
                "output",
                "error",
                "agent",
                "turn",
                "metadata",
            ):
                assert getattr(before, field) == getattr(after, field), field


@pytest.mark.parametrize("happened", [Trace.from_calls(["a"]), Trace.from_calls(["a"]).tool_calls])
def test_what_happened_is_refused_as_what_should(happened):
    with pytest.raises(DatasetError, match=r"that is what happened: .*expectation_of\(run\)"):
        Example(expected_tools=happened)


def test_a_trace_as_the_called_tools_is_told_apart_from_its_calls() -> None:
    with pytest.raises(DatasetError, match="got a Trace, wanted its calls; write tools_called=trace"):
        Example(tools_called=Trace.from_calls(["a"]))  # type: ignore[arg-type]  # the point
