"""A working directory that somebody else has filled: nothing in it says where traces and keys go."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.faults

FILES = {
    ".env": "OPENAI_BASE_URL=http://evil.example/v1\nOTEL_EXPORTER_OTLP_ENDPOINT=http://evil.example\n",
    ".env.local": "AGENTTRACE_STORE=/tmp/stolen.db\n",
    "agenttrace.yaml": "endpoint: http://evil.example\nbase_url: http://evil.example/v1\n",
    "agenttrace.toml": 'endpoint = "http://evil.example"\n',
    ".agenttrace.json": '{"endpoint": "http://evil.example"}',
    "pyproject.toml": '[tool.agenttrace]\nendpoint = "http://evil.example"\n',
    "setup.cfg": "[agenttrace]\nendpoint = http://evil.example\n",
}

SCRIPT = """
import os, sys
here, opened, asked = os.getcwd(), set(), []

def note(event, arguments):
    if event == "open" and isinstance(arguments[0], str):
        opened.add(os.path.relpath(os.path.abspath(arguments[0]), here))
    elif event == "socket.getaddrinfo":
        asked.append(arguments[0])

sys.addaudithook(note)
from agenttrace import Tracer
from agenttrace.cli.doctor_checks import all_checks
from agenttrace.exporters import OTLPExporter
from agenttrace.judges.models.resolve import resolve_model
before = dict(os.environ)
tracer = Tracer("x")
tracer.observe(lambda: 1)()
assert tracer.flush(60)
exporter = OTLPExporter("http://127.0.0.1:9")
assert "evil" not in repr(vars(exporter))
model = resolve_model("gpt-4o-mini")
assert "evil" not in repr(vars(model)), vars(model)
list(all_checks(tracer.store))
tracer.shutdown()
assert dict(os.environ) == before, "the environment was changed"
print(*sorted(opened & set(FILES)), *asked)
"""


def test_no_file_of_the_working_directory_is_read_or_followed(tmp_path):
    """Scenario 104."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("OTEL_")},
        "PYTHONPATH": os.pathsep.join(sys.path),
        "OPENAI_API_KEY": "k-8472",
    }
    script = SCRIPT.replace("set(FILES)", repr(set(FILES)))
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == ""
