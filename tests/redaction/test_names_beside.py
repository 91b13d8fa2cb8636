"""Names that say how a field is compared, and values that stand beside a name under yet other keys."""

import json

import pytest

from agenttrace import Redaction, Tracer
from agenttrace.core.span import Span

SECRET, LONG = "brimstoneQ47x", "q8Zr2Lw0Xv7Kp4NtY6bH3sDf9GmJ1cQe"
KEY_OF_ACCOUNT = f"{LONG}{LONG}Ab3dEf6hIj9lMn2pQr5tUv=="
DATA = [
    {"password__eq": SECRET},
    {"filter": {"user": "ann", "password__iexact": SECRET}},
    {"password[eq]": SECRET},
    {"column": "password", "set_to": SECRET},
    {"attribute": "userPassword", "values": [SECRET]},
    {"type": "modify", "attribute": "userPassword", "vals": ["old", SECRET]},
    {"variable": "DB_PASSWORD", "content": SECRET},
    {"env_var": "STRIPE_API_KEY", "content": LONG},
    {"by": "id", "value": "password", "text": SECRET},
    {"using": "css selector", "value": "#password", "keys": SECRET},
    {"message": SECRET, "label": "password", "score": None, "after_ns": 1},
    {"message": LONG, "label": "User API key"},
    {"message": LONG, "label": "Authorization"},
    {"label": "new password", "note": SECRET},
    {"COSMOS_KEY": KEY_OF_ACCOUNT},
    {"STRIPE_SK": LONG},
    {"X-Amzn-Oidc-Data": LONG},
    {"Grpc-Metadata-macaroon": f"0201036c6e64{LONG.encode().hex() * 3}"},
]
HARMLESS = [
    {"name__eq": "ann2b3c4"},
    {"page_token__isnull": True},
    {"column": "city", "set_to": "Paris2e"},
    {"attribute": "userPassword", "values": ["required", "hidden"]},
    {"label": "Passwords changed", "values": [12, 40]},
    {"name": "tokens", "values": [0.5, 1]},
    {"variable": "CITY", "content": "Paris2e"},
    {"variable": "DB_PASSWORD_POLICY", "content": "strong-2"},
    {"by": "id", "value": "city", "text": "Paris2e"},
    {"by": "id", "value": "password"},
    {"message": "ann2 has asked for another one", "label": "password"},
    {"message": "expired", "label": "token"},
    {"message": "incorrect", "label": "password"},
    {"message": "812", "label": "tokens"},
    {"message": LONG, "label": "log"},
    {"message": "Paris2e", "label": "city"},
    {"message": "E1001", "field": "password"},
    {"label": "password_policy", "note": "strong-2"},
    {"admin_data": LONG},
    {"recipe": {"macaroon": "coconut", "dessert": "macaroon-2"}},
    {"task_sk": "a"},
    {"X-Session-Id": LONG},
]


@pytest.mark.parametrize("as_text", [False, True])
@pytest.mark.parametrize("data", DATA)
def test_a_secret_is_hidden_under_such_a_name_and_beside_one(data, as_text):
    value = json.dumps(data) if as_text else data
    secret = next(one for one in (SECRET, LONG[:20], LONG[:20].encode().hex()) if one in json.dumps(data))
    assert secret not in str(Redaction().inside(value))
    tracer = Tracer("beside", store="memory")
    with tracer.capture() as captured:
        tracer.observe(lambda data: data, name="step", span_type="tool")(value)
    (span,) = captured.trace.spans
    assert secret not in str((span.input, span.output))


@pytest.mark.parametrize("data", HARMLESS)
def test_other_values_beside_names_stay(data):
    assert Redaction().inside(data) == data
    assert Redaction().inside([data, data]) == [data, data]


@pytest.mark.parametrize(
    "line", [f"COSMOS_KEY={KEY_OF_ACCOUNT}", f"STRIPE_SK={LONG}", f'export STRIPE_SK="{LONG}"']
)
def test_a_key_by_a_service_s_name_is_hidden_also_among_many_lines(line):
    others = "\n".join(f"SETTING_{number}={number}" for number in range(40))
    text = f"{others}\n{line}\n"
    name = line.partition("=")[0]
    assert LONG not in Redaction().text("x", line)
    if "SK" in name:
        assert LONG not in Redaction().text("x", text)
        assert not Redaction().holds_nothing(["of Paris", text])


def test_arguments_that_find_a_field_by_a_value_hide_what_is_typed_there():
    def send_keys(by, value, text):
        pass

    tracer = Tracer("beside", store="memory")
    with tracer.capture() as captured:
        tracer.observe(send_keys, span_type="tool")(by="id", value="password", text=SECRET)
    assert captured.trace.spans[0].input == {"by": "id", "value": "password", "text": "[redacted]"}


def test_a_key_among_the_protocols_of_a_websocket_is_hidden():
    header = {"Sec-WebSocket-Protocol": f"realtime, openai-insecure-api-key.{LONG}"}
    cleaned = Redaction().inside(header)
    assert cleaned == {"Sec-WebSocket-Protocol": "realtime, openai-insecure-api-key.[redacted]"}


INSERT = "INSERT INTO u (name, password) VALUES ($1, $2)"
ATTRIBUTES = [
    {"db.query.text": INSERT, "db.query.parameter.1": "ann", "db.query.parameter.2": SECRET},
    {"db.query.text": INSERT, "db.query.parameter.0": "ann", "db.query.parameter.1": SECRET},
    {
        "db.statement": "UPDATE u SET password = :p WHERE name = :n",
        "db.query.parameter.p": SECRET,
        "db.query.parameter.n": "ann",
    },
]


@pytest.mark.parametrize("attributes", ATTRIBUTES)
def test_a_parameter_of_a_statement_is_hidden_among_the_attributes_of_a_span(attributes):
    span = Span(trace_key=1, span_key=1, name="INSERT u", attributes=attributes)
    cleaned = Redaction().span(span).attributes
    assert SECRET not in str(cleaned)
    assert "ann" in cleaned.values()
    assert set(cleaned) == set(attributes)


def test_parameters_for_other_columns_stay():
    attributes = {"db.query.text": "SELECT id FROM u WHERE city = $1", "db.query.parameter.1": "Paris2e"}
    span = Span(trace_key=1, span_key=1, name="SELECT u", attributes=attributes)
    assert Redaction().span(span).attributes == attributes


@pytest.mark.parametrize("text", ["pincode: 560001", "Pincode: 560 001", "pincode=560001"])
def test_the_postal_code_of_india_stays(text):
    assert Redaction().text("x", text) == text


def test_the_code_of_a_card_that_is_called_so_is_hidden():
    assert Redaction().text("x", "pincode: 4821") == "pincode: [redacted]"


LABELS = ["password", "api_key", "token", "secret", "Authorization", "user's password"]


@pytest.mark.parametrize("label", LABELS)
def test_a_secret_is_hidden_that_is_logged_under_its_name(label, tmp_path):
    tracer = Tracer("labels", store=str(tmp_path / "traces.db"))
    with tracer.capture() as captured, tracer.span("step"):
        tracer.log(SECRET, label=label)
        tracer.log("ann2 has asked for another one", label=label)
    assert tracer.flush()
    tracer.shutdown()
    logs = captured.trace.spans[0].attributes["agenttrace.logs"]
    assert [(one["message"], one["label"]) for one in logs] == [
        ("[redacted]", label),
        ("ann2 has asked for another one", label),
    ]
    assert SECRET.encode() not in b"".join(one.read_bytes() for one in tmp_path.iterdir())


def test_a_users_own_name_hides_whatever_is_logged_under_it():
    tracer = Tracer("labels", store="memory", redact=["seat"])
    with tracer.capture() as captured, tracer.span("step"):
        tracer.log("row 12 A", label="seat")
    assert captured.trace.spans[0].attributes["agenttrace.logs"][0]["message"] == "[redacted]"


def test_a_function_that_redacts_sees_a_log_without_what_its_label_hides():
    seen = []
    redaction = Redaction(call=lambda name, value: seen.append((name, value)) or value)
    tracer = Tracer("labels", store="memory", redact=redaction)
    with tracer.capture(), tracer.span("step"):
        tracer.log(SECRET, label="password")
    assert ("log", "[redacted]") in seen


@pytest.mark.parametrize("label", LABELS)
def test_a_note_and_a_reason_are_hidden_where_they_are_the_secret_that_their_label_names(label, tmp_path):
    tracer = Tracer("labels", store=str(tmp_path / "traces.db"))
    with tracer.span("step") as step:
        tracer.score_current_span(label, 1, reason=SECRET)
        tracer.score_current_span(label, 1, reason="ann2 has it still")
    assert tracer.flush()
    tracer.annotate(step.trace_id, label=label, note=SECRET, thumbs="up")
    reasons = {score.reason for _, score in tracer.store.scores(step.trace_id)}
    assert reasons == {"[redacted]", "ann2 has it still"}
    tracer.shutdown()
    assert SECRET.encode() not in b"".join(one.read_bytes() for one in tmp_path.iterdir())


def test_arguments_hide_the_message_whose_label_is_a_secrets_name():
    def note(label, message):
        pass

    tracer = Tracer("labels", store="memory")
    with tracer.capture() as captured:
        tracer.observe(note)("password", SECRET)
        tracer.observe(note)("city", LONG)
    assert [span.input["message"] for span in captured.trace.spans] == ["[redacted]", LONG]


@pytest.mark.parametrize("headers", [[{"name": "X-Api-Key", "value": SECRET}], [["X-Api-Key", SECRET]]])
@pytest.mark.parametrize("key", ["headers", "metadata", "events", "tags"])
def test_lists_of_names_and_values_are_looked_into_wherever_they_stand(headers, key):
    hidden = str(Redaction().fields({key: headers, "event": {"attributes": headers}}))
    assert SECRET not in hidden
    assert "X-Api-Key" in hidden
