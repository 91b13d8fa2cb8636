"""A stream is redacted as what its pieces say together."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenttrace import Tracer
from agenttrace.core import semconv
from agenttrace.core.jsonable import jsonable
from agenttrace.core.marks import REDACTED, bytes_of
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
        (["Your", " key is ", KEY[:7], KEY[7:], "."], ["Your", " key is ", "[redacted]", "[redacted]", "."]),
        (
            ["DB_PASSWORD", "=", "Hx7qPz", "2vRk9L", "\n"],
            ["DB_PASSWORD", "=", "[redacted]", "[redacted]", "\n"],
        ),
        (['{"api_key": "Hx7q', 'Pz2vRk9L"}'], ['{"api_key": "[redacted]', '[redacted]"}']),
        (["password: Hx7q", "Pz2vRk9L ok"], ["password: [redacted]", "[redacted] ok"]),
        (
            ['data: {"t": "my key gh"}\n\n', f'data: {{"t": "{KEY[2:]}"}}\n\n', "data: [DONE]\n\n"],
            ['data: {"t":"my key [redacted]"}\n\n', 'data: {"t":"[redacted]"}\n\n', "data: [DONE]\n\n"],
        ),
        (
            ['{"response": "gh", "done": false}\n', f'{{"response": "{KEY[2:]}", "done": true}}\n'],
            ['{"response":"[redacted]","done":false}\n', '{"response":"[redacted]","done":true}\n'],
        ),
        (
            ['event: delta\ndata: {"t": "gh"}\n\n', f'event: delta\ndata: {{"t": "{KEY[2:]}"}}\n\n'],
            ['event: delta\ndata: {"t":"[redacted]"}\n\n', 'event: delta\ndata: {"t":"[redacted]"}\n\n'],
        ),
        (["The ", "river", " is"], ["The ", "river", " is"]),
        (
            [{"delta": {"content": KEY[:15], "role": "a"}}, {"delta": {"content": KEY[15:]}}],
            [{"delta": {"content": "[redacted]", "role": "a"}}, {"delta": {"content": "[redacted]"}}],
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
def test_what_holds_nothing_stays_the_same_and_a_text_that_was_written_anew_is_in_the_first_piece(items):
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
    assert Redaction().span(span).output == ["my key [redacted]", "[redacted]"]


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


JWT = ".".join(
    ("eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9", "eyJzdWIiOiIxMjM0NTY3ODkwIn0", "SflKxwRJSMeKKF2QT4fwpMeJf3")
)
PEM = (
    "-----BEGIN RSA PRIVATE KEY-----\n"
    + "\n".join(f"MIIEowIBAAKCAQEA{n}bcdefghijklmnopqrstuvwxyz" for n in range(3))
    + "\n-----END RSA PRIVATE KEY-----\n"
)


def streamed(items):
    """What is stored of a stream, as a reader sees it."""
    redaction = Redaction()
    return redaction.inside(redaction.stream(items))


@pytest.mark.parametrize("secret", [KEY, JWT])
def test_secrets_that_are_items_of_their_own_are_hidden_in_each(secret):
    other = secret[:-3] + "xyz"
    assert streamed([secret, other]) == [REDACTED, REDACTED]
    rows = [{"name": "a", "note": secret}, {"name": "b", "note": other}]
    assert streamed(rows) == [{"name": "a", "note": REDACTED}, {"name": "b", "note": REDACTED}]


EVENTS = {
    "events with JSON": lambda piece: f"data: {json.dumps({'delta': piece})}\n\n",
    "events of OpenAI": lambda piece: f"data: {json.dumps({'choices': [{'delta': {'content': piece}}]})}\n\n",
    "events with a text in JSON": lambda piece: f"data: {json.dumps(piece)}\n\n",
    "events with a text": lambda piece: f"data: {piece}\n\n",
    "named events": lambda piece: f"event: delta\ndata: {json.dumps({'delta': piece})}\n\n",
    "lines of JSON": lambda piece: json.dumps({"delta": piece}) + "\n",
}


@pytest.mark.parametrize("size", [1, 7, 37, 5_000])
@pytest.mark.parametrize("as_bytes", [False, True])
@pytest.mark.parametrize("event", EVENTS.values(), ids=EVENTS)
def test_what_events_say_together_is_redacted_however_they_arrive(event, as_bytes, size):
    pieces = [KEY[begin : begin + 8] for begin in range(0, len(KEY), 8)]
    events = [event(piece) for piece in pieces]
    sent = "".join(events)
    arrived = [sent[begin : begin + size] for begin in range(0, len(sent), size)]
    for items in (events, arrived) if len(arrived) > 1 else (events,):
        if as_bytes:
            kept = streamed(jsonable([item.encode() for item in items]))
            text = "".join(bytes_of(item).decode() for item in kept if item["$bytes"] != REDACTED)
        else:
            text = "".join(streamed(items))
        assert [piece for piece in pieces[1:] if piece in text] == []


def test_a_text_of_several_events_is_read_as_what_they_say():
    pieces = [KEY[begin : begin + 8] for begin in range(0, len(KEY), 8)]
    text = (
        "".join(f'data: {{"t": "{piece}"}}\n\n' for piece in ["It is ", *pieces, " then"])
        + "data: [DONE]\n\n"
    )
    kept = Redaction().inside(text)
    assert KEY[8:16] not in kept
    assert 'data: {"t": "It is "}\n\n' in kept
    assert 'data: {"t": " then"}\n\ndata: [DONE]\n\n' in kept
    harmless = 'data: {"t": "The "}\n\ndata: {"t": "river"}\n\n'
    assert Redaction().inside(harmless) is harmless
    assert not Redaction().holds_nothing([text, "x"])
    assert KEY[8:16] not in Redaction().inside(f"HTTP/1.1 200 OK\n\n{text}Done.\n")


@pytest.mark.parametrize("width", [1, 3, 13, 16, 40])
@pytest.mark.parametrize("text", [PEM, f"The token is {JWT}, use it.", "DB_PASSWORD=hunter2Zk9 is it"])
def test_a_stream_of_the_text_until_then_is_redacted_as_its_last_one(text, width):
    kept = streamed([text[:end] for end in range(width, len(text) + width, width)])
    assert kept[-1] == Redaction().inside(text)
    assert kept[-1] != text
    assert [one for one in kept if "MIIE" in one or "eyJ" in one or "hun" in one] == []


@pytest.mark.parametrize(
    ("first", "later"),
    [
        ("DB_PASSWORD=hunter2Zk9", "FEATURE_{}=on"),
        ("https://ann:hunter2Zk9@h.example/first", "https://h.example/page/{}"),
        ("https://h.example/login?token=hunter2Zk9abc", "https://h.example/page/{}"),
    ],
)
def test_lines_and_links_without_an_end_of_line_are_no_more_of_the_secret_before_them(first, later):
    rest = [later.format(number) for number in range(500)]
    assert streamed([first, *rest])[1:] == rest


def test_rows_behind_a_secret_are_kept_but_for_the_next_few():
    kept = streamed([{"line": "password=hunter2Zk9"}, *({"line": f"row-{n}"} for n in range(500))])
    assert kept[0] == {"line": "password=[redacted]"}
    assert kept[30:] == [{"line": f"row-{n}"} for n in range(29, 500)]


@pytest.mark.parametrize("size", [1, 4, 20, 33])
def test_a_key_of_many_pieces_is_hidden_whole(size):
    text = f"Here it is:\n{PEM}Keep it."
    kept = "".join(streamed([text[begin : begin + size] for begin in range(0, len(text), size)]))
    assert kept.replace(REDACTED, "") == "Here it is:\n\nKeep it."
