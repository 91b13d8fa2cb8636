import threading

from hypothesis import given
from hypothesis import strategies as st

from agenttrace.core.example import Example
from agenttrace.expectations import ANY
from agenttrace.scoring.copies import copied_example, copied_input


def test_what_cannot_be_copied_is_passed_on_beside_copies_of_the_rest():
    lock, items = threading.Lock(), [1]
    given = copied_input({"lock": lock, "items": items})
    assert given == {"lock": lock, "items": [1]}
    assert given["lock"] is lock
    assert given["items"] is not items


def test_a_copy_that_fails_in_the_value_s_own_code_fails_no_run():
    class Odd:
        def __deepcopy__(self, memo):
            raise RuntimeError("not me")

    odd = Odd()
    assert copied_input({"odd": odd}) == {"odd": odd}


def containers_in(value):
    if isinstance(value, dict):
        yield id(value)
        for item in value.values():
            yield from containers_in(item)
    elif isinstance(value, list | set):
        yield id(value)
        for item in value:
            yield from containers_in(item)


data = st.recursive(
    st.none() | st.integers() | st.text() | st.sets(st.integers()),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(data)
def test_a_scorer_s_example_is_equal_and_shares_no_container(value):
    example = Example(input={"x": value}, expected_output=value, name="n")
    own = copied_example(example)
    assert own == example
    shared = {*containers_in(own.input), *containers_in(own.expected_output)}
    assert not shared & {*containers_in(example.input), *containers_in(example.expected_output)}


def test_what_stands_twice_is_one_value_in_the_copy_also_within_itself():
    loop = []
    loop.append(loop)
    own = copied_example(Example(expected_output=loop, actual_output=loop))
    assert own.expected_output is own.actual_output is own.expected_output[0]
    assert own.expected_output is not loop


def test_matchers_source_and_objects_stay_what_they_are():
    thing = object()
    example = Example.from_dict({"expected_tools": [{"tool_name": "t"}]}, source="tests.yaml:3")
    example.expected_tools = [{"tool_name": "t", "parameters": {"x": ANY}}]
    example.actual_output = [thing]
    own = copied_example(example)
    assert own.source == "tests.yaml:3"
    assert own.expected_tools[0]["parameters"]["x"] is ANY
    assert own.actual_output[0] is thing


def test_what_is_nested_too_deep_is_shared():
    deep = []
    for _ in range(100_000):
        deep = [deep]
    example = Example(actual_output=deep)
    assert copied_example(example).actual_output is deep
    assert copied_input({"x": deep})["x"] is deep
