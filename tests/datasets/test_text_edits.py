"""Single values of a YAML or JSON text are changed, all else stays as it was written."""

import json
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from agenttrace.core.errors import DatasetError
from agenttrace.datasets.text_edits import changes, json_inline, same, spliced, yaml_inline
from agenttrace.datasets.text_nodes import json_node, yaml_nodes
from agenttrace.datasets.yaml_format import parse_yaml


def edited(text, new):
    return spliced(text, changes(text, yaml_nodes(text), new, yaml_inline))


def data(text):
    return parse_yaml(text, Path("x")).data


@pytest.mark.parametrize(
    ("text", "new", "wanted"),
    [
        ("a: 1 # one\nb: 2\n", {"a": 3, "b": 2}, "a: 3 # one\nb: 2\n"),
        ("a: \"x\"\nb: 'y'\n", {"a": "z", "b": "it's"}, "a: \"z\"\nb: 'it''s'\n"),
        ("[a, b]\n", ["a", "c", "b"], "[a, c, b]\n"),
        ("[a, b]\n", ["b"], "[b]\n"),
        ("[a, b, c]\n", ["c"], "[c]\n"),
        ("[a, b]\n", ["a"], "[a]\n"),
        ("[]\n", ["a, b"], '["a, b"]\n'.replace('"', "'")),
        ("x: []\n", {"x": ["a"]}, "x: [a]\n"),
        ("x:\n", {"x": ["a"]}, "x: [a]\n"),
        ("- a # first\n# why\n- b\n", ["a", "c", "b"], "- a # first\n- c\n# why\n- b\n"),
        ("- a # first\n# why\n- b\n", ["a"], "- a # first\n# why\n"),
        ("- a\n- b\n", ["c", "a", "b"], "- c\n- a\n- b\n"),
        ("x:\n  - a\n  - b\n", {"x": []}, "x:\n    []\n"),
        ("x:\n- a\n- b\ny: 1\n", {"x": ["b"], "y": 1}, "x:\n- b\ny: 1\n"),
        (
            "- refund:\n    id: 7   # the id\n    amount: 12\n- notify\n",
            [{"refund": {"id": 7, "amount": 12.5}}, "log", "notify"],
            "- refund:\n    id: 7   # the id\n    amount: 12.5\n- log\n- notify\n",
        ),
        (
            "- refund:\n    id: 7\n    amount: 12\n",
            [{"refund": {"id": 7}}, {"log": {"x": [1]}}],
            "- refund:\n    id: 7\n- log: {x: [1]}\n",
        ),
        (
            "- tool_name: a\n  parameters:\n    x: 1\n",
            [{"tool_name": "b", "parameters": {"x": 1}}],
            "- tool_name: b\n  parameters:\n    x: 1\n",
        ),
        ("- {a: 1, b: 2}\n", [{"b": 2, "c": 3}], "- {b: 2, c: 3}\n"),
        (
            "x: {\n  a: 1,\n  b: 2\n}\n",
            {"x": {"a": 1, "b": 2, "c": 3}},
            "x: {\n  a: 1,\n  b: 2,\n  c: 3\n}\n",
        ),
        ("a: 1\r\nb:\r\n  - x\r\n", {"a": 1, "b": ["x", "y"]}, "a: 1\r\nb:\r\n  - x\r\n  - y\r\n"),
        ("b:\n  - x", {"b": ["x", "y"]}, "b:\n  - x\n  - y"),
        ("t: |\n  one\n  two\nu: 1\n", {"t": "one\n", "u": 1}, 't: "one\\n"\nu: 1\n'),
        ("a: &x [1]\nb: *x\n", {"a": [1], "b": [2]}, "a: &x [1]\nb: [2]\n"),
        ("é: [ü]\n", {"é": ["ü", "ß"]}, "é: [ü, ß]\n"),
    ],
)
def test_only_what_differs_is_touched(text, new, wanted):
    assert edited(text, new) == wanted
    assert same(data(wanted), new)


def test_a_long_new_call_is_written_over_several_lines():
    new = {"x": ["a", {"tool_name": "refund", "parameters": {"why": "w" * 60, "note": "n" * 60}}]}
    assert edited("x:\n  - a\n", new) == (
        f"x:\n  - a\n  - tool_name: refund\n    parameters:\n      why: {'w' * 60}\n      note: {'n' * 60}\n"
    )


def test_what_others_refer_to_is_not_changed_behind_their_back():
    with pytest.raises(DatasetError, match="anchor &x"):
        edited("a: &x [1]\nb: *x\n", {"a": [2], "b": [1]})
    with pytest.raises(DatasetError, match="by an anchor"):
        edited("a: [{k: &x 1}]\nb: *x\n", {"a": ["c"], "b": 1})


SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-99, 99)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=8)
    | st.sampled_from(
        ["a, b", "x: y", "# no", "- d", "no", "1", "null", "a\nb", "'q'", '"', "*a", "&b", "{", "…"]
    )
)
KEYS = st.sampled_from(["a", "b", "c", "tool name", "parameters"])
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=12,
)
STYLES = st.fixed_dictionaries(
    {"default_flow_style": st.sampled_from([True, False, None]), "indent": st.sampled_from([2, 4]),
     "width": st.sampled_from([20, 1000])}
)  # fmt: skip


@settings(deadline=None)
@given(VALUES, VALUES, STYLES)
def test_whatever_is_written_reads_back_as_the_new_value_and_the_rest_stays(old, new, style):
    text = (
        "# top\n"
        + yaml.safe_dump({"before": [1], "x": old, "z": "end"}, sort_keys=False, **style)
        + "# last\n"
    )
    before = data(text)
    try:
        after = edited(text, {**before, "x": new})
    except DatasetError:
        return
    assert same(data(after), {**before, "x": new})
    assert after.startswith("# top\n")
    assert after.endswith("# last\n")


@settings(deadline=None)
@given(VALUES, VALUES, st.sampled_from([None, 2]))
def test_json_too(old, new, indent):
    text = json.dumps({"before": [1], "x": old, "z": "end"}, indent=indent)
    after = spliced(
        text, changes(text, json_node(text, 0), {"before": [1], "x": new, "z": "end"}, json_inline)
    )
    assert same(json.loads(after), {"before": [1], "x": new, "z": "end"})


def test_json_keeps_its_layout():
    text = '{\n  "x": [\n    "a",\n    {"b": 1}\n  ]\n}\n'
    after = spliced(text, changes(text, json_node(text, 0), {"x": ["a", {"b": 2}, "c"]}, json_inline))
    assert after == '{\n  "x": [\n    "a",\n    {"b": 2},\n    "c"\n  ]\n}\n'
