"""What a notebook shows of a report, a trace or a score: its page, in a frame that may load nothing."""

from __future__ import annotations

from html import escape

from agenttrace.core.report import EvaluationReport
from agenttrace.core.score import Score
from agenttrace.core.trace import Trace
from agenttrace.viewer.report import run_report, score_report, trace_report

_LOW, _HIGH = 180, 480


def html_of(value: EvaluationReport | Trace | Score) -> str:
    """A frame with the page of a value."""
    if isinstance(value, Score):
        return _framed(score_report(value), _LOW)
    return _framed(run_report(value) if isinstance(value, EvaluationReport) else trace_report(value), _HIGH)


def _framed(html: str, height: int) -> str:
    title = "agenttrace"
    return f'<iframe title="{title}" sandbox srcdoc="{escape(html)}" width="100%" height="{height}"></iframe>'
