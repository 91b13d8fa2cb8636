import pytest

from agenttrace.core.errors import error_text, with_article
from agenttrace.core.score import Score


@pytest.mark.parametrize("said", ["an int", "a list", "an object", "an Example", "a UUID", "a str", "a "])
def test_a_type_is_named_with_its_article(said):
    assert with_article(said.split(" ")[1]) == said


def test_an_error_is_told_by_type_and_text_or_by_its_type_where_its_code_fails():
    class Wordless(Exception):
        def __str__(self):
            raise SystemExit("no text")

    assert error_text(KeyError("a")) == "KeyError: 'a'"
    assert error_text(Wordless()) == "Wordless"
    assert Score.errored("s", 0.5, Wordless()).reason == "Wordless"
