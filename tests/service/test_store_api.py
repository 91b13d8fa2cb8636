"""The store of a service over HTTP: what is asked and refused, what comes twice, what is away for a while."""

import gzip
import os
import socket
import threading
import time
import uuid

import httpx
import pytest
from click.testing import CliRunner

from agenttrace import Client, Example, OTLPExporter, Tracer
from agenttrace.cli.main import cli
from agenttrace.core.batch import Batch, ScoreRow
from agenttrace.core.errors import ConfigError, StoreError
from agenttrace.core.pending import WorkItem
from agenttrace.core.score import Score
from agenttrace.core.span import Span
from agenttrace.scorers import ToolOrderScorer
from agenttrace.service import Service, store_api
from agenttrace.service.tokens import OneToken
from agenttrace.store import MemoryStore, SQLiteStore, open_store
from agenttrace.store.remote import RemoteStore, connection
from agenttrace.store.remote import store as remote_store
from agenttrace.store.remote.calls import CALLS, KEY, PATH
from agenttrace.store.remote.values import read, written
from agenttrace.viewer.serving import guard_of, listen

TOKEN = "a-token-for-the-pages"


class Running:
    """A service on a port of its own, in a thread, which can be ended and begun again."""

    def __init__(self, store, token=TOKEN, port=0, **guarding):
        self.store, self.token, self.guarding = store, token, guarding
        self.listener = listen("127.0.0.1", port)
        self.port = self.listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.begin()

    def begin(self):
        guard = guard_of("127.0.0.1", self.port, self.token, **self.guarding)
        self.service = Service(self.store, guard, OneToken(self.token))
        self.thread = threading.Thread(target=self.service.run, args=(self.listener,), daemon=True)
        self.thread.start()

    def end(self):
        self.service.server.should_exit = True
        self.thread.join(60)
        assert not self.thread.is_alive()
        self.listener.close()

    def call(self, name, *positional, key=None, headers=None, body=None, token=TOKEN, **named):
        sent = {"authorization": f"Bearer {token}", "content-type": "application/json", **(headers or {})}
        if CALLS.get(name) is not None and CALLS[name].writes:
            sent[KEY] = uuid.uuid4().hex if key is None else key
        if body is None:
            body = written({"call": name, "positional": list(positional), "named": named})
        sent = {name: value for name, value in sent.items() if value is not None}
        return httpx.post(self.url + PATH, headers=sent, content=body, timeout=60, trust_env=False)


@pytest.fixture
def store(tmp_path):
    store = SQLiteStore(tmp_path / "traces.db")
    yield store
    store.close()


@pytest.fixture
def service(store):
    service = Running(store)
    yield service
    service.end()


@pytest.fixture
def client_of():
    clients = []

    def make(*arguments, **options):
        clients.append(Client(*arguments, **options))
        return clients[-1]

    yield make
    for client in clients:
        client.store.close()


@pytest.fixture
def remote(service):
    store = RemoteStore(service.url, TOKEN)
    yield store
    store.close()


@pytest.fixture
def _briefly(monkeypatch):
    monkeypatch.setattr(connection, "CALL_SECONDS", 3.0)
    monkeypatch.setattr(connection, "WRITE_SECONDS", 3.0)


def a_span(trace=1, span=1, **fields):
    fields = {"name": "book", "span_type": "tool", "project": "shop", "start_ns": 5, "end_ns": 9, **fields}
    return Span(trace_key=trace, span_key=span, **fields)


def a_score(name="Tool Order", value=1.0):
    return Score.of(name, value, 0.5)


class TestAClient:
    def test_pushes_pulls_runs_and_reads_what_it_ran_over_the_service(self, client_of, service, store):
        tracer = Tracer("shop", store=client_of(store=service.url, token=TOKEN).store)

        @tracer.observe(span_type="tool")
        def book(seat):
            return {"seat": seat}

        client = client_of("shop", store=service.url, token=TOKEN)
        assert (
            client.push_dataset("seats", [Example(name="one", input={"seat": "7"}, expected_tools=["book"])])
            == 1
        )
        (example,) = client.pull_dataset("seats")
        report = client.assert_test(
            [example], [ToolOrderScorer()], function=lambda seat: book(int(seat)), tracer=tracer
        )
        tracer.shutdown()
        assert report.passed
        assert [run.run_id for run in client.store.runs()] == [report.run_id]
        local = store.run(report.run_id)
        assert client.store.run(report.run_id) == local
        assert local["results"][0]["trace_id"] == report[0].trace_id
        assert [span.name for span in store.trace(report[0].trace_id).spans] == ["book"]

    def test_keeps_traces_of_its_runs_there_without_a_tracer(self, client_of, service, store):
        client = client_of("shop", store=service.url, token=TOKEN)
        report = client.run_evaluation(
            [Example(input="hi", expected_tools=[], actual_output="ok", tools_called=[])],
            [ToolOrderScorer()],
        )
        assert store.run(report.run_id)["project"] == "shop"

    def test_takes_a_token_for_a_service_alone(self, client_of, tmp_path):
        with pytest.raises(ConfigError, match="token= is for"):
            client_of(store=str(tmp_path / "a.db"), token=TOKEN)
        with pytest.raises(ConfigError, match="open already"):
            client_of(store=MemoryStore(), token=TOKEN)

    def test_says_who_is_not_let_in(self, client_of, service):
        with pytest.raises(StoreError, match="does not let in this token"):
            client_of(store=service.url, token="a-wrong-token-for-it").pull_dataset("seats")
        with pytest.raises(StoreError, match="set AGENTTRACE_TOKEN"):
            client_of(store=service.url).pull_dataset("seats")

    def test_takes_the_token_of_the_environment(self, client_of, service, monkeypatch):
        monkeypatch.setenv("AGENTTRACE_TOKEN", f" {TOKEN}\n")
        assert client_of(store=service.url).store.datasets() == []
        monkeypatch.setenv("AGENTTRACE_STORE", service.url)
        assert client_of().store.datasets() == []

    @pytest.mark.parametrize("url", ["http://", "https://user:pw@host", "http://host?token=a", "http://[::"])
    def test_needs_an_address_that_can_be_used(self, client_of, url):
        with pytest.raises(ConfigError) as error:
            client_of(store=url)
        assert "pw" not in str(error.value)

    def test_is_told_what_answers_where_there_is_no_service(self, client_of, loopback_server_of_pages):
        with pytest.raises(StoreError, match="is no service of agenttrace: it answered 404"):
            client_of(store=loopback_server_of_pages).store.runs()


@pytest.fixture
def loopback_server_of_pages():
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

    class Pages(BaseHTTPRequestHandler):
        def do_POST(self):
            self.send_response(404)
            self.send_header("content-length", "6")
            self.end_headers()
            self.wfile.write(b"<html>")

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join(30)


class TestCommands:
    def test_read_and_write_over_the_service(self, service, store, monkeypatch):
        monkeypatch.setenv("AGENTTRACE_TOKEN", TOKEN)
        store.write(Batch([a_span()], [ScoreRow(f"{1:032x}", None, a_score())]))

        def run(*arguments):
            result = CliRunner().invoke(cli, [*arguments, "--store", service.url])
            assert result.exit_code == 0, result.output
            return result.output

        assert "book" in run("traces", "list")
        assert "book" in run("traces", "show", f"{1:032x}")
        assert "book" in run("traces", "list", "--where", "tool:book")
        assert '"project":"shop","traces":1' in run("health", "--json")
        run("annotate", f"{1:032x}", "--thumbs", "up")
        assert [one.thumbs for one in store.annotations()] == ["up"]
        run("traces", "delete", "--where", "tool:book", "--yes")
        assert store.traces() == []

    def test_a_worker_evaluates_over_the_service(self, service, store, tmp_path, monkeypatch):
        monkeypatch.setenv("AGENTTRACE_TOKEN", TOKEN)
        rules = tmp_path / "rules.yaml"
        rules.write_text("observe:\n  - name: sound\n    project: shop\n    scorers: [Loop]\n")
        store.write(Batch([a_span()]))
        store.work_queue().add([WorkItem("shop", f"{1:032x}", "sound")], 0)
        result = CliRunner().invoke(cli, ["work", "--rules", str(rules), "--once", "--store", service.url])
        assert result.exit_code == 0, result.output
        assert [score.name for _, score in store.scores(f"{1:032x}")] == ["Loop"]
        assert store.work_queue().counts()["shop"].done == 1


class TestWhatIsRefused:
    def test_all_but_post(self, service):
        headers = {"authorization": f"Bearer {TOKEN}"}
        answer = httpx.get(service.url + PATH, headers=headers, trust_env=False)
        assert (answer.status_code, answer.headers["allow"]) == (405, "POST")

    @pytest.mark.parametrize("token", ["a-wrong-token-of-somebody", "x", "é"])
    def test_a_wrong_token(self, service, token):
        headers = {"authorization": f"Bearer {token}".encode()}
        assert service.call("runs", headers=headers).status_code == 401

    def test_wrong_tokens_again_and_again(self, service):
        statuses = [service.call("runs", token=f"a-wrong-token-{n}").status_code for n in range(12)]
        assert statuses[:10] == [401] * 10
        assert statuses[-1] == 429

    @pytest.mark.parametrize(
        "headers", [{"origin": "http://127.0.0.1:1"}, {"origin": "null"}, {"sec-fetch-site": "cross-site"}]
    )
    def test_a_page(self, service, headers):
        assert service.call("runs", headers=headers).status_code == 403

    def test_a_page_where_no_token_is_needed(self, store):
        service = Running(store, token=None)
        try:
            assert service.call("runs", headers={"authorization": None}).status_code == 200
            headers = {"authorization": None, "origin": service.url}
            assert service.call("runs", headers=headers).status_code == 403
            headers = {"authorization": None, "content-type": "text/plain"}
            assert service.call("runs", headers=headers).status_code == 415
        finally:
            service.end()

    def test_what_writes_where_the_service_is_only_read(self, store):
        service = Running(store, read_only=True)
        remote = RemoteStore(service.url, TOKEN)
        with pytest.raises(StoreError, match="--read-only"):
            remote.save_dataset("a", "p", {})
        assert remote.datasets() == []
        remote.close()
        service.end()

    def test_another_host(self, service):
        assert service.call("runs", headers={"host": "elsewhere.example"}).status_code == 421

    @pytest.mark.parametrize(
        ("body", "status"),
        [
            (b"", 400),
            (b"{", 400),
            (b"[]", 400),
            (b'{"call": 7}', 400),
            (b'{"call": "runs", "positional": {}}', 400),
            (b'{"call": "runs", "named": []}', 400),
            (b'{"call": "runs", "named": {"nonsense": 1}}', 400),
            (b'{"call": "runs", "named": {"limit": "many"}}', 400),
            (b'{"call": "runs", "positional": [1, 2, 3]}', 400),
            (b'{"call": "close"}', 400),
            (b'{"call": "__init__"}', 400),
            (b'{"call": "reads.each_match"}', 400),
            (b'{"call": "reads.search", "positional": ["tool:x"]}', 400),
            (b'{"call": "trace", "positional": [{"$": "Popen"}]}', 400),
            (b'{"call": "trace", "positional": ["ab"]}', 422),
            (b'{"call": "trace", "positional": [7]}', 400),
            (b'{"call": "traces_by_id", "positional": [7]}', 400),
            (b'{"call": "write", "positional": [{}]}', 400),
        ],
    )  # fmt: skip
    def test_what_is_no_call(self, service, body, status):
        answer = service.call("write", body=body)
        assert answer.status_code == status, answer.text
        assert answer.json()["error"]

    def test_what_writes_without_a_key(self, service):
        for key in ("", "short", "x" * 101):
            answer = service.call("delete_trace", "ab" * 16, key=key)
            assert answer.status_code == 400
            assert KEY in answer.json()["error"]

    def test_what_is_packed_otherwise_cut_or_a_bomb(self, service):
        whole = written({"call": "runs"})
        packed = gzip.compress(whole)
        for body, encoding, status in [
            (packed, "gzip", 200),
            (packed[:-9], "gzip", 400),
            (whole, "gzip", 400),
            (packed, "br", 415),
            (gzip.compress(b" " * (store_api.MOST_BYTES + 1)), "gzip", 413),
        ]:
            answer = service.call("runs", headers={"content-encoding": encoding}, body=body)
            assert answer.status_code == status, answer.text

    def test_what_is_too_long(self, service, monkeypatch):
        monkeypatch.setattr(store_api, "MOST_SENT", 1_000)
        assert service.call("runs", body=b" " * 1_001).status_code == 413

        def pieces():
            for _ in range(20):
                yield b" " * 100

        assert service.call("runs", body=pieces()).status_code == 413

    def test_more_at_once_than_there_is_room_for(self, service, store, monkeypatch):
        monkeypatch.setattr(store_api, "WAITING", 1)
        begun, go_on = threading.Event(), threading.Event()

        def slow(**_):
            begun.set()
            go_on.wait(30)
            return []

        monkeypatch.setattr(store, "datasets", slow)
        first = threading.Thread(target=service.call, args=("datasets",))
        first.start()
        assert begun.wait(30)
        answer = service.call("runs")
        go_on.set()
        first.join(30)
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
        assert service.call("runs").status_code == 200

    def test_an_answer_that_is_too_long(self, service, store, monkeypatch):
        monkeypatch.setattr(store_api, "MOST_BYTES", 10_000)
        store.write(Batch([a_span(output="x" * 20_000)]))
        answer = service.call("trace", f"{1:032x}")
        assert answer.status_code == 422
        assert "ask for less" in answer.json()["error"]

    def test_a_store_that_breaks_is_told_without_its_words(self, service, store, monkeypatch):
        def broken(**_):
            raise OSError("/secret/place")

        monkeypatch.setattr(store, "runs", broken)
        answer = service.call("runs")
        assert (answer.status_code, answer.json()["error"]) == (500, "runs failed here: OSError")


class TestWhatComesTwice:
    def test_is_done_once_and_answered_alike(self, service, store):
        call = Batch(scores=[ScoreRow(f"{1:032x}", None, a_score())])
        key = uuid.uuid4().hex
        answers = [service.call("write", call, key=key) for _ in range(3)]
        assert [answer.status_code for answer in answers] == [200] * 3
        assert len(store.scores(f"{1:032x}")) == 1
        service.call("write", call)
        assert len(store.scores(f"{1:032x}")) == 2

    def test_waits_for_the_first_that_is_on_its_way(self, service, store, monkeypatch):
        begun, go_on, times = threading.Event(), threading.Event(), []

        def slow(batch):
            times.append(1)
            begun.set()
            go_on.wait(30)

        monkeypatch.setattr(store, "write", slow)
        key, answers = uuid.uuid4().hex, []
        threads = [
            threading.Thread(target=lambda: answers.append(service.call("write", Batch(), key=key)))
            for _ in range(3)
        ]
        threads[0].start()
        assert begun.wait(30)
        for thread in threads[1:]:
            thread.start()
        go_on.set()
        for thread in threads:
            thread.join(30)
        assert [answer.status_code for answer in answers] == [200] * 3
        assert len(times) == 1

    def test_is_forgotten_after_many_others(self, service, store, monkeypatch):
        monkeypatch.setattr(store_api, "KEYS", 2)
        keys = [uuid.uuid4().hex for _ in range(3)]
        for key in keys:
            service.call("save_dataset", "a", "p", {"key": key}, key=key)

        def again(key):
            return service.call("save_dataset", "a", "p", {"key": key}, key=key).json()["result"]

        assert [again(keys[-1]), again(keys[0])] == [3, 4]

    def test_is_another_call_where_it_says_something_else(self, service, store):
        key = uuid.uuid4().hex
        for word in ("one", "two"):
            service.call("save_dataset", word, "p", [word], key=key)
        assert [store.load_dataset(word, "p") for word in ("one", "two")] == [["one"], ["two"]]


class TestARecorder:
    def test_stores_what_it_records_at_the_service(self, service, store, remote):
        tracer = Tracer("shop", store=remote)

        @tracer.observe(span_type="tool")
        def book(seat):
            return {"seat": seat}

        book(7)
        assert tracer.flush(30)
        tracer.shutdown()
        (line,) = store.traces()
        (span,) = store.trace(line.trace_id).spans
        assert (span.input, span.output, span.project) == ({"seat": 7}, {"seat": 7}, "shop")

    def test_parts_a_large_batch(self, remote, store):
        remote.write(Batch([a_span(1, n + 1, output="ä" * 120_000) for n in range(100)]))
        assert len(store.trace(f"{1:032x}").spans) == 100
        assert remote.health().written == 100

    @pytest.mark.usefixtures("_briefly")
    def test_keeps_in_memory_what_the_service_cannot_take_and_sends_it_then(self, service, store, caplog):
        remote = RemoteStore(service.url, TOKEN)
        remote.write(Batch([a_span(1)]))
        service.end()
        for number in range(2, 6):
            remote.write(Batch([a_span(number)], [ScoreRow(f"{number:032x}", None, a_score())]))
        remote.save_pending_evaluations("shop", [{"key": "k"}])
        health = remote.health()
        assert (health.mode, health.waiting) == ("memory", 4)
        assert not remote.flush(30)
        assert len([one for one in caplog.records if "cannot be written" in one.message]) == 1
        with pytest.raises(StoreError, match=r"cannot be read: .*cannot connect"):
            remote.runs()
        again = Running(store, port=service.port)
        try:
            assert remote.flush(30)
            assert remote.health().mode == "remote"
            assert remote.health().waiting == 0
            assert len(store.traces()) == 5
            assert all(len(store.scores(f"{number:032x}")) == 1 for number in range(2, 6))
            assert store.pending_evaluations("shop") == [{"key": "k"}]
        finally:
            remote.close()
            again.end()

    def test_a_batch_of_which_the_answer_is_lost_is_stored_once(self, service, store, monkeypatch):
        monkeypatch.setattr(connection, "WRITE_SECONDS", 0.5)
        remote = RemoteStore(service.url, TOKEN)
        begun, go_on, write = threading.Event(), threading.Event(), store.write

        def slow(batch):
            begun.set()
            go_on.wait(30)
            write(batch)

        monkeypatch.setattr(store, "write", slow)
        remote.write(Batch([a_span()], [ScoreRow(f"{1:032x}", None, a_score())]))
        assert begun.is_set()
        assert remote.health().waiting == 1
        go_on.set()
        deadline = time.monotonic() + 30
        while not remote.flush(1) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert remote.health().mode == "remote"
        assert len(store.scores(f"{1:032x}")) == 1
        remote.close()

    def test_what_half_arrived_before_the_service_went_is_not_sent_twice(self, service, store, monkeypatch):
        monkeypatch.setattr(connection, "WRITE_SECONDS", 3.0)
        remote = RemoteStore(service.url, TOKEN)
        remote._fallback.open(StoreError("for a while"))
        monkeypatch.setattr(remote._fallback, "must_wait", lambda: True)
        for number in range(1, 4):
            remote.write(Batch([a_span(number)], [ScoreRow(f"{number:032x}", None, a_score())]))
        monkeypatch.undo()
        monkeypatch.setattr(remote_store, "_MOST_BODY", 10)
        write, turns = store.write, []

        def breaks(batch):
            turns.append(1)
            if len(turns) in (2, 3):  # the second message, and its second attempt
                raise OSError("a disk")
            write(batch)

        store.write = breaks
        assert not remote.flush(5)
        assert remote.flush(5)
        assert {len(store.scores(f"{number:032x}")) for number in range(1, 4)} == {1}
        remote.close()

    def test_a_flush_ends_in_time_where_a_service_takes_a_call_and_never_answers(self, monkeypatch):
        monkeypatch.setattr(connection, "WRITE_SECONDS", 600.0)
        with socket.create_server(("127.0.0.1", 0)) as silent:
            remote = RemoteStore(f"http://127.0.0.1:{silent.getsockname()[1]}", TOKEN)
            remote._fallback.open(StoreError("for a while"))
            remote.write(Batch([a_span()]))
            assert not remote.flush(0.2)
            assert remote.health().waiting == 1
            remote.close()

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
    def test_goes_on_in_a_forked_child(self, remote, store):
        remote.write(Batch([a_span(1)]))
        child = os.fork()
        if child == 0:
            code = 1
            try:
                remote.write(Batch([a_span(2)]))
                code = 0 if remote.flush(10) else 2
            finally:
                os._exit(code)
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == 0
        remote.write(Batch([a_span(3)]))
        assert len(store.traces()) == 3

    def test_has_no_limit_of_age_of_its_own(self, service):
        with pytest.raises(ConfigError, match="the service says"):
            open_store(service.url, keep="30d")

    def test_a_service_of_traces_that_are_only_read_takes_none(self, store, monkeypatch):
        monkeypatch.setattr(SQLiteStore, "only_read", True, raising=False)
        service = Running(store)
        try:
            answer = service.call("write", Batch([a_span()]))
            assert (answer.status_code, answer.json()["type"]) == (422, "StoreError")
        finally:
            service.end()

    def test_the_service_takes_spans_by_opentelemetry_beside(self, service, remote):
        exporter = OTLPExporter(f"{service.url}/v1/traces", headers={"authorization": f"Bearer {TOKEN}"})
        tracer = Tracer("shop", store="memory", exporters=[exporter])

        @tracer.observe
        def plan():
            return 1

        plan()
        assert tracer.flush(30)
        tracer.shutdown()
        assert [trace.spans[0].name for trace in remote.iter_traces()] == ["plan"]


def test_an_answer_comes_packed_where_that_is_worth_it(service, store):
    store.write(Batch([a_span(output="x" * 5_000)]))
    answer = service.call("trace", f"{1:032x}", headers={"accept-encoding": "gzip"})
    assert answer.headers["content-encoding"] == "gzip"
    assert read(answer.content)["result"].spans[0].output == "x" * 5_000


def test_many_traces_come_in_parts_the_newest_first(service, store, remote):
    store.write(Batch([a_span(n + 1, start_ns=n, end_ns=n + 1, output="y" * 50_000) for n in range(300)]))
    ids = [trace.trace_id for trace in remote.iter_traces()]
    assert ids == [f"{n + 1:032x}" for n in reversed(range(300))]
    assert [t.trace_id for t in remote.iter_traces("tool:book", project="shop", limit=2)] == ids[:2]
    assert list(remote.iter_traces("tool:other")) == []


def test_a_limit_that_is_no_number_is_refused_before_anything_is_asked():
    with pytest.raises(StoreError, match="limit"):
        RemoteStore("http://127.0.0.1:9", TOKEN).iter_traces(limit=-1.5)
