"""``agenttrace redact`` on a PostgreSQL server: the same as in a file, down to the bytes of its tables."""

import threading
import time
from contextlib import suppress

import psycopg
import pytest
from click.testing import CliRunner

from agenttrace import Client, ContainsScorer, EvalDataset, Example, run_evaluation
from agenttrace.cli.main import cli
from agenttrace.core.annotation import Annotation
from agenttrace.core.batch import Batch
from agenttrace.core.errors import StoreError
from agenttrace.store import open_store
from agenttrace.store.mending import Which
from agenttrace.store.postgres import mending
from agenttrace.tracer import Tracer

SECRET = "EMP-hunter-0012345"
HIDDEN = (SECRET, "hunter2-in-the-call", "hunter2-in-metadata")


@pytest.fixture
def indexes(tmp_path, monkeypatch):
    """Where the indexes of readers lie."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def address(postgres_address, indexes):
    """A store with a run and a customer's trace that were recorded without redaction."""
    tracer = Tracer("shop", store=postgres_address, redact="off")

    @tracer.observe(span_type="tool", name=f"order_{SECRET}", tags=[SECRET])
    def order(plan, password, note=SECRET):
        raise ValueError(f"{password} is no password")

    @tracer.observe
    def agent(note):
        with suppress(ValueError):
            order("a", "hunter2-in-the-call")
        return note

    run_evaluation(
        [Example(input={"note": SECRET}, name=f"example {SECRET}")],
        [ContainsScorer("x")],
        function=agent,
        tracer=tracer,
        eval_run_name=f"run {SECRET}",
        metadata={"password": "hunter2-in-metadata"},
    )
    with tracer.span("root", input={"text": SECRET}):
        tracer.set_customer_id("acme")
        tracer.score_current_span("quality", 1, reason=f"for {SECRET}")
    assert tracer.flush()
    tracer.shutdown()
    store = open_store(postgres_address)
    trace_id = store.traces()[0].trace_id
    words = Annotation(annotation_id="a", project="shop", trace_id=trace_id, note=SECRET, created_ns=1)
    store.write(Batch(annotations=[words]))
    store.close()
    return postgres_address


def run(address, *arguments):
    return CliRunner().invoke(cli, ["redact", *arguments, "--store", address])


def texts_of(address):
    """Everything in every table, as text."""
    schema = address.partition("schema=")[2]
    with psycopg.connect(address.partition("?")[0], autocommit=True) as db:
        names = db.execute("SELECT tablename FROM pg_tables WHERE schemaname = %s", (schema,)).fetchall()
        tables = [db.execute(f"SELECT string_agg(t::text, ' ') FROM {schema}.{name} t") for (name,) in names]
        return " ".join(text for each in tables for (text,) in each if text)


def bytes_of(server, address):
    """The bytes of the tables' files, once the server has written them."""
    schema = address.partition("schema=")[2]
    with psycopg.connect(server.address, autocommit=True) as db:
        db.execute("CHECKPOINT")
        rows = db.execute(
            "SELECT pg_relation_filepath(c.oid) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
            " WHERE n.nspname = %s AND c.relkind IN ('r', 'i', 't')",
            (schema,),
        ).fetchall()
    paths = [server.folder / "data" / path for (path,) in rows if path]
    return b"".join(path.read_bytes() for path in paths if path.exists())


def test_nothing_of_a_secret_is_left_in_any_table_or_byte(postgres_server, address, indexes):
    listed = CliRunner().invoke(cli, ["traces", "list", "--store", address, "--where", "name:agent"])
    assert listed.exit_code == 0, listed.output
    assert [secret for secret in HIDDEN if secret not in texts_of(address)] == []
    result = run(address, "--where", "project:shop", "--shape", r"EMP-\w+-\d+", "--yes")
    assert result.exit_code == 0, result.output
    assert "of 2 traces" in result.output
    assert "log until it is recycled" in result.output
    assert [secret for secret in HIDDEN if secret in texts_of(address)] == []
    left = bytes_of(postgres_server, address)
    assert [secret for secret in HIDDEN if secret.encode() in left] == []
    kept = b"".join(path.read_bytes() for path in indexes.rglob("*") if path.is_file())
    assert SECRET.encode() not in kept
    shown = CliRunner().invoke(cli, ["traces", "list", "--store", address, "--where", '"EMP hunter"'])
    assert "no trace" in shown.output.lower()


def test_what_is_left_can_be_read_and_written_to(address):
    result = run(address, "--where", "project:shop", "--shape", r"EMP-\w+-\d+", "--yes")
    assert result.exit_code == 0, result.output
    store = open_store(address)
    (line,) = store.runs()
    assert line.name == "run [redacted]"
    traces = [store.trace(line.trace_id) for line in store.traces()]
    assert {span.error.message for trace in traces for span in trace.spans if span.error} == {
        "[redacted] is no password"
    }
    assert [one.note for one in store.annotations()] == ["[redacted]"]
    tools = {tool.name: tool for trace in traces for tool in trace.tools.values()}
    assert tools["order_[redacted]"].tags == ("[redacted]",)
    store.close()
    assert run(address, "--where", "project:shop", "--yes").output.startswith("redacted 0 values")


def test_only_the_traces_that_are_named_are_changed(address):
    store = open_store(address)
    ids = {line.name: line.trace_id for line in store.traces()}
    result = run(address, ids["root"][:12], "--shape", r"EMP-\w+-\d+", "--yes")
    assert result.exit_code == 0, result.output
    assert store.trace(ids["root"]).spans[0].input == {"text": "[redacted]"}
    assert store.trace(ids["agent"]).spans[0].input == {"note": SECRET}
    store.close()


def test_a_reader_elsewhere_makes_its_index_anew(address):
    """A page that runs meanwhile, with an index that knows the old words."""
    reader = open_store(address)
    reads = reader.trace_reads()
    from agenttrace.core.query_parsing import parse

    assert reads.count_matches(parse("order")).number >= 0
    with_words = parse('"EMP hunter"')
    assert reads.count_matches(with_words).number == 2
    other = open_store(address)
    which = Which([trace.trace_id for trace in other.traces()])
    values, _ = other._must_write(lambda db: mending.mend(db, which, _clean))
    assert values
    deadline = time.monotonic() + 30
    while reads.count_matches(with_words).number and time.monotonic() < deadline:
        time.sleep(0.05)
    assert reads.count_matches(with_words).number == 0
    reader.close()
    other.close()


def _clean(_, rows):
    return [{name: _without(value) for name, value in row.items()} for row in rows]


def _without(value):
    if isinstance(value, str):
        return value.replace(SECRET, "gone")
    if isinstance(value, dict):
        return {key: _without(item) for key, item in value.items()}
    return [_without(item) for item in value] if isinstance(value, list) else value


def test_tables_that_cannot_be_written_anew_are_said_with_what_to_do(address, monkeypatch):
    def refused(*_):
        raise StoreError("still lies in the free space")

    monkeypatch.setattr(mending, "write_anew", refused)
    result = run(address, "--where", "project:shop", "--shape", r"EMP-\w+-\d+", "--yes")
    assert isinstance(result.exception, StoreError)
    assert "free space" in str(result.exception)


def test_what_is_recorded_meanwhile_is_not_lost(address):
    tracer = Tracer("shop", store=address)
    done = threading.Event()

    @tracer.observe
    def step():
        return 1

    def record():
        while not done.is_set():
            step()
            time.sleep(0.01)

    recording = threading.Thread(target=record)
    recording.start()
    result = run(address, "--where", "name:root", "--shape", r"EMP-\w+-\d+", "--yes")
    done.set()
    recording.join(30)
    assert result.exit_code == 0, result.output
    assert tracer.flush(60)
    assert sum(tracer.stats()["dropped"].values()) == 0
    tracer.shutdown()


def test_a_run_without_traces_and_a_dataset_are_redacted(postgres_address, indexes):
    tracer = Tracer("shop", store=postgres_address, redact="off")
    example = Example(input={"note": SECRET}, name=f"example {SECRET}")
    run_evaluation([example], [ContainsScorer("x")], function=lambda note: note, tracer=tracer)
    assert tracer.flush()
    tracer.shutdown()
    store = open_store(postgres_address)
    Client("shop", store=store).push_dataset("travel", EvalDataset([example]), redact="off")
    store.close()
    rules = ("--shape", r"EMP-\w+-\d+", "--yes")
    assert "of 1 run in" in run(postgres_address, "--run", "last", *rules).output
    assert texts_of(postgres_address).count(SECRET) > 0
    assert "of 1 dataset in" in run(postgres_address, "--dataset", "travel", *rules).output
    assert SECRET not in texts_of(postgres_address)
