"""Send a trace with its score to real back ends, and ask their REST APIs what arrived.

``make interop`` runs it: each back end is installed in an environment of its own below ``.interop/``, started
on 127.0.0.1 with telemetry off, and ended again. The table in ``docs/interop.md`` is rewritten.

    python tests/interop/receivers.py [--environments DIR] [phoenix] [mlflow]
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))  # these files are programs, and no package

from environments import ROOT, installed, version_in, write_table

from agenttrace import ContainsScorer, OTLPExporter, Score, Tracer

PATIENCE = 90.0
PROJECT = "interop"
TEXT = "sunny in Paris"


@dataclass(frozen=True)
class Sent:
    """What was sent: the ids by which it is asked for."""

    trace_id: str
    agent_id: str


@dataclass(frozen=True)
class BackEnd:
    """A server that can be installed and started, and how what it shows is read."""

    name: str
    package: str
    command: Callable[[Path, int, Path], list[str]]
    environment: Callable[[int, Path], dict[str, str]]
    ready: str
    headers: dict[str, str]
    shown: Callable[[str, Sent], dict[str, bool]]


def get(url: str) -> Any:
    with urllib.request.urlopen(url, timeout=10) as answer:
        body = answer.read()
    try:
        return json.loads(body)
    except ValueError:
        return body.decode()


def send(address: str, headers: dict[str, str]) -> Sent:
    """Record one run of an agent, with scores that passed, failed and broke, and send all of it."""
    exporter = OTLPExporter(address, headers=headers, timeout=30)
    tracer = Tracer(PROJECT, store="memory", exporters=[exporter])

    @tracer.observe(span_type="tool")
    def weather(city: str, days: int = 1) -> str:
        """Say how warm it is."""
        if city == "Atlantis":
            raise ValueError("unknown city")
        return f"sunny in {city}"

    @tracer.observe(span_type="retriever")
    def search(query: str) -> list[dict[str, Any]]:
        return [{"page_content": "Paris is warm.", "metadata": {"page": 3}, "score": 0.5}]

    @tracer.observe(span_type="agent")
    def agent(question: str) -> str:
        tracer.set_session_id("s-1")
        tracer.set_customer_id("customer-7")
        ids.append((tracer.current_span().trace_id, tracer.current_span().span_id))
        search("warm?")
        answer = weather("Paris")
        try:
            weather("Atlantis")
        except ValueError:
            pass
        scorers = [ContainsScorer("sunny"), ContainsScorer("rain", name="Rain")]
        tracer.async_evaluate(scorers, input=question, actual_output=answer)
        tracer.current_span().add_score(Score.errored("Broken", 0.5, "no answer"))
        return answer

    ids: list[tuple[str, str]] = []
    try:
        agent("Is it warm?")
        tracer.wait_for_evaluations(timeout=30)
        tracer.flush(60)
        deadline = time.monotonic() + PATIENCE
        while exporter.stats()["logs"]["waiting"] and time.monotonic() < deadline:
            time.sleep(0.2)
        print(json.dumps(exporter.stats()["logs"]))
    finally:
        tracer.shutdown()
    return Sent(*ids[0])


def shown_by_phoenix(address: str, sent: Sent) -> dict[str, bool]:
    project = f"{address}/v1/projects/{PROJECT}"
    spans = [
        span
        for span in get(f"{project}/spans?limit=100")["data"]
        if span["context"]["trace_id"] == sent.trace_id
    ]
    tools = [span for span in spans if span["span_kind"] == "TOOL"]
    [retriever] = [span for span in spans if span["span_kind"] == "RETRIEVER"]
    sessions = [one["session_id"] for one in get(f"{project}/sessions")["data"]]
    query = urllib.parse.urlencode({"span_ids": sent.agent_id})
    notes = {one["name"]: one for one in get(f"{project}/span_annotations?{query}")["data"]}
    results = {name: one["result"] for name, one in notes.items()}
    return {
        "tool arguments": any(
            json.loads(tool["attributes"]["input.value"]) == {"city": "Paris", "days": 1} for tool in tools
        ),
        "tool output": any(tool["attributes"].get("output.value") == TEXT for tool in tools),
        "tool error": any("unknown city" in tool["status_message"] for tool in tools),
        "documents": retriever["attributes"].get("retrieval.documents.0.document.content")
        == "Paris is warm.",
        "session on every span": "s-1" in sessions
        and all(span["attributes"].get("session.id") == "s-1" for span in spans),
        "score on its span": results.get("Contains", {}).get("score") == 1.0
        and results["Contains"]["label"] == "passed"
        and notes["Contains"]["annotator_kind"] == "CODE",
        "failed and errored scores": results.get("Rain", {}).get("label") == "failed"
        and results.get("Broken", {}).get("label") == "errored",
    }


def shown_by_mlflow(address: str, sent: Sent) -> dict[str, bool]:
    trace = get(f"{address}/api/3.0/mlflow/traces/get?trace_id=tr-{sent.trace_id}")["trace"]
    spans = [{one["key"]: value_of(one["value"]) for one in span["attributes"]} for span in trace["spans"]]
    kinds = [attributes.get("mlflow.spanType") for attributes in spans]
    tools = [attributes for attributes in spans if attributes.get("mlflow.spanType") == "TOOL"]
    retrievers = [attributes for attributes in spans if attributes.get("mlflow.spanType") == "RETRIEVER"]
    errors = [span["status"].get("message", "") for span in trace["spans"]]
    notes = {one["assessment_name"]: one for one in trace["trace_info"]["assessments"]}
    score = notes.get("Contains", {})
    return {
        "tool arguments": {"city": "Paris", "days": 1} in [tool.get("mlflow.spanInputs") for tool in tools],
        "tool output": TEXT in [tool.get("mlflow.spanOutputs") for tool in tools],
        "tool error": "unknown city" in errors,
        "documents": kinds.count("RETRIEVER") == 1
        and "Paris is warm." in json.dumps(retrievers[0].get("mlflow.spanOutputs")),
        "session on every span": trace["trace_info"]["trace_metadata"].get("mlflow.trace.session") == "s-1"
        and all(attributes.get("session.id") == "s-1" for attributes in spans),
        "score on its span": score.get("feedback", {}).get("value") == 1.0
        and score["span_id"] == sent.agent_id
        and score["source"]["source_type"] == "CODE",
        "failed and errored scores": notes.get("Rain", {}).get("feedback", {}).get("value") == 0.0
        and "error" in notes.get("Broken", {}).get("feedback", {}),
    }


def value_of(value: dict[str, Any]) -> Any:
    """A value of OTLP's as plain data."""
    [(kind, content)] = value.items() or [("none", None)]
    if kind == "kvlist_value":
        return {one["key"]: value_of(one["value"]) for one in content.get("values", [])}
    if kind == "array_value":
        return [value_of(one) for one in content.get("values", [])]
    return int(content) if kind == "int_value" else content


BACK_ENDS = {
    "phoenix": BackEnd(
        "Phoenix",
        "arize-phoenix",
        lambda programs, port, place: [str(programs / "phoenix"), "serve"],
        lambda port, place: {
            "PHOENIX_WORKING_DIR": str(place),
            "PHOENIX_HOST": "127.0.0.1",
            "PHOENIX_PORT": str(port),
            "PHOENIX_GRPC_PORT": str(free_port()),
            "PHOENIX_TELEMETRY_ENABLED": "false",
        },
        "/healthz",
        {},
        shown_by_phoenix,
    ),
    "mlflow": BackEnd(
        "MLflow",
        "mlflow",
        lambda programs, port, place: [
            *(
                str(programs / "mlflow"),
                "server",
                "--host",
                "127.0.0.1",
                "--port",
                str(port),
                "--workers",
                "1",
            ),
            *("--backend-store-uri", f"sqlite:///{place / 'mlflow.db'}"),
            *("--artifacts-destination", str(place / "artifacts")),
        ],
        lambda port, place: {"MLFLOW_DISABLE_TELEMETRY": "true", "DO_NOT_TRACK": "true"},
        "/health",
        {"x-mlflow-experiment-id": "0"},
        shown_by_mlflow,
    ),
}


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


@contextmanager
def running(back_end: BackEnd, programs: Path) -> Iterator[str]:
    """Start the server; gives its address, and ends its processes afterwards."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        port, place = free_port(), Path(folder)
        with (place / "log").open("w") as output:
            process = subprocess.Popen(
                back_end.command(programs, port, place),
                env={**os.environ, **back_end.environment(port, place), "PYTHONPATH": ""},
                cwd=place,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        try:
            address = f"http://127.0.0.1:{port}"
            wait_for(address + back_end.ready, process)
            yield address
        finally:
            os.killpg(process.pid, signal.SIGTERM)  # its own session: it, and what it started
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def wait_for(url: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            get(url)
            return
        except (OSError, urllib.error.URLError):
            if process.poll() is not None or time.monotonic() > deadline:
                raise
            time.sleep(0.3)


def checked(back_end: BackEnd, address: str) -> dict[str, bool]:
    """What it shows, asked until all of it is there: it takes spans before it stores them."""
    sent = send(address, back_end.headers)
    deadline = time.monotonic() + 20
    while True:
        try:
            shown = back_end.shown(address, sent)
        except (KeyError, ValueError, urllib.error.HTTPError):
            if time.monotonic() > deadline:
                raise
        else:
            if all(shown.values()) or time.monotonic() > deadline:
                return shown
        time.sleep(0.5)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", default=[], help=f"of {', '.join(BACK_ENDS)}; all by default")
    parser.add_argument("--environments", type=Path, default=ROOT / ".interop")
    options = parser.parse_args()
    rows, failed = [], False
    for name in options.names or BACK_ENDS:
        back_end = BACK_ENDS[name]
        programs = installed(options.environments / back_end.package, [back_end.package])
        with running(back_end, programs) as address:
            shown = checked(back_end, address)
        missing = [fact for fact, is_there in shown.items() if not is_there]
        version = version_in(programs, back_end.package)
        print(f"{back_end.name} {version}: {shown}")
        there = [fact for fact in shown if fact not in missing]
        today = datetime.datetime.now(datetime.UTC).date().isoformat()
        rows.append([back_end.name, version, ", ".join(there), ", ".join(missing) or "nothing", today])
        failed |= bool(missing)
    write_table("receivers", ["receiver", "version", "shown", "missing", "date"], rows)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
