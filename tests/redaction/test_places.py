"""Secrets are found wherever a value can hold them."""

import base64

import pytest

from agenttrace import Tracer
from agenttrace.core.marks import REDACTED, bytes_data
from agenttrace.redaction import Redaction

KEY = "gh" + "p_" + "a1B2c3D4" * 5


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        (["Authorization", "Basic aHVudGVyMg=="], ["Authorization", REDACTED]),
        (
            [["x-api-key", "hunter2"], ["Accept", "text/html"]],
            [["x-api-key", REDACTED], ["Accept", "text/html"]],
        ),
        (["run", "--password", "hunter2", "--verbose"], ["run", "--password", REDACTED, "--verbose"]),
        ({"name": "Cookie", "value": "a=hunter2"}, {"name": "Cookie", "value": REDACTED}),
        ({"credentials": {"a": "v"}}, {"credentials": REDACTED}),
        ({"password": ["v"]}, {"password": REDACTED}),
        ({"password": 123456}, {"password": REDACTED}),
        (["password", "token"], ["password", "token"]),
        ({"required": ["user", "password"]}, {"required": ["user", "password"]}),
        ({"name": "city", "value": "Paris"}, {"name": "city", "value": "Paris"}),
        ({"Name": "DB_PASSWORD", "Value": "hunter2"}, {"Name": "DB_PASSWORD", "Value": REDACTED}),
        ({"id": "api_key", "val": "hunter2-9"}, {"id": "api_key", "val": REDACTED}),
        ({"Name": "city", "Value": "Paris"}, {"Name": "city", "Value": "Paris"}),
        (
            {"columns": ["user", "password"], "index": [0, 1], "data": [["ann", "x1"], ["bob", None]]},
            {"columns": ["user", "password"], "index": [0, 1], "data": [["ann", REDACTED], ["bob", None]]},
        ),
        (
            {"name": "password", "index": [0], "data": ["x1"]},
            {"name": "password", "index": [0], "data": [REDACTED]},
        ),
        (
            {"name": None, "index": ["city", "api_key"], "data": ["Paris", "x1"]},
            {"name": None, "index": ["city", "api_key"], "data": ["Paris", REDACTED]},
        ),
        ({"columns": 5, "data": [["x1"]]}, {"columns": 5, "data": [["x1"]]}),
        ({"columns": ["token"], "data": "x1"}, {"columns": ["token"], "data": "x1"}),
        (
            {"scheme": "https", "netloc": "ann:x1@host:80"},
            {"scheme": "https", "netloc": f"ann:{REDACTED}@host:80"},
        ),
        ({"netloc": "host:80"}, {"netloc": "host:80"}),
        (
            {"header": ["user", "password"], "rows": [["ann", "x1"]]},
            {"header": ["user", "password"], "rows": [["ann", REDACTED]]},
        ),
        (
            {"columns": [["a", "user"], ["a", "password"]], "data": [["ann", "x1"]]},
            {"columns": [["a", "user"], ["a", "password"]], "data": [["ann", REDACTED]]},
        ),
        ({"NAME": "password", "VALUE": "x1"}, {"NAME": "password", "VALUE": REDACTED}),
        ({"label": "Password", "value": "x1"}, {"label": "Password", "value": REDACTED}),
        (
            {"password": {"type": "string", "default": "x1-y2", "minLength": 8}},
            {"password": {"type": "string", "default": REDACTED, "minLength": 8}},
        ),
        (
            {
                "properties": {
                    "api_key": {"anyOf": [{"const": "x1-y2"}, {"type": "null"}], "examples": ["x1-y2"]}
                }
            },
            {
                "properties": {
                    "api_key": {"anyOf": [{"const": REDACTED}, {"type": "null"}], "examples": REDACTED}
                }
            },
        ),
        ({"password": {"type": "string", "default": ""}}, {"password": {"type": "string", "default": ""}}),
        ({"password": {"$any": "x1-y2"}}, {"password": REDACTED}),
        ({"password": {"$any": True}}, {"password": {"$any": True}}),
    ],
)
def test_in_data(value, kept):
    assert Redaction().inside(value) == kept


def test_beside_a_name_that_is_written_as_bytes():
    """As ASGI, and clients of HTTP, have headers."""
    texts = b"authorization", b"accept", b"Basic aHVudGVyMg=="
    name, plain_name, value = (bytes_data(text, 30) for text in texts)
    assert Redaction().inside([[name, value]]) == [[name, REDACTED]]
    assert Redaction().inside({"name": name, "value": value}) == {"name": name, "value": REDACTED}
    assert Redaction().inside([[plain_name, value]]) == [[plain_name, value]]


@pytest.mark.parametrize(
    "key",
    [("db", "password"), ("db", 0, "password"), ("password",), ((1, 2), "api_key"), ("x", "the seat")],
)
def test_under_a_key_that_is_a_tuple(key):
    tracer = Tracer("keys", store="memory", redact=["the seat"])
    tool = tracer.observe(name="tool")(lambda x: x)
    with tracer.capture() as captured:
        tool({key: "hunter2"})
        tool([{key: ["hunter2"]}])
    assert "hunter2" not in str(captured.trace.to_dict())


def test_in_what_is_said_of_a_tool_and_in_the_type_of_a_span():
    tracer = Tracer("tools", store="memory")

    @tracer.observe(span_type="tool", name="ask_tagged", tags=["password=hunter2-tags", KEY, "write"])
    def ask(q):
        """Ask with password=hunter2-tags."""

    ask(1)
    with tracer.span("a", span_type=f"of {KEY}"):
        pass
    assert tracer.flush()
    traces = [tracer.store.trace(one.trace_id) for one in tracer.store.traces()]
    trace = traces[-1]
    shown = repr([one.to_dict() for one in traces]) + repr(trace.tools)
    assert "hunter2-tags" not in shown
    assert KEY not in shown
    assert trace.tools["ask_tagged"].tags == (f"password={REDACTED}", REDACTED, "write")


@pytest.mark.parametrize("name", ["pass\u200bword", "\uff50assword", "\u2060api_key"])
def test_under_a_name_that_only_looks_like_a_secrets(name):
    assert Redaction().inside({name: "hunter2-9"}) == {name: REDACTED}


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ('["authorization", "hunter2-9"]', '["authorization", "[redacted]"]'),
        ("('Authorization', 'Basic aHVudGVyMg==')", "('Authorization', '[redacted]')"),
        ("('Accept', 'text/html')", "('Accept', 'text/html')"),
        ('{"Name": "DB_PASSWORD", "Value": "hunter2-9"}', '{"Name": "DB_PASSWORD", "Value": "[redacted]"}'),
        ("**password**: hunter2-9", "**password**: [redacted]"),
        ("api_key: `hunter2-9` is it", "api_key: `[redacted]` is it"),
        ("password:\u00a0hunter2-9", "password:\u00a0[redacted]"),
        ("password: ********", "password: ********"),
        ('<password type="x">hunter2</password>', '<password type="x">[redacted]</password>'),
        ("<password><![CDATA[hunter2]]></password>", "<password><![CDATA[[redacted]]]></password>"),
        ('<add key="DbPassword" value="hunter2"/>', '<add key="DbPassword" value="[redacted]"/>'),
        (
            "<input type='x' name='password' value='hunter2'>",
            "<input type='x' name='password' value='[redacted]'>",
        ),
        ('<add key="city" value="Paris"/>', '<add key="city" value="Paris"/>'),
        (
            "<key>api_key</key>\n<string>hunter2</string>",
            "<key>api_key</key>\n<string>[redacted]</string>",
        ),
        ("g password=hunter2 (1 sub-exception)", "g password=[redacted] (1 sub-exception)"),
        ("401: password=hunter2 was refused", "401: password=[redacted] was refused"),
        ("Config(user='ann', password='x1')", "Config(user='ann', password='[redacted]')"),
        ('{"credentials": {"a": "v", "b": [1, "}"]}, "c": 1}', '{"credentials": "[redacted]", "c": 1}'),
        ('{"password": ["v"], "c": 1}', '{"password": "[redacted]", "c": 1}'),
        ('{"_password": "v", "c": 1}', '{"_password": "[redacted]", "c": 1}'),
        ('{"1password": "v", "c": 1}', '{"1password": "[redacted]", "c": 1}'),
        ('{"pass\\u0077ord": "v", "c": 1}', '{"pass\\u0077ord": "[redacted]", "c": 1}'),
        ("Cookie: a=1; sid=hunter2", "Cookie: [redacted]"),
        ("Authorization: Basic aHVudGVyMg== \nAccept: x", "Authorization: Basic [redacted] \nAccept: x"),
        ("curl -u ann:hunter2 https://x.org", "curl -u ann:[redacted] https://x.org"),
    ],
)
def test_in_texts(text, kept):
    redaction = Redaction()
    assert redaction.inside(text) == kept
    assert redaction.redacted == (text != kept)


def test_in_other_spellings():
    redaction = Redaction()
    spelled = [
        base64.b64encode(f"token {KEY}".encode()).decode(),
        base64.urlsafe_b64encode(f"user:{KEY}".encode()).decode().rstrip("="),
        KEY.encode().hex(),
        f"password=hunter2&user={KEY}".encode().hex(),
        f"https%3A%2F%2Fx.org%2F%3Fk%3D{KEY}",
    ]
    assert [text for text in spelled if redaction.inside(f"see {text} there").count(REDACTED) != 1] == []
    utf16 = {"$bytes": base64.b64encode(KEY.encode("utf-16")).decode(), "size": 2 * len(KEY) + 2}
    assert redaction.inside(utf16)["$bytes"] == REDACTED


@pytest.mark.parametrize(
    "begun",
    [
        "postgres://ann:hunter2-and",
        "?x=1&password=hunter2-and",
        "password: hunter2-and",
        '{"password": "hunter2-and',
        "ey" + "JhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0",
        "gh" + "p_a1B2",
        "sk" + "-proj-Ab",
    ],
)
def test_where_a_text_was_cut_inside(begun):
    kept = Redaction().inside(f"the address {begun}…[+70 chars]")
    assert kept.startswith("the address ")
    assert REDACTED in kept
    assert kept.endswith("…[+70 chars]")
    assert begun[-5:] not in kept


@pytest.mark.parametrize("text", ["see https://host:80…[+3 chars]", "a sentence that is…[+9 chars]"])
def test_a_text_that_was_cut_elsewhere_stays(text):
    assert Redaction().inside(text) is text


def test_hostile_texts_cost_no_more_than_their_length():
    import time

    def cost(text):
        redaction, start = Redaction(), time.process_time()
        redaction.inside(text)
        return time.process_time() - start

    parts = [
        "password=",
        "a%3A",
        "--token ",
        "<password>",
        '"token",',
        "://a:",
        '{"secret":',
        "'key':{",
        "A1b2" * 8,
    ]
    parts += ["sk-a1b2c3d4e5f6g7h8", "eyJ", "curl -u a:", "cookie:", "token='"]
    assert [part for part in parts if cost(part * 8_000) > 200 * max(cost(part * 400), 0.001)] == []


def test_a_value_of_a_schema_is_found_on_the_quick_way_too():
    """Plain data is looked at as a whole, and stored without a closer look where nothing stands out."""
    tracer = Tracer("schemas", store="memory")
    tracer.observe(lambda x: x)({"password": {"type": "string", "default": "x1-y2"}, "n": 1})
    tracer.observe(lambda x: x)("<input name='password' value='x1-y2'>")
    tracer.observe(lambda x: x)("x" * 200 + " password: hunter2-and…[+70 chars]")
    assert tracer.flush()
    kept = repr([tracer.store.trace(one.trace_id).to_dict() for one in tracer.store.traces()])
    assert "x1-y2" not in kept
    assert "hunter2" not in kept


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize(
    "text", ["пароль: hunter2Xq9", "password：hunter2Xq9", '{"contraseña": "hunter2Xq9"}', f"café {KEY}"]
)
def test_bytes_are_read_as_the_text_that_they_are(text, encoding):
    redaction = Redaction()
    assert redaction.inside(bytes_data(text.encode(encoding), 100))["$bytes"] == REDACTED
    harmless = bytes_data("das Café ist zu, Zoé".encode(encoding), 100)
    assert redaction.inside(harmless) == harmless


@pytest.mark.parametrize("text", [f"café {KEY}", "Hi Zoé,\nyour password: hunter2Xq9\nThanks, Bob"])
def test_base64_and_hexadecimal_are_read_whatever_letters_they_spell(text):
    content = text.encode()
    for spelled in (base64.b64encode(content), base64.urlsafe_b64encode(content), content.hex().encode()):
        assert Redaction().inside(spelled.decode()) == REDACTED
    harmless = base64.b64encode("Das Café ist heute zu, liebe Zoé".encode()).decode()
    assert Redaction().inside(harmless) == harmless
    assert Redaction().inside(base64.b64encode(bytes(range(128, 220))).decode()) != REDACTED
