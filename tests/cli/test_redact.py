"""``agenttrace redact`` takes secrets out of what is stored, down to the file's bytes."""

import sqlite3

import pytest
from click.testing import CliRunner

from agenttrace.cli.main import cli
from agenttrace.redaction import Redaction
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
        (["ffff", "--yes"], "there is no trace ffff"),
    ],
)
def test_wrong_use_says_what_to_do(store, arguments, message):
    result = run(*arguments, "--store", str(store))
    assert result.exit_code != 0
    assert message in result.output + str(result.exception)


def test_what_waits_to_be_evaluated_is_mended(store):
    from agenttrace.store.mending import mend

    with sqlite3.connect(store) as db:
        (trace_id,) = db.execute("SELECT trace_id FROM traces LIMIT 1").fetchone()
        db.execute(
            "INSERT INTO pending_evaluations (key, project, request, created_ns) VALUES ('k', 'shop', ?, 1)",
            (f'{{"trace_id": "{trace_id}", "example": {{"password": "hunter2-waits"}}}}',),
        )
    redaction = Redaction()
    assert mend(str(store), 5.0, [trace_id], lambda _, value: redaction.inside(value)).values > 1
    assert b"hunter2-waits" not in bytes_of(store)
