"""``agenttrace runs export``: one run as a file, whole, as a baseline without values, or as a report."""

from __future__ import annotations

import click

from agenttrace.cli.report_options import FORMATS, ReportFiles, report_options
from agenttrace.cli.run_option import HELP, stored_run
from agenttrace.cli.store_option import store_option, store_to_read
from agenttrace.core.errors import AgentTraceError
from agenttrace.core.report import EvaluationReport
from agenttrace.redaction import Redaction
from agenttrace.runs.baseline import write_baseline
from agenttrace.runs.file import write_run
from agenttrace.runs.record import record_of_run
from agenttrace.scoring.redacted import redacted_report


@click.command("export", epilog=HELP)
@click.argument("run", default="last")
@click.option("-o", "--output", metavar="FILE", help="Where to; a file there is replaced.")
@click.option("--baseline", is_flag=True, help="Names, outcomes and numbers alone, to be committed.")
@report_options
@store_option
def runs_export(run: str, output: str | None, baseline: bool, files: ReportFiles, store: str | None) -> None:
    """Write RUN (the newest without it) to a JSON file that `runs import` reads, or as a report.

    The file of --output has inputs, outputs and scores, without the secrets that the store does not have
    either, and not the traces.
    """
    if output is None and (baseline or not files.targets):
        *some, last = (f"--{name}" for name in FORMATS)
        raise click.UsageError(
            f"say where to: --output FILE, or a report with {', '.join(some)} or {last} FILE"
        )
    source = store_to_read(store)
    try:
        stored = stored_run(source, run)
        report = EvaluationReport.from_dict(stored, trace_of=source.trace if files.targets else None)
    finally:
        source.close()
    if output is not None:
        if baseline:
            write_baseline(record_of_run(stored), output)
        else:
            write_run(stored, output)
        click.echo(f"run {stored['run_id'][:12]} is in {output}", err=files.use_stdout)
    failures = files.write(redacted_report(report, Redaction()))
    if failures:
        raise AgentTraceError(f"the report was not written to {'; '.join(failures)}")
