"""Compare what should happen with what did, and explain the difference."""

from agenttrace.matching.answers import Answers, Ask, judged
from agenttrace.matching.compare import compare
from agenttrace.matching.comparison import Comparison
from agenttrace.matching.explain import Line, explain, explain_lines
from agenttrace.matching.rows import Row
from agenttrace.matching.selection import Selection

__all__ = [
    "Answers",
    "Ask",
    "Comparison",
    "Line",
    "Row",
    "Selection",
    "compare",
    "explain",
    "explain_lines",
    "judged",
]
