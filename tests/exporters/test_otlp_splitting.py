"""Requests in halves, requests in one: nothing is lost, nothing said twice."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenttrace.core.protocols import Batch
from agenttrace.core.span import Span
from agenttrace.exporters.otlp_encoding import encode, join_batches, message_of, split_in_half
from agenttrace.exporters.otlp_request import trace_request

TYPES = {"http/protobuf": "application/x-protobuf", "http/json": "application/json"}


def batch_of(projects, protocol="http/protobuf", key=0):
    spans = [
        Span(trace_key=1, span_key=number + 1, name=f"{number}", project=project)
        for number, project in enumerate(projects)
    ]
    request = trace_request(spans, resource={}, content=True)
    return Batch("traces", TYPES[protocol], len(spans), encode("traces", request, protocol), key)


def names_in(batch):
    if batch.content_type == "application/json":
        groups = json.loads(batch.body).get("resourceSpans", ())
        return [s["name"] for group in groups for scope in group["scopeSpans"] for s in scope["spans"]]
    message = message_of("traces", batch.body)
    return [s.name for group in message.resource_spans for scope in group.scope_spans for s in scope.spans]


@pytest.mark.parametrize("protocol", list(TYPES))
@given(st.lists(st.sampled_from("abc"), min_size=2, max_size=12))
def test_two_halves_hold_what_the_whole_held_in_its_order(protocol, projects):
    whole = batch_of(projects, protocol)
    first, second = split_in_half(whole)
    assert names_in(first) + names_in(second) == names_in(whole)
    assert (first.items, second.items) == (len(names_in(first)), len(names_in(second)))
    assert first.items == len(projects) // 2


@pytest.mark.parametrize("protocol", list(TYPES))
@given(st.lists(st.lists(st.sampled_from("ab"), min_size=1, max_size=4), min_size=1, max_size=5))
def test_requests_joined_hold_what_each_held(protocol, groups):
    batches = [batch_of(projects, protocol, key=number + 1) for number, projects in enumerate(groups)]
    whole, keys = join_batches(batches)
    assert keys == list(range(1, len(groups) + 1))
    assert names_in(whole) == [name for batch in batches for name in names_in(batch)]
    assert whole.items == sum(map(len, groups))
    if whole.items > 1:
        first, second = split_in_half(whole)
        assert names_in(first) + names_in(second) == names_in(whole)


def test_joining_stops_where_the_protocol_changes():
    batches = [batch_of("a", key=1), batch_of("a", key=2), batch_of("a", "http/json", key=3)]
    assert join_batches(batches)[1] == [1, 2]
    assert join_batches(batches[2:]) == (batches[2], [3])
