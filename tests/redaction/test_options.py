"""What is redacted can be chosen: levels, names, exceptions, shapes, a function."""

import re

import pytest

from agenttrace import Tracer
from agenttrace.core.errors import ConfigError
from agenttrace.core.marks import REDACTED
from agenttrace.redaction import Redaction, redaction_of


class TestPersonal:
    @pytest.mark.parametrize(
        ("kind", "value"),
        [
            ("card", "4111 1111 1111 1111"),
            ("card", "378282246310005"),
            ("iban", "DE89 3704 0044 0532 0130 00"),
            ("iban", "GB82WEST12345698765432"),
            ("email", "ann.smith+x@example.co.uk"),
            ("email", "a@b.co"),
            ("phone", "+44 20 7946 0958"),
            ("phone", "(555) 123-4567"),
        ],
    )
    def test_is_taken_out_where_asked_for(self, kind, value):
        assert Redaction().inside(f"it is {value}") == f"it is {value}"
        for redaction in (
            Redaction(shapes=[kind]),
            Redaction(shapes=["personal"]),
            Redaction(level="strict"),
        ):
            assert redaction.inside(f"it is {value} or so") == f"it is {REDACTED} or so"
            assert redaction.inside(value) == REDACTED

    @pytest.mark.parametrize(
        "text",
        [
            "4111 1111 1111 1112",
            "order 1234567890123456",
            "GB82WEST12345698765433",
            "2025-06-01T12:00:00+02:00",
            "550e8400-e29b-41d4-a716-446655440000",
            "0000 0000 0000 0000",
            "3.14159265358979",
            "see @ann, 12345678 and 192.168.178.20",
        ],
    )
    def test_but_no_other_numbers(self, text):
        assert Redaction(shapes=["personal"]).inside(text) is text


class TestChoices:
    def test_names_left_alone_are(self):
        redaction = Redaction(except_=["token", "JSON Web Token"])
        assert redaction.value("token", "hunter2") == "hunter2"
        assert redaction.value("password", "hunter2") == REDACTED

    def test_own_shapes_are_taken_out(self):
        redaction = Redaction(shapes=[r"EMP-\d{5}", re.compile("top secret")])
        assert redaction.inside("of EMP-12345, top secret") == f"of {REDACTED}, {REDACTED}"

    def test_strict_takes_flags_and_counts_too(self):
        redaction = Redaction(level="strict")
        assert redaction.fields({"token": 5, "secret": True, "session": "x", "city": 5}) == {
            "token": REDACTED,
            "secret": REDACTED,
            "session": REDACTED,
            "city": 5,
        }

    def test_a_tracer_takes_each_form(self):
        assert redaction_of("off").level == "off"
        assert redaction_of(["plan"]).names == {"plan"}
        own = Redaction(level="strict")
        assert redaction_of(own) is own
        assert redaction_of(None).level == "standard"

    def test_a_mapping_is_no_list_of_names(self):
        with pytest.raises(ConfigError, match="redact is a list of names or a function"):
            redaction_of({"names": ["plan"]})

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"level": "hard"}, "level is one of off, standard, strict; got 'hard'"),
            ({"names": "ssn"}, r"names is a list of names, got 'ssn'; write \['ssn'\]"),
            ({"except_": [5]}, "except_ is a list of names, got 5"),
            ({"shapes": "card"}, r"write \['card'\]"),
            ({"shapes": ["("]}, "regular expression that is none"),
            ({"shapes": [5]}, "shapes are card, iban, email, phone, personal or a regular expression"),
            ({"shapes": ["a*"]}, "matches nothing at all"),
            ({"call": 5}, "call is a function"),
        ],
    )
    def test_wrong_ones_are_refused(self, options, message):
        with pytest.raises(ConfigError, match=message):
            Redaction(**options)


@pytest.mark.parametrize("key", ["seat", "seat1", "seat_1", "seat-2", "SEAT2", "seat 3"])
def test_a_number_at_the_end_of_a_name_of_ones_own_does_not_matter(key):
    assert Redaction(["seat"]).fields({key: "window"}) == {key: "[redacted]"}
    assert Redaction(["seat2"]).fields({"seat": "window"}) == {"seat": "window"}


def test_a_pin_that_is_a_number_is_hidden_and_a_contact_of_a_chip_is_not():
    assert Redaction().fields({"pin": 4711, "pin2": 13, "card_pin": "4711"}) == {
        "pin": "[redacted]",
        "pin2": 13,
        "card_pin": "[redacted]",
    }


CARD, MOMENT = 4111111111111111, 1764273600000000000


@pytest.mark.parametrize("redact", [Redaction(shapes=["card"]), Redaction(shapes=["personal"]), "strict"])
def test_a_cards_number_that_is_an_integer_is_taken_out_where_it_is_asked_for(redact):
    tracer = Tracer("cards", store="memory", redact=redact)

    @tracer.observe(span_type="tool")
    def pay(number, order):
        return {"paid": [number], "at": order}

    with tracer.capture() as captured:
        pay(CARD, {"number": CARD, "wrong": CARD + 1, "at": MOMENT})
    (call,) = captured.trace.tool_calls
    assert call.arguments["number"] == "[redacted]"
    assert call.arguments["order"] == {"number": "[redacted]", "wrong": CARD + 1, "at": MOMENT}
    assert call.output["paid"] == ["[redacted]"]
    tracer.flush()
    (stored,) = tracer.store.traces()
    assert tracer.store.trace(stored.trace_id).tool_calls[0].arguments == call.arguments


def test_it_stays_where_nobody_asks_for_it():
    data = {"number": CARD, "numbers": [CARD, 6011000990139424]}
    assert Redaction().fields(data) == data
    assert Redaction(shapes=["email"]).fields(data) == data
    assert Redaction(shapes=["personal"], except_=["card"]).fields(data) == data
