"""JSON is read and written in one place; whoever does it elsewhere is named here, with the reason."""

import ast
from functools import cache

from package_sources import trees

WORDS = {"loads", "load", "dumps", "dump", "JSONDecoder", "JSONEncoder", "from_json", "to_json", "raw_decode"}
LIBRARIES = {"json", "pydantic_core", "orjson"}
THE_PLACES = {"core/json_reader.py", "core/jsonable.py"}
ELSEWHERE = {
    "store/rows.py": "every span passes here: pydantic's reader and writer are the fastest that we have",
    "tracing/encoding.py": "and is written here, once, where nothing in it has to be changed",
    "store/facts.py": "and so does every span that is indexed, as the bytes that the file has",
    "exporters/otlp_encoding.py": "OTLP's own JSON, as bytes of a bounded size",
    "runs/fingerprints.py": "hashed for every example, read by nobody",
    "matching/value_texts.py": "values in a diff are shown as they are, NaN too",
    "scorers/json_correctness.py": "what is JSON is the very question here, and pydantic's models read it",
}


def uses(tree):
    """The lines on which a module takes something of a JSON library: ``json.loads``, ``from … import``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.value.id in LIBRARIES and node.attr in WORDS:
                yield node.lineno
        elif isinstance(node, ast.ImportFrom) and node.module in LIBRARIES:
            yield from (node.lineno for alias in node.names if alias.name in WORDS)


@cache
def users():
    return {name: sorted(uses(tree)) for name, tree in trees().items()}


def test_json_is_read_and_written_by_the_readers_and_writers_of_core():
    offenders = {
        name: lines for name, lines in users().items() if lines and name not in THE_PLACES | ELSEWHERE.keys()
    }
    assert offenders == {}, (
        "use strict_json or lenient_json (core/json_reader.py), to_json (core/jsonable.py)"
    )


def test_every_exception_is_still_one():
    assert [name for name in ELSEWHERE if not users().get(name)] == []
