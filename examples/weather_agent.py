"""An agent on OpenAI's client: it asks a model, runs the tools that the model asks for, and answers.

    OPENAI_API_KEY=… python examples/weather_agent.py "Do I need an umbrella in Paris?"

Its test runs it against a model on loopback, and replays what was recorded with the network closed.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from agenttrace import Tracer, wrap

tracer = Tracer("weather_agent")

FORECASTS = {"Paris": "rain", "Rome": "sun"}

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "forecast",
            "description": "The weather of a city on a day.",
            "parameters": {
                "type": "object",
                "properties": {"city": {"type": "string"}, "day": {"type": "string"}},
                "required": ["city"],
            },
        },
    }
]


@tracer.observe(span_type="tool")
def forecast(city: str, day: str = "today") -> dict[str, str]:
    """The weather of a city on a day."""
    return {"city": city, "day": day, "sky": FORECASTS[city]}


@tracer.observe(span_type="agent")
def run_agent(question: str, client: Any, prompt: str = "Answer in one sentence.") -> str:
    """Ask the model until it answers without a tool."""
    model = wrap(client, tracer=tracer)
    messages: list[Any] = [{"role": "system", "content": prompt}, {"role": "user", "content": question}]
    while True:
        reply = model.chat.completions.create(model="gpt-4o", messages=messages, tools=TOOLS)
        message = reply.choices[0].message
        if not message.tool_calls:
            return str(message.content)
        messages.append(message)
        for call in message.tool_calls:
            result = forecast(**json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": json.dumps(result)})


def main() -> None:
    """Answer the question of the command line."""
    from openai import OpenAI

    print(run_agent(" ".join(sys.argv[1:]) or "Do I need an umbrella in Paris?", OpenAI()))


if __name__ == "__main__":
    main()
