"""Choosing examples, and names that stand twice."""

import pytest

from agenttrace import ConfigError, DatasetError, Example
from agenttrace.datasets.selection import check_names, selected

EXAMPLES = [
    Example(name="refund seven", tags=["money", "slow"]),
    Example(name="refund eight", tags=["money"]),
    Example(input="hello"),
    Example(name="hours [de]", tags=["chat"]),
]


def names(**wanted):
    return [example.name for example in selected(EXAMPLES, **wanted)]


def test_without_a_wish_all_are_chosen_in_their_order():
    assert selected(EXAMPLES) == EXAMPLES


@pytest.mark.parametrize(
    ("wanted", "chosen"),
    [
        ({"only": ["refund seven"]}, ["refund seven"]),
        ({"only": ["refund*", "example 3"]}, ["refund seven", "refund eight", None]),
        ({"only": ["hours [de]"]}, ["hours [de]"]),  # a name is a name before it is a glob
        ({"tags": ["money"]}, ["refund seven", "refund eight"]),
        ({"tags": ["slow", "chat"]}, ["refund seven", "hours [de]"]),
        ({"only": ["refund*"], "tags": ["slow"]}, ["refund seven"]),
        ({"limit": 2}, ["refund seven", "refund eight"]),
        ({"tags": ["money"], "limit": 1}, ["refund seven"]),
        ({"limit": 9}, ["refund seven", "refund eight", None, "hours [de]"]),
    ],
)
def test_names_globs_tags_and_a_limit_choose(wanted, chosen):
    assert names(**wanted) == chosen


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({"only": ["refund sevn"]}, "no example is called 'refund sevn'; did you mean 'refund seven'?"),
        ({"only": ["refund*", "x*"]}, "no example is called 'x\\*'; known: "),
        ({"tags": ["mony"]}, "no example has the tag 'mony'; did you mean 'money'?"),
        ({"only": ["hours*"], "tags": ["slow"]}, "no example has both"),
    ],
)
def test_a_wish_that_fits_nothing_is_an_error(wanted, message):
    with pytest.raises(ConfigError, match=message):
        selected(EXAMPLES, **wanted)


def test_two_examples_of_one_name_are_an_error_with_both_places():
    first = Example.from_dict({"name": "a"}, source="t.yaml:2")
    second = Example.from_dict({"name": "a"}, source="t.yaml:7")
    with pytest.raises(DatasetError) as caught:
        check_names([first, Example(), Example(), second])
    assert str(caught.value).startswith(
        "t.yaml:7: examples[3].name: the name 'a' is that of the example in line 2"
    )


def test_recorded_runs_may_share_a_name():
    check_names([Example(name="a", tools_called=["x"]), Example(name="a", tools_called=["y"])])
    with pytest.raises(DatasetError, match="example in example 1"):
        check_names([Example(name="a", tools_called=["x"]), Example(name="a")])


def test_tags_among_the_metadata_select_as_they_count_in_a_summary():
    examples = [Example(name="a", additional_metadata={"tags": ["book"]}), Example(name="b", tags=["pay"])]
    assert [example.name for example in selected(examples, tags=["book"])] == ["a"]
    with pytest.raises(ConfigError, match="'bok'; did you mean 'book'"):
        selected(examples, tags=["bok"])
