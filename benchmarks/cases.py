"""The calls whose overhead is measured, each made bare or observed by the same function."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from benchmarks.subject import Observe

DEPTH = 5

Call = Callable[[], Any]


@dataclass(frozen=True)
class Case:
    """A kind of call. `make` decorates what is needed and gives a function that makes one call.

    `spans` is how many spans one call makes; figures are given per span, for *generator* per generator.
    `heavy` calls take a peer seconds, so that only ours are measured.
    """

    name: str
    make: Callable[[Observe], Call]
    spans: int = 1
    asynchronous: bool = False
    heavy: bool = False


def sync(observe: Observe) -> Call:
    def tool(city: str, days: int = 3) -> str:
        return city

    observed = observe(tool)
    return lambda: observed("Paris", days=2)


def asynchronous(observe: Observe) -> Call:
    async def tool(city: str, days: int = 3) -> str:
        return city

    observed = observe(tool)
    return lambda: observed("Paris", days=2)


def bound_method(observe: Observe) -> Call:
    class Agent:
        def tool(self, city: str, days: int = 3) -> str:
            return city

    Agent.tool = observe(Agent.tool)  # type: ignore[method-assign]
    agent = Agent()
    return lambda: agent.tool("Paris", days=2)


def small_dict(observe: Observe) -> Call:
    def tool(options: dict[str, Any]) -> Any:
        return options["city"]

    observed = observe(tool)
    options = {"city": "Paris", "days": 2, "units": "metric", "hourly": False}
    return lambda: observed(options)


def generator(observe: Observe) -> Call:
    def tool(city: str, days: int = 3) -> Iterator[str]:
        yield city
        yield city
        yield city

    observed = observe(tool)

    def call() -> None:
        for _ in observed("Paris", days=2):
            pass

    return call


def nested(observe: Observe) -> Call:
    def tool(city: str, depth: int = 1) -> str:
        return city if depth == DEPTH else observed(city, depth=depth + 1)  # type: ignore[no-any-return]

    observed = observe(tool)
    return lambda: observed("Paris")


def raising(observe: Observe) -> Call:
    def tool(city: str, days: int = 3) -> str:
        raise LookupError(city)

    observed = observe(tool)

    def call() -> None:
        try:
            observed("Paris", days=2)
        except LookupError:
            pass

    return call


def nested_data() -> dict[str, Any]:
    """About 100 KB as JSON: 400 records of a search."""
    return {
        "results": [
            {
                "title": f"Result {number}",
                "url": f"https://example.org/{number}",
                "score": number / 400,
                "tags": ["travel", "city", "weather"],
                "author": {"name": f"Author {number}", "verified": number % 2 == 0, "followers": number * 7},
                "text": "A town on a river, known for its bridges, its bread and the colour of its roofs. "
                * 1,
            }
            for number in range(400)
        ]
    }


def chat(observe: Observe) -> Call:
    """A model's call: about 1 KB of messages in, one message out."""
    sentence = "The river is known for its bridges, its bread and the colour of its roofs. "
    messages = [
        {"role": "system", "content": f"You plan travels. {sentence}"},
        {"role": "user", "content": sentence * 3},
        {"role": "assistant", "content": sentence * 4},
        {"role": "user", "content": sentence * 2},
    ]
    reply = {"role": "assistant", "content": sentence * 4}

    def complete(messages: list[dict[str, str]]) -> dict[str, str]:
        return reply

    observed = observe(complete)
    return lambda: observed(messages)


def search_results() -> list[dict[str, Any]]:
    """About 0.6 KB as JSON."""
    return [
        {
            "title": f"Result {number}",
            "url": f"https://example.org/{number}",
            "score": number / 5,
            "text": "A town on a river, known for its bridges.",
        }
        for number in range(5)
    ]


def text_of_4_kb() -> str:
    """A page that a tool has read."""
    sentence = "A town on a river, known for its bridges, its bread and the colour of its roofs. "
    return sentence * 50


def conversation() -> list[dict[str, Any]]:
    """About 9 KB as JSON: an agent's turns, with the calls that a model asked for and their results."""
    sentence = "The river is known for its bridges, its bread and the colour of its roofs. "
    turns: list[dict[str, Any]] = [{"role": "system", "content": f"You plan travels. {sentence}"}]
    for number in range(8):
        arguments = f'{{"city": "City {number}", "days": {number + 1}, "units": "metric"}}'
        function = {"name": "search", "arguments": arguments}
        call = {"id": f"call_{number}", "type": "function", "function": function}
        turns += [
            {"role": "user", "content": f"It's turn {number}. {sentence * 3}"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"call_{number}", "content": sentence * 4},
            {"role": "assistant", "content": sentence * 4},
        ]
    return turns


def large(data: Any) -> Callable[[Observe], Call]:
    def make(observe: Observe) -> Call:
        def tool(document: Any) -> str:
            return "read"

        observed = observe(tool)
        made = data()
        return lambda: observed(made)

    return make


def wide_lists() -> list[list[int]]:
    """200 MB of references: 200 lists of 131,072 numbers."""
    return [[0] * 131_072 for _ in range(200)]


CASES = [
    Case("sync", sync),
    Case("async", asynchronous, asynchronous=True),
    Case("bound method", bound_method),
    Case("small dict", small_dict),
    Case("generator of 3", generator),
    Case("nested, depth 5", nested, spans=DEPTH),
    Case("raising", raising),
    Case("chat of 1 KB", chat),
    Case("5 search results", large(search_results)),
    Case("text of 4 KB", large(text_of_4_kb)),
    Case("conversation of 9 KB", large(conversation)),
    Case("100 KB nested dict", large(nested_data)),
    Case("200 MB of lists", large(wide_lists), heavy=True),
    Case("200 MB text", large(lambda: "x" * (200 * 1024 * 1024)), heavy=True),
]
