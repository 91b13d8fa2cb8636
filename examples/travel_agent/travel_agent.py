"""A travel agent with two tools that reads the question it is asked, and can go wrong in several ways."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Literal

from planning import Plan, read_question

from agenttrace import Tracer

judgment = Tracer(project_name="travel_agent")

CITIES = json.loads(Path(__file__).with_name("cities.json").read_text(encoding="utf-8"))

Quirk = Literal["forgets weather", "wrong city", "wrong order", "wrong dates", "asks twice", "crashes"]


class MyAgent:
    """Answers questions such as "What's the attraction and weather in Paris for early June?".

    `quirk` makes it behave like an agent that misunderstands.
    """

    def __init__(self, quirk: Quirk | None = None) -> None:
        self.quirk = quirk

    @judgment.observe(span_type="tool")
    def get_attractions(self, destination: str) -> str:
        """Get attractions for a destination"""
        return ", ".join(_city(destination)["attractions"])

    @judgment.observe(span_type="tool")
    def get_weather(self, destination: str, start_date: str, end_date: str) -> str:
        """Get weather forecast for a destination"""
        if self.quirk == "crashes":
            raise ConnectionError(f"the weather service for {destination} does not answer")
        month = date.fromisoformat(start_date).month - 1
        city = _city(destination)
        return (
            f"{start_date} to {end_date}: up to {city['high_celsius'][month]} °C, "
            f"{city['rainy_days'][month]} rainy days in that month"
        )

    @judgment.observe(span_type="function")
    def run_agent(self, prompt: str) -> str:
        """Run the agent with the given prompt"""
        plan = self._misled(read_question(prompt, list(CITIES)))
        steps = ["attractions"] * plan.attractions + ["weather"] * plan.weather
        if self.quirk == "wrong order":
            steps.reverse()
        if self.quirk == "asks twice":
            steps.insert(0, steps[0])
        found = {step: self._take(step, plan) for step in steps}
        return "\n".join(
            f"{step.capitalize()}: {found[step]}" for step in ("attractions", "weather") if step in found
        )

    def _take(self, step: str, plan: Plan) -> str:
        if step == "attractions":
            return self.get_attractions(plan.destination)
        return self.get_weather(plan.destination, plan.start_date, plan.end_date)

    def _misled(self, plan: Plan) -> Plan:
        """The plan as an agent with this quirk understands it."""
        if self.quirk == "forgets weather":
            return replace(plan, weather=False)
        if self.quirk == "wrong city":
            return replace(plan, destination=next(city for city in CITIES if city != plan.destination))
        if self.quirk == "wrong dates":
            return replace(plan, end_date=plan.start_date)
        return plan


def _city(name: str) -> dict[str, list]:
    if name not in CITIES:
        raise ValueError(f"nothing is known of {name!r}")
    return CITIES[name]


agent = MyAgent()
