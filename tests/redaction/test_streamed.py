"""A stream is redacted as what its pieces say together."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenttrace import Tracer
from agenttrace.core import semconv
from agenttrace.core.span import Span
from agenttrace.redaction import Redaction
from agenttrace.redaction.streamed import without_split

KEY = "gh" + "p_" + "a1B2c3D4" * 5


@pytest.fixture
def tracer():
    tracer = Tracer("p", store="memory")
    yield tracer
    tracer.shutdown()


@pytest.mark.parametrize(
    ("pieces", "kept"),
    [
        (["Your", " key is ", KEY[:7], KEY[7:], "."], ["Your key is [redacted].", "", "", "", ""]),
        (["DB_PASSWORD", "=", "Hx7qPz", "2vRk9L", "\n"], ["DB_PASSWORD=[redacted]\n", "", "", "", ""]),
        (['{"api_key": "Hx7q', 'Pz2vRk9L"}'], ['{"api_key": "[redacted]"}', ""]),
        (["password: Hx7q", "Pz2vRk9L ok"], ["password: [redacted] ok", ""]),
        (
            ['data: {"t": "my key gh"}\n\n', f'data: {{"t": "{KEY[2:]}"}}\n\n', "data: [DONE]\n\n"],
            ['data: {"t":"my key [redacted]"}\n\n', 'data: {"t":""}\n\n', "data: [DONE]\n\n"],
        ),
        (
            ['{"response": "gh", "done": false}\n', f'{{"response": "{KEY[2:]}", "done": true}}\n'],
            ['{"response":"[redacted]","done":false}\n', '{"response":"","done":true}\n'],
        ),
        (
            ['event: delta\ndata: {"t": "gh"}\n\n', f'event: delta\ndata: {{"t": "{KEY[2:]}"}}\n\n'],
            ['event: delta\ndata: {"t":"[redacted]"}\n\n', 'event: delta\ndata: {"t":""}\n\n'],
        ),
        (["The ", "river", " is"], ["The ", "river", " is"]),
        (
            [{"delta": {"content": KEY[:15], "role": "a"}}, {"delta": {"content": KEY[15:]}}],
            [{"delta": {"content": "[redacted]", "role": "a"}}, {"delta": {"content": ""}}],
        ),
    ],
)
def test_a_secret_that_is_yielded_in_pieces_is_taken_out(tracer, pieces, kept):
    @tracer.observe(span_type="llm")
    def stream():
        yield from pieces

    with tracer.capture() as captured:
        assert list(stream()) == pieces
    tracer.flush()
    assert captured.trace.spans[0].output == kept
    (summary,) = tracer.store.traces()
    assert tracer.store.trace(summary.trace_id).spans[0].output == kept


def test_a_secret_late_in_a_long_stream_is_taken_out(tracer):
    @tracer.observe(span_type="llm")
    def stream():
        yield from ["word "] * 19_999
        yield from ["password=", "hunter2", "Xy9"]
        yield from ["word "] * 25_000
        yield from ["password=", "hunter2", "Xy9"]

    with tracer.capture() as captured:
        list(stream())
    output = captured.trace.spans[0].output
    assert len(output) == 45_005
    assert "hunter2" not in "".join(output)
    assert "".join(output).count("password=[redacted]") == 2


def test_a_list_that_is_returned_is_no_stream(tracer):
    pieces = ["DB_PASSWORD", "=", "Hx7qPz", "2vRk9L"]
    with tracer.capture() as captured:
        tracer.observe(lambda: pieces)()
    assert captured.trace.spans[0].output == pieces


@given(st.lists(st.sampled_from(["a", "bc", {"x": "d", "y": ["e"]}, 5, None])))
def test_what_holds_nothing_stays_the_same_and_what_is_taken_out_is_in_the_first_piece(items):
    assert without_split(items, lambda text: text) is items
    before = json.dumps(items)
    changed = without_split(items, lambda text: text.upper() + "!")
    assert json.dumps(items) == before
    if sum(type(item) is str for item in items) > 1:
        texts = [item for item in changed if type(item) is str]
        assert texts[0] == "".join(item for item in items if type(item) is str).upper() + "!"
        assert set(texts[1:]) == {""}


def test_an_error_that_repeats_an_argument_which_is_not_recorded_is_redacted(tracer):
    @tracer.observe(span_type="tool", capture_input=False)
    def login(user, password):
        raise ValueError(f"login of {user} with {password} refused")

    @tracer.observe(span_type="tool", capture_input=False)
    def fetch(*, options):
        raise ValueError("no way with swordfish99")

    with tracer.capture() as captured:
        for call in (lambda: login("ann", "swordfish99"), lambda: fetch(options={"password": "swordfish99"})):
            with pytest.raises(ValueError, match="swordfish99"):
                call()
    login_span, _ = captured.trace.spans
    assert login_span.input is None
    assert login_span.error.message == "login of ann with [redacted] refused"
    assert "secrets" not in login_span.attributes


def test_of_bytes_that_hold_a_secret_in_pieces_nothing_is_left(tracer):
    @tracer.observe
    def stream(*pieces):
        yield from pieces

    with tracer.capture() as captured:
        list(stream(b'{"api_key": "Hx7q', b'Pz2vRk9L"}'))
        list(stream(b"plain ", b"bytes"))
    secret, plain = (span.output for span in captured.trace.spans)
    assert [piece["$bytes"] for piece in secret] == ["[redacted]", "[redacted]"]
    assert [piece["size"] for piece in plain] == [6, 5]
    assert "[redacted]" not in str(plain)


def test_a_stream_that_was_recorded_elsewhere_is_redacted_as_one(tracer):
    pieces = ["my key gh", KEY[2:]]
    span = Span(trace_key=1, span_key=2, name="s", output=pieces, attributes={semconv.ITEMS: 2})
    assert Redaction().span(span).output == ["my key [redacted]", ""]


@pytest.mark.parametrize(
    ("secret", "kept"),
    [
        (b"postgres://ann:Zx9Q7vT2mK5@db/x", 26),
        (b"gh" + b"p_aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zQQ", 33),
        (b"AI" + b"zaaB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3z1", 38),
    ],
)
def test_bytes_that_were_cut_inside_a_secret_are_redacted(tracer, secret, kept):
    before = b"x" * (1_023 - kept) + b" "
    with tracer.capture() as captured:
        tracer.observe(lambda body: None)(before + secret + b" and more" * 10)
        tracer.observe(lambda body: None)(before + b"harmless words that go on" * 10)
    cut, harmless = (span.input["body"]["$bytes"] for span in captured.trace.spans)
    assert cut == "[redacted]"
    assert "[redacted]" not in harmless
