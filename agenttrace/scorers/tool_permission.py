"""Whether only permitted tools were called."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

from agenttrace.core.errors import ScorerError
from agenttrace.core.example import Example
from agenttrace.core.score import Score
from agenttrace.core.trace import Trace
from agenttrace.expectations.reading import in_both_readings
from agenttrace.matching.known_tools import known_names
from agenttrace.matching.selection import actual_calls
from agenttrace.scorers.call_scorer import CallOptions, CallScorer


class ToolPermissionScorer(CallScorer):
    """The share of calls that are permitted; 1.0 where nothing was called.

    `allow` and `deny` are names and globs (``read_*``). A call is permitted where nothing in `deny` matches
    its name, and, if `allow` is given, something in it does. Deny goes before allow; aliases are resolved in
    both. Failed attempts count: they were made. So do calls that a model asked for and that were not
    executed. A `deny` that matches no tool, where the tools are known, is reported as *vacuous* and changes
    nothing; so is everything where the run has agents, and none of the name that `agent` says.
    """

    def __init__(
        self,
        allow: str | Sequence[str] | None = None,
        deny: str | Sequence[str] = (),
        threshold: float = 1.0,
        *,
        name: str = "Tool Permission",
        **options: Unpack[CallOptions],
    ) -> None:
        super().__init__(name, threshold, options)
        if allow is None and not deny:
            raise ScorerError(f"{name} needs allow or deny: without either, everything is permitted")
        self.allow = None if allow is None else self._globs("allow", allow)
        self.deny = self._globs("deny", deny)

    @in_both_readings
    def score(self, example: Example, trace: Trace | None = None) -> Score:
        """Check the tool of each call.

        Raises:
            ScorerError: nothing says what was called.
        """
        run = actual_calls(example, trace)
        calls = self._chosen_calls(run)
        refused = [call for call in calls if not self._permits(call.name)]
        permitted = len(calls) - len(refused)
        value = permitted / len(calls) if calls else 1.0
        reason = f"{permitted} of {len(calls)} calls permitted"
        if refused:
            reason += f"; not: {', '.join(call.label for call in refused[:10])}"
        details: dict[str, Any] = {
            "permitted": permitted,
            "calls": len(calls),
            "refused": [call.index for call in refused],
        }
        tools = known_names(run.tools, run.tool_calls, run, self.selection)
        fits = self.selection.is_named
        vacuous = [glob for glob in self.deny if tools and not any(fits(tool, glob) for tool in tools)]
        empty_scope = self._empty_scope(run, calls)
        if empty_scope:
            vacuous = [*self.deny, *(f"allow {glob}" for glob in self.allow or ())]
        return self.scored(value, reason, details, vacuous=vacuous, empty_scope=empty_scope)

    def _permits(self, tool: str) -> bool:
        fits = self.selection.is_named
        if any(fits(tool, glob) for glob in self.deny):
            return False
        return self.allow is None or any(fits(tool, glob) for glob in self.allow)

    def _globs(self, word: str, raw: str | Sequence[str]) -> tuple[str, ...]:
        globs = (raw,) if isinstance(raw, str) else tuple(raw)
        if not all(isinstance(glob, str) and glob for glob in globs):
            raise ScorerError(f"{self.name}: {word} holds tools' names and globs, got {raw!r}")
        return globs
