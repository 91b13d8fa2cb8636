"""Two long texts in little room: both begin near their first difference."""

from itertools import takewhile

from hypothesis import given
from hypothesis import strategies as st

from agenttrace.matching.explain import _common_length, excerpts


@given(st.text("ab", max_size=40), st.text("ab", max_size=40), st.text("ab", max_size=40))
def test_the_common_beginning_is_that_of_the_characters_one_by_one(head, one, other):
    one, other = head + one, head + other
    pairs = takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))
    assert _common_length(one, other) == sum(1 for _ in pairs)


def test_the_difference_of_long_texts_shows_and_is_found_by_slices():
    class Text(str):
        """A text whose characters are not looked at one by one."""

        __slots__ = ()

        def __iter__(self):
            raise AssertionError("each character was looked at")

    one, other = Text("x" * 3_000_000 + "old"), Text("x" * 3_000_000 + "new")
    before, after = excerpts(one, other, 20)
    assert (before[-3:], after[-3:]) == ("old", "new")
    assert len(before) <= 20
