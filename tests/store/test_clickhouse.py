"""Traces in the collector's table of ClickHouse are read as its payloads are, from maps and from JSON."""

import json
import socket
import threading
import urllib.request
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from agenttrace import ConfigError, Example, StoreError, ToolOrderScorer, Tracer, traces_from_otlp
from agenttrace.cli.main import main
from agenttrace.core.batch import ScoreRow
from agenttrace.service import Service
from agenttrace.service.tokens import OneToken
from agenttrace.store import open_store
from agenttrace.viewer.serving import guard_of

pytest.importorskip("chdb")
pytest.importorskip("clickhouse_connect")
from clickhouse_server import JSON, MAPS, ClickHouseServer, create_table

DATA = Path(__file__).resolve().parents[2] / ".." / "shared" / "data" / "otlp_frameworks"
recorded = [
    pytest.mark.shared,
    pytest.mark.skipif(not DATA.is_dir(), reason="the recorded payloads are not here"),
]

STATUS = {1: "Ok", 2: "Error", "STATUS_CODE_OK": "Ok", "STATUS_CODE_ERROR": "Error"}


class Table:
    """A table of the collector's, filled as its exporter fills it."""

    def __init__(self, server, name, kind):
        self.server, self.name, self.kind = server, name, kind
        self.run(f"DROP TABLE IF EXISTS {name}")
        self.run(create_table(name, kind))

    def run(self, statement):
        address = f"http://127.0.0.1:{self.server.port}/"
        with urllib.request.urlopen(address, data=statement.encode(), timeout=60) as response:
            return response.read()

    def add(self, payload):
        rows = [row for part in payload.get("resourceSpans", ()) for row in self.rows_of(part)]
        if rows:
            text = "\n".join(map(json.dumps, rows))
            self.run(
                f"INSERT INTO {self.name} SETTINGS date_time_input_format='basic' FORMAT JSONEachRow\n{text}"
            )

    def rows_of(self, part):
        resource = self.attributes(part["resource"].get("attributes", []))
        for scope in part["scopeSpans"]:
            for span in scope["spans"]:
                begin, end = int(span["startTimeUnixNano"]), int(span["endTimeUnixNano"])
                events = span.get("events", [])
                yield {
                    "Timestamp": f"{begin // 10**9}.{begin % 10**9:09}",
                    "TraceId": span["traceId"],
                    "SpanId": span["spanId"],
                    "ParentSpanId": span.get("parentSpanId") or "",
                    "SpanName": span["name"],
                    "ScopeName": scope.get("scope", {}).get("name", ""),
                    "ResourceAttributes": resource,
                    "SpanAttributes": self.attributes(span.get("attributes", [])),
                    "Duration": max(end - begin, 0),
                    "StatusCode": STATUS.get(span.get("status", {}).get("code"), "Unset"),
                    "StatusMessage": span.get("status", {}).get("message", ""),
                    "Events.Timestamp": [
                        f"{int(event['timeUnixNano']) // 10**9}.{int(event['timeUnixNano']) % 10**9:09}"
                        for event in events
                    ],
                    "Events.Name": [event["name"] for event in events],
                    "Events.Attributes": [self.attributes(event.get("attributes", [])) for event in events],
                }

    def attributes(self, entries):
        values = {entry["key"]: plain(entry["value"]) for entry in entries}
        if self.kind == JSON:
            return values
        return {key: value if isinstance(value, str) else json.dumps(value) for key, value in values.items()}

    def address(self, **options):
        rest = "".join(f"&{name}={value}" for name, value in options.items())
        return f"clickhouse://default@127.0.0.1:{self.server.port}/default?table={self.name}{rest}"

    def store(self, **options):
        return open_store(self.address(**{"scores": "memory", **options}))


def plain(value):
    """A value of OTLP's JSON."""
    ((kind, content),) = value.items() if value else (("stringValue", ""),)
    if kind == "arrayValue":
        return [plain(item) for item in content.get("values", [])]
    if kind == "kvlistValue":
        return {item["key"]: plain(item["value"]) for item in content.get("values", [])}
    return int(content) if kind == "intValue" else content


@pytest.fixture(scope="module")
def server():
    server = ClickHouseServer()
    yield server
    server.close()


@pytest.fixture(params=[MAPS, JSON], ids=["maps", "json"])
def table(server, request):
    return Table(server, "otel_traces", request.param)


def span(number, parent=None, *, trace="a" * 32, name="refund", begin=0, attributes=(), status=None):
    return {
        "traceId": trace,
        "spanId": f"{number:016x}",
        "parentSpanId": "" if parent is None else f"{parent:016x}",
        "name": name,
        "startTimeUnixNano": str(1_790_000_000_000_000_000 + begin),
        "endTimeUnixNano": str(1_790_000_000_000_000_000 + begin + 5_000_001),
        "attributes": [{"key": key, "value": value} for key, value in dict(attributes).items()],
        "status": status or {},
    }


def tool(name, arguments):
    return {
        "gen_ai.operation.name": {"stringValue": "execute_tool"},
        "gen_ai.tool.name": {"stringValue": name},
        "gen_ai.tool.call.arguments": {"stringValue": json.dumps(arguments)},
    }


def payload(*spans, project="shop"):
    service = [{"key": "service.name", "value": {"stringValue": project}}]
    return {"resourceSpans": [{"resource": {"attributes": service}, "scopeSpans": [{"spans": list(spans)}]}]}


def facts(trace):
    """What each span says; of spans that begin together, no table knows which came first."""
    return {
        one.span_id: (
            *(one.name, one.parent_id, one.span_type, one.start_ns, one.end_ns, one.status),
            *(one.input, one.output, one.usage, one.error and one.error.message),
        )
        for one in trace.spans
    }


def calls(trace):
    return {call.span_id: (call.name, call.arguments, call.output, call.status) for call in trace.tool_calls}


FILES = (
    sorted(path.name for path in DATA.glob("*.json") if path.name != "INDEX.json") if DATA.is_dir() else []
)


class TestRecordings:
    pytestmark = recorded

    @pytest.mark.parametrize("file", FILES)
    def test_each_is_read_from_the_table_as_from_its_file(self, table, file):
        content = json.loads((DATA / file).read_text())
        table.add(content)
        from_file = traces_from_otlp({"resourceSpans": content["resourceSpans"]})
        from_table = {trace.trace_id: trace for trace in table.store().iter_traces()}
        assert set(from_table) == {trace.trace_id for trace in from_file}
        for trace in from_file:
            assert facts(from_table[trace.trace_id]) == facts(trace)
            assert calls(from_table[trace.trace_id]) == calls(trace)


def test_tokens_are_numbers_and_texts_stay_texts(table):
    table.add(
        payload(
            span(
                1,
                attributes={
                    "gen_ai.operation.name": {"stringValue": "chat"},
                    "gen_ai.request.model": {"stringValue": "gpt-4.1"},
                    "gen_ai.usage.input_tokens": {"intValue": "12"},
                    "gen_ai.usage.output_tokens": {"intValue": "3"},
                    "order": {"stringValue": "0012"},
                    "ratio": {"stringValue": "1.50"},
                },
            )
        )
    )
    (one,) = table.store().trace("a" * 32).spans
    assert (one.usage["input_tokens"], one.usage["output_tokens"]) == (12, 3)
    assert (one.attributes["order"], one.attributes["ratio"]) == ("0012", "1.50")


def test_lists_are_newest_first_by_project_and_name_and_go_through_all_parts(table):
    for number in range(450):
        trace = f"{number + 1:032x}"
        project = "desk" if number % 3 else "shop"
        table.add(payload(span(1, trace=trace, begin=number // 2, name=f"n{number % 2}"), project=project))
    store = table.store()
    newest = [line.trace_id for line in store.traces(limit=1000)]
    assert newest == [f"{number + 1:032x}" for number in reversed(range(450))]
    assert [line.trace_id for line in store.traces(limit=3)] == newest[:3]
    assert [trace.trace_id for trace in store.iter_traces(limit=203)] == newest[:203]
    desk = [f"{number + 1:032x}" for number in reversed(range(450)) if number % 3]
    assert [trace.trace_id for trace in store.iter_traces(project="desk")] == desk
    assert len(store.traces(project="shop", name="n0", limit=1000)) == 75
    assert [trace.trace_id for trace in store.iter_traces("name:n1 project:desk", limit=2)] == [
        trace_id for trace_id in desk if int(trace_id, 16) % 2 == 0
    ][:2]


def test_one_trace_is_found_by_the_beginning_of_its_id(table):
    table.add(payload(span(1, trace="abcd1" + "0" * 27), span(2, trace="abcd2" + "0" * 27)))
    store = table.store()
    assert store.trace("abcd1").trace_id == "abcd1" + "0" * 27
    assert store.trace("ABCD2" + "0" * 27).spans[0].span_id == f"{2:016x}"
    assert store.trace("ffff") is None
    assert store.trace("' OR 1=1 --") is None
    with pytest.raises(StoreError, match="abcd"):
        store.trace("abcd")


def test_scores_are_kept_beside_and_found_again(table, tmp_path):
    table.add(payload(span(1, attributes=tool("refund", {"id": 7}))))
    beside = tmp_path / "scores.db"
    store = table.store(scores=f"sqlite:///{beside}")
    score = ToolOrderScorer().score(Example(expected_tools=["refund"]), store.trace("a" * 32))
    assert score.passed
    store.write_scores([ScoreRow("a" * 32, None, score)])
    assert store.flush(30)
    store.close()
    again = table.store(scores=f"sqlite:///{beside}")
    ((span_id, found),) = again.scores("a" * 32)
    assert (span_id, found.name, found.value) == (None, score.name, 1.0)
    assert [trace.trace_id for trace in again.iter_traces(f'score:"{score.name}"=1')] == ["a" * 32]
    again.close()


def test_the_command_line_lists_shows_and_scores(table, tmp_path, capsys):
    table.add(payload(span(1, attributes=tool("refund", {"id": 7}))))
    address = table.address(scores=f"sqlite:///{tmp_path / 'scores.db'}")
    for command in (["list"], ["show", "aaaa"]):
        with pytest.raises(SystemExit) as ended:
            main(["traces", *command, "--store", address])
        assert ended.value.code == 0
        assert "refund" in capsys.readouterr().out


def test_spans_are_refused_and_nothing_is_deleted(table):
    table.add(payload(span(1)))
    store = table.store()
    with pytest.raises(StoreError, match=r"is only read: delete .* there"):
        store.delete_trace("a" * 32)
    with pytest.raises(AttributeError, match="traces in ClickHouse are only read"):
        store.unsent  # noqa: B018
    assert store.trace("a" * 32) is not None


def test_a_tracer_cannot_record_into_it_and_a_page_takes_no_spans(table, tmp_path):
    with pytest.raises(ConfigError, match="is only read: record with exporters"):
        Tracer("shop", store=table.address(scores="memory"))
    service = Service(table.store(), guard_of("127.0.0.1", 1, None), OneToken(None))
    answer = TestClient(service.server.config.app, base_url="http://127.0.0.1:1").post("/v1/traces", json={})
    assert answer.status_code == 405
    assert "only read" in answer.json()["error"]
    service.intake.close(30)


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("clickhouse://host:port/db", "the port or the host cannot be read"),
        ("clickhouse://host/db?tabel=x", "no option 'tabel'.*table"),
        ("clickhouse://host/db?table=x%60%3B+DROP", "a table in ClickHouse has a name of letters"),
        ("clickhouse://host/a/b", "a database in ClickHouse has a name of letters"),
        ("clickhouse://host/db?since=soon", "soon"),
        ("clickhouse://host/db?scores=clickhouse://host/db", "scores= names a store that can be written"),
    ],
)
def test_an_address_that_cannot_work_is_refused_at_once(address, message):
    with pytest.raises(ConfigError, match=message):
        open_store(address)


def test_a_server_that_is_away_is_told_without_the_password():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]  # nobody listens
        store = open_store(f"clickhouse://ann:hunter2-9@127.0.0.1:{port}/default?scores=memory")
        with pytest.raises(StoreError, match="cannot be read") as caught:
            store.traces()
    assert "hunter2" not in f"{caught.value}{store!r}{store.address}"


def test_a_table_that_is_missing_or_has_other_columns_is_told(table):
    table.run("CREATE TABLE IF NOT EXISTS other (TraceId String) ENGINE = Memory")
    for name, message in (("nowhere", "nowhere"), ("other", "Timestamp")):
        with pytest.raises(StoreError, match=message):
            open_store(
                f"clickhouse://127.0.0.1:{table.server.port}/default?table={name}&scores=memory"
            ).traces()


def test_rows_without_ids_are_left_out(table):
    table.add(payload(span(1), span(2, trace="nonsense"), span(0)))
    (trace,) = table.store().iter_traces()
    assert [one.span_id for one in trace.spans] == [f"{1:016x}"]


def test_many_threads_may_ask_one_store(table):
    table.add(payload(*(span(1, trace=f"{number + 1:032x}", begin=number) for number in range(20))))
    store, lengths = table.store(), []
    threads = [threading.Thread(target=lambda: lengths.append(len(store.traces()))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert lengths == [20] * 8
