"""The caller's header is read in every form in which servers and queues hand headers over."""

from collections import UserDict
from collections.abc import Mapping
from email.message import Message
from types import SimpleNamespace

import pytest
from stored import stored

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
GOOD = f"00-{TRACE}-{SPAN}-01"
OTHER = f"00-{TRACE[::-1]}-{SPAN}-01"


class Repeated:
    """Headers of which a name may occur twice, as web frameworks have them: `items`, and no mapping."""

    def __init__(self, *pairs):
        self._pairs = pairs

    def items(self):
        return iter(self._pairs)


def of_a_message(*pairs):
    message = Message()
    for name, value in pairs:
        message[name] = value
    return message


READABLE = {
    "WSGI environ": {"REQUEST_METHOD": "GET", "wsgi.input": object(), "HTTP_TRACEPARENT": GOOD},
    "ASGI pairs": [(b"host", b"x"), (b"traceparent", GOOD.encode())],
    "pairs that are lists": [[b"Host", b"x"], [b"TraceParent", GOOD.encode()]],
    "Kafka pairs": [("id", b"\x00\xff"), ("traceparent", GOOD.encode())],
    "a tuple of Kafka pairs": (("traceparent", GOOD.encode()),),
    "pairs of texts": [("TRACEPARENT", GOOD)],
    "an iterator of pairs": iter([("traceparent", GOOD)]),
    "bytes": {b"traceparent": GOOD.encode()},
    "bytearrays": {"traceparent": bytearray(GOOD.encode())},
    "views": {"traceparent": memoryview(GOOD.encode())},
    "lists of one": {"traceparent": [GOOD]},
    "lists of bytes": {"Traceparent": (GOOD.encode(),)},
    "upper case": {"TRACEPARENT": GOOD.upper()},
    "blanks round it": {"traceparent": f"  {GOOD} "},
    "a mapping that is no dict": UserDict(traceparent=GOOD),
    "an email message": of_a_message(("Host", "x"), ("Traceparent", GOOD)),
    "headers that may repeat": Repeated(("Accept", "a"), ("Accept", "b"), ("Traceparent", GOOD)),
    "the same twice": [("traceparent", GOOD), ("Traceparent", GOOD.encode())],
    "beside names of any kind": {5: "x", None: "y", ("a",): 7, "traceparent": GOOD},
    "beside values of any kind": {"a": object(), "b": None, "traceparent": GOOD},
}

ABSENT = {
    "None": None,
    "a mapping": {},
    "a list": [],
    "other headers": [(b"host", b"x"), (b"x-traceparent", b"y")],
    "a WSGI environ": {"REQUEST_METHOD": "GET", "TRACEPARENT_HTTP": GOOD},
    "an empty list of values": {"traceparent": []},
    "no value": {"traceparent": None},
}


class Hostile(Mapping):
    def __getitem__(self, key):
        raise RuntimeError("no")

    def __iter__(self):
        raise RuntimeError("no")

    def __len__(self):
        return 1


UNREADABLE = {
    "an empty text": {"traceparent": ""},
    "nonsense": {"traceparent": "nonsense"},
    "nonsense in bytes": [(b"traceparent", b"00")],
    "bytes that are no ASCII": {"traceparent": b"\xff" * 55},
    "a number": {"traceparent": 7},
    "a list of lists": {"traceparent": [[GOOD]]},
    "two that differ": [("traceparent", GOOD), ("traceparent", OTHER)],
    "two in one list": {"traceparent": [GOOD, OTHER]},
    "a megabyte": {"traceparent": b"x" * 1_000_000},
    "a text in place of headers": GOOD,
    "bytes in place of headers": GOOD.encode(),
    "a number in place of headers": 7,
    "an object in place of headers": SimpleNamespace(traceparent=GOOD),
    "a flat list": ["traceparent", GOOD],
    "numbers in place of pairs": [1, 2],
    "a mapping that raises": Hostile(),
}


@pytest.fixture
def work(tracer):
    return tracer.observe(lambda: None, name="work")


@pytest.mark.parametrize("headers", READABLE.values(), ids=READABLE)
def test_a_header_is_read_in_every_form(tracer, work, headers):
    with tracer.extract(headers):
        work()
    (span,) = stored(tracer)
    assert (span.trace_id, span.parent_id) == (TRACE, SPAN)
    assert tracer.stats()["unreadable_headers"] == 0


@pytest.mark.parametrize("headers", ABSENT.values(), ids=ABSENT)
def test_without_the_header_nothing_changes_and_nothing_is_counted(tracer, work, headers):
    with tracer.extract(headers):
        work()
    (span,) = stored(tracer)
    assert (span.parent_key, span.trace_id == TRACE) == (None, False)
    assert tracer.stats()["unreadable_headers"] == 0


@pytest.mark.parametrize("headers", UNREADABLE.values(), ids=UNREADABLE)
def test_what_cannot_be_read_changes_nothing_and_is_counted(tracer, work, headers):
    with tracer.span("outer") as outer, tracer.extract(headers):
        work()
    spans = {span.name: span for span in stored(tracer)}
    assert spans["work"].parent_id == outer.span_id
    assert tracer.stats()["unreadable_headers"] == 1


def test_headers_that_exit_change_nothing_either(tracer, work):
    class Exits(dict):
        def items(self):
            raise SystemExit("code of the caller's ran")

        __iter__ = __getitem__ = get = keys = items

    with tracer.extract(Exits(traceparent="00")):
        work()
    assert tracer.stats()["unreadable_headers"] == 1


def test_what_cannot_be_read_is_not_counted_where_nothing_is_recorded(monkeypatch):
    from agenttrace.tracer import Tracer

    tracer = Tracer("closed", store="memory")
    tracer.shutdown()
    with tracer.extract({"traceparent": "nonsense"}):
        pass


def test_control_c_in_the_users_headers_reaches_the_user(tracer):
    class Interrupted(Hostile):
        def __iter__(self):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tracer.extract(Interrupted())
