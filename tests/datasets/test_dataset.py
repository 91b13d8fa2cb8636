from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agenttrace.core.errors import DatasetError
from agenttrace.core.example import Example
from agenttrace.core.tool_call import ExpectedToolCall
from agenttrace.datasets import EvalDataset
from agenttrace.datasets.dataset import FORMATS
from agenttrace.expectations import call

TEXTS = st.text() | st.sampled_from(
    [
        *("", " ", "=1+1", "+1", "-1", "@x", "\t=x", "\r=x", "'", "'=x", "''x", "\uff1dx"),
        *(
            "5",
            "05",
            "1e5",
            "-0",
            "1.0",
            "true",
            "null",
            "no",
            "~",
            "1:30",
            "2025-06-01",
            "<<",
            ".nan",
            "0x1f",
        ),
        *(
            '"',
            '"a"',
            "{",
            "[1]",
            "{}",
            "json:1",
            "a,b;c\td",
            "a\nb",
            "a\r\nb",
            " a",
            "a ",
            "a\n",
            "\n a",
            "#x",
        ),
        *(
            "- a",
            "a: b",
            "!x",
            "&a",
            "*a",
            "|",
            ">",
            "%",
            "é",
            "中文",
            "🎉",
            "\u2028",
            "\x85",
            "\ufeffx",
            "\0",
        ),
    ]
)


def _values(keys: st.SearchStrategy[str]) -> st.SearchStrategy[Any]:
    return st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
        max_leaves=12,
    )


# In an expectation a key that begins with $ is an operator, and one that is not known an error.
PLAIN_KEYS = TEXTS.filter(lambda key: not key.startswith("$"))
PARAMETERS = st.dictionaries(PLAIN_KEYS, _values(PLAIN_KEYS), max_size=4)
VALUES = _values(TEXTS)
MAPPINGS = st.dictionaries(TEXTS, VALUES, max_size=4)
EXAMPLES = st.builds(
    Example,
    input=st.none() | TEXTS | MAPPINGS,
    actual_output=VALUES,
    expected_output=VALUES,
    context=st.none() | st.lists(TEXTS, max_size=3),
    tools_called=st.none()
    | st.lists(st.just("lookup") | st.fixed_dictionaries({"name": st.just("a"), "args": MAPPINGS})),
    expected_tools=st.none()
    | st.lists(
        st.just("lookup") | st.fixed_dictionaries({"tool_name": st.just("a"), "parameters": PARAMETERS})
    ),
    additional_metadata=st.none() | MAPPINGS,
    name=st.none() | TEXTS,
)


def _same(one: Example, other: Example) -> bool:
    """Equal with types: 1 is not 1.0 nor True."""
    return repr(one.to_dict()) == repr(other.to_dict())


@pytest.mark.parametrize("name", FORMATS)
@settings(suppress_health_check=list(HealthCheck))
@given(examples=st.lists(EXAMPLES, min_size=1, max_size=3))
def test_a_round_trip_loses_nothing(tmp_path: Path, name: str, examples: list[Example]) -> None:
    saved = EvalDataset(examples=examples).save_as(name, tmp_path, "round")
    loaded = EvalDataset.from_file(saved)
    assert len(loaded) == len(examples)
    for before, after in zip(examples, loaded, strict=True):
        assert _same(before, after)


@pytest.mark.parametrize("name", FORMATS)
def test_expected_calls_and_matchers_are_saved_by_their_file_form(tmp_path: Path, name: str) -> None:
    example = Example(input="x", expected_tools=[ExpectedToolCall(name="refund", arguments={"id": 7})])
    loaded = EvalDataset.from_file(EvalDataset([example]).save_as(name, tmp_path))
    assert loaded[0].expected_tools == [{"tool_name": "refund", "parameters": {"id": 7}}]


def test_examples_are_added_counted_iterated_and_indexed() -> None:
    first, second = Example(input="1"), Example(input="2")
    dataset = EvalDataset(examples=[first])
    dataset.add_example(second)
    assert len(dataset) == 2
    assert list(dataset) == dataset.examples == [first, second]
    assert dataset[1] is second
    assert dataset[-2:] == [first, second]


def test_only_examples_can_be_added() -> None:
    with pytest.raises(DatasetError, match=r"got dict, wanted an Example \(Example.from_dict"):
        EvalDataset([{"input": "x"}])  # type: ignore[list-item]


def test_adding_files_adds_to_what_is_there(tmp_path: Path) -> None:
    dataset = EvalDataset([Example(input="0")])
    json_path = EvalDataset([Example(input="1")]).save_as("json", tmp_path)
    jsonl_path = EvalDataset([Example(input="2")]).save_as("jsonl", tmp_path)
    csv_path = EvalDataset([Example(input="3")]).save_as("csv", tmp_path)
    yaml_path = EvalDataset([Example(input="4")]).save_as("yaml", tmp_path)
    dataset.add_from_json(json_path)
    dataset.add_from_jsonl(str(jsonl_path))
    dataset.add_from_csv(csv_path)
    dataset.add_from_yaml(yaml_path)
    assert [example.input for example in dataset] == ["0", "1", "2", "3", "4"]


def test_a_file_with_an_error_adds_nothing(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"input": "a"}\n{"inptu": "b"}\n')
    dataset = EvalDataset()
    with pytest.raises(DatasetError, match=r"x\.jsonl:2"):
        dataset.add_from_jsonl(path)
    assert len(dataset) == 0


def test_the_default_name_is_the_time_and_never_replaces_a_file(tmp_path: Path) -> None:
    paths = {EvalDataset([Example(input=str(n))]).save_as("json", tmp_path) for n in range(5)}
    assert len(paths) == 5
    assert all(path.suffix == ".json" and path.stem[:2] == "20" for path in paths)


def test_a_given_name_replaces_the_file_and_may_carry_the_suffix(tmp_path: Path) -> None:
    first = EvalDataset([Example(input="1")]).save_as("yaml", tmp_path / "new" / "deep", "tests")
    second = EvalDataset([Example(input="2")]).save_as("yaml", tmp_path / "new" / "deep", "tests.yaml")
    assert first == second == tmp_path / "new" / "deep" / "tests.yaml"
    assert EvalDataset.from_file(second)[0].input == "2"
    assert [path.name for path in first.parent.iterdir()] == ["tests.yaml"]


@pytest.mark.parametrize("name", ["../x", "a/b", "a\\b", "..", "", "a\0b"])
def test_a_name_that_leaves_the_directory_is_an_error(tmp_path: Path, name: str) -> None:
    with pytest.raises(DatasetError, match="wanted a file name without a directory"):
        EvalDataset().save_as("json", tmp_path, name)


def test_an_unknown_format_is_an_error_with_a_suggestion(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="unknown format 'jsn'; did you mean 'json'"):
        EvalDataset().save_as("jsn", tmp_path)
    with pytest.raises(DatasetError, match="unknown kind of file"):
        EvalDataset.from_file(tmp_path / "x.txt")


@pytest.mark.parametrize("name", FORMATS)
def test_what_has_no_file_form_is_an_error_and_leaves_the_old_file(tmp_path: Path, name: str) -> None:
    before = EvalDataset([Example(input="old")]).save_as(name, tmp_path, "kept")
    with pytest.raises(DatasetError) as caught:
        EvalDataset([Example(), Example(input={"client": object()})]).save_as(name, tmp_path, "kept")
    assert caught.value.field == "examples[1].input.client"
    assert EvalDataset.from_file(before)[0].input == "old"
    assert [path.name for path in tmp_path.iterdir()] == [before.name]


def test_a_lone_surrogate_is_kept_by_json_and_refused_by_yaml(tmp_path: Path) -> None:
    dataset = EvalDataset([Example(input="a\ud800b")])
    for name in ("json", "jsonl", "csv"):
        assert EvalDataset.from_file(dataset.save_as(name, tmp_path))[0].input == "a\ud800b"
    with pytest.raises(DatasetError, match="cannot be kept in YAML"):
        dataset.save_as("yaml", tmp_path)


def test_an_empty_dataset_survives_json_yaml_and_csv(tmp_path: Path) -> None:
    for name in ("json", "yaml", "csv"):
        assert len(EvalDataset.from_file(EvalDataset().save_as(name, tmp_path))) == 0


def test_fields_that_are_none_are_left_out_of_files(tmp_path: Path) -> None:
    path = EvalDataset([Example(input="x", example_id="1", created_at="2025-01-01")]).save_as(
        "json", tmp_path
    )
    assert json.loads(path.read_text()) == {
        "examples": [{"input": "x", "example_id": "1", "created_at": "2025-01-01"}]
    }


def test_a_directory_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("x")
    with pytest.raises(DatasetError, match="cannot be written"):
        EvalDataset().save_as("json", blocked / "below", "x")


def test_a_platform_export_keeps_everything_through_json_and_yaml(tmp_path: Path) -> None:
    export: dict[str, Any] = {
        "dataset_id": "d1",
        "organization_id": "o1",
        "dataset_alias": "QA-Pairs",
        "comments": None,
        "source_file": None,
        "created_at": "2025-04-23T22:38:11.709763+00:00",
        "examples": [{"example_id": "e1", "input": "x", "dataset_id": "d1", "eval_results_id": None}],
    }
    path = tmp_path / "export.json"
    path.write_text(json.dumps(export))
    dataset = EvalDataset()
    dataset.add_from_json(path)
    assert dataset.platform_fields["dataset_alias"] == "QA-Pairs"
    assert dataset[0].additional_metadata == {"platform": {"dataset_id": "d1"}}
    for name in ("json", "yaml"):
        assert EvalDataset.from_file(dataset.save_as(name, tmp_path)) == dataset


class Opaque:
    pass


@dataclasses.dataclass
class Holder:
    part: object


@pytest.mark.parametrize("value", [Opaque(), [Opaque()], {"a": Opaque()}, Holder(Opaque()), lambda v: v > 1])
@pytest.mark.parametrize("file_type", ["yaml", "json", "jsonl", "csv"])
def test_an_expectation_without_a_file_form_is_refused_by_name_and_nothing_is_written(
    tmp_path: Path, value: Any, file_type: Any
) -> None:
    dataset = EvalDataset([Example(name="one", expected_tools=["find", call("pay", cart=value)])])
    with pytest.raises(DatasetError, match=r"examples\[0\]\.expected_tools\[1\].*cannot be written"):
        dataset.save_as(file_type, tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("wrong", [None, 3, b"examples.yaml", ["examples.yaml"]])
def test_what_is_no_path_is_refused_by_what_was_got(wrong: Any) -> None:
    dataset = EvalDataset([Example(name="one")])
    for load in (EvalDataset.from_file, dataset.add_from_json, dataset.add_from_csv, dataset.add_from_yaml):
        with pytest.raises(DatasetError, match="path is a text or a Path, got"):
            load(wrong)
    with pytest.raises(DatasetError, match="path is a text or a Path, got"):
        dataset.save_as("yaml", wrong)
    assert len(dataset) == 1
