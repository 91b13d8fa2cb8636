"""`Coverage`: which tools, arguments, errors and refusals the examples of a suite look at.

Coverage of several reports (files, tests, workers) is merged; `to_dict` is JSON that `from_dict` reads back.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

from agenttrace.core.text import aligned


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCoverage:
    """What the examples of a suite look at of one tool.

    `offered`: its definition was recorded, or a model was offered it. `calls` were made, `failed_calls` of
    them failed. `constrained_by` counts the examples with an expectation that names the tool in its path, in
    a guard or in a count; `forbidden_by` those that forbid every call of it. `arguments_seen` are those that
    calls had or the definition has, `arguments_pinned` those that a path states with anything but `ANY`.
    """

    name: str
    offered: bool = False
    calls: int = 0
    failed_calls: int = 0
    constrained_by: int = 0
    forbidden_by: int = 0
    arguments_seen: frozenset[str] = frozenset()
    arguments_pinned: frozenset[str] = frozenset()

    @property
    def known(self) -> bool:
        """Whether it was offered or called; else only an expectation names it."""
        return self.offered or self.calls > 0

    @property
    def constrained(self) -> bool:
        """Whether any example's expectation names it."""
        return self.constrained_by > 0

    def merged(self, other: ToolCoverage) -> ToolCoverage:
        """Both together: counts are added."""
        return ToolCoverage(
            name=self.name,
            offered=self.offered or other.offered,
            calls=self.calls + other.calls,
            failed_calls=self.failed_calls + other.failed_calls,
            constrained_by=self.constrained_by + other.constrained_by,
            forbidden_by=self.forbidden_by + other.forbidden_by,
            arguments_seen=self.arguments_seen | other.arguments_seen,
            arguments_pinned=self.arguments_pinned | other.arguments_pinned,
        )

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe data."""
        return {
            "name": self.name,
            "offered": self.offered,
            "calls": self.calls,
            "failed_calls": self.failed_calls,
            "constrained_by": self.constrained_by,
            "forbidden_by": self.forbidden_by,
            "arguments_seen": sorted(self.arguments_seen),
            "arguments_pinned": sorted(self.arguments_pinned),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ToolCoverage:
        """Read what `to_dict` wrote."""
        sets = {key: frozenset(data[key]) for key in ("arguments_seen", "arguments_pinned")}
        return cls(**{**data, **sets})


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """What the examples of a suite look at, tool by tool, by name.

    `examples` were looked at, with `runs` of them; the calls of `unknown_runs` are not known. Where no tool
    was `offered` on record (runs from plain lists), tools that nobody called are not known.
    """

    tools: Mapping[str, ToolCoverage] = field(default_factory=dict)
    examples: int = 0
    runs: int = 0
    unknown_runs: int = 0

    @property
    def known(self) -> list[ToolCoverage]:
        """The tools that were offered or called."""
        return [tool for tool in self.tools.values() if tool.known]

    @property
    def called(self) -> list[ToolCoverage]:
        """The tools that were called."""
        return [tool for tool in self.tools.values() if tool.calls]

    @property
    def constrained(self) -> list[ToolCoverage]:
        """The tools that were offered or called and that some example's expectation names."""
        return [tool for tool in self.known if tool.constrained]

    @property
    def percent(self) -> float | None:
        """How much of the known tools is constrained, 0 to 100; None where no tool is known."""
        return 100 * len(self.constrained) / len(self.known) if self.known else None

    def shortfall(self, fail_under: float) -> str | None:
        """Why this is less than `fail_under` percent of the tools; None where it is enough.

        Where no tool is known it is never enough, except for 0.
        """
        if (self.percent or 0.0) >= fail_under:
            return None
        missing = [tool.name for tool in self.known if not tool.constrained]
        names = f"; no expectation names {', '.join(missing)}" if missing else "; no tool is known"
        return f"tool coverage {_percent(self.percent)} is under the {fail_under:g} % asked for{names}"

    def merged(self, *others: Coverage) -> Coverage:
        """This and others together; counts are added."""
        return reduce(_merged, others, self)

    @property
    def lines(self) -> list[str]:
        """A line of totals, then a table with a row for each tool."""
        count, known = len(self.constrained), len(self.known)
        lines = [
            f"Tool coverage: {_percent(self.percent)}, {count} of {known} tools are named by an expectation; "
            f"{len(self.called)} called; {self.examples} examples, {self.runs} runs"
        ]
        head = ("tool", "calls", "failed", "named by", "forbidden by", "arguments pinned", "not pinned")
        lines += aligned([head, *map(_row, self.tools.values())]) if self.tools else []
        if known and not any(tool.offered for tool in self.tools.values()):
            lines.append("No tool's definition was recorded: tools that nobody called are not in this table.")
        if self.unknown_runs:
            lines.append(f"The calls of {self.unknown_runs} of {self.runs} runs are not known.")
        return lines

    def __str__(self) -> str:
        return "\n".join(self.lines)

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe data that `from_dict` reads back."""
        return {
            "percent": self.percent,
            "examples": self.examples,
            "runs": self.runs,
            "unknown_runs": self.unknown_runs,
            "tools": [tool.to_dict() for tool in self.tools.values()],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Coverage:
        """Read what `to_dict` wrote."""
        tools = [ToolCoverage.from_dict(tool) for tool in data["tools"]]
        counts = {key: data[key] for key in ("examples", "runs", "unknown_runs")}
        return cls(tools={tool.name: tool for tool in tools}, **counts)


def merged_coverage(parts: Iterable[Coverage | Mapping[str, Any]]) -> Coverage:
    """The coverage of several reports as one: `Coverage` values, or their `to_dict` from other processes."""
    return Coverage().merged(*(p if isinstance(p, Coverage) else Coverage.from_dict(p) for p in parts))


def _merged(one: Coverage, other: Coverage) -> Coverage:
    tools = dict(one.tools)
    for name, tool in other.tools.items():
        tools[name] = tools[name].merged(tool) if name in tools else tool
    return Coverage(
        tools=dict(sorted(tools.items())),
        examples=one.examples + other.examples,
        runs=one.runs + other.runs,
        unknown_runs=one.unknown_runs + other.unknown_runs,
    )


def _row(tool: ToolCoverage) -> tuple[str, ...]:
    name = tool.name if tool.known else f"{tool.name} (never seen)"
    free = tool.arguments_seen - tool.arguments_pinned
    pinned = f"{len(tool.arguments_seen & tool.arguments_pinned)} of {len(tool.arguments_seen)}"
    counts = (tool.calls, tool.failed_calls, tool.constrained_by, tool.forbidden_by)
    return (name, *(str(count or "-") for count in counts), pinned, ", ".join(sorted(free)) or "-")


def _percent(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.3g} %"
