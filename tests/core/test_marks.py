"""What stands in the place of a value that was not recorded whole, and what is still known of it."""

import pytest

from agenttrace.core.limits import RECORDED
from agenttrace.core.marks import (
    KnownPart,
    cause_of,
    cut,
    inside_itself,
    known_part,
    left_out,
    not_opened,
    not_read,
)
from agenttrace.core.snapshot import snapshot


def copy(value, limit=64 * 1024):
    return snapshot(value, limit)[0]


@pytest.mark.parametrize(
    ("value", "cause"),
    [
        (cut("x" * 20, 5), "cut"),
        (copy([*range(1_500)]), "cut"),
        (copy({str(n): n for n in range(1_500)}), "cut"),
        (copy(b"x" * 2_000), "cut"),
        (copy(1 << 300_000, 1_000), "cut"),
        (left_out("depth"), "cut"),
        ("[redacted]", "redacted"),
        ("Bearer [redacted] it was", "redacted"),
        ({"$bytes": "[redacted]", "size": 3}, "redacted"),
        (copy(object()), "not opened"),
        (not_opened("a.B"), "not opened"),
        (inside_itself("list"), "not opened"),
        (left_out("memory"), "not recorded"),
        (left_out("span"), "not recorded"),
        (not_read(), "not recorded"),
        ({"$unreadable": '{"a'}, "not recorded"),
    ],
)  # fmt: skip
def test_each_mark_tells_its_cause(value, cause):
    assert cause_of(value) == cause


@pytest.mark.parametrize(
    "value",
    [
        *(None, 1, 2.5, True, "", "text", "ends…", "[+3 chars]", [], [1], {}, {"a": 1}),
        [{"$truncated": "depth"}],
        *({"$type": "a", "b": 1}, {"$type": 3}, {"$truncated": "x"}, {"$float": "NaN"}, copy(b"abc")),
    ],
)  # fmt: skip
def test_what_is_known_whole_has_no_cause(value):
    assert cause_of(value) is None
    assert known_part(value) is None


def test_of_what_was_cut_the_beginning_and_the_size_are_known():
    assert known_part(cut("abcdef", 4)) == KnownPart("abcd", 6)
    assert known_part(copy([*range(1_500)])) == KnownPart([*range(RECORDED.items)], 1_500)
    assert known_part(copy(b"ab" * 2_000)) == KnownPart(b"ab" * 512, 4_000)
    entries = {str(n): n for n in range(1_500)}
    known = known_part(copy(entries))
    assert known.total == 1_500
    assert known.part.items() < entries.items()


def test_of_a_redacted_text_the_pieces_around_are_known():
    assert known_part("key [redacted], user u") == KnownPart(("key ", ", user u"), None)
    assert known_part(left_out("depth")) is None
