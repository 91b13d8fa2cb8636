"""Text made short."""

import pytest

from agenttrace.core.marks import cut
from agenttrace.core.text import described, short_line, short_repr, shorten


@pytest.mark.parametrize(("most", "text"), [(7, "abcdefg"), (6, "abcde…"), (1, "…"), (0, "…")])
def test_a_text_is_shortened_to_a_length_with_its_ellipsis(most, text):
    assert shorten("abcdefg", most) == text


def test_a_text_is_put_on_one_line():
    assert short_line(" a\n\tb  c ", 9) == "a b c"
    assert short_line(" a\n\tb  c ", 4) == "a b…"


def test_cut_data_says_how_much_there_was():
    assert cut("abcdefg", 7) == "abcdefg"
    assert cut("abcdefg", 3) == "abc…[+4 chars]"


def test_a_value_is_described_by_its_type_and_the_start_of_its_text():
    assert short_repr([1, 2]) == "list [1, 2]"
    assert short_repr("x" * 100) == f"str '{'x' * 78}…"


def test_a_value_with_code_of_its_own_is_described_by_its_type_alone():
    class Loud(str):
        def __repr__(self):
            raise AssertionError("its own code was run")

    assert described(Loud()) == "Loud"
    assert (described(0.7), described([1])) == ("float 0.7", "list")
