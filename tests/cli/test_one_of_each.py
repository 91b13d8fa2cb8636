"""What several commands say, they say the same way."""

import pytest


@pytest.fixture
def store(agenttrace, tmp_path):
    from agenttrace import Tracer

    tracer = Tracer("shop", store=str(tmp_path / "traces.db"))
    tracer.observe(lambda n: n, name="look")(1)
    tracer.shutdown()
    (tmp_path / "an_agent.py").write_text("def run(n): return n\n")


@pytest.mark.parametrize(
    "command",
    [
        ("traces", "show", "ffff"),
        ("dataset", "from-traces", "ffff", "--to", "x.yaml"),
        ("redact", "ffff", "--yes"),
        ("chaos", "ffff", "--function", "an_agent:run"),
        ("annotate", "ffff", "--thumbs", "up"),
    ],
)
def test_a_trace_that_is_not_there_is_one_error(agenttrace, store, tmp_path, command):
    ran = agenttrace(*command)
    assert ran.code == 2
    assert f"Error: no trace begins with 'ffff' in {tmp_path / 'traces.db'}; see: " in ran.err
    assert ran.err.endswith(" traces list\n")


def test_an_export_without_a_file_names_every_format(agenttrace, store):
    ran = agenttrace("runs", "export")
    assert ran.code == 2
    assert "--output FILE, or a report with --junit, --md, --json, --csv or --html FILE" in ran.err
