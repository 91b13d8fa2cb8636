"""Secrets never leave the process, by whatever name or shape."""

import json

import pydantic
import pytest
from stored import Sink, stored

from agenttrace.core.errors import ConfigError
from agenttrace.tracer import Tracer
from agenttrace.tracing.context import current
from agenttrace.tracing.redaction import REDACTED, Redaction

TOKEN = (
    "ey" + "J" + "hbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxMjM0NTY3ODkwIn0" + ".dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P"
)
SHAPES = [
    "sk-" + "proj-" + "a1B2" * 8,
    "sk" + "_live_" + "4eC39HqLyjWD",
    "AKIA" + "IOSFODNN7EXAMPLE",
    "ghp_" + "a" * 36,
    "github" + "_pat_" + "b" * 60,
    "xoxb" + "-1234567890-abcdef",
    "AIza" + "c" * 35,
    TOKEN,
    "Bearer " + "abcdefghij0123456789",
    "-----BEGIN RSA " + "PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----",
]
NAMES = [
    "api_key",
    "apiKey",
    "API-KEY",
    "password",
    "Authorization",
    "x-api-key",
    "client_secret",
    "token",
    "Cookie",
]


class TestShapes:
    @pytest.mark.parametrize("secret", SHAPES, ids=lambda secret: secret[:7])
    def test_are_taken_out_wherever_they_stand(self, secret):
        """Scenario 22."""
        redaction = Redaction()
        assert redaction.inside(f"before {secret} after") == f"before {REDACTED} after"
        assert redaction.inside({"a": [{"b": secret}]}) == {"a": [{"b": REDACTED}]}
        assert redaction.redacted == 2

    @pytest.mark.parametrize(
        "text",
        [
            "a task-force of risk-averse people",
            "sk-short",
            "Asia and bearers of news",
            "xoxo",
            "eyJ.eyJ.eyJ",
            "x" * 99,
        ],
    )
    def test_that_only_resemble_secrets_stay(self, text):
        assert Redaction().inside(text) is text

    @pytest.mark.parametrize("part", ["-eyJ", "eyJaaaaaaaa.", "bearer ", "sk-", "-----BEGIN ", "AIza-"])
    def test_repeated_by_a_hostile_text_cost_no_more_than_its_length(self, part):
        import time

        def cost(text):
            redaction, start = Redaction(), time.process_time()
            redaction.inside(text + "private key-----")
            return time.process_time() - start

        assert cost(part * 16_000) < 200 * max(cost(part * 500), 0.001)


class TestNames:
    @pytest.mark.parametrize("name", NAMES)
    def test_hide_their_value_in_any_spelling(self, name):
        """Scenario 22."""
        redaction = Redaction()
        assert redaction.value(name, "v") == REDACTED
        assert redaction.inside({"headers": {name: {"nested": 1}}}) == {"headers": {name: REDACTED}}

    def test_keep_none_as_none(self):
        assert Redaction().inside({"password": None}) == {"password": None}

    @pytest.mark.parametrize("name", ["tokens", "max_tokens", "secretary", "author", "keyboard"])
    def test_that_only_resemble_secret_ones_stay(self, name):
        assert Redaction().value(name, 5) == 5

    def test_of_the_users_are_added(self):
        assert Redaction(["Patient-Name"]).value("patient_name", "Ann") == REDACTED


class TestInTheRecord:
    def everything(self, tracer, sink):
        tracer.flush()
        return json.dumps([span.to_dict() for span in sink.spans])

    def test_no_secret_is_anywhere(self):
        """Scenario 22: arguments, outputs, errors, items, notes."""
        sink = Sink()
        tracer = Tracer("test", store=sink)

        @tracer.observe
        def call(url, api_key, headers, *, password="default-hunter2"):
            tracer.log(f"note {SHAPES[0]}")
            tracer.update_metadata({"auth": "meta-hunter2"})
            tracer.current_span().set_attribute("secret", "attribute-hunter2")
            raise ValueError(f"401 for {SHAPES[0]}")

        @tracer.observe
        def stream(token):
            yield {"token": "item-hunter2"}
            return SHAPES[2]

        with pytest.raises(ValueError, match="401"):
            call(f"https://x/?k={SHAPES[2]}", "hunter2", {"Authorization": "Basic hunter2"})
        list(stream("hunter2"))
        text = self.everything(tracer, sink)
        assert "hunter2" not in text
        assert SHAPES[0] not in text
        assert SHAPES[2] not in text
        assert text.count(REDACTED) >= 9
        assert tracer.stats()["redacted"] >= 9
        tracer.shutdown()

    def test_the_value_of_a_secret_parameter_is_not_even_held(self, tracer):
        @tracer.observe
        def call(api_key):
            return current.get()[5]

        assert call("hunter2") == (REDACTED,)

    def test_a_pydantic_secret_stays_closed(self, tracer):
        """Scenario 22."""
        tracer.observe(lambda value: value)(pydantic.SecretStr("hunter2"))
        (span,) = stored(tracer)
        assert "hunter2" not in json.dumps(span.to_dict())


class TestCallback:
    def test_sees_safe_values_by_name_and_replaces_them(self):
        seen = []

        def redact(name, value):
            seen.append((name, value))
            return "x" if name == "city" else value

        sink = Sink()
        tracer = Tracer("test", store=sink, redact=redact)
        tracer.observe(lambda city, password: {"a": (1,)})("Paris", "p")
        tracer.flush()
        assert sink.spans[0].input == {"city": "x", "password": REDACTED}
        assert seen == [("city", "Paris"), ("password", REDACTED), ("output", {"a": [1]})]
        tracer.shutdown()

    def test_that_raises_drops_the_value_and_is_counted(self):
        """Scenario 23: fail closed."""

        def redact(name, value):
            raise RuntimeError("broken rule")

        sink = Sink()
        tracer = Tracer("test", store=sink, redact=redact)
        assert tracer.observe(lambda city: city)("Paris") == "Paris"
        tracer.flush()
        assert (sink.spans[0].input, sink.spans[0].output) == ({"city": REDACTED}, REDACTED)
        assert tracer.stats()["redaction_failed"] == 2
        tracer.shutdown()

    def test_that_returns_what_is_not_json_spoils_nothing(self):
        sink = Sink()
        tracer = Tracer("test", store=sink, redact=lambda name, value: {object(): float("nan")})
        tracer.observe(lambda: 1)()
        tracer.flush()
        json.dumps(sink.spans[0].output, allow_nan=False)
        tracer.shutdown()


@pytest.mark.parametrize("redact", ["ssn", 5, [1], [""], b"x"])
def test_wrong_settings_are_refused(redact):
    with pytest.raises(ConfigError, match="redact is a list of names or a function"):
        Tracer("test", store="memory", redact=redact)
