"""``agenttrace redact`` takes secrets out of what is stored, down to the file's bytes."""

import sqlite3
from contextlib import suppress

import pytest
from click.testing import CliRunner

from agenttrace import Client, ContainsScorer, EvalDataset, Example, run_evaluation
from agenttrace.cli.main import cli
from agenttrace.redaction import Redaction
from agenttrace.store import SQLiteStore
from agenttrace.tracer import Tracer

SECRET = "EMP-hunter-0012345"
KEY = "gh" + "p_" + "a1B2c3D4" * 5


def run(*arguments):
    return CliRunner().invoke(cli, ["redact", *arguments])


def bytes_of(path):
    return b"".join(one.read_bytes() for one in sorted(path.parent.glob(f"{path.name}*")) if one.is_file())


@pytest.fixture
def store(tmp_path):
    """A store with two traces that were recorded without redaction."""
    path = tmp_path / "traces.db"
    tracer = Tracer("shop", store=str(path), redact="off")

    @tracer.observe
    def ask(question, password):
        tracer.log(f"asked with {SECRET}")
        tracer.score_current_span("quality", 1, reason=f"for {SECRET}")
        tracer.score_current_span(f"knows {SECRET}", 0.1, threshold=0.5)  # a failure, which has its name, too
        return {"key": KEY, "note": SECRET}

    for customer in ("acme", "other"):
        with tracer.span("root", input={"text": SECRET}):
            tracer.set_customer_id(customer)
            ask(f"who is {SECRET}?", "hunter2-and-more")
    assert tracer.flush()
    tracer.shutdown()
    return path


def test_nothing_of_a_secret_is_left_in_any_byte(store):
    """The file, its log and the index beside it."""
    assert bytes_of(store).count(SECRET.encode()) > 4
    assert (
        CliRunner()
        .invoke(cli, ["traces", "list", "--store", str(store), "--where", "customer:acme"])
        .exit_code
        == 0
    )
    result = run("--where", "project:shop", "--shape", r"EMP-\w+-\d+", "--yes", "--store", str(store))
    assert result.exit_code == 0, result.output
    assert "redacted" in result.output
    assert "of 2 traces" in result.output
    left = bytes_of(store)
    assert [secret for secret in (SECRET, KEY, "hunter2-and-more") if secret.encode() in left] == []
    shown = CliRunner().invoke(cli, ["traces", "list", "--store", str(store)])
    assert shown.exit_code == 0
    assert "root" in shown.output


def test_only_the_traces_that_are_named_are_changed(store):
    with sqlite3.connect(store) as db:
        ids = [trace_id for (trace_id,) in db.execute("SELECT trace_id FROM traces ORDER BY id")]
    result = run(ids[0][:12], "--yes", "--store", str(store))
    assert result.exit_code == 0, result.output
    with sqlite3.connect(store) as db:
        rows = dict(db.execute("SELECT trace_id, group_concat(output) FROM spans GROUP BY trace_id"))
    assert KEY not in rows[ids[0]]
    assert "[redacted]" in rows[ids[0]]
    assert KEY in rows[ids[1]]


def test_it_asks_and_changes_nothing_without_a_yes(store):
    before = KEY.encode() in bytes_of(store)
    result = CliRunner().invoke(
        cli, ["redact", "--where", "project:shop", "--store", str(store)], input="n\n"
    )
    assert result.exit_code == 0
    assert before
    assert KEY.encode() in bytes_of(store)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "name traces, or give --where"),
        (["--where", "project:shop", "--shape", "("], "regular expression that is none"),
        (["ffff", "--yes"], "no trace begins with 'ffff' in"),
    ],
)
def test_wrong_use_says_what_to_do(store, arguments, message):
    result = run(*arguments, "--store", str(store))
    assert result.exit_code != 0
    assert message in result.output + str(result.exception)


def test_what_waits_to_be_evaluated_is_mended(store):
    from agenttrace.store.mending import Which, mend

    with sqlite3.connect(store) as db:
        (trace_id,) = db.execute("SELECT trace_id FROM traces LIMIT 1").fetchone()
        db.execute(
            "INSERT INTO pending_evaluations (key, project, request, created_ns) VALUES ('k', 'shop', ?, 1)",
            (f'{{"trace_id": "{trace_id}", "example": {{"password": "hunter2-waits"}}}}',),
        )
    redaction = Redaction()
    assert mend(str(store), 5.0, Which([trace_id]), lambda _, rows: redaction.inside(rows)).values > 1
    assert b"hunter2-waits" not in bytes_of(store)


@pytest.mark.parametrize("as_bytes", [True, False])
def test_requests_that_an_earlier_version_kept_to_be_sent_are_removed(store, as_bytes):
    """They are encoded, each with many traces; what waits since then is read from the rows of spans."""
    with sqlite3.connect(store) as db:
        trace_id, other = (one for (one,) in db.execute("SELECT trace_id FROM traces ORDER BY id"))
        for one, secret in ((trace_id, "hunter2-to-be-sent"), (other, "kept-to-be-sent")):
            body = b"..." + (bytes.fromhex(one) if as_bytes else one.encode()) + secret.encode()
            db.execute(
                "INSERT INTO outbox (destination, kind, content_type, items, bytes, created_ns, body)"
                " VALUES ('x', 'traces', 'application/x-protobuf', 1, 9, 1, ?)",
                (body,),
            )
        db.execute(
            "INSERT INTO work (project, trace_id, rule, due_ns, seen) VALUES ('shop', ?, 'r', 1, ?)",
            (trace_id, "failed: no model for password=hunter2-in-the-queue"),
        )
    result = run(trace_id, "--yes", "--store", str(store))
    assert result.exit_code == 0, result.output
    assert "removed 1 request about them that a version before 0.2 had kept to be sent" in result.output
    left = bytes_of(store)
    assert [secret for secret in (b"hunter2-to-be-sent", b"hunter2-in-the-queue") if secret in left] == []
    assert b"kept-to-be-sent" in left


class TestWhatStandsBesideTheSpans:
    """Definitions of tools, runs with their metadata, failures, messages that repeat an argument."""

    @pytest.fixture
    def path(self, tmp_path):
        path = tmp_path / "traces.db"
        tracer = Tracer("shop", store=str(path), redact="off")

        def order(plan, password, options=None, tags=(("db", SECRET),)):
            raise ValueError(f"{password} is no password")

        calls = [
            tracer.observe(span_type="tool", name=f"order_{SECRET}_{place}", tags=[f"{SECRET}-{place}"])(
                order
            )
            for place in range(2)
        ]
        tracer.observe(span_type="tool", name="never_called", tags=[f"tag {SECRET}"])(order)
        tracer.observe(name="note", span_type=f"type {SECRET}")(lambda text: None)(SECRET)

        @tracer.observe
        def agent(password, note):
            for call in calls:
                with suppress(ValueError):
                    call("a", "hunter2-in-the-call")
            raise ValueError(f"asked with {password}")

        run_evaluation(
            [Example(input={"password": "hunter2-in-the-input", "note": SECRET}, name=f"example {SECRET}")],
            [ContainsScorer("x")],
            function=agent,
            tracer=tracer,
            eval_run_name=f"run {SECRET}",
            model=f"model {SECRET}",
            metadata={"password": "hunter2-in-metadata", "note": SECRET},
        )
        assert tracer.flush()
        tracer.shutdown()
        return path

    def test_nothing_of_a_secret_is_left_in_any_byte(self, path):
        hidden = (
            SECRET,
            "hunter2-in-the-call",
            "hunter2-in-the-input",
            "hunter2-in-metadata",
        )
        kept = bytes_of(path)
        assert [secret for secret in hidden if secret.encode() not in kept] == []
        result = run("--where", "project:shop", "--shape", r"EMP-\w+-\d+", "--yes", "--store", str(path))
        assert result.exit_code == 0, result.output
        left = bytes_of(path)
        assert [secret for secret in hidden if secret.encode() in left] == []

    def test_what_is_left_can_be_read_and_written_to(self, path):
        run("--where", "project:shop", "--shape", r"EMP-\w+-\d+", "--yes", "--store", str(path))
        store = SQLiteStore(path)
        (run_of_it,) = store.runs()
        assert (run_of_it.name, run_of_it.model) == ("run [redacted]", "model [redacted]")
        traces = [store.trace(found.trace_id) for found in store.traces()]
        tools = {tool.name: tool for trace in traces for tool in trace.tools.values()}
        called, never = tools["order_[redacted]_0"], tools["never_called"]
        assert called.tags == ("[redacted]-0",)
        assert never.tags == ("tag [redacted]",)
        assert never.parameters[-1].default == [["db", "[redacted]"]]
        messages = {span.error.message for trace in traces for span in trace.spans if span.error}
        assert messages == {"[redacted] is no password", "asked with [redacted]"}
        store.close()

    def test_functions_that_become_the_same_one_stay_apart_by_number(self, tmp_path):
        path = tmp_path / "traces.db"
        tracer = Tracer("shop", store=str(path), redact="off")
        for number in range(4):
            tracer.observe(name=f"step EMP-a-{number}")(lambda: None)()
        assert tracer.flush()
        tracer.shutdown()
        result = run("--where", "project:shop", "--shape", r"EMP-\w+-\d+", "--yes", "--store", str(path))
        assert result.exit_code == 0, result.output
        store = SQLiteStore(path)
        names = [span.name for found in store.traces() for span in store.trace(found.trace_id).spans]
        assert names == ["step [redacted]"] * 4
        store.close()


def test_a_secret_in_the_pieces_of_a_stream_is_taken_out(tmp_path):
    path = tmp_path / "stream.db"
    tracer = Tracer("shop", store=str(path), redact="off")

    @tracer.observe(span_type="llm")
    def stream():
        yield from ("the key is ", KEY[:4], KEY[4:], " and the door is open")

    list(stream())
    tracer.shutdown()
    assert run("--where", "project:shop", "--yes", "--store", str(path)).exit_code == 0
    store = SQLiteStore(path)
    trace_id = store.traces(limit=1)[0].trace_id
    assert store.trace(trace_id).spans[0].output == [
        "the key is ",
        "[redacted]",
        "[redacted]",
        " and the door is open",
    ]
    store.close()
    assert KEY[4:].encode() not in bytes_of(path)


@pytest.fixture
def run_without_traces(tmp_path):
    """A run of a function that records no call, and a dataset, that were stored without redaction."""
    path = tmp_path / "runs.db"
    tracer = Tracer("shop", store=str(path), redact="off")
    example = Example(input={"password": "hunter2-of-a-run"}, expected_output="none", name=f"of {KEY}")
    run_evaluation(
        [example],
        [ContainsScorer("password=hunter2-of-a-run")],
        function=lambda password: f"password={password}",
        tracer=tracer,
        eval_run_name="nightly password=hunter2-of-a-run",
        metadata={"password": "hunter2-of-a-run"},
    )
    assert tracer.flush()
    tracer.shutdown()
    Client("shop", store=str(path)).push_dataset("travel", EvalDataset([example]), redact="off")
    return path


def test_a_run_is_redacted_with_results_that_have_no_trace(run_without_traces):
    result = run("--run", "last", "--dataset", "travel", "--yes", "--store", str(run_without_traces))
    assert result.exit_code == 0, result.output
    assert "of 1 run and 1 dataset in" in result.output
    left = bytes_of(run_without_traces)
    assert b"hunter2-of-a-run" not in left
    assert KEY.encode() not in left
    store = SQLiteStore(run_without_traces)
    stored = store.run(store.runs(limit=1)[0].run_id)
    assert stored["results"][0]["example"]["input"] == {"password": "[redacted]"}
    rows = Client("shop", store=store).pull_dataset("travel")
    assert rows[0].input == {"password": "[redacted]"}
    store.close()


def test_a_run_alone_leaves_datasets_as_they_are(run_without_traces):
    result = run("--run", "last", "--yes", "--store", str(run_without_traces))
    assert "of 1 run in" in result.output
    with sqlite3.connect(run_without_traces) as db:
        (content,) = db.execute("SELECT content FROM datasets").fetchone()
    assert "hunter2-of-a-run" in content


@pytest.mark.parametrize("arguments", [("--run", "nothing-such"), ("--dataset", "nothing-such")])
def test_a_run_or_dataset_that_is_not_there_is_an_error(run_without_traces, arguments):
    result = run(*arguments, "--yes", "--store", str(run_without_traces))
    assert result.exit_code != 0
    assert "nothing-such" in result.output + str(result.exception)
    assert b"hunter2-of-a-run" in bytes_of(run_without_traces)


class TestWhatRepeatsASecret:
    """Results, logs, errors and reasons that repeat what a name or a shape takes out elsewhere."""

    @pytest.fixture
    def booked(self, tmp_path):
        path = tmp_path / "traces.db"
        tracer = Tracer("shop", store=str(path), redact="off")

        @tracer.observe(span_type="tool")
        def book(member, seat):
            tracer.log(f"booking for {member}")
            tracer.score_current_span("quality", 1, reason=f"booked by {member}")
            return f"booked {seat} for {member}"

        @tracer.observe(span_type="tool")
        def log_in(user, password):
            raise ValueError(f"bad {password} for {user}")

        @tracer.observe(span_type="tool")
        def getenv(name):
            return "Wq8zKp2vLm"

        @tracer.observe(span_type="agent")
        def agent():
            book("MX48213A", "12A")
            getenv("DB_PASSWORD")
            with suppress(ValueError):
                log_in("EMP-12345", "Winter2024!")
            return "done for MX48213A with Winter2024! and Wq8zKp2vLm"

        agent()
        tracer.shutdown()
        return path

    @pytest.mark.parametrize("shape", [(), ("--shape", r"EMP-\d{5}")], ids=["no shape", "a shape"])
    def test_is_redacted_with_it(self, booked, shape):
        options = ("--name", "member", *shape, "--yes", "--store", str(booked))
        assert run("--where", "since:1d", *options).exit_code == 0
        text = bytes_of(booked)
        for secret in (b"MX48213A", b"Winter2024", b"Wq8zKp2vLm"):
            assert secret not in text
        assert (b"EMP-12345" in text) is (shape == ())
        assert b"booked 12A for [redacted]" in text

    def test_leaves_the_ids_by_which_traces_are_found(self, tmp_path):
        path = tmp_path / "traces.db"
        tracer = Tracer("shop", store=str(path), redact="off")

        @tracer.observe(span_type="tool")
        def load(session):
            tracer.set_session_id(session)
            return f"{session} is loaded"

        load("sess-4f3a2b1c")
        tracer.shutdown()
        assert run("--where", "since:1d", "--yes", "--store", str(path)).exit_code == 0
        (summary,) = SQLiteStore(str(path)).traces()
        trace = SQLiteStore(str(path)).trace(summary.trace_id)
        assert trace.session_id == "sess-4f3a2b1c"
        assert trace.root.input == {"session": "[redacted]"}


def test_a_log_a_note_and_a_reason_go_that_their_label_says_are_secrets(tmp_path):
    path = tmp_path / "traces.db"
    tracer = Tracer("shop", store=str(path), redact="off")
    with tracer.span("step") as step:
        tracer.log("Zq7mVx7Lp3w9", label="password")
        tracer.score_current_span("password", 1, reason="Yq7mVx7Lp3w9")
    assert tracer.flush()
    tracer.annotate(step.trace_id, label="password", note="Xq7mVx7Lp3w9", thumbs="up")
    tracer.shutdown()
    assert bytes_of(path).count(b"q7mVx7Lp3w9") >= 3
    assert run("--where", "project:shop", "--yes", "--store", str(path)).exit_code == 0
    assert b"q7mVx7Lp3w9" not in bytes_of(path)
