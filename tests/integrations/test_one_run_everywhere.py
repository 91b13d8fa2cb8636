"""One run, seen live, read from the store, and from its messages: the same verdict of every scorer of calls.

Where one of them knows less, it says so (*errored*); never does one pass what another one fails.
"""

from __future__ import annotations

import gzip
import importlib
import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from agenttrace import AgentTraceError, Example, Trace, call, expect, wrap
from agenttrace.scorers import (
    BudgetScorer,
    ExecutionOrderScorer,
    FunctionCallCoverageScorer,
    LoopScorer,
    ToolCallArgsScorer,
    ToolCallCountScorer,
    ToolCallOrderScorer,
    ToolCallOutputScorer,
    ToolDependencyScorer,
    ToolOrderScorer,
    ToolPermissionScorer,
    TrajectoryScorer,
)
from agenttrace.tracing import observed_function

openai = pytest.importorskip("openai")
anthropic = pytest.importorskip("anthropic")

SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "data"
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


# Runs, as what a model asks for and what its tools give.


@dataclass
class Asked:
    """A call that a model asks for: `arguments` as a mapping, or as text that is no JSON; what it gives."""

    name: str
    arguments: Any
    output: Any = "ok"
    fails: bool = False

    @property
    def text(self) -> str:
        return self.output if isinstance(self.output, str) else json.dumps(self.output)

    @property
    def raw(self) -> str:
        return self.arguments if isinstance(self.arguments, str) else json.dumps(self.arguments)


@dataclass
class Conversation:
    """Turns of a model's answers, each a list of calls. `unanswered`: it ends with the last call."""

    name: str
    turns: list[list[list[Asked]]]
    unanswered: bool = False
    not_offered: set[str] = field(default_factory=set)

    @property
    def calls(self) -> list[Asked]:
        return [asked for turn in self.turns for answer in turn for asked in answer]

    @property
    def offered(self) -> list[str]:
        return [
            name for name in dict.fromkeys(one.name for one in self.calls) if name not in self.not_offered
        ]


A = Asked
MADE_UP = [
    Conversation("one call", [[[A("find", {"name": "ann"}, {"id": 7})]]]),
    Conversation(
        "values", [[[A("find", {}, 7)], [A("find", {"n": 1}, None)], [A("find", {"n": 2}, [1, "a"])]]]
    ),
    Conversation(
        "parallel", [[[A("find", {"n": 1}, "x"), A("pay", {"id": 7}, True), A("find", {"n": 2}, "y")]]]
    ),
    Conversation(
        "repeated", [[[A("find", {"n": 1}, "x")], [A("find", {"n": 1}, "x")], [A("pay", {"id": 7})]]]
    ),
    Conversation(
        "a retry", [[[A("pay", {"id": 7}, "timeout", fails=True)], [A("pay", {"id": 7}, {"paid": 1})]]]
    ),
    Conversation(
        "a failure", [[[A("find", {"n": 1}, {"id": 712})], [A("pay", {"id": 712}, "no", fails=True)]]]
    ),
    Conversation(
        "no such tool",
        [
            [
                [A("fnd", {"n": 1}, "unknown tool", fails=True)],
                [A("find", {"n": 1}, {"id": 712})],
                [A("pay", {"id": 712})],
            ]
        ],
        not_offered={"fnd"},
    ),
    Conversation(
        "unreadable", [[[A("pay", '{"id": 7, "am', "not JSON")], [A("pay", {"id": 7}, {"paid": 7})]]]
    ),
    Conversation(
        "all of it, in parallel",
        [
            [
                [
                    A("find", {"n": 1}),
                    A("fnd", {}, "unknown tool", fails=True),
                    A("pay", "{"),
                    A("find", {"n": 2}),
                ]
            ]
        ],
        not_offered={"fnd"},
    ),
    Conversation("cut off", [[[A("find", {"n": 1}, {"id": 712})], [A("pay", {"id": 712})]]], unanswered=True),
    Conversation("cut off at once", [[[A("pay", {"id": 1}), A("pay", {"id": 1})]]], unanswered=True),
    Conversation("two turns", [[[A("find", {"n": 1}, {"id": 712})]], [[A("pay", {"id": 712}, {"paid": 1})]]]),
    Conversation("nothing", [[]]),
]


def recorded_runs() -> Iterator[Conversation]:
    """Runs of benchmarks; every third with a tool that is not there, or unreadable arguments, or no end."""
    for file, most in (
        ("tau_bench_airline_gpt-4o", 8),
        ("tau_bench_retail_grok-3_faults", 12),
        ("tau2_airline_trajectories", 6),
        ("tau2_telecom_trajectories", 4),
    ):
        with gzip.open(SHARED / f"{file}.jsonl.gz", "rt", encoding="utf-8") as lines:
            records = [record for record in map(json.loads, lines) if record.get("actual")]
        for number, record in enumerate(records[:: max(len(records) // most, 1)][:most]):
            turns: dict[Any, list[list[Asked]]] = {}
            for one in record["actual"][:14]:
                asked = Asked(one["name"], one["args"], one.get("output") or "", fails=bool(one.get("error")))
                turns.setdefault(one.get("turn"), []).append([asked])
            run = Conversation(f"{file}-{number}", list(turns.values()), unanswered=number % 5 == 0)
            if number % 3 == 0:
                run.turns[0].insert(
                    1, [Asked("no_such_tool", {"x": number}, "Error: unknown tool", fails=True)]
                )
                run.not_offered.add("no_such_tool")
            elif number % 3 == 1:
                run.turns[-1].insert(0, [Asked(run.calls[-1].name, '{"order_id": "', "Error: not JSON")])
            yield run


# The providers: how an answer is sent, how a run's messages look.


class Chat:
    """OpenAI's chat completions: no place says whether a call failed."""

    def __init__(self, url: str) -> None:
        self.client = openai.OpenAI(api_key="none", base_url=url + "/v1", max_retries=0)

    def reply(self, calls: Sequence[tuple[str, Asked]]) -> Any:
        asked = [
            {"id": key, "type": "function", "function": {"name": one.name, "arguments": one.raw}}
            for key, one in calls
        ]
        message = {
            "role": "assistant",
            "content": None if asked else "done",
            **({"tool_calls": asked} if asked else {}),
        }
        choices = [{"index": 0, "message": message, "finish_reason": "tool_calls" if asked else "stop"}]
        return {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": choices}

    def ask(self, client: Any, messages: list[Any], offered: Sequence[str], number: int) -> Any:
        tools = [{"type": "function", "function": {"name": name, "parameters": {}}} for name in offered]
        reply = client.chat.completions.create(
            model="m",
            messages=messages,
            extra_headers={"x-reply": str(number)},
            **({"tools": tools} if tools else {}),
        )
        return reply.choices[0].message.model_dump(exclude_none=True)

    def results(self, calls: Sequence[tuple[str, Asked]]) -> list[Any]:
        return [{"role": "tool", "tool_call_id": key, "content": one.text} for key, one in calls]


class Claude:
    """Anthropic's messages: a result says whether the call failed. Arguments are always readable there."""

    def __init__(self, url: str) -> None:
        self.client = anthropic.Anthropic(api_key="none", base_url=url, max_retries=0)

    def reply(self, calls: Sequence[tuple[str, Asked]]) -> Any:
        asked = [
            {"type": "tool_use", "id": key, "name": one.name, "input": one.arguments} for key, one in calls
        ]
        content = asked or [{"type": "text", "text": "done"}]
        message = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": content}
        usage = {"input_tokens": 1, "output_tokens": 1}
        return {**message, "stop_reason": "tool_use" if asked else "end_turn", "usage": usage}

    def ask(self, client: Any, messages: list[Any], offered: Sequence[str], number: int) -> Any:
        tools = [{"name": name, "input_schema": {"type": "object"}} for name in offered]
        reply = client.messages.create(
            model="m", max_tokens=9, messages=messages, extra_headers={"x-reply": str(number)},
            **({"tools": tools} if tools else {}),
        )  # fmt: skip
        return {
            "role": "assistant",
            "content": [block.model_dump(exclude_none=True) for block in reply.content],
        }

    def results(self, calls: Sequence[tuple[str, Asked]]) -> list[Any]:
        blocks = [
            {
                "type": "tool_result",
                "tool_use_id": key,
                "content": one.text,
                **({"is_error": True} if one.fails else {}),
            }
            for key, one in calls
        ]
        return [{"role": "user", "content": blocks}]


class ToolBroke(Exception):
    """What a tool raises that fails."""


class Runner:
    """Runs conversations live: a wrapped client, and tools that are recorded or are not."""

    def __init__(self, served: Any, tracer: Any) -> None:
        self.served, self.tracer = served, tracer
        self.providers = [Chat(served.url), Claude(served.url)]

    def run(self, conversation: Conversation, provider: Any, recorded_tools: bool) -> list[Trace]:
        """The run as captured, as stored, and as its messages."""
        with self.tracer.capture() as captured:
            messages = self.talk(conversation, provider, recorded_tools)
        assert self.tracer.flush()
        stored = self.tracer.store.trace(captured.trace.trace_id)
        return [captured.trace, stored if stored is not None else Trace(), Trace.from_messages(messages)]

    def talk(self, conversation: Conversation, provider: Any, recorded_tools: bool) -> list[Any]:
        client = wrap(provider.client, tracer=self.tracer)
        messages: list[Any] = []
        last = conversation.calls[-1] if conversation.unanswered else None
        for number, turn in enumerate(conversation.turns):
            with self.tracer.turn():
                messages.append({"role": "user", "content": f"question {number}"})
                for place, asked in enumerate([*turn, []]):
                    calls = [(f"call_{number}_{place}_{n}", one) for n, one in enumerate(asked)]
                    reply = self.served.answers(provider.reply(calls))
                    messages.append(provider.ask(client, messages, conversation.offered, reply))
                    if any(one is last for one in asked):
                        return messages
                    if recorded_tools:
                        self.execute(conversation, asked)
                    if calls:
                        messages += provider.results(calls)
        return messages

    def execute(self, conversation: Conversation, calls: Sequence[Asked]) -> None:
        for one in calls:
            if one.name in conversation.offered and not isinstance(one.arguments, str):
                try:
                    with self.tracer.span(one.name, span_type="tool", input=one.arguments) as span:
                        span.output = one.output
                        if one.fails:
                            span.output = None
                            raise ToolBroke(one.text)
                except ToolBroke:
                    pass


@pytest.fixture(autouse=True)
def only_own_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tools that other tests decorated in this process are none that these agents have."""
    monkeypatch.setattr(observed_function, "_tools", {})


@pytest.fixture
def runner(served: Any, tracer: Any) -> Iterator[Runner]:
    runner = Runner(served, tracer)
    yield runner
    for provider in runner.providers:
        provider.client.close()


# The scorers, and what each is asked.

Question = tuple[str, Any, Example]


def questions(conversation: Conversation) -> Iterator[Question]:
    """Every scorer of calls, about this run as it was and as it was not."""
    readable = [one for one in conversation.calls if not isinstance(one.arguments, str)]
    calls = [{"tool_name": one.name, "parameters": one.arguments} for one in readable]
    names = [one.name for one in conversation.calls]
    first, last = (names[0], names[-1]) if names else ("find", "pay")
    counts = Counter(names)
    wrong = [{**calls[0], "parameters": {"never": "asked for"}}, *calls[1:]] if calls else []
    expectations = {
        "as it was": calls,
        "names": names,
        "backwards": calls[::-1],
        "half": calls[::2],
        "wrong": wrong,
    }
    for attempts in ("count", "collapse", "successes"):
        options: Any = {"attempts": attempts}
        for what, expected in expectations.items():
            example = Example(expected_tools=expected, expected_output=names)
            for scorer in (
                ToolOrderScorer(**options),
                ToolOrderScorer(exact_match=True, **options),
                ToolCallArgsScorer(**options),
                *(
                    TrajectoryScorer(0.7, metric, **options)
                    for metric in ("coverage", "precision", "f1", "order", "args")
                ),
                *(
                    TrajectoryScorer(metric="holds", mode=mode, parameters="ignore", **options)
                    for mode in ("any_order", "contains", "only", "lcs")
                ),
                *(
                    [ToolCallOrderScorer(**options), ToolCallOrderScorer(strict=True, **options)]
                    if expected
                    else []
                ),
                FunctionCallCoverageScorer(**options),
                FunctionCallCoverageScorer(mode="in_order", **options),
            ):
                yield f"{attempts}, {what}", scorer, example
        for scorer in (
            ToolCallCountScorer({first: ("=", counts[first]), last: (">", 1)}, **options),
            ToolPermissionScorer(allow=sorted(set(names) - {last}), **options),
            ToolPermissionScorer(deny=first, **options),
            LoopScorer(**options),
            BudgetScorer(calls=max(len(names) - 1, 0), **options),
            ExecutionOrderScorer(should_exact_match=True, **options),
            ExecutionOrderScorer(0.5, should_consider_ordering=True, **options),
        ):
            yield attempts, scorer, Example(expected_output=names)
        for constraint in (
            {"never": last},
            {"only": first},
            {"max_calls": len(names) - 1 if names else 0},
            {"at_most": {first: 1}},
            {"at_least": {last: 2}},
            {"before": [(last, first)]},
            {"tool_errors": 0},
            {"tool_errors": 1},
            {"no_repeats": True},
        ):
            constrained: Any = {**options, **constraint}
            yield f"{attempts}, {constraint}", TrajectoryScorer(expected=expect(**constrained)), Example()
    for one in [one for one in readable if not one.fails][:3]:  # of a failure, only the answer has a text
        for output in (one.output, one.text, {"never": "given"}):
            if output is not None:
                given = [{"name": one.name, "output": output}]
                yield f"output {output!r:.40}", ToolCallOutputScorer(given), Example()
    for turn in (1, 2, 9):
        yield f"turn {turn}", TrajectoryScorer(expected=expect([first], turn=turn)), Example()
        yield f"turn {turn} of a call", TrajectoryScorer(expected=[call(last, turn=turn)]), Example()
    if len(names) > 1:
        depends = [{"tool_name": last, "result_dependencies": [first], "action_dependencies": [first]}]
        yield "dependency", ToolDependencyScorer(), Example(expected_tools=depends)


KNOWN_BY_ALL = ("count",)
"""Questions that begin so look at nothing that only some of the three know."""
NOT_KNOWN_BY_ALL = ("tool_errors", "LoopScorer")


def answer(scorer: Any, example: Example, trace: Trace) -> tuple[str, float | None]:
    try:
        score = scorer.score(example, trace)
    except AgentTraceError as error:  # as an evaluation has it
        return f"errored: {error}", None
    return score.outcome, score.value


def compare_everywhere(
    conversation: Conversation, traces: Sequence[Trace], *, to_the_point: bool
) -> Counter[str]:
    """Ask every question of all traces; `to_the_point`: what all know must have the same value."""
    seen: Counter[str] = Counter()
    for label, scorer, example in questions(conversation):
        answers = [answer(scorer, example, trace) for trace in traces]
        where = (conversation.name, type(scorer).__name__, label, answers)
        outcomes = {outcome.partition(":")[0] for outcome, _ in answers}
        assert not outcomes >= {"passed", "failed"}, where
        assert answers[0] == answers[1], where  # the store has all of these runs
        known = label.startswith(KNOWN_BY_ALL) and not any(
            word in f"{type(scorer).__name__} {label}" for word in NOT_KNOWN_BY_ALL
        )
        if known and to_the_point:
            assert len(set(answers)) == 1, where
        seen["told alike" if len(outcomes) == 1 else "errored in some"] += 1
    return seen


@pytest.mark.parametrize("recorded_tools", [True, False], ids=["recorded tools", "the client alone"])
@pytest.mark.parametrize("provider", [0, 1], ids=["chat", "claude"])
@pytest.mark.parametrize("conversation", MADE_UP, ids=lambda conversation: conversation.name)
def test_made_up_runs(
    runner: Runner, conversation: Conversation, provider: int, recorded_tools: bool
) -> None:
    if provider == 1 and any(isinstance(one.arguments, str) for one in conversation.calls):
        pytest.skip("Anthropic sends arguments as data")
    traces = runner.run(conversation, runner.providers[provider], recorded_tools)
    assert [[one.name for one in trace.tool_calls] for trace in traces] == [
        [one.name for one in conversation.calls]
    ] * 3
    seen = compare_everywhere(conversation, traces, to_the_point=True)
    assert seen["told alike"] > 100
    if not recorded_tools and not conversation.not_offered:
        assert not seen["errored in some"]


@pytest.mark.shared
@pytest.mark.parametrize("part", range(10))
def test_recorded_runs_of_benchmarks(runner: Runner, part: int) -> None:
    if not SHARED.exists():
        pytest.skip(f"{SHARED} is not here")
    seen: Counter[str] = Counter()
    for number, conversation in enumerate(recorded_runs()):
        if number % 10 != part:
            continue
        provider = runner.providers[number // 10 % 2]
        if any(isinstance(one.arguments, str) for one in conversation.calls):
            provider = runner.providers[0]
        traces = runner.run(conversation, provider, number % 4 != 0)
        assert [len(trace.tool_calls) for trace in traces] == [len(conversation.calls)] * 3
        seen += compare_everywhere(conversation, traces, to_the_point=False)
    assert seen["told alike"] > seen["errored in some"], seen


# The agents of the examples have decorated tools and no model; their messages are made of what they did.


def messages_of(trace: Trace) -> list[Any]:
    """The chat in which a model would have asked for these calls."""
    messages: list[Any] = [{"role": "user", "content": "question"}]
    for place, made in enumerate(trace.tool_calls):
        key, told = f"call_{place}", str(made.error) if made.failed else made.output
        function = {"name": made.name, "arguments": json.dumps(dict(made.arguments))}
        messages.append(
            {"role": "assistant", "tool_calls": [{"id": key, "type": "function", "function": function}]}
        )
        messages.append(
            {
                "role": "tool",
                "tool_call_id": key,
                "content": told if isinstance(told, str) else json.dumps(told),
            }
        )
    return [*messages, {"role": "assistant", "content": str(trace.output)}]


def as_conversation(name: str, trace: Trace) -> Conversation:
    made = [[Asked(c.name, dict(c.arguments), c.output, fails=bool(c.failed))] for c in trace.tool_calls]
    return Conversation(name, [made])


QUIRKS = [None, "forgets weather", "wrong city", "wrong order", "wrong dates", "asks twice", "crashes"]


@pytest.mark.parametrize("quirk", QUIRKS, ids=str)
def test_the_travel_agent_of_the_examples(
    quirk: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("AGENTTRACE_STORE", str(tmp_path / "traces.db"))
    monkeypatch.syspath_prepend(str(EXAMPLES / "travel_agent"))
    for name in ("travel_agent", "planning"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    module = importlib.import_module("travel_agent")
    tracer = module.judgment
    try:
        with tracer.capture() as captured, tracer.turn():
            try:
                module.MyAgent(quirk).run_agent(
                    "What's the attraction and weather in Paris for early June 2025?"
                )
            except ConnectionError:
                assert quirk == "crashes"
        assert tracer.flush()
        stored = tracer.store.trace(captured.trace.trace_id)
    finally:
        tracer.shutdown()
    conversation = as_conversation(str(quirk), captured.trace)
    assert conversation.calls
    compare_everywhere(
        conversation,
        [captured.trace, stored, Trace.from_messages(messages_of(captured.trace))],
        to_the_point=False,
    )


def test_the_runs_of_the_failing_diffs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    module = importlib.import_module("failing_diffs")
    for name, run in module.RUNS.items():
        _, calls = run()
        trace = Trace.from_calls(calls)
        traces = [trace, trace, Trace.from_messages(messages_of(trace))]
        conversation = as_conversation(name, trace)
        for label, scorer, example in questions(conversation):
            if "turn" not in label:  # plain calls have none
                outcomes = {answer(scorer, example, one)[0].partition(":")[0] for one in traces}
                assert not outcomes >= {"passed", "failed"}, (name, type(scorer).__name__, label)
