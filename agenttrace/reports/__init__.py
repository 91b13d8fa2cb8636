"""Show results in the terminal: evaluation reports, traces, tables."""

from agenttrace.reports.terminal import report_lines, report_text
from agenttrace.reports.text import Line, plain, show, table_lines
from agenttrace.reports.tree import trace_lines

__all__ = ["Line", "plain", "report_lines", "report_text", "show", "table_lines", "trace_lines"]
