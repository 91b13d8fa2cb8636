"""What `assert_test` costs beyond the agent's own time, and whether agents that wait run side by side.

The trivial agent is a plain function that calls one observed tool; the scorer is `ToolOrderScorer`. The
waiting agents sleep 20 ms, one as a coroutine, one on a thread. Beside it stands pydantic-evals, where it is
installed: the same agent without a recorded tool, and an evaluator that compares its answer.

    python benchmarks/assert_test.py [--quick] [--json]
"""

from __future__ import annotations

import asyncio
import importlib
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agenttrace import Example, ToolOrderScorer, Tracer, assert_test
from benchmarks.options import parse
from benchmarks.percentiles import figure, markdown, median

WAIT = 0.02
CONCURRENCY = [1, 10, 50]


def measure(*, quick: bool) -> dict[str, Any]:
    """Milliseconds an example, and the wall seconds of waiting agents."""
    count = 100 if quick else 1_000
    repeat = 1 if quick else 3
    with tempfile.TemporaryDirectory() as directory:
        stores: dict[str, Any] = {"memory": "memory", "SQLite": Path(directory) / "traces.db"}
        trivial = {
            name: _trivial(Tracer("bench", store=store), count, repeat) for name, store in stores.items()
        }
    waiting = 20 if quick else 200
    return {
        "examples": count,
        "trivial": trivial,
        "pydantic-evals": _pydantic_evals(count, repeat),
        "waiting": waiting,
        "seconds": {
            style: [_seconds(agent, waiting, concurrency) for concurrency in CONCURRENCY]
            for style, agent in {"async": _wait_async, "sync": _wait}.items()
        },
    }


def _trivial(tracer: Tracer, count: int, repeat: int) -> float:
    """Milliseconds an example beyond the agent's own."""

    agent = weather_agent(tracer)

    def run() -> float:
        examples = weather_examples(count)
        began = time.perf_counter()
        assert_test(examples, [ToolOrderScorer()], function=agent, tracer=tracer)
        return time.perf_counter() - began

    run()
    took = median(run() for _ in range(repeat))
    began = time.perf_counter()
    for number in range(count):
        agent(f"City {number}")
    alone = time.perf_counter() - began
    tracer.shutdown()
    return (took - alone) / count * 1000


def weather_agent(tracer: Tracer) -> Callable[[str], str]:
    """A plain agent that calls one observed tool."""

    @tracer.observe(span_type="tool")
    def get_weather(city: str) -> str:
        return f"Sunny in {city}"

    def agent(prompt: str) -> str:
        return get_weather(prompt)

    return agent


def weather_examples(count: int) -> list[Example]:
    """Examples for `weather_agent` that pass."""
    return [
        Example(input={"prompt": f"City {number}"}, expected_tools=["get_weather"]) for number in range(count)
    ]


def _pydantic_evals(count: int, repeat: int) -> float | None:
    """Milliseconds an example of its `evaluate_sync`; None where it is not installed."""
    try:
        evals = importlib.import_module("pydantic_evals")
        evaluators = importlib.import_module("pydantic_evals.evaluators")
    except ImportError:
        return None
    cases = [
        evals.Case(
            name=str(number), inputs={"prompt": f"City {number}"}, expected_output=f"Sunny in City {number}"
        )
        for number in range(count)
    ]

    def run() -> float:
        dataset = evals.Dataset(name="bench", cases=cases, evaluators=[evaluators.EqualsExpected()])
        began = time.perf_counter()
        dataset.evaluate_sync(
            lambda inputs: f"Sunny in {inputs['prompt']}", max_concurrency=1, progress=False
        )
        return time.perf_counter() - began

    run()
    return median(run() for _ in range(repeat)) / count * 1000


async def _wait_async(prompt: str) -> str:
    await asyncio.sleep(WAIT)
    return prompt


def _wait(prompt: str) -> str:
    time.sleep(WAIT)
    return prompt


def _seconds(agent: Callable[..., Any], count: int, concurrency: int) -> float:
    examples = [Example(input={"prompt": f"{number}"}, expected_tools=[]) for number in range(count)]
    tracer = Tracer("bench", store="memory")
    observed = tracer.observe(agent, span_type="agent")  # what calls no tool is a run without calls, so
    began = time.perf_counter()
    assert_test(examples, [ToolOrderScorer()], function=observed, concurrency=concurrency, tracer=tracer)
    return time.perf_counter() - began


def report(found: dict[str, Any]) -> str:
    """The tables as Markdown."""
    lines = [
        f"- {figure(milliseconds, 3)} ms an example beyond the agent's own time,"
        f" {found['examples']:,} examples, store: {store}"
        for store, milliseconds in found["trivial"].items()
    ]
    if found.get("pydantic-evals") is not None:
        lines.append(f"- {figure(found['pydantic-evals'], 3)} ms an example, pydantic-evals")
    rows = [
        [f"{style} agent", *(f"{figure(s)} s (×{figure(seconds[0] / s, 1)})" for s in seconds)]
        for style, seconds in found["seconds"].items()
    ]
    header = [
        f"{found['waiting']} examples that wait {WAIT * 1000:.0f} ms",
        *(f"{n} at a time" for n in CONCURRENCY),
    ]
    return "\n".join(lines) + "\n\n" + markdown(header, rows)


if __name__ == "__main__":
    options = parse(__doc__)
    measured = measure(quick=options.quick)
    print(json.dumps(measured) if options.json else report(measured))
