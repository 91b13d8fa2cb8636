"""No place that a recording, a dataset or a run has for a value lets a secret through to the store."""

import dataclasses
from collections import ChainMap, Counter, OrderedDict, deque, namedtuple
from typing import NamedTuple

import pytest

from agenttrace import Client, ContainsScorer, Example, Tracer, run_evaluation

KEY = "gh" + "p_" + "a1B2c3D4" * 4
WORD = "hunter2"


class Login(NamedTuple):
    user: str
    password: str
    inner: object = None


@dataclasses.dataclass
class Account:
    api_key: str
    logins: list


class OwnText(str):
    __slots__ = ()


Wide = namedtuple("Wide", ["a", f"b_{KEY}"])


@pytest.fixture
def path(tmp_path):
    return tmp_path / "traces.db"


def bytes_of(path):
    return b"".join(one.read_bytes() for one in path.parent.glob(f"{path.name}*"))


@pytest.mark.parametrize(
    "value",
    [
        Login("ann", WORD),
        [Login("ann", "x", Login("bob", WORD))],
        {Login("ann", WORD): 1},
        Account(WORD, [Login("ann", WORD)]),
        Wide(1, 2),
        {("db", "password"): WORD},
        {OwnText("password"): WORD},
        frozenset([("password", f"{WORD}-9")]),
        deque([Login("ann", WORD)]),
        OrderedDict(password=WORD),
        ChainMap({"password": WORD}),
        Counter({KEY: 1}),
        bytearray(f"password={WORD}", "utf-8"),
        ValueError(f"password={WORD}"),
        {KEY},
    ],
    ids=lambda value: type(value).__name__,
)
def test_no_kind_of_value_lets_one_through(path, value):
    tracer = Tracer("places", store=str(path))
    tracer.observe(span_type="tool", name="tool")(lambda first: first)(value)
    assert tracer.flush()
    tracer.shutdown()
    assert b"tool" in bytes_of(path)
    assert [one for one in (KEY, WORD) if one.encode() in bytes_of(path)] == []


def test_no_part_of_a_span_lets_one_through(path):
    tracer = Tracer("places", store=str(path))

    @tracer.observe(name=f"tool {KEY}", tags=[KEY, f"password={WORD}"], span_type="tool")
    def tool(x=f"password={WORD}", *, api_key=WORD):
        raise KeyError(f"password={WORD}")

    with tracer.span(f"root {KEY}", input={"password": WORD}):
        tracer.set_tags([KEY, f"password={WORD}"])
        tracer.update_metadata({"password": WORD, KEY: 1, "x": {"token": WORD}})
        tracer.log(f"the password is {WORD}", label=KEY)
        tracer.update_current_span(output=Login("ann", WORD))
        tracer.score_current_span(f"score {KEY}", 1, reason=f"password={WORD}")
        tracer.state(f"state {KEY}", {"password": WORD})
        with pytest.raises(KeyError):
            tool()
    assert tracer.flush()
    tracer.shutdown()
    assert b"[redacted]" in bytes_of(path)
    assert [one for one in (KEY, WORD) if one.encode() in bytes_of(path)] == []


def test_no_part_of_a_dataset_or_of_a_run_lets_one_through(path):
    example = Example(
        input={"q": "a", "password": WORD},
        expected_output=Login("ann", WORD)._asdict(),
        actual_output={"token": WORD},
        tags=[f"password={WORD}", KEY],
        name=f"example {KEY}",
        additional_metadata={"secret": WORD},
        context=[f"password={WORD}"],
        retrieval_context=[KEY],
        expected_tools=[{"tool_name": f"tool {KEY}", "parameters": {"password": WORD}}],
        tools_called=[{"name": "tool", "parameters": {"password": WORD}, "result": KEY}],
        expected_state={"db": {"changed": {"password": WORD}}},
        simulate={"tool": {"password": WORD}},
        quarantine=f"ann until 2030-01-01: password={WORD}",
        scorers=[{"Contains": {"value": KEY}}],
    )
    Client("places", store=str(path)).push_dataset("logins", [example])
    tracer = Tracer("places", store=str(path))
    run_evaluation(
        [Example(input={"password": WORD, "q": KEY}, name=KEY)],
        [ContainsScorer("x")],
        function=lambda password, q: {"token": password, "q": q},
        tracer=tracer,
        metadata={"password": WORD, KEY: 1},
        eval_run_name=f"run {KEY}",
        model=f"model {KEY}",
    )
    assert tracer.flush()
    tracer.shutdown()
    assert bytes_of(path).count(b"[redacted]") > 10
    assert [one for one in (KEY, WORD) if one.encode() in bytes_of(path)] == []
