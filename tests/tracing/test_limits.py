"""How much of a value is kept: whole inside a capture, bounded in production, with digests of what is cut."""

import decimal
import functools
import sys
from collections import deque

import pytest
from stored import stored

from agenttrace.core.errors import ConfigError
from agenttrace.core.limits import CAPTURED, Limits
from agenttrace.core.marks import Redacted, cause_within, known_part
from agenttrace.core.snapshot import first_snapshot, snapshot
from agenttrace.core.stand_ins import StandIn
from agenttrace.tracer import Tracer

LONG = "x" * 200_000 + "the end"
VALUES = [
    LONG,
    b"\x00\xff" * 3_000,
    [*range(1_500)],
    {f"k{n}": n for n in range(1_500)},
    {*range(1_500)},
    ["a" * 1_000] * 200,
    [{"id": n, "text": "row" * 40} for n in range(1_000)],
    [LONG, "hello"],
    {"deep": [{"text": LONG}]},
]


def nested(levels):
    value = "bottom"
    for _ in range(levels):
        value = [value]
    return value


def identity(x):
    return x


@pytest.mark.parametrize("value", [*VALUES, nested(30), nested(90)], ids=range(len(VALUES) + 2))
def test_a_capture_keeps_values_whole_and_so_does_the_store_behind_it(tmp_path, value):
    tracer = Tracer("test", store=tmp_path / "traces.db")
    with tracer.capture() as captured:
        tracer.observe(identity, span_type="tool")(value)
    (span,) = captured.trace.spans
    assert cause_within([span.input, span.output]) is None
    (again,) = stored(tracer)
    assert (again.input, again.output) == (span.input, span.output)


def test_a_capture_keeps_the_items_of_a_generator_and_of_a_list_of_long_texts():
    tracer = Tracer("test", store="memory")
    with tracer.capture() as captured:
        list(tracer.observe(lambda: (LONG + str(n) for n in range(3)))())
    assert captured.trace.spans[0].output == [LONG + str(n) for n in range(3)]


@pytest.mark.parametrize("value", VALUES, ids=range(len(VALUES)))
def test_production_keeps_a_beginning_that_says_how_much_is_left_out(value):
    tracer = Tracer("test", store="memory")
    tracer.observe(identity, span_type="tool")(value)
    (span,) = stored(tracer)
    assert cause_within(span.input) == cause_within(span.output) == "cut"
    assert len(str(span.input)) < 300_000


class TestWhatIsCut:
    @pytest.mark.parametrize("value", [LONG, LONG.encode(), "é" * 200_000, [LONG], {"a": ["b" * 900] * 200}])
    def test_keeps_a_digest_where_it_reached_the_worker_whole(self, value):
        """Also inside a container that could be packed; not where a huge text made a walk cheaper."""
        tracer = Tracer("test", store="memory")
        tracer.observe(identity, span_type="tool")(value)
        (span,) = stored(tracer)
        known = known_part(span.input["x"])
        if isinstance(value, str | bytes):
            assert known.total == len(value)
            assert len(known.digest) == 32
        else:
            assert cause_within(span.input) == "cut"

    def test_has_no_digest_where_it_is_larger_than_a_megabyte(self):
        tracer = Tracer("test", store="memory")
        tracer.observe(identity, span_type="tool")("x" * 2_000_000)
        (span,) = stored(tracer)
        known = known_part(span.input["x"])
        assert (known.total, known.digest) == (2_000_000, None)

    @pytest.mark.parametrize(
        "secret", ["sk-proj-a1B2a1B2a1B2a1B2a1B2", '{"password": "hunter2"}', "Bearer abcdefghijklmnop1234"]
    )
    @pytest.mark.parametrize("kind", [str, bytes])
    def test_has_no_digest_where_a_secret_is_in_it_that_could_be_guessed(self, secret, kind):
        """The rest of the text is known: with its digest, the secret could be tried out."""
        value = "x " * 100_000 + secret
        tracer = Tracer("test", store="memory")
        tracer.observe(identity, span_type="tool")(value if kind is str else value.encode())
        (span,) = stored(tracer)
        assert known_part(span.input["x"]).digest is None

    def test_has_no_digest_where_the_user_redacts(self):
        tracer = Tracer("test", store="memory", redact=lambda name, value: value)
        tracer.observe(identity, span_type="tool")(LONG)
        (span,) = stored(tracer)
        assert known_part(span.input["x"]).digest is None

    def test_is_cut_at_once_where_so_many_wait_that_there_is_no_room(self, monkeypatch):
        monkeypatch.setattr("agenttrace.tracing.pipeline.MAX_WEIGHT", 250_000)
        tracer = Tracer("test", store="memory", limits=Limits(value=20_000))
        monkeypatch.setattr(tracer._pipeline, "ensure_worker", lambda: None)
        with tracer.span("root"):
            for _ in range(3):
                tracer.observe(identity, capture_output=False)(LONG)
        monkeypatch.undo()
        texts = [span.input["x"] for span in stored(tracer) if span.name == "identity"]
        assert [known_part(text).total for text in texts] == [len(LONG)] * 3
        assert [known_part(text).digest is None for text in texts] == [False, True, True]


def test_a_digest_of_a_secret_is_in_the_process_alone(tmp_path):
    tracer = Tracer("test", store=tmp_path / "traces.db")
    with tracer.capture() as captured:
        tracer.observe(lambda token, note: None)("t-1", "Bearer abcdefghijklmnop1234 it is")
    token, note = captured.trace.spans[0].input.values()
    assert (token, note) == ("[redacted]", "[redacted] it is")
    assert type(token) is type(note) is Redacted
    assert None not in (token.digest, note.digest)
    (span,) = stored(tracer)
    assert {type(value) for value in span.input.values()} == {str}
    tracer.shutdown()
    raw = (tmp_path / "traces.db").read_bytes()
    for digest in (token.digest, note.digest):
        assert digest not in raw
        assert digest.hex().encode() not in raw


class TestLimits:
    @pytest.mark.parametrize("name", ["value", "span", "trace", "items", "depth", "bytes"])
    @pytest.mark.parametrize("value", [0, -1, 1.5, True, "many"])
    def test_are_whole_numbers_from_1(self, name, value):
        with pytest.raises(ConfigError, match=f"Limits: {name} is a whole number from 1, got {value!r}"):
            Limits(**{name: value})

    @pytest.mark.parametrize("name", ["value", "span", "trace", "items", "bytes"])
    def test_are_no_larger_than_any_container_can_be(self, name):
        with pytest.raises(ConfigError, match=f"Limits: {name} is at most sys.maxsize"):
            Limits(**{name: 10**30})

    @pytest.mark.parametrize("value", [{1, 2}, deque([1, 2]), [1, 2], {1: 2}, b"12"])
    def test_of_any_size_open_every_container(self, value):
        largest = dict.fromkeys(["value", "span", "trace", "items", "bytes"], sys.maxsize)
        assert snapshot(value, limits=Limits(**largest))[0] == snapshot(value)[0]

    def test_are_not_deeper_than_the_stack_allows(self):
        with pytest.raises(ConfigError, match="depth is a whole number from 1 to 100, got 101"):
            Limits(depth=101)

    @pytest.mark.parametrize("option", ["limits", "capture_limits"])
    def test_are_given_as_such(self, option):
        with pytest.raises(ConfigError, match=f"{option} is Limits"):
            Tracer("test", store="memory", **{option: 5})

    def test_hold_for_captures_and_for_production_apart(self):
        tracer = Tracer("test", store="memory", limits=Limits(value=300), capture_limits=Limits(value=500))
        observed = tracer.observe(identity)
        with tracer.capture() as captured:
            observed("x" * 400)
        observed("x" * 400)
        production = next(span for span in stored(tracer) if span.trace_id != captured.trace.trace_id)
        assert captured.trace.spans[0].input == {"x": "x" * 400}
        assert production.input["x"].startswith("x" * 300 + "…[+100 chars #")

    def test_of_a_span_bound_all_its_arguments_together(self):
        tracer = Tracer("test", store="memory", limits=Limits(span=1_000))
        tracer.observe(lambda a, b: None)("x" * 800, "y" * 800)
        (span,) = stored(tracer)
        assert span.input == {"a": "x" * 800, "b": {"$truncated": "span"}}

    def test_of_captures_are_sixteen_megabytes_a_value_and_sixty_four_a_trace(self):
        assert (CAPTURED.value, CAPTURED.trace) == (16 << 20, 64 << 20)


def retrying(function):
    @functools.wraps(function)
    def inner(*args, **kwargs):
        return function(*args, **kwargs)

    return inner


class TestBelowADecoratorOfTheUsers:
    @pytest.fixture
    def recorded(self):
        tracer = Tracer("test", store="memory")

        @tracer.observe(span_type="tool")
        @retrying
        def delete(reason, path, *, force=False, **more):
            return None

        def run(*args, **kwargs):
            delete(*args, **kwargs)
            return stored(tracer)[-1].input

        return run

    def test_what_was_cut_is_no_default_and_no_other_argument(self, recorded):
        arguments = recorded("x" * 200_000, "/tmp/a", force=True)
        assert cause_within(arguments["reason"]) == "cut"
        assert cause_within(arguments["path"]) == "not recorded"
        assert arguments["force"] is True

    def test_keywords_that_were_cut_are_no_defaults(self, recorded):
        arguments = recorded("why", path="y" * 200_000, force=True)
        assert arguments["reason"] == "why"
        assert cause_within(arguments["path"]) == "cut"
        assert arguments["force"] is True  # small, behind what was cut
        assert arguments["more"] == {}

    def test_marks_and_tagged_values_are_what_they_are(self, recorded):
        arguments = recorded(decimal.Decimal("1.50"), b"abc", more=object())
        assert arguments["reason"] == {"$decimal": "1.50"}
        assert arguments["path"] == {"$bytes": "YWJj", "size": 3}
        assert cause_within(arguments["more"]) == "not opened"


class TestWhatIsCutAgain:
    """A value that was cut keeps the true number of what is missing, however often it is cut."""

    @pytest.mark.parametrize("limit", [60, 100, 300, 1_000])
    def test_a_list_and_a_mapping(self, limit):
        for whole in ([*range(500)], {f"key{n:03}": n for n in range(500)}):
            once = snapshot(whole, 2_000)[0]
            for again in (
                snapshot(once, limit)[0],
                first_snapshot([StandIn("Thing", once)], limit + 40)[0][0],
            ):
                known = known_part(again)
                assert known is None or known.total == 500
                assert known is not None or cause_within(again) == "not recorded"
                if known is not None and isinstance(whole, dict):
                    assert known.part.items() <= whole.items()

    @pytest.mark.parametrize(
        "mark",
        [{"$truncated": "depth"}, {"$type": "a.B"}, {"$bytes": "YWJj", "size": 9}, {"$decimal": "1.5"}],
    )
    def test_a_mark_is_copied_as_a_whole_at_any_depth_and_size(self, mark):
        assert snapshot([mark], 5)[0] in ([mark], [{"$truncated": 1}])
        deep = mark
        for _ in range(20):
            deep = [deep]
        assert str(mark) in str(snapshot(deep)[0]) or "depth" in str(snapshot(deep)[0])

    def test_keys_are_never_cut(self):
        whole = {f"key{n:03}": n for n in range(40)}
        for limit in range(10, 400, 7):
            copy = snapshot(whole, limit)[0]
            assert {key for key in copy if not key.startswith("$")} <= set(whole)

    def test_a_mapping_without_room_is_no_mark_of_the_list_around_it(self):
        copy = snapshot([["p" * 93], {"aaaaaaaaaa": 1, "bbbbbbbbbbb": 2}], 118)[0]
        assert known_part(copy) is None
        assert cause_within(copy) == "not recorded"

    def test_a_set_keeps_the_first_members_of_its_order_or_none(self):
        whole = {f"item{n:04}" for n in range(300)}
        assert snapshot(whole, limits=Limits(items=100))[0] == [*sorted(whole)[:100], {"$truncated": 200}]
        assert snapshot(whole, 500)[0][:10] == sorted(whole)[:10]
        many = set(range(30_000))
        assert snapshot(many)[0] == {"$truncated": "span"}

    def test_shared_references_do_not_make_a_copy_without_end(self):
        value = []
        for _ in range(60):
            value = [value, value]
        _, size = snapshot(value, limits=Limits(value=1_000_000, depth=100))
        assert size <= 1_000_100
