"""Reads a traveller's question: where, when, what is asked."""

from __future__ import annotations

import re
from calendar import month_name
from dataclasses import dataclass
from datetime import date

MONTHS = {month_name[number].lower(): number for number in range(1, 13)}
PARTS = {"early": (1, 2), "mid": (14, 15), "late": (27, 28)}
YEAR = 2025
"""The year of a question that names none."""


@dataclass(frozen=True)
class Plan:
    """What the agent is going to look up."""

    destination: str
    start_date: str
    end_date: str
    attractions: bool
    weather: bool


def read_question(prompt: str, cities: list[str]) -> Plan:
    """Turn a question into a plan; a question without a known city is refused."""
    text = prompt.lower()
    destination = next((city for city in cities if city.lower() in text), None)
    if destination is None:
        raise ValueError(f"no known city in {prompt!r}; known: {', '.join(cities)}")
    start, end = _dates(text)
    asks_weather = any(word in text for word in ("weather", "warm", "rain", "pack"))
    asks_attractions = any(word in text for word in ("attraction", "see", "visit", "sights"))
    neither = not asks_weather and not asks_attractions
    return Plan(
        destination=destination,
        start_date=start.isoformat(),
        end_date=end.isoformat(),
        attractions=asks_attractions or neither,
        weather=asks_weather or neither,
    )


def _dates(text: str) -> tuple[date, date]:
    """ISO dates, else days within a month, else a part of the month, else its first two days."""
    stated = [date.fromisoformat(found) for found in re.findall(r"\b\d{4}-\d{2}-\d{2}\b", text)]
    if stated:
        return stated[0], stated[-1]
    year = int(found[0]) if (found := re.search(r"\b20\d\d\b", text)) else YEAR
    month = next((number for name, number in MONTHS.items() if re.search(rf"\b{name}\b", text)), 6)
    days = [int(day) for day in re.findall(r"\b(\d{1,2})(?:st|nd|rd|th)\b", text)]
    if days:
        return date(year, month, days[0]), date(year, month, days[-1])
    first, last = next((days for part, days in PARTS.items() if part in text), (1, 2))
    return date(year, month, first), date(year, month, last)
