"""Show results: reports in the terminal and as files, traces, tables."""

from agenttrace.reports.csv_report import csv_report
from agenttrace.reports.json_report import json_report, report_schema
from agenttrace.reports.junit import junit_report
from agenttrace.reports.markdown import append_step_summary, markdown_report
from agenttrace.reports.terminal import report_lines, report_text
from agenttrace.reports.text import Line, plain, show, table_lines, terminal_width
from agenttrace.reports.tree import trace_lines

__all__ = [
    "Line",
    "append_step_summary",
    "csv_report",
    "json_report",
    "junit_report",
    "markdown_report",
    "plain",
    "report_lines",
    "report_schema",
    "report_text",
    "show",
    "table_lines",
    "terminal_width",
    "trace_lines",
]
