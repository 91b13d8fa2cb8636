"""Reports that the tests of this room share: real ones, and one with hostile text in every place."""

from __future__ import annotations

from agenttrace import Example, ToolOrderScorer, Tracer, call, run_evaluation
from agenttrace.core.report import EvaluationReport, ScoringResult
from agenttrace.core.score import Score
from agenttrace.core.trace import Trace
from agenttrace.store import MemoryStore

HOSTILE = (
    "=cmd|' /C calc'!A0 @octocat #1 <script>alert(1)</script> [click](http://evil.example) ]]> | \\| \\"
    "\x00\x1b[2J\x07\r\ud800\ufffe```\n````\n</details>\n| a | b |\n![x](http://evil.example/x.png) -->"
)
"""What a model may have said, to break each format."""


def shop_report(*, trials: int = 1, store: MemoryStore | None = None) -> EvaluationReport:
    """A report with a result of every kind: passed, failed with a diff, an agent that raised, errored."""
    tracer = Tracer("shop", store=store or MemoryStore())

    @tracer.observe(span_type="tool")
    def refund(order: int, amount: float) -> str:
        return "ok"

    @tracer.observe(span_type="tool")
    def notify(to: str) -> None:
        pass

    @tracer.observe
    def agent(order: int) -> str:
        if order == 3:
            raise RuntimeError("sold out")
        refund(order, 12.5)
        if order > 3:
            notify("ann")
        return f"refunded {order}"

    expected = [call("refund", order=1, amount=12.5)]
    examples = [
        Example(name="right", input={"order": 1}, expected_tools=expected),
        Example(
            name="wrong", input={"order": 2}, expected_tools=[call("refund", order=2, amount=12), "notify"]
        ),
        Example(name="raises", input={"order": 3}, expected_tools=expected),
        Example(input={"order": 4}, expected_tools=[call("refnd")]),
    ]
    try:
        return run_evaluation(
            examples,
            [ToolOrderScorer()],
            function=agent,
            tracer=tracer,
            trials=trials,
            eval_run_name="nightly",
        )
    finally:
        tracer.shutdown()


def hostile_report(text: str = HOSTILE) -> EvaluationReport:
    """A report in which every text that can come from outside is `text`."""
    score = Score.of(text, 0.0, 0.5, reason=text, diff=text, details={"mode": text, text: text})
    broken = Score.errored(text, 0.5, text)
    example = Example(name=text, input={text: text}, actual_output=text, expected_output=text)
    trace = Trace.from_calls([{"name": text or "x", "arguments": {text: text}, "error": text}])
    results = (
        ScoringResult(example=example, outcome="failed", scores=(score, broken), trace=trace, source=text),
        ScoringResult(example=example, outcome="failed", error=text, trace=trace, position=1),
        ScoringResult(example=example, outcome="errored", scores=(broken,), position=2, error=text),
        ScoringResult(example=example, outcome="passed", scores=(Score.of(text, 1.0, 0.5),), position=3),
        ScoringResult(example=example, outcome="not_run", position=4, error=text),
    )
    return EvaluationReport(
        results=results,
        name=text,
        project=text,
        model=text,
        metadata={"requirement": text, "interrupted": True, "not_run": 3, text: text},
    )
