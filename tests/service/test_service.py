"""`agenttrace serve`: pages and spans on one port, by real requests over loopback."""

import logging
import signal
import socket
import subprocess
import sys
import threading
import time

import httpx
import pytest
from click.testing import CliRunner
from serving import RULES, request, serve

from agenttrace import OTLPExporter, Tracer
from agenttrace.cli.main import cli
from agenttrace.core.errors import ConfigError, StoreError
from agenttrace.service import Service, Tokens
from agenttrace.service.state import StoreState
from agenttrace.service.tokens import OneToken
from agenttrace.store import MemoryStore, SQLiteStore, open_store
from agenttrace.viewer.serving import guard_of, listen

SHOP, OTHER = "a-token-of-the-shop", "a-token-of-the-others"


class Running:
    """A service on a port of its own, in a thread."""

    def __init__(self, store, tokens, token="a-token-for-the-pages"):
        self.listener = listen("127.0.0.1", 0)
        self.port = self.listener.getsockname()[1]
        self.service = Service(store, guard_of("127.0.0.1", self.port, token), tokens)
        self.ended = []
        self.thread = threading.Thread(
            target=lambda: self.ended.append(self.service.run(self.listener)), daemon=True
        )
        self.thread.start()

    def ask(self, method, path, token=None, **options):
        headers = options.pop("headers", {})
        if token:
            headers["authorization"] = f"Bearer {token}"
        url = f"http://127.0.0.1:{self.port}{path}"
        return httpx.request(method, url, headers=headers, timeout=60, trust_env=False, **options)

    def send(self, token=SHOP, path="/v1/traces", **what):
        return self.ask("POST", path, token, json=request(**what))

    def stop(self):
        self.service.server.should_exit = True
        self.thread.join(60)
        assert not self.thread.is_alive()
        self.listener.close()


@pytest.fixture
def token_file(tmp_path):
    path = tmp_path / "tokens"
    path.write_text(f"# who may send\n{SHOP} shop\n\n{OTHER}  *\n")
    path.chmod(0o600)
    return path


@pytest.fixture
def run():
    running = []

    def start(store, tokens, **options):
        running.append(Running(store, tokens, **options))
        return running[-1]

    yield start
    for one in running:
        one.stop()


@pytest.fixture(params=["sqlite", "postgres"])
def address(request, tmp_path):
    if request.param == "postgres":
        return request.getfixturevalue("postgres_address")
    return str(tmp_path / "traces.db")


@pytest.fixture
def store(address):
    store = open_store(address)
    yield store
    store.close()


def test_what_was_answered_is_stored_and_the_pages_show_it(run, store, token_file):
    service = run(store, Tokens(token_file))
    assert service.send(trace=1, spans=3).status_code == 200
    assert [(line.project, line.spans) for line in store.traces()] == [("shop", 3)]
    page = service.ask("GET", f"/t/{1:032x}", "a-token-for-the-pages")
    assert page.status_code == 200
    assert "plan" in page.text


def test_a_token_says_which_project_and_star_leaves_it_to_the_spans(run, token_file):
    store = MemoryStore()
    service = run(store, Tokens(token_file))
    assert service.send(OTHER, trace=1).status_code == 200
    assert service.send(SHOP, trace=2).status_code == 200
    assert {line.project for line in store.traces()} == {"default", "shop"}


@pytest.mark.parametrize("token", [None, "wrong", SHOP + "x", "a-token-for-the-pages", "ü" * 20])
def test_a_wrong_token_is_refused_and_stores_nothing(run, token_file, token):
    store = MemoryStore()
    service = run(store, Tokens(token_file))
    headers = {} if token is None else {"authorization": b"Bearer " + token.encode()}
    answer = service.ask("POST", "/v1/traces", headers=headers, json=request())
    assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
    assert store.traces() == []


def test_tokens_do_not_open_the_pages(run, token_file):
    service = run(MemoryStore(), Tokens(token_file))
    assert service.ask("GET", "/api/v1/traces", SHOP).status_code == 401


def test_a_changed_file_of_tokens_is_read_and_a_broken_one_changes_nothing(token_file, monkeypatch):
    tokens = Tokens(token_file)

    def admits(token):
        tokens._look_again_at = 0.0
        return tokens.admit({"authorization": f"Bearer {token}"})

    assert admits(SHOP) == "shop"
    token_file.write_text(f"{SHOP} warehouse\n")
    assert admits(SHOP) == "warehouse"
    assert admits(OTHER).status == 401
    token_file.write_text("short x\n")
    assert admits(SHOP) == "warehouse"
    token_file.unlink()
    assert admits(SHOP) == "warehouse"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no token"),
        ("short shop\n", ":1: wanted a token"),
        (f"{SHOP}\n", "a project"),
        (f"{SHOP} a\n{SHOP} b\n", ":2: this token"),
    ],
)
def test_a_file_of_tokens_that_says_nothing_is_an_error(tmp_path, text, says):
    path = tmp_path / "tokens"
    path.write_text(text)
    path.chmod(0o600)
    with pytest.raises(ConfigError, match=says):
        Tokens(path)


def test_a_file_of_tokens_that_others_may_read_is_an_error(token_file):
    token_file.chmod(0o644)
    with pytest.raises(ConfigError, match="chmod 600"):
        Tokens(token_file)


def test_a_foreign_host_name_is_refused(run, token_file):
    service = run(MemoryStore(), OneToken(None), token=None)
    answer = service.ask("POST", "/v1/traces", headers={"host": "evil.example"}, json=request())
    assert answer.status_code == 421


def test_a_large_request_is_taken_and_one_that_is_too_large_is_refused(run):
    service = run(MemoryStore(), OneToken(None), token=None)
    assert service.send(spans=10_000).status_code == 200
    answer = service.ask(
        "POST", "/v1/traces", content=b" " * 17_000_000, headers={"content-type": "application/json"}
    )
    assert answer.status_code == 413


class Sick(MemoryStore):
    """A store that is away, or frozen, as long as it is told to be."""

    trouble = None
    may_answer = None

    def traces(self, **options):
        if self.may_answer is not None:
            assert self.may_answer.wait(60)
        if self.trouble:
            raise StoreError(self.trouble)
        return super().traces(**options)

    def write(self, batch):
        if self.trouble:
            raise StoreError(self.trouble)
        super().write(batch)


def test_health_says_that_the_store_is_away_and_spans_are_told_to_come_again(run):
    store = Sick()
    service = run(store, OneToken(None), token=None)
    assert service.ask("GET", "/healthz").json() == {"status": "ok"}
    store.trouble = "postgresql://user:hunter2@host is away"
    until = time.monotonic() + 60
    while service.ask("GET", "/healthz").status_code != 503:
        assert time.monotonic() < until
    assert "hunter2" not in service.ask("GET", "/healthz").text
    answer = service.send()
    assert (answer.status_code, "retry-after" in answer.headers) == (503, True)
    assert "hunter2" not in answer.text
    store.trouble = None
    assert service.send().status_code == 200


def test_a_store_that_is_frozen_is_told_of_in_bounded_time():
    store = Sick()
    store.may_answer = threading.Event()
    state = StoreState(store, seconds=0.1)
    assert state.trouble() == "the store does not answer"
    assert state.trouble() == "the store does not answer"
    assert sum(thread.name == "agenttrace-health" for thread in threading.enumerate()) == 1
    store.may_answer.set()
    assert state._answered.wait(60)
    state._asked_at = None
    assert state.trouble() is None


def test_what_the_memory_of_a_file_keeps_is_not_answered_for(run, tmp_path):
    folder = tmp_path / "folder"
    folder.write_text("in the way of the store's folder")
    store = SQLiteStore(folder / "traces.db")
    service = run(store, OneToken(None), token=None)
    assert service.send().status_code == 503
    folder.unlink()
    store._fallback._again_at = 0.0
    assert service.send().status_code == 200
    assert len(store.traces()) == 1


@pytest.mark.parametrize("processes", ["0", "2"])
def test_a_service_that_is_told_to_end_has_stored_what_it_answered(tmp_path, processes):
    path = str(tmp_path / "traces.db")
    process, url = serve(path, "--processes", processes)
    answered = []

    def send(first):
        for trace in range(first, 10_000, 4):
            try:
                answer = httpx.post(f"{url}/v1/traces", json=request(trace), timeout=60, trust_env=False)
            except httpx.HTTPError:
                return
            if answer.status_code == 200:
                answered.append(trace)

    senders = [threading.Thread(target=send, args=(first,)) for first in range(1, 5)]
    for sender in senders:
        sender.start()
    until = time.monotonic() + 60
    while len(answered) < 40:
        assert time.monotonic() < until
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    for sender in senders:
        sender.join(120)
    assert process.wait(60) == 0
    process.stdout.close()
    stored = {int(line.trace_id, 16) for line in SQLiteStore(path).traces(limit=20_000)}
    assert set(answered) <= stored


def test_a_service_that_is_killed_has_stored_what_it_answered_once(tmp_path):
    path = str(tmp_path / "traces.db")
    process, url = serve(path)
    for trace in range(1, 30):
        assert httpx.post(f"{url}/v1/traces", json=request(trace, 5), trust_env=False).status_code == 200
    process.kill()
    process.wait(60)
    process.stdout.close()
    lines = SQLiteStore(path).traces(limit=100)
    assert sorted((int(line.trace_id, 16), line.spans) for line in lines) == [(n, 5) for n in range(1, 30)]


def test_our_own_exporter_is_understood(run, token_file):
    pytest.importorskip("opentelemetry.proto")
    store = MemoryStore()
    service = run(store, Tokens(token_file))
    exporter = OTLPExporter(f"http://127.0.0.1:{service.port}", headers={"authorization": f"Bearer {SHOP}"})
    tracer = Tracer(project_name="mine", store="memory", exporters=[exporter])

    @tracer.observe(span_type="tool")
    def search(city):
        return [city]

    search("Paris")
    assert tracer.flush(30)
    tracer.shutdown()
    [line] = store.traces()
    assert line.project == "shop"
    assert [call.arguments for call in store.trace(line.trace_id).tool_calls] == [{"city": "Paris"}]


@pytest.mark.parametrize("compression", ["NoCompression", "Gzip", "Deflate"])
def test_an_exporter_of_the_opentelemetry_sdk_is_understood(run, token_file, compression):
    http = pytest.importorskip("opentelemetry.exporter.otlp.proto.http")
    sdk = pytest.importorskip("opentelemetry.sdk.trace")
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor

    store = MemoryStore()
    service = run(store, Tokens(token_file))
    provider = sdk.TracerProvider()
    exporter = OTLPSpanExporter(
        f"http://127.0.0.1:{service.port}/v1/traces",
        headers={"authorization": f"Bearer {SHOP}"},
        compression=http.Compression[compression],
    )
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    said = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "get_weather",
        "gen_ai.tool.call.arguments": '{"city": "Paris"}',
    }
    with provider.get_tracer("a framework").start_as_current_span("execute_tool", attributes=said):
        pass
    provider.shutdown()
    [line] = store.traces()
    assert [(call.name, call.arguments) for call in store.trace(line.trace_id).tool_calls] == [
        ("get_weather", {"city": "Paris"})
    ]


@pytest.mark.parametrize("processes", ["0", "1"])
def test_what_arrives_is_scored_by_a_worker_as_the_rules_say(tmp_path, address, store, processes):
    rules = tmp_path / "rules.yaml"
    rules.write_text(RULES)
    tokens = tmp_path / "tokens"
    tokens.write_text(f"{SHOP} shop\n{OTHER} *\n")
    tokens.chmod(0o600)
    more = "--rules", str(rules), "--tokens", str(tokens), "--processes", processes
    process, url = serve(address, *more, folder=tmp_path)
    try:
        for token, trace in ((SHOP, 1), (OTHER, 2)):
            headers = {"authorization": f"Bearer {token}"}
            body = request(trace, 2)
            for _ in range(2):  # sent twice, as exporters do that heard no answer
                answer = httpx.post(f"{url}/v1/traces", json=body, headers=headers, trust_env=False)
                assert answer.status_code == 200
        command = [sys.executable, "-m", "agenttrace", "work", "--once", "--rules", str(rules), "--store"]
        for _ in range(2):
            subprocess.run([*command, address], check=True, timeout=120, stdout=subprocess.DEVNULL)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)
        process.stdout.close()
    scores = {line.trace_id: store.scores(line.trace_id) for line in store.traces()}
    assert [score.name for _, score in scores[f"{1:032x}"]] == ["Loop"]
    assert scores[f"{2:032x}"] == []


def test_rules_that_cannot_be_read_end_the_command_before_it_listens(tmp_path):
    rules = tmp_path / "rules.yaml"
    rules.write_text("observe: [{name: sound, scorers: [Lop]}]")
    answer = CliRunner().invoke(cli, ["serve", "--store", str(tmp_path / "t.db"), "--rules", str(rules)])
    assert answer.exit_code != 0
    assert "rules.yaml:1" in str(answer.exception) + answer.output


def test_the_command_says_where_it_listens_and_refuses_the_world_without_a_token(tmp_path):
    answer = CliRunner().invoke(cli, ["serve", "--store", str(tmp_path / "t.db"), "--host", "0.0.0.0"])
    assert answer.exit_code != 0
    assert "--token-file" in str(answer.exception) + answer.output


def test_a_request_that_cannot_be_read_to_its_end_is_answered_without_a_traceback(run, token_file, caplog):
    service = run(MemoryStore(), Tokens(token_file))
    logging.getLogger("uvicorn.error").addHandler(caplog.handler)
    head = (
        "POST /v1/traces HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        f"Authorization: Bearer {SHOP}\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", service.port), timeout=30) as connection:
        connection.sendall(head.encode() + b"not a length\r\n")
        answer = b"".join(iter(lambda: connection.recv(1_000), b""))
    assert answer.startswith(b"HTTP/1.1 400")
    assert service.send(trace=1, spans=1).status_code == 200
    logging.getLogger("uvicorn.error").removeHandler(caplog.handler)
    assert [record for record in caplog.records if record.exc_info] == []
