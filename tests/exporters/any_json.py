"""Any JSON data, with what is hard to write of it."""

from hypothesis import strategies as st

from agenttrace.core.span import Frame, Span, SpanError

texts = st.text(st.characters(categories=None), max_size=20) | st.text(
    st.characters(categories=["Cs", "Lu", "So"]), max_size=4
)
integers = st.integers() | st.sampled_from([2**63, 2**63 - 1, -(2**63), -(2**63) - 1, 10**4_000])
scalars = st.none() | st.booleans() | integers | st.floats() | texts
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)
mappings = st.dictionaries(texts, values, max_size=5)
times = st.integers(-(2**64), 2**65)

errors = st.builds(
    SpanError, texts, texts, st.lists(st.builds(Frame, texts, st.just(1), texts), max_size=2).map(tuple)
)
messages = st.lists(
    st.fixed_dictionaries({"role": texts | st.none()}, optional={"content": values, "tool_calls": values}),
    max_size=3,
)
inputs = st.none() | mappings | st.fixed_dictionaries({"messages": messages | values, "tools": values})

spans = st.builds(
    Span,
    trace_key=st.integers(1, 2**128 - 1),
    span_key=st.integers(1, 2**64 - 1),
    parent_key=st.none() | st.integers(1, 2**64 - 1),
    index=st.integers(0, 2**70),
    name=texts,
    span_type=st.sampled_from(["tool", "agent", "llm", "retriever", "chain", "function"]) | texts,
    start_ns=times,
    end_ns=times,
    input=inputs,
    output=values | messages,
    status=st.sampled_from(["ok", "error", "cancelled", "abandoned"]),
    error=st.none() | errors,
    attributes=mappings,
    usage=st.none() | mappings,
    project=texts,
)
