"""Secrets never leave the process, by whatever name or shape."""

import base64
import json
import pickle

import pydantic
import pytest
from stored import Sink, stored

from agenttrace.core.errors import ConfigError
from agenttrace.core.losses import LOSSES
from agenttrace.core.marks import REDACTED
from agenttrace.redaction import Redaction
from agenttrace.reports.health import health_data
from agenttrace.store import SQLiteStore
from agenttrace.tracer import Tracer

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
    "openai_api_key",
    "openaiApiKey",
    "db_password",
    "DB_PASSWORD_2",
    "api_keys",
    "X-Auth-Token",
    "x-amz-security-token",
    "githubToken",
    "session_cookie",
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

    @pytest.mark.parametrize(
        "part",
        [
            "-eyJ",
            "eyJaaaaaaaa.",
            "bearer ",
            "sk-",
            "-----BEGIN ",
            "AIza-",
            "://:",
            '"password": "',
            '"pwd":',
            "'pwd'\\",
        ],
    )
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

    @pytest.mark.parametrize(
        "name",
        [
            *(
                "tokens",
                "max_tokens",
                "secretary",
                "author",
                "keyboard",
                "access",
                "key",
                "access_keys_count",
            ),
            *(
                "eos_token",
                "cost_per_token",
                "time_to_first_token",
                "nextPageToken",
                "token_count",
                "tokenizer",
            ),
        ],
    )
    def test_that_only_resemble_secret_ones_stay(self, name):
        assert Redaction().value(name, 5) == 5

    def test_of_the_users_are_added(self):
        assert Redaction(["Patient-Name"]).value("patient_name", "Ann") == REDACTED


class TestTexts:
    @pytest.mark.parametrize(
        ("text", "kept"),
        [
            ('{"password": "hunter2", "a": 1}', '{"password": "[redacted]", "a": 1}'),
            ('{"a": "b", "db_password":"hun\\"ter2"}', '{"a": "b", "db_password":"[redacted]"}'),
            ("{'api_key': 'hunter2', 'a': 'b'}", "{'api_key': '[redacted]', 'a': 'b'}"),
            ('{"token": 123456789012}', '{"token": "[redacted]"}'),
            (
                '"{\\"password\\": \\"hunter2\\", \\"a\\": 1}"',
                '"{\\"password\\": \\"[redacted]\\", \\"a\\": 1}"',
            ),
            ('{"password": "hunter2 that is cut…', '{"password": "[redacted]'),
            ("https://user:hunter2@host/path", "https://user:[redacted]@host/path"),
            ("see redis://:hunter2@host:6379/0 for it", "see redis://:[redacted]@host:6379/0 for it"),
        ],
    )
    def test_are_kept_without_what_is_secret_in_them(self, text, kept):
        redaction = Redaction()
        assert redaction.inside(text) == kept
        assert redaction.redacted == 1
        assert redaction.inside(kept) == kept
        assert redaction.redacted == 1

    @pytest.mark.parametrize(
        "text",
        [
            '{"max_tokens": 500, "key": "value", "secretary": "Ann"}',
            '{"password": null, "token": ""}',
            "https://host:8080/path?mail=ann@example.org",
            'the "password": it is long',
        ],
    )
    def test_without_secrets_stay(self, text):
        assert Redaction().inside(text) is text

    def test_are_searched_for_the_names_of_the_user_too(self):
        assert Redaction(["Patient-Name"]).inside('{"patient_name": "Ann", "x": 1}') == (
            '{"patient_name": "[redacted]", "x": 1}'
        )


class TestKeysAndBytes:
    def test_that_hold_a_secret_are_taken_out(self):
        kept = Redaction().inside({SHAPES[0]: 1, SHAPES[2]: 2, "a key that is harmless": 3})
        assert list(kept.values()) == [1, 2, 3]
        assert not {SHAPES[0], SHAPES[2]} & set(kept)

    def test_recorded_as_base64_are_looked_into(self, tracer):
        tracer.observe(lambda body: b"harmless enough")(b"Authorization: " + SHAPES[8].encode())
        (span,) = stored(tracer)
        assert span.input == {"body": {"$bytes": REDACTED, "size": 15 + len(SHAPES[8])}}
        assert base64.b64decode(span.output["$bytes"]) == b"harmless enough"

    def test_that_only_claim_to_be_base64_spoil_nothing(self):
        for value in ({"$bytes": 1}, {"$bytes": "é"}, {"$bytes": ["a"]}):
            assert Redaction().inside(value) == value


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

    def test_no_secret_is_in_what_is_said_of_a_span_a_score_or_a_tool(self):
        sink = Sink()
        tracer = Tracer("test", store=sink, redact=["customer"])

        @tracer.observe(span_type="tool", metadata={"customer": "hunter2", "k": SHAPES[0]})
        def call(q, api_key=SHAPES[0], where=SHAPES[2], customer="hunter2", harmless=3):
            return q

        call(1)
        with tracer.span(f"to {SHAPES[0]}", input={SHAPES[0]: 1}) as span:
            span.set_usage({"input_tokens": 3, "x": SHAPES[0], SHAPES[2]: 1})
            span.set_attribute(SHAPES[0], 1)
            tracer.score_current_span(SHAPES[0], 0.5, reason=f"for {SHAPES[2]}")
        with tracer.span("named") as span:
            span.set_name(SHAPES[2])
        text = self.everything(tracer, sink) + repr(sink.scores) + repr(sink.tools)
        text += "".join(repr(span.tool) for span in sink.spans)
        assert "hunter2" not in text
        assert SHAPES[0] not in text
        assert SHAPES[2] not in text
        (tool,) = [tool for tool in sink.tools if tool.name == "call"]
        assert tool.parameters[-1].default == 3
        assert sink.spans[0].tool is tool
        assert sink.spans[1].usage["input_tokens"] == 3
        tracer.shutdown()

    def test_the_value_of_a_secret_parameter_is_in_nothing_that_is_kept(self, tracer):
        with tracer.capture() as captured:
            tracer.observe(lambda api_key: None)("hunter2")
        (span,) = captured.trace.spans
        assert span.input["api_key"] == REDACTED
        assert "hunter2" not in repr((span, span.input["api_key"].digest, pickle.dumps(span.input)))
        (span,) = stored(tracer)
        assert span.input == {"api_key": REDACTED}

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
        assert seen[:3] == [("city", "Paris"), ("password", REDACTED), ("output", {"a": [1]})]
        tracer.shutdown()

    def test_sees_errors_logs_metadata_and_reasons_after_the_built_in_rules(self):
        sink = Sink()
        tracer = Tracer("test", store=sink, redact=lambda name, value: f"{name}:{value}")

        @tracer.observe(metadata={"tier": "123", "api_key": "hunter2"})
        def work():
            tracer.log("123", label="l")
            tracer.update_metadata({"plan": "123", "password": "hunter2"})
            tracer.score_current_span("quality", 1, reason="123")
            raise ValueError(f"123 {SHAPES[0]}")

        with pytest.raises(ValueError, match="123"):
            work()
        tracer.flush()
        (span,) = sink.spans
        assert span.error.message == f"error:123 {REDACTED}"
        assert span.attributes["tier"] == "tier:123"
        assert span.attributes["api_key"] == f"api_key:{REDACTED}"
        assert span.attributes["agenttrace.metadata"] == {
            "plan": "plan:123",
            "password": f"password:{REDACTED}",
        }
        assert span.attributes["agenttrace.logs"][0]["message"] == "log:123"
        assert sink.scores[0][2].reason == "reason:123"
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
        assert tracer.stats()["redaction_failed"] >= 2  # of the process's tools, some more
        tracer.shutdown()

    def test_that_raises_is_said_in_the_log_and_by_the_health_of_the_store(self, tmp_path, caplog):
        def redact(name, value):
            raise RuntimeError("broken rule")

        path = tmp_path / "traces.db"
        tracer = Tracer("test", store=path, redact=redact)
        tracer.observe(lambda city: city)("Paris")
        tracer.shutdown()
        assert sum(LOSSES["redaction_failed"].text in text for text in caplog.messages) == 1
        store = SQLiteStore(path)
        health = health_data(store, str(path))
        store.close()
        assert [trouble["cause"] for trouble in health["troubles"]] == ["redaction_failed"]
        assert "redact(name, value)" in health["troubles"][0]["remedy"]

    @pytest.mark.parametrize("redact", [lambda value: value, lambda: None, lambda a, b, c: a, str.upper])
    def test_that_cannot_be_called_with_a_name_and_a_value_is_refused(self, redact):
        with pytest.raises(ConfigError, match=r"redact is called as redact\(name, value\)"):
            Tracer("test", store="memory", redact=redact)

    def test_may_take_more_that_has_defaults(self):
        for redact in (lambda name, value, more=1: value, lambda *both: both[1], max):
            Tracer("test", store="memory", redact=redact).shutdown()

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
