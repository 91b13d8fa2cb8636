import pytest

from agenttrace.core.errors import with_article


@pytest.mark.parametrize("said", ["an int", "a list", "an object", "an Example", "a UUID", "a str", "a "])
def test_a_type_is_named_with_its_article(said):
    assert with_article(said.split(" ")[1]) == said
