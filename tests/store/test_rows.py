from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from store_values import a_span, fields

from agenttrace.core.tool import Parameter, ToolDefinition
from agenttrace.core.tool_text import definition_text
from agenttrace.store.rows import signed, tool_of, unsigned

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
numbers = st.integers(-(2**53) + 1, 2**53 - 1) | st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=10,
)
keys = st.integers(0, 2**64 - 1)


@given(keys)
def test_an_id_survives_sqlites_signed_integers(key):
    assert -(2**63) <= signed(key) < 2**63
    assert unsigned(signed(key)) == key


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    span=keys,
    parent=st.none() | keys,
    arguments=st.none() | st.dictionaries(texts, values, max_size=3),
    output=values,
    attributes=st.dictionaries(texts, values, max_size=2),
    name=texts,
    start=st.integers(-(2**63), 2**63 - 1),
)
def test_any_json_span_comes_back_as_it_was(
    sqlite_store, span, parent, arguments, output, attributes, name, start
):
    span_before = a_span(
        span,
        parent_key=parent,
        input=arguments,
        output=output,
        attributes=attributes,
        name=name,
        start_ns=start,
    )
    sqlite_store.export([span_before])
    span_after = sqlite_store.trace(span_before.trace_id).by_key[span]
    assert fields(span_after) == fields(span_before)


def test_a_definition_comes_back_with_its_defaults_and_without_them():
    tool = ToolDefinition(
        "t", (Parameter("a"), Parameter("b", "keyword_only", None), Parameter("c", default=[1])), ("x",)
    )
    assert tool_of("t", definition_text(tool), {}) == tool
