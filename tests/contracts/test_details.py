"""docs/details.md names every field of every scorer's `details`, with its type, and no other field.

Each scorer is run on examples that are wide enough for each of its fields to turn up. A field that the page
calls *always* there is in every score that has a value; any other is missing from one of them.
"""

import asyncio
import inspect
import re
from functools import partial
from pathlib import Path

import pytest
from pydantic import BaseModel

import agenttrace.judges as judges
import agenttrace.scorers as scorers
from agenttrace import Example, Score, Trace, Tracer, call, expect
from agenttrace.core.span import Span
from agenttrace.judges import FakeChatModel

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "details.md").read_text()
HEADING = re.compile(r"^#{2,3} (.*)$", re.M)
ROW = re.compile(r"^\| `([^`]+)` \| ([^|]+) \| [^|]+ \| ([^|]+) \|$", re.M)


def documented():
    """For each scorer that the page names, its fields: path → (type, when)."""
    _, *parts = HEADING.split(PAGE)
    fields = {}
    for heading, body in zip(parts[::2], parts[1::2], strict=True):
        for scorer in re.findall(r"`(\w+)`", heading):
            fields.setdefault(scorer, {}).update(
                {path: (kind.strip(), when.strip()) for path, kind, when in ROW.findall(body)}
            )
    return fields


DOCUMENTED = documented()


def classes():
    """Every scorer that the rooms of scorers and judges offer."""
    offered = [getattr(room, name) for room in (scorers, judges) for name in room.__all__]
    kinds = [kind for kind in offered if inspect.isclass(kind) and callable(getattr(kind, "score", None))]
    return {kind.__name__: kind for kind in kinds if kind is not judges.JudgeScorer}


SCALARS = {"text": str, "int": int, "bool": bool, "null": type(None), "number": (int, float)}


def is_of(kind, value):
    """Whether a value is of a type in the words of the page."""
    if " or " in kind:
        return any(is_of(part, value) for part in kind.split(" or "))
    if kind.startswith("list of "):
        return isinstance(value, list) and all(is_of(kind.removeprefix("list of "), one) for one in value)
    if kind.startswith("mapping of "):
        part = kind.removeprefix("mapping of ")
        return isinstance(value, dict) and all(is_of(part, one) for one in value.values())
    if kind.startswith("["):
        kinds = kind.strip("[]").split(", ")
        return isinstance(value, list) and len(value) == len(kinds) and all(map(is_of, kinds, value))
    if kind == "mapping":
        return isinstance(value, dict)
    if kind == "value":
        return True
    return isinstance(value, SCALARS[kind]) and (kind == "bool" or not isinstance(value, bool))


class Fields:
    """Compares details with the rows of the page: what is wrong, which fields were there, which were not."""

    def __init__(self, rows):
        self.rows = rows
        self.faults = []
        self.there = set()
        self.absent = set()

    def read(self, mapping, prefix="", *, has_value=True):
        own = {path for path in self.rows if path.rpartition(".")[0] == prefix}
        seen = set()
        for key, value in mapping.items():
            path = f"{prefix}.{key}".strip(".")
            if path not in own and "<tool>" in own:
                path = "<tool>"
            if path not in own:
                self.faults.append(f"{path} is not on the page")
                continue
            seen.add(path)
            kind, _ = self.rows[path]
            if not is_of(kind, value):
                self.faults.append(f"{path} is {value!r:.80}, not {kind}")
            self._inside(path, kind, value)
        self.there |= seen
        if has_value:
            self.absent |= own - seen
            self.faults += [f"{path} is not there" for path in own - seen if self.rows[path][1] == "always"]

    def _inside(self, path, kind, value):
        """Read the mappings that have rows of their own."""
        if kind.startswith("list of ") and kind.endswith("mapping"):
            for one in value:
                self._inside(f"{path}[]", kind.removeprefix("list of "), one)
        elif kind.startswith("mapping") and " of " not in kind and value is not None:
            self.read(value, path)

    @property
    def never_there(self):
        return sorted(set(self.rows) - self.there)

    @property
    def always_there(self):
        """Fields that the page does not call *always*, and that were never missing."""
        conditional = {path for path, (_, when) in self.rows.items() if when != "always"}
        return sorted(conditional - self.absent)


RUN = [
    {"name": "find", "arguments": {"id": 7}, "error": "timeout"},
    {"name": "find", "arguments": {"id": 7}, "output": {"id": "o-7"}},
    {"name": "chat"},
    {"name": "pay", "arguments": {"id": 7, "pin": "[redacted]", "order": "o-7"}, "output": "done"},
    {"name": "pay", "arguments": {"id": 7}, "output": "done"},
]
TRACE = Trace.from_calls(RUN)
WHOLE = Trace.from_calls([step for step in RUN if "pin" not in step.get("arguments", {})])
OFFERED = Trace(
    [
        Span(
            trace_key=1,
            span_key=1,
            name="chat",
            span_type="llm",
            start_ns=0,
            input={"tools": [{"name": "pay"}]},
        )
    ]
)
ASKED = Trace(
    [
        Span(
            trace_key=1,
            span_key=1,
            name="chat",
            span_type="llm",
            start_ns=0,
            output={"tool_calls": [{"id": "1", "name": "refund", "arguments": {}}]},
        )
    ]
)
LONG = Trace.from_calls([{"name": "chat", "arguments": {"text": "x" * 4_000}} for _ in range(60)])
CUT = "x" * 50 + "…[+7 chars]"


BY_AGENT = Trace.from_calls([{"name": "pay", "agent": "desk"}])


def live_trace():
    """A trace whose tools are known, so that guards of others are vacuous."""
    tracer = Tracer("details", store="memory")

    @tracer.observe(span_type="tool")
    def pay(amount):
        return amount

    with tracer.capture() as captured, tracer.span("root"):
        pay(3)
    tracer.shutdown()
    return captured.trace


def at_once():
    """A trace of two calls of which the second began before the first had ended."""
    root = {"trace_key": 1, "span_key": 1, "name": "root", "start_ns": 0, "end_ns": 9}
    tools = [
        {"trace_key": 1, "span_key": key, "parent_key": 1, "index": key, "name": name, "span_type": "tool"}
        for key, name in ((2, "find"), (3, "pay"))
    ]
    times = [{"start_ns": 1, "end_ns": 5}, {"start_ns": 2, "end_ns": 6}]
    return Trace([Span(**root), *(Span(**tool, **time) for tool, time in zip(tools, times, strict=True))])


def spending(*, silent=0):
    """A trace that tells tokens, seconds and cost, with calls to models that do not tell theirs."""
    tracer = Tracer("details", store="memory")
    with tracer.capture() as captured, tracer.span("root"):
        with tracer.span("chat", span_type="llm") as span:
            span.set_usage({"input_tokens": 12, "output_tokens": 3, "cost": 0.5})
        for _ in range(silent):
            with tracer.span("chat", span_type="llm"):
                pass
    tracer.shutdown()
    return captured.trace


def of_calls(scorer, trace=TRACE, **fields):
    return scorer.score(Example(**fields), trace)


def of_answer(scorer, actual, expected=None):
    return scorer.score(Example(actual_output=actual, expected_output=expected), None)


PIN = call("pay", id=7, order="o-7", pin="1234")
GUARDED = expect(never=["obliterate_*"], only=["find"], tool_errors=0, severity={"tool_errors": "warn"})


def of_expectations(scorer):
    """Scores of a comparing scorer: matched, differing, missing, extra, options, guards, doubts."""
    yield of_calls(scorer(), expected_tools=["find", call("pay", id=8), call("refund", id=7)])
    yield of_calls(scorer(attempts="collapse", tools=["find", "pay"]), expected_tools=["find"])
    yield of_calls(scorer(names={"ask": "chat"}, agent="none"), expected_tools=["ask"])
    yield of_calls(scorer(threshold=0.0), expected_tools=[PIN])
    yield of_calls(scorer(), expected_tools=[PIN])
    yield of_calls(scorer(), live_trace(), expected_tools=GUARDED)
    yield of_calls(scorer(), at_once(), expected_tools=["find", "pay"])
    yield of_calls(scorer(), ASKED, expected_tools=["refund"])
    yield of_calls(scorer(), expected_tools=["pays"])
    yield of_calls(scorer(), LONG, expected_tools=["pay"])
    yield of_calls(scorer(agent="desks"), BY_AGENT, expected_tools=GUARDED)


def of_lists_of_calls(scorer, word):
    """Scores of a scorer of single expected calls."""
    yield of_calls(scorer([{"name": "pay", word: {"id": 8}}, {"name": "refund", word: {"id": 7}}]))
    yield of_calls(
        scorer([{"name": "find", word: {"id": "o-8"}}] * 2, attempts="collapse", tools=["find", "chat"])
    )
    yield of_calls(scorer([{"name": "chat", word: {}}], names={"ask": "chat"}, tools=["chat"]))
    yield of_calls(scorer([{"name": "refund", word: {"id": 7}}], threshold=0.0), ASKED)
    hidden = Trace.from_calls([{"name": "pay", "arguments": {"pin": "[redacted]"}, "output": "[redacted]"}])
    yield of_calls(scorer([{"name": "pay", word: {"pin": "1234"}}], threshold=0.0), hidden)
    yield of_calls(scorer([{"name": "none", word: {}}]), Trace.from_calls([]))
    yield of_calls(scorer([]), Trace.from_calls([]))
    yield of_calls(scorer([{"name": "pays", word: {}}]))
    yield of_calls(scorer([{"name": "pay", word: {"id": 1}}]), LONG)


def of_dependencies():
    depends = [
        {"tool_name": "pay", "result_dependencies": ["find"]},
        {"tool_name": "chat", "action_dependencies": ["pay"]},
    ]
    yield of_calls(scorers.ToolDependencyScorer(), expected_tools=depends)
    hidden = Trace.from_calls(
        [{"name": "find", "output": "[redacted]"}, {"name": "pay", "arguments": {"x": 1}}]
    )
    yield of_calls(scorers.ToolDependencyScorer(threshold=0.0), hidden, expected_tools=depends)


def of_turns():
    chat = Trace.from_calls([{"name": "pay", "arguments": {"pin": "[redacted]"}, "turn": 1}])
    scorer = scorers.TurnsScorer(threshold=0.0)
    yield of_calls(scorer, chat, turns=[{"expected_tools": ["pay"]}, {"expected_output": "x"}])
    yield of_calls(scorer, chat, turns=[{"expected_tools": [call("pay", pin="1234")]}])
    by_agent = Trace.from_calls([{"name": "pay", "agent": "desk", "turn": 1}])
    yield of_calls(scorer, by_agent, turns=[{"expected_tools": expect(never="x", agent="desks")}])


def of_states():
    tracer = Tracer("details", store="memory")
    state = {"a": 1, "b": {"c": 2}, "gone": 3, "lock": object(), "many": {}}
    with tracer.capture() as captured, tracer.span("root"):
        tracer.state("s", state)
        state |= {"a": 2, "b": {"c": 3}, "new": 4, "many": {str(n): "x" * 900 for n in range(60)}}
        del state["gone"]
    tracer.shutdown()
    for expected in (
        {"changed": {"a": 2, "b": {"c": 4}}, "added": {"other": 1}},
        {"changed": {"a": 2}, "ignore": "many"},
        {"changed": {"lock": 1}, "ignore": "many"},
    ):
        score = scorers.StateScorer(threshold=0.0)
        yield of_calls(score, captured.trace, expected_state={"s": expected})


class Order(BaseModel):
    id: int


KIND = {"name": "pay", "kind": "write"}
UNTAGGED = partial(of_calls, trace=Trace.from_calls([KIND, {"name": "get", "kind": "read"}]))

RULES = {
    "ToolOrderScorer": lambda: of_expectations(scorers.ToolOrderScorer),
    "TrajectoryScorer": lambda: of_expectations(scorers.TrajectoryScorer),
    "ToolCallArgsScorer": lambda: of_lists_of_calls(scorers.ToolCallArgsScorer, "args"),
    "ToolCallOutputScorer": lambda: of_lists_of_calls(scorers.ToolCallOutputScorer, "output"),
    "ToolCallOrderScorer": lambda: [
        of_calls(scorers.ToolCallOrderScorer(["find", "pay"])),
        of_calls(scorers.ToolCallOrderScorer(["pay"], tools="pay", names={"buy": "pay"})),
        UNTAGGED(scorers.ToolCallOrderScorer(["pay", "refund"], tools="tag:write", threshold=0.0)),
        of_calls(scorers.ToolCallOrderScorer(["pay", "find"]), at_once()),
    ],
    "ExecutionOrderScorer": lambda: [
        of_calls(scorers.ExecutionOrderScorer(), expected_output=["find", "pay", "refund"]),
        of_calls(scorers.ExecutionOrderScorer(tools="pay"), expected_output=["pay"]),
        of_calls(
            scorers.ExecutionOrderScorer(should_consider_ordering=True), at_once(), expected_output=["pay"]
        ),
        of_answer(scorers.ExecutionOrderScorer(should_exact_match=True), [{"do": 1}], [{"do": 1}, "b"]),
    ],
    "ToolCallCountScorer": lambda: [
        of_calls(scorers.ToolCallCountScorer({"find": (">=", 1), "refund": ("=", 1)})),
        of_calls(scorers.ToolCallCountScorer({"refnd": ("=", 0)}), OFFERED),
        of_calls(scorers.ToolCallCountScorer({"pay": ("=", 0)}, agent="desks"), BY_AGENT),
        UNTAGGED(scorers.ToolCallCountScorer({"pay": ("=", 1), "refund": (">", 0)}, tools="tag:write")),
    ],
    "FunctionCallCoverageScorer": lambda: [
        of_calls(scorers.FunctionCallCoverageScorer(["find", "refund"])),
        of_calls(scorers.FunctionCallCoverageScorer([])),
        of_calls(scorers.FunctionCallCoverageScorer(["find"], mode="in_order"), at_once()),
        UNTAGGED(scorers.FunctionCallCoverageScorer(["refund"], tools="tag:write", threshold=0.0)),
    ],
    "ToolDependencyScorer": of_dependencies,
    "ToolPermissionScorer": lambda: [
        of_calls(scorers.ToolPermissionScorer(deny="pay")),
        of_calls(scorers.ToolPermissionScorer(deny="obliterate_*"), live_trace()),
        of_calls(scorers.ToolPermissionScorer(deny="pay", agent="desks"), BY_AGENT),
    ],
    "BudgetScorer": lambda: [
        of_calls(scorers.BudgetScorer(calls=2)),
        of_calls(scorers.BudgetScorer(calls=2, agent="desks"), BY_AGENT),
        of_calls(scorers.BudgetScorer(seconds=60, tokens=10, cost=1.5), spending()),
        of_calls(scorers.BudgetScorer(seconds=0.5), spending()),
        of_calls(scorers.BudgetScorer(tokens=10, cost=0.1), spending(silent=1)),
    ],
    "LoopScorer": lambda: [
        of_calls(scorers.LoopScorer()),
        of_calls(scorers.LoopScorer(agent="desks"), BY_AGENT),
        of_calls(scorers.LoopScorer(threshold=0.0), Trace.from_calls([RUN[3], RUN[3]])),
    ],
    "ExactMatchScorer": lambda: [
        of_answer(scorers.ExactMatchScorer(), {"a": 1, "b": 2}, {"a": 2, "c": 3}),
        of_answer(scorers.ExactMatchScorer(), "x", "x"),
        of_answer(scorers.ExactMatchScorer(), CUT, "x" * 57),
    ],
    "JSONSimilarityScorer": lambda: [
        of_answer(scorers.JSONSimilarityScorer(), {"a": [1, 2]}, {"a": [1, 3], "c": len}),
        of_answer(scorers.JSONSimilarityScorer(), {"a": CUT}, {"a": "x" * 57}),
    ],
    "ContainsScorer": lambda: [
        of_answer(scorers.ContainsScorer(["a", "b"]), "cab"),
        of_answer(scorers.ContainsScorer("needle"), CUT),
    ],
    "RegexScorer": lambda: [
        of_answer(scorers.RegexScorer("^x"), "xx"),
        of_answer(scorers.RegexScorer("y"), "xx"),
        of_answer(scorers.RegexScorer("y", threshold=0.0), CUT),
    ],
    "StateScorer": of_states,
    "TurnsScorer": of_turns,
    "JSONCorrectnessScorer": lambda: [
        of_answer(scorers.JSONCorrectnessScorer(Order), '{"id": "x"}'),
        of_answer(scorers.JSONCorrectnessScorer(Order), '{"id": 1}'),
        of_answer(scorers.JSONCorrectnessScorer(Order), "no JSON"),
    ],
    "NumericDifferenceScorer": lambda: [of_answer(scorers.NumericDifferenceScorer(), 9, "11")],
    "FunctionScorer": lambda: [
        of_answer(scorers.scorer(lambda output: (0.5, "half")), "x"),
        of_answer(scorers.scorer(lambda output: Score.of("own", 1, 1)), "x"),
    ],
}


QUESTION = Example(
    input="What does it cost?",
    actual_output="It is free.",
    expected_output="Nothing.",
    context=["It is free."],
    retrieval_context=["It is free.", "It is blue."],
)

ANSWERS = {
    "items": ["one", "two"],
    "verdicts": None,
    "nodes": [{"statements": [{"statement": "s", "reason": "r", "verdict": "yes"}]}, {"statements": []}],
    "scores": [{"reason": "r", "score": 0.5}, {"reason": "r", "score": 1.0}],
    "rating": 4,
    "score": 0.75,
    "label": "good",
    "reason": "why",
}


def answer(request):
    """A reply to any judge's question: two of everything, of verdicts as many as things to judge."""
    reply = {field: ANSWERS[field] for field in request.fields}
    if "verdicts" in reply:
        numbered = [label for label in request.blocks if re.search(r"_\d+$", label)]
        count = len(numbered) or request.blocks["items"].count("\n") + 1
        reply["verdicts"] = [{"reason": "r", "verdict": verdict} for verdict in ("yes", "no")[:count]]
    return reply


OPTIONS = {
    "ComparisonScorer": {"criteria": "tone"},
    "PromptScorer": {"name": "Own", "prompt": "Rate {{actual_output}}"},
    "ClassifierScorer": {"name": "Own", "prompt": "Rate {{actual_output}}", "options": {"good": 1, "bad": 0}},
}


def without_items(request):
    """A reply that finds nothing to judge in a text."""
    return {"items": []} if request.fields == ("items",) else answer(request)


def of_judge(kind):
    """Scores of a judge: by one vote and several, one unreadable, all unreadable, of nothing to judge."""

    def scored(replies, votes=1, trace=WHOLE, **fields):
        scorer = kind(model=FakeChatModel(replies), votes=votes, **OPTIONS.get(kind.__name__, {}))
        return asyncio.run(scorer.score(QUESTION.model_copy(update=fields), trace))

    yield scored(answer)
    yield scored(
        answer,
        trace=TRACE,
        **dict.fromkeys(("input", "actual_output", "expected_output"), CUT),
        context=[CUT],
        retrieval_context=[CUT, CUT],
    )
    yield scored(answer, votes=3)
    yield scored("no JSON")
    yield scored(without_items)
    if "Contextual" in kind.__name__:
        yield scored(answer, retrieval_context=[])


def scores_of(name):
    return RULES[name]() if name in RULES else of_judge(classes()[name])


@pytest.mark.parametrize("name", sorted(classes()))
def test_the_page_has_the_fields_of_a_scorer_and_no_others(name):
    fields = Fields(DOCUMENTED[name])
    for score in scores_of(name):
        fields.read(dict(score.details), has_value=score.value is not None)
    assert fields.faults == []
    assert (fields.never_there, fields.always_there) == ([], [])


def test_the_page_names_no_scorer_that_there_is_not():
    assert set(DOCUMENTED) == set(classes())


def test_every_scorer_with_a_name_for_files_is_among_them():
    own = [kind for kind in scorers.known_scorers().values() if kind.__module__.startswith("agenttrace.")]
    assert {kind.__name__ for kind in own} <= set(classes())


@pytest.mark.parametrize(
    ("details", "fault"),
    [
        ({"lcs": []}, "expected_tool_calls_order is not there"),
        ({"new": 1}, "new is not on the page"),
        ({"lcs": [1]}, "lcs is [1], not list of text"),
        ({"cannot_be_told": {"agianst": 1}}, "cannot_be_told.agianst is not on the page"),
    ],
)
def test_a_field_that_the_page_does_not_have_is_noticed(details, fault):
    fields = Fields(DOCUMENTED["ToolCallOrderScorer"])
    fields.read(details)
    assert fault in fields.faults
