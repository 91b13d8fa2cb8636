"""No text that the rules would change passes the scan that stands before them."""

import re
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import to_json

from agenttrace.tracing.redaction import Redaction
from agenttrace.tracing.secret_scan import _LOWERED_TO_ASCII, SHORTEST_RUN, SecretScan, classes_of
from agenttrace.tracing.secrets import SHAPES, SHORTEST_SECRET, Shape

REDACTION = Redaction(["Größe", 'od"d', "city_code"])
TOKEN = r"[A-Za-z0-9_-]"
IDS = [shape.signs[0] for shape in SHAPES]
AROUND = st.text(alphabet="ab- _\"'\\\n:é./\u212a", max_size=8)
PIECES = st.sampled_from(
    [
        *(
            "'",
            '"',
            "\\",
            ":",
            " ",
            "\n",
            "\u2003",
            "\x1c",
            "password",
            "to\u212aen",
            "max_tokens",
            "od",
            "d",
        ),
        *("größe", "Größe", "City-Code", "a", "hunter2", "12", "{", "}", "sk-", "akia", "x" * 20, "://", "@"),
        *(
            "bearer ",
            "eyJ",
            "abcdefgh",
            ".",
            "AKIA",
            "ABCDEFGH12345678",
            "ghp_",
            "-----BEGIN PRIVATE KEY-----",
        ),
        *("\u0130", "\u017f", "xoxb-", "\t", "\\n", "u001c"),
    ]
)


def may_hold(value, scan=REDACTION.scan):
    json = to_json(value)
    return scan.may_hold(json, classes_of(json))


@pytest.mark.parametrize("shape", SHAPES, ids=IDS)
def test_every_shape_states_its_signs_in_lower_case(shape):
    assert shape.signs
    for sign in (*shape.signs, shape.beside):
        assert sign.isascii()
        assert sign == sign.lower()


@pytest.mark.parametrize("shape", SHAPES, ids=IDS)
@given(st.data(), AROUND, AROUND)
def test_what_has_a_shape_is_flagged_wherever_it_stands(shape, data, before, after):
    secret = data.draw(st.from_regex(shape.pattern))
    text = before + secret + after
    if shape.pattern.search(text):
        assert may_hold(text)
        assert may_hold({text: 1})
        assert may_hold({"a": ["b", {"c": text}]})


@pytest.mark.parametrize("shape", [shape for shape in SHAPES if shape.run], ids=lambda shape: shape.signs[0])
@given(st.data())
def test_a_promised_run_holds_one_of_the_signs(shape, data):
    match = shape.pattern.search(data.draw(st.from_regex(shape.pattern)))
    runs = re.findall(rf"{TOKEN}{{{shape.run},}}", match[0])
    assert any(sign in run.lower() for run in runs for sign in shape.signs)


@given(st.lists(PIECES, max_size=12).map("".join))
def test_a_text_that_redaction_changes_is_flagged(text):
    if len(text) >= SHORTEST_SECRET and REDACTION._text(text) is not text:
        assert may_hold(text)


def test_a_shape_that_is_added_to_the_table_is_found():
    plain = Shape(("acme:",), re.compile("acme:[0-9]{4}"), "")
    run = Shape(("acme_",), re.compile("acme_[0-9a-f]{12,}"), "", 17)
    beside = Shape(("acme",), re.compile("acme .* pin [0-9]{4}"), "", 0, "pin")
    short = Shape(("ac-",), re.compile("ac-[0-9]{4}"), "", SHORTEST_RUN - 5)
    quoted = Shape(('acme="',), re.compile('acme="[^"]+"'), "")
    texts = ["ACME:1234", "acme_0123456789ab", "acme has a pin 1234", "ac-1234", 'acme="x"']
    for shape, text in zip((plain, run, beside, short, quoted), texts, strict=True):
        scan = SecretScan([shape], lambda name: False)
        assert may_hold(f"so: {text}", scan)
        assert not may_hold("nothing of the kind-of-a-long-word", scan)
    assert not may_hold("anything-at-all-that-is-long", SecretScan([], lambda name: False))


def test_ordinary_texts_pass():
    for text in (
        "It's a town on a river; see https://example.org/a/b?c=1, or call 555-1234.",
        '{"city": "Paris", "max_tokens": 12}',
        "d9428888-122b-11e1-b85c-61cd3cbb3210",
        "Zürich, 東京, 🗼",
        "mail ada@example.org",
    ):
        assert not may_hold({"a": [text]})


def test_only_these_characters_beyond_ascii_have_a_lower_case_with_ascii_in_it():
    codes = [code for code in range(128, sys.maxunicode + 1) if not 0xD800 <= code < 0xE000]
    found = {chr(code).encode() for code in codes if re.search("[ -~]", chr(code).lower())}
    assert found == set(_LOWERED_TO_ASCII)
