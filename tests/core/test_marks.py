"""What stands in the place of a value that was not recorded whole, and what is still known of it."""

import copy as copies
import json
import pickle

import pytest

from agenttrace.core.jsonable import jsonable
from agenttrace.core.limits import RECORDED
from agenttrace.core.marks import (
    KnownPart,
    Redacted,
    bytes_data,
    cause_of,
    cut,
    inside_itself,
    known_part,
    left_out,
    not_opened,
    not_read,
    text_without_digests,
    without_digests,
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


DIGEST = "0123456789abcdef" * 2


class TestADigest:
    def test_stands_in_the_mark_of_a_text_and_of_bytes(self):
        assert known_part(cut("abcdef", 4, DIGEST)) == KnownPart("abcd", 6, DIGEST)
        assert known_part(bytes_data(b"ab", 4, DIGEST)) == KnownPart(b"ab", 4, DIGEST)

    @pytest.mark.parametrize("digest", ["", "zz", DIGEST[:-1], DIGEST + "0", DIGEST.upper(), "…"])
    def test_that_does_not_fit_is_none(self, digest):
        assert known_part(f"abcd…[+2 chars #{digest}]") == KnownPart("abcd", 6)
        assert known_part({"$bytes": f"YWI= #{digest}", "size": 4}) == KnownPart(b"ab", 4)

    def test_is_kept_where_a_text_is_cut_once_more(self):
        once = cut("abcdefgh", 6, DIGEST)
        assert cut(once, 3) == f"abc…[+5 chars #{DIGEST}]"
        assert cut(once, 7) == once

    def test_leaves_the_process_with_no_mark(self):
        value = {
            "text": cut("abcdef", 4, DIGEST),
            "bytes": [bytes_data(b"ab", 4, DIGEST)],
            "secret": Redacted("[redacted]", b"digest"),
        }
        assert without_digests(value) == {
            "text": "abcd…[+2 chars]",
            "bytes": [{"$bytes": "YWI=", "size": 4}],
            "secret": "[redacted]",
        }
        assert type(without_digests(value)["secret"]) is str
        assert (
            text_without_digests(f"got {cut('abcdef', 4, DIGEST)}, not it") == "got abcd…[+2 chars], not it"
        )

    def test_takes_no_copy_of_what_has_none(self):
        value = {"a": [1, "b…[+2 chars]", {"c": "#1"}], "d": "#2]"}
        assert without_digests(value) is value


class TestARedactedText:
    def test_is_a_text_to_all_that_write_it(self):
        text = Redacted("[redacted]", b"digest")
        assert text == "[redacted]"
        assert json.dumps({"a": text}) == '{"a": "[redacted]"}'
        assert cause_of(text) == "redacted"

    def test_keeps_its_digest_in_copies_and_leaves_it_behind_elsewhere(self):
        text = Redacted("[redacted]", b"digest")
        assert copies.deepcopy([text])[0] is copies.copy(text) is text
        assert type(pickle.loads(pickle.dumps(text))) is str
        assert type(jsonable([text])[0]) is str
