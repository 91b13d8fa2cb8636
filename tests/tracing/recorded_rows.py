"""What a store's rows hold of a broad set of values, as text: written down once, and compared since.

PYTHONPATH=. python tests/tracing/recorded_rows.py     writes tests/tracing/golden/rows.json anew
"""

import datetime
import decimal
import enum
import hashlib
import json
import math
import sqlite3
import tempfile
import uuid
from collections import OrderedDict, deque, namedtuple
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agenttrace import Tracer
from agenttrace.core.limits import Limits

GOLDEN = Path(__file__).parent / "golden" / "rows.json"

BODY = "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7aB3dE6gH9jK2m"
SENTENCE = "The river is known for its bridges, its bread and the colour of its roofs. "

SECRETS = {
    "openai": f"sk-{BODY}",
    "openai in words": f"use sk-proj-{BODY} for it",
    "anthropic": f"sk-ant-{BODY}",
    "stripe": f"sk_live_{BODY[:20]}",
    "stripe, test": f"rk_test_{BODY[:12]}",
    "aws": "AKIA" + "ABCDEFGH12345678",
    "aws, temporary": "key=ASIA" + "ABCDEFGH12345678" + ".",
    "github": f"ghp_{BODY}",
    "github, other": f"ghs_{BODY}",
    "github, fine": f"github_pat_{BODY}{BODY}",
    "slack": f"xoxb-{BODY[:12]}",
    "google": f"AIza{BODY[:35]}",
    "jwt": f"eyJ{BODY[:10]}.{BODY[:10]}.{BODY[:10]}",
    "bearer": f"Authorization: Bearer {BODY}",
    "bearer, shouted": f"BEARER   {BODY[:16]}==",
    "bearer on the next line": f"bearer\n{BODY}",
    "private key": "-----BEGIN RSA PRIVATE KEY-----\nMIIabc\n-----END RSA PRIVATE KEY-----",
    "private key, cut": "-----BEGIN PRIVATE KEY-----\nMIIabc",
    "url": "postgres://user:hunter2@db.example.org/app",
    "url, no user": "redis://:hunter2@db.example.org",
    "url, harmless": "https://example.org/a/b?c=d@e",
    "json": '{"user": "ada", "password": "hunter2 and more"}',
    "json, number": '{"pin_token": 12345678901}',
    "json in json": json.dumps({"body": json.dumps({"api_key": "hunter2 and more"})}),
    "repr": "{'user': 'ada', 'api-key': 'hunter2 and more'}",
    "repr, cut": "{'user': 'ada', 'password': 'hunter2 and",
    "field on two lines": '{"password"\n:\n"hunter2 and more"}',
    "field with a wide space": "{'password'\u2003:\u2003'hunter2'}",
    "field with a control": "{'password'\x1c: 'hunter2'}",
    "field, kelvin": '{"to\u212aen": "hunter2 and more"}',
    "field, not ascii": '{"schl\u00fcssel token": "hunter2", "stra\u00dfe_password": "hunter2"}',
    "two fields": "'a'password': 'hunter2 and more'",
    "harmless fields": '{"max_tokens": 12, "prompt": "what is a key?"}',
    "almost": "sk-short, AKIA123, ghp_x, xoxb-1, eyJabc.def",
    "shouted prefix": f"SK-{BODY} GHP_{BODY}",
    "uuid": "d9428888-122b-11e1-b85c-61cd3cbb3210",
    "hash": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "short": "sk-0123456789a",
    "fifteen": "xoxb-0123456789",
}


class Colour(enum.Enum):
    RED = "red"


@dataclass
class Order:
    city: str = "Paris"
    token: str = f"sk-{BODY}"
    items: list[Any] = field(default_factory=lambda: [1, {"password": "x"}])


class Opaque:
    """Cannot be opened."""


class Texty(str):
    __slots__ = ()


class Mapping(dict):
    pass


Pair = namedtuple("Pair", "x y")


def deep(levels: int, inner: Any = 1, *, dicts: bool = False) -> Any:
    for _ in range(levels):
        inner = {"d": inner} if dicts else [inner]
    return inner


def cyclic() -> Any:
    items: list[Any] = [1]
    items.append(items)
    return items


def shared() -> Any:
    one = {"a": [1, "two"]}
    return [one, one, {"b": one}]


SCALARS: dict[str, Any] = {
    "none": None,
    "true": True,
    "int": 7,
    "2^53 - 1": 2**53 - 1,
    "2^53": 2**53,
    "-2^53": -(2**53),
    "2^63": 2**63,
    "2^64": 2**64,
    "10^40": 10**40,
    "below the longest": 2**2000 - 1,
    "longest": 2**2000,
    "longer": -(2**9000),
    "float": 0.1,
    "tiny": 5e-324,
    "large": 1.5e308,
    "1e22": 1e22,
    "minus zero": -0.0,
    "nan": math.nan,
    "inf": math.inf,
    "-inf": -math.inf,
    "empty": "",
    "text": "Paris",
    "quotes": "\"'\\/\b\f\n\r\t\x00\x1f\x7f\u2028",
    "accents": "Zürich, 東京, 🗼 " * 3,
    "surrogate": "a\ud800b",
    "pair of surrogates": "\ud83d\uddfc and more text",
    "dotted i": "\u0130stanbul and \u212aelvin and \u017f",
    "long": SENTENCE * 8,
    "whole": "x" * 131_072,
    "one too long": "x" * 131_073,
    "cut": SENTENCE * 4_000,
    "cut, with a secret": SENTENCE * 4_000 + f"sk-{BODY}",
    "cut through a secret": "x" * 131_060 + f" sk-{BODY}",
    "cut, not ascii": "é" * 140_000,
    "looks cut": "abc…[+7 chars]",
    "looks redacted": "the word is [redacted] here",
    "bytes": b"abc",
    "secret bytes": f"sk-{BODY}".encode(),
    "long bytes": b"\x00\xff" * 2_000,
    "bytearray": bytearray(b"abc"),
}

OBJECTS: dict[str, Any] = {
    "date": datetime.date(2025, 6, 1),
    "moment": datetime.datetime(2025, 6, 1, 12, tzinfo=datetime.UTC),
    "decimal": decimal.Decimal("1.10"),
    "enum": Colour.RED,
    "uuid": uuid.UUID(int=5),
    "path": Path("/a/b"),
    "set": {3, 1, 2},
    "frozenset": frozenset({"b", "a"}),
    "dataclass": Order(),
    "opaque": Opaque(),
    "str subclass": Texty("Paris"),
    "dict subclass": Mapping(a=1, password="x"),
    "named": Pair(1, "two"),
    "ordered": OrderedDict(b=1, a=2),
    "deque": deque([1, 2]),
    "function": deep,
    "class": Opaque,
}

CONTAINERS: dict[str, Any] = {
    "empty dict": {},
    "empty list": [],
    "empty tuple": (),
    "empties": {"a": {}, "b": [], "c": ()},
    "flat": {"city": "Paris", "days": 2, "hourly": False, "more": None, "share": 0.5},
    "flat, secret name": {"city": "Paris", "password": "hunter2", "api_key": None},
    "flat, long text": {"text": SENTENCE * 8},
    "list": [1, "two", None, 2.5, True],
    "tuple": (1, ("two", [3])),
    "texts": [SENTENCE * 8, "short", SENTENCE * 8],
    "nested": {"a": [{"b": {"c": [1, 2, {"d": "e"}]}}, "f"]},
    "chat": [{"role": "user", "content": SENTENCE * 4}, {"role": "assistant", "content": "Yes."}],
    "openai": {
        "choices": [
            {
                "message": {
                    "role": "assistant",
                    "tool_calls": [
                        {
                            "id": "call_9oK2mN5pQ8sT1vW4yZ7aB3dE",
                            "type": "function",
                            "function": {"name": "search", "arguments": '{"city": "Paris", "n": 3}'},
                        }
                    ],
                }
            }
        ],
        "usage": {"prompt_tokens": 12, "completion_tokens": 3},
    },
    "openai, secret": {"function": {"name": "login", "arguments": '{"user": "ada", "password": "hunter2"}'}},
    "shared": shared(),
    "cycle": cyclic(),
    "int keys": {1: "d", 2.0: "b", None: "c", (1, 2): "e"} | {True: "d"},
    "keys that meet": {1: "a", "1": "b"},
    "long keys": {"a key that is long enough": 1, f"sk-{BODY}": 2, f"sk-{BODY}x": 3},
    "key, not ascii": {"schlüssel": 1, "stra\u00dfe": [2], "\ud800": 3, "to\u212aen": "x"},
    "dollar keys": {"$type": "x"},
    "dollar among others": {"$type": "x", "a": 1, "b": 2},
    "truncated": {"$truncated": 7, "a": 1, "b": [2]},
    "escaped": [{"$float": "NaN"}, {"$$float": "NaN"}, {"$bytes": "YWJj", "size": 3}, {"$unknown": 1}],
    "low keys": {"": 1, " ": 2, "#": [3], "!": 4},
    "nan inside": {"a": [math.nan, {"b": math.inf}], "c": "NaN", "d": "Infinity"},
    "long numbers": [2**53, -(2**64), 2**2000, {"a": 2**1999}],
    "floats": [[0.1, 1e22, 1e-7], [1.5e308, -0.0], [1.0]],
    "bytes inside": {"a": [b"abc", f"sk-{BODY}".encode()]},
    "1,000 items": list(range(1_000)),
    "1,001 items": [list(range(1_001))],
    "1,001 entries": {"a": {f"k{n}": n for n in range(1_001)}},
    "1,500 lists": [[n] for n in range(1_500)],
    "20 levels": deep(20),
    "21 levels": deep(21),
    "22 levels": deep(22),
    "25 levels of dicts": deep(25, dicts=True),
    "20 levels around an empty one": deep(20, inner={}),
    "70 levels": deep(70),
    "2,000 levels": deep(2_000),
    "large": [{"n": n, "text": SENTENCE, "tags": ["a", "b"]} for n in range(400)],
    "too large": [{"n": n, "text": SENTENCE * 8, "tags": ["a", "b"]} for n in range(900)],
    "vast": [[n, n + 1] for n in range(50_000)],
    "long text inside": {"text": "x" * 130_000, "more": [1, 2, 3]},
    "too long a text inside": {"text": "x" * 200_000, "more": [1, 2, 3]},
    "many empties": [[[] for _ in range(900)] for _ in range(20)],
    "many scalars": [[None] * 900 for _ in range(20)],
    "long keys, many": {f"{n:0>900}": [n] for n in range(200)},
    "surrogate inside": {"a": ["a\ud800b", "\ud83d\uddfc"]},
    "secret name, nested": {"a": [{"client_secret": {"deep": [1]}, "password": None, "pwd": ""}]},
    "objects": {"a": [1, Order()], "b": {3, 1}, "c": datetime.date(2025, 6, 1), "d": Opaque()},
    "redacted key": {"[redacted]": 1, f"sk-{BODY}": 2},
    "text over two items": [["bear", "er " + BODY], ["s", "k-" + BODY], ["://user:hunter2", "@host"]],
}

SECRET_VALUES = {
    **SECRETS,
    **{f"{name}, inside": {"a": [text, {"b": [text]}]} for name, text in SECRETS.items()},
    **{f"{name}, in a key": {"a": {text: [1]}} for name, text in SECRETS.items()},
}

VALUES = {**SCALARS, **OBJECTS, **CONTAINERS, **SECRET_VALUES}


def _dropping(name: str, value: Any) -> Any:
    return "dropped" if name == "other" else value


def _raising(name: str, value: Any) -> Any:
    if value is None or type(value) is int:
        raise LookupError(name)
    return value


TRACERS: dict[str, dict[str, Any]] = {
    "plain": {},
    "names": {"redact": ["city_code", "Größe", 'od"d', "output"]},
    "replacing": {"redact": _dropping},
    "raising": {"redact": _raising},
    "narrow": {"limits": Limits(value=300, items=4, depth=3, bytes=2)},
}
FEW = [*list(SCALARS)[::3], *list(CONTAINERS)[::2], *list(SECRETS)[::5]]


def rows() -> dict[str, list[Any]]:
    """Input, output and the rest of each call's row, by a name for the call."""
    found: dict[str, list[Any]] = {}
    with tempfile.TemporaryDirectory() as directory:
        for name, options in TRACERS.items():
            path = Path(directory) / f"{name}.db"
            tracer = Tracer("golden", store=path, **options)
            _call_all(tracer, VALUES if name == "plain" else {key: VALUES[key] for key in FEW})
            assert tracer.shutdown(timeout=60), tracer.stats()
            db = sqlite3.connect(path)
            query = "SELECT name, input, output, rest FROM span_rows s JOIN functions f ON f.id = s.function"
            for call, *columns in db.execute(f"{query} ORDER BY s.id"):
                found[f"{name}: {call}"] = [_short(column) for column in columns]
            db.close()
    return found


def _call_all(tracer: Tracer, values: dict[str, Any]) -> None:
    for number, (label, value) in enumerate(values.items()):

        def call(value: Any, other: Any, *, city_code: Any = 5) -> Any:
            return value

        def secret(password: Any, cursor_token: Any = None) -> Any:
            return (password, cursor_token)

        def several(first: Any, second: Any, third: Any) -> Any:
            return {"all": [first, second]}

        def steps(value: Any) -> Any:
            yield value
            yield [value]

        def fails(value: Any) -> Any:
            raise LookupError(str(value)[:300].encode("utf-8", "replace").decode())

        def live(value: Any) -> Any:
            tracer.update_current_span(output=value, attributes={"password": "x", "a": value})
            tracer.update_metadata({"kept": value, "password": "x"})

        tracer.observe(call, name=f"{label} | call")(value, "other")
        tracer.observe(several, name=f"{label} | several", span_type="tool")("x" * 20, value, 3)
        if type(value) is not str or len(value) < 10_000:
            tracer.observe(secret, name=f"{label} | secret")(value)
            list(tracer.observe(steps, name=f"{label} | steps")(value))
        if number % 10 == 0:  # large values must not fill the queue while the writer gets no processor
            tracer.flush(60)
    for label in FEW[::4]:
        tracer.observe(live, name=f"{label} | live")(VALUES[label])
        try:
            tracer.observe(fails, name=f"{label} | fails")(VALUES[label])
        except LookupError:
            pass


def _short(text: str | None) -> Any:
    """A column; the frames of an error are left out, and of a long text all but its hash."""
    if text is None:
        return None
    if '"frames"' in text:
        data = json.loads(text)
        data["error"]["frames"] = len(data["error"]["frames"])
        text = json.dumps(data)
    if len(text) <= 300:
        return text
    return f"{text[:60]}… {len(text)} {hashlib.sha256(text.encode()).hexdigest()[:16]}"


if __name__ == "__main__":
    from recorded_rows import rows  # the names of types are those that the test sees

    GOLDEN.parent.mkdir(exist_ok=True)
    GOLDEN.write_text(json.dumps(rows(), indent=0, ensure_ascii=True) + "\n", encoding="utf-8")
