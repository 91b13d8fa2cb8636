from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agenttrace.core.errors import DatasetError
from agenttrace.core.example import Example
from agenttrace.datasets import EvalDataset, get_examples_from_yaml

Fails = Callable[..., DatasetError]
Write = Callable[[str, str], Path]

SEED = """\
# tests.yaml
examples:
  - input:
      prompt: "What's the attraction and weather in Paris for early June?"
    expected_tools:
      - tool_name: "get_attractions"
        parameters:
          destination: "Paris"
      - tool_name: "get_weather"
        parameters:
          destination: "Paris"
          start_date: "2025-06-01"
          end_date: 2025-06-02
  - input:
      "What if these shoes don't fit?"
    retrieval_context:
      - "All customers are eligible for a 44 day full refund at no extra cost."
"""


def test_the_seeds_file_loads_with_the_line_of_each_example(write: Write) -> None:
    path = write("tests.yaml", SEED)
    first, second = get_examples_from_yaml(str(path))
    assert first.input == {"prompt": "What's the attraction and weather in Paris for early June?"}
    assert first.expected_tools[1]["parameters"]["end_date"] == "2025-06-02"
    assert first.source == f"{path}:3"
    assert second.source == f"{path}:14"


def _read(write: Write, value: str) -> Any:
    (example,) = get_examples_from_yaml(write("x.yaml", f"examples:\n- expected_output: {value}\n"))
    return example.expected_output


@pytest.mark.parametrize(
    "text",
    [
        "2025-06-01",
        "no",
        "Yes",
        "on",
        "1:30",
        "012",
        "0x1F",
        "1_000",
        "+5",
        ".5",
        "5.",
        ".nan",
        ".inf",
        "0o7",
    ],
)
def test_what_json_would_not_type_stays_a_text(write: Write, text: str) -> None:
    assert _read(write, text) == text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("5", 5),
        ("-0", 0),
        ("2.50", 2.5),
        ("1e3", 1000.0),
        ("true", True),
        ("False", False),
        ("null", None),
        ("~", None),
        ("", None),
        ('"5"', "5"),
        ("'true'", "true"),
        ("!!str 5", "5"),
        ("[1, {a: b}]", [1, {"a": "b"}]),
        ("{1: x, yes: y}", {"1": "x", "yes": "y"}),
        (str(10**100), 10**100),
    ],
)
def test_json_values_are_typed(write: Write, text: str, value: object) -> None:
    got = _read(write, text)
    assert got == value
    assert type(got) is type(value)


def test_aliases_are_values_and_do_not_share_what_can_change(write: Write) -> None:
    path = write("x.yaml", "examples:\n- input: &i {a: [1]}\n- input: *i\n")
    first, second = get_examples_from_yaml(path)
    assert first.input == second.input
    assert isinstance(first.input, dict)
    first.input["a"].append(2)
    assert second.input == {"a": [1]}


@pytest.mark.parametrize(
    ("content", "line", "text"),
    [
        ("", None, "the file is empty; write a mapping with the key 'examples'"),
        ("# only a comment\n", None, "the file is empty"),
        ("- input: a\n", 1, "holds a list at its top; write a mapping with the key 'examples'"),
        ("hello\n", 1, "holds a str at its top"),
        ("exmaples:\n- input: a\n", 1, "no key 'examples', but 'exmaples'; did you mean 'examples'"),
        ("tests: []\n", 1, "there is no key 'examples', but 'tests'; write a mapping"),
        ("examples:\n", 1, "'examples' holds nothing, wanted a list"),
        ("examples: null\n", 1, "'examples' holds nothing, wanted a list"),
        ("examples:\n  input: a\n", 1, "'examples' holds a dict, wanted a list"),
        ("examples: []\nscorer: x\n", 2, "unknown key 'scorer' beside 'examples'"),
        ("examples:\n- input: a\n- b\n", 3, "examples[1]: got str 'b', wanted a mapping of Example fields"),
        ("examples:\n-\n", 2, "examples[0]: got nothing, wanted a mapping"),
        ("examples:\n- input: a\n  inptu: b\n", 3, "has no field 'inptu'; did you mean 'input'?"),
        ("examples:\n- input: a\n  context: b\n", 3, "examples[0].context: got str 'b', wanted a list"),
        ("examples:\n- input: a\n  context:\n  - b\n  - 3\n", 5, "examples[0].context[1]: got int 3, wanted"),
        (
            "examples:\n- expected_tools:\n  - a\n  - tool_name: b\n    params: {}\n",
            4,
            "examples[0].expected_tools[1]: unknown key 'params'",
        ),
        (
            "examples:\n- expected_tools:\n  - a\n  - par: [b]\n    time: 2\n",
            4,
            "examples[0].expected_tools[1]: 'par' stands alone in its mapping, got 'time' beside it",
        ),
        (
            "examples:\n- expected_tools:\n  - a: {id: {$rre: x}}\n",
            3,
            "examples[0].expected_tools[0]: ",
        ),
        (
            "examples:\n- input: a\n  expected_tools:\n    path: [a]\n    nevr: [b]\n",
            3,
            "examples[0].expected_tools: an expectation has no 'nevr'; did you mean 'never'?",
        ),
        ("examples:\n- input: a\n  input: b\n", 3, "the key 'input' stands twice in one mapping"),
        (
            "examples:\n- input: !!python/object/apply:os.system [ls]\n",
            2,
            "the tag 'tag:yaml.org,2002:python",
        ),
        ("examples:\n- input: !thing x\n", 2, "the tag '!thing' is not read"),
        ("examples:\n- input: !!int '5'\n", 2, "the tag 'tag:yaml.org,2002:int' is not read"),
        ("base: &b {input: a}\nexamples:\n- <<: *b\n", 3, "merge keys (<<) are not read"),
        ("examples:\n- input: *nothing\n", 2, "the alias *nothing stands for nothing"),
        ("examples: &e\n- input: {x: *e}\n", 2, "the alias *e stands for nothing that is finished above it"),
        ("examples:\n- ? [a]\n  : b\n", 2, "a key is a text"),
        ("examples:\n- ?\n  : b\n", 2, "a key is missing before ':'"),
        ("examples: []\n---\nexamples: []\n", 2, "a second document begins here"),
        ("examples:\n\t- input: a\n", 2, "this is not YAML"),
        ('examples:\n- input: "a\n', 3, "this is not YAML"),
        ("examples:\n- input: a\0b\n", None, "this is not YAML"),
        ("examples:\n- input: 1e999\n", 2, "the number 1e999 is too large; put it in quotes"),
    ],
)
def test_a_wrong_file_is_an_error_with_line_and_advice(
    fails: Fails, content: str, line: int | None, text: str
) -> None:
    error = fails(get_examples_from_yaml, "x.yaml", content)
    assert text in str(error)
    assert error.line == line


def _alias_bomb() -> str:
    levels = [
        f"{name}: &{name} [{', '.join([f'*{below}'] * 9)}]"
        for below, name in zip("abcdefg", "bcdefgh", strict=True)
    ]
    return "\n".join(["a: &a [x, x, x, x, x, x, x, x, x]", *levels, "examples: [{expected_output: *h}]"])


def _merge_bomb() -> str:
    levels = [
        f"{name}: &{name} {{<<: [{', '.join([f'*{below}'] * 9)}]}}"
        for below, name in zip("abcdef", "bcdefg", strict=True)
    ]
    return "\n".join(["a: &a {x: 1}", *levels])


def _long_alias() -> str:
    long = "x" * 1_000_000
    return f"examples:\n- context: [&t {long}{', *t' * 50}]\n"


BOMBS = {
    "aliases": (_alias_bomb, "more than 200,000 values, aliases expanded"),
    "merge keys": (_merge_bomb, "merge keys"),
    "many aliases": (lambda: "a: &a 1\nb: [" + "*a, " * 101 + "]", "more than 100 aliases"),
    "long aliases": (_long_alias, "characters, aliases expanded"),
    "brackets": (lambda: "[" * 100_000, "nested more than 64 levels deep"),
    "braces": (lambda: "{a: " * 100_000, "nested more than 64 levels deep"),
    "dashes": (lambda: "- " * 100_000, "nested more than 64 levels deep"),
    "digits": (lambda: f"examples: [{{expected_output: {'9' * 10_000}}}]", "an integer of 10000 digits"),
    "bytes": (lambda: "x" * 50_000_000, "the file has 50.0 MB, at most 5 MB are read"),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_refused_before_anything_is_built(fails: Fails, name: str) -> None:
    make, text = BOMBS[name]
    said = str(fails(get_examples_from_yaml, "bomb.yaml", make()))
    assert text in said
    assert "jsonl" not in said or name == "bytes"


def test_too_many_values_without_aliases_belong_into_another_format(fails: Fails) -> None:
    many = "examples: [" + "1, " * 200_001 + "]"
    assert "more than 200,000 values; save as jsonl" in str(fails(get_examples_from_yaml, "many.yaml", many))


def test_too_many_values_are_refused(fails: Fails) -> None:
    content = "examples:\n- expected_output: [" + "1," * 200_001 + "]\n"
    assert "more than 200,000 values" in str(fails(get_examples_from_yaml, "x.yaml", content))


def test_bombs_are_refused_in_a_small_process(write: Write) -> None:
    """Memory, not time: what would expand to gigabytes is refused under an address space of 600 MB."""
    path = write("bomb.yaml", _alias_bomb())
    code = (
        "import resource, sys\n"
        "from agenttrace.datasets import get_examples_from_yaml\n"
        "resource.setrlimit(resource.RLIMIT_AS, (600_000_000, 600_000_000))\n"
        "try:\n    get_examples_from_yaml(sys.argv[1])\n"
        "except ValueError as error:\n    print('refused', error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.startswith("refused")


def test_a_missing_file_names_the_nearest(write: Write, tmp_path: Path) -> None:
    write("tests.yaml", "examples: []")
    with pytest.raises(
        DatasetError, match=r"test\.yaml: there is no such file; did you mean 'tests\.yaml'\?"
    ):
        get_examples_from_yaml(tmp_path / "test.yaml")
    with pytest.raises(DatasetError, match=r"the directory .* does not exist"):
        get_examples_from_yaml(tmp_path / "none" / "test.yaml")


def test_saved_texts_that_other_readers_would_type_are_in_quotes(tmp_path: Path) -> None:
    example = Example(context=["no", "5", "1e5", "2025-06-01"], example_id="1", created_at="2025-01-01")
    text = EvalDataset([example]).save_as("yaml", tmp_path).read_text()
    for word in ("'no'", '"5"', '"1e5"', "'2025-06-01'"):
        assert f"- {word}\n" in text


def test_long_texts_are_saved_as_blocks(tmp_path: Path) -> None:
    path = EvalDataset([Example(input="first\nsecond\n")]).save_as("yaml", tmp_path)
    assert "input: |\n    first\n    second\n" in path.read_text()


def test_more_than_can_be_read_back_is_not_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agenttrace.datasets.yaml_format.MAX_BYTES", 1_000)
    with pytest.raises(DatasetError, match="cannot be read back as YAML; save as jsonl"):
        EvalDataset([Example(input="x" * 1_001)]).save_as("yaml", tmp_path)


def test_the_reader_without_the_c_library_reads_the_same(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    import yaml

    monkeypatch.setattr("agenttrace.datasets.yaml_format._LOADER", yaml.SafeLoader)
    first, second = get_examples_from_yaml(write("tests.yaml", SEED))
    assert first.expected_tools[1]["parameters"]["end_date"] == "2025-06-02"
    assert second.source is not None
    assert second.source.endswith(":14")


@pytest.mark.parametrize("mark", ["-", "\u2028", "\u2029", "\x85"])
def test_lines_are_counted_as_editors_do_also_behind_a_line_break_within_a_text(
    tmp_path: Path, mark: str
) -> None:
    path = tmp_path / "one.yaml"
    path.write_text(f'examples:\n- name: a\n  input: "x{mark}y"\n- name: b\n', encoding="utf-8")
    assert [example.source for example in EvalDataset.from_file(path)] == [f"{path}:2", f"{path}:4"]
