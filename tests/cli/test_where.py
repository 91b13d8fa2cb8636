"""Commands about the traces that match a query: list, delete, export, vacuum, tools, scores, sessions."""

import json
import sqlite3

import pytest

from agenttrace.cli.fitted_table import fitted
from agenttrace.core.score import Score
from agenttrace.tracer import Tracer


@pytest.fixture
def recorded(tmp_path):
    """Four runs for two customers in two sessions; one refund fails, one trace has a low score."""
    tracer = Tracer(project_name="shop", store=tmp_path / "traces.db")

    @tracer.observe(span_type="tool")
    def lookup(order_id):
        return {"success": order_id % 2}

    @tracer.observe(span_type="tool")
    def refund(order_id):
        if order_id == 7:
            raise ValueError("the card was refused")
        return "done"

    @tracer.observe(span_type="agent")
    def support(prompt, order_id, customer):
        tracer.set_customer_id(customer)
        tracer.set_session_id(f"chat-{customer}")
        lookup(order_id)
        lookup(order_id)
        return refund(order_id)

    ids = []
    for order_id, customer in ((7, "acme"), (8, "acme"), (9, "globex"), (10, "globex")):
        with tracer.capture() as captured:
            try:
                support(f"where is order {order_id}?", order_id, customer)
            except ValueError:
                pass
        ids.append(captured.trace.trace_id)
    tracer.flush(timeout=5)
    tracer.store.write_scores(
        [(ids[1], None, Score.of("Tool Order", 0.25, 0.5)), (ids[2], None, Score.of("Tool Order", 1.0, 0.5))]
    )
    tracer.shutdown(timeout=5)
    return ids


def listed(ran):
    return [line.split()[0] for line in ran.out.splitlines()[1:]]


def test_list_shows_what_matches(agenttrace, recorded):
    ran = agenttrace("traces", "list", "--where", "failed:refund customer:acme since:2d")
    head, line = ran.out.splitlines()
    columns = "TRACE STARTED NAME PROJECT CUSTOMER SESSION SPANS TOOLS DURATION STATUS CALLS"
    assert head.split() == columns.split()
    assert line.startswith(recorded[0][:12])
    assert line.endswith("error   lookup×2 refund✗")


@pytest.mark.parametrize(
    ("where", "traces"),
    [
        ("customer:acme", [1, 0]),
        ('score:"Tool Order"<0.5', [1]),
        ("verdict:passed", [2]),
        ("input.order_id:7", [0]),
        ("output.success:0", [3, 1]),
        ('calls:"lookup > refund" -customer:acme', [3, 2]),
        ("looped:2 refused", [0]),
        ('"order 9"', [2]),
        ("-failed:*", [3, 2, 1]),
    ],
)
def test_queries_mean_what_they_say(agenttrace, recorded, where, traces):
    assert listed(agenttrace("traces", "list", "--where", where)) == [recorded[n][:12] for n in traces]


def test_list_is_sorted_and_limited(agenttrace, recorded):
    assert listed(agenttrace("traces", "list", "--sort", "time")) == [one[:12] for one in recorded]
    assert listed(agenttrace("traces", "list", "--sort", "score", "--limit", 1)) == [recorded[1][:12]]
    ran = agenttrace("traces", "list", "--sort", "cots")
    assert (ran.code, ran.out) == (2, "")
    assert "did you mean 'cost'?" in ran.err


def test_list_as_json_has_all_facts(agenttrace, recorded):
    ran = agenttrace("traces", "list", "--where", "score<0.5", "--json")
    row = json.loads(ran.out)
    assert (row["trace_id"], row["customer"], row["session"]) == (recorded[1], "acme", "chat-acme")
    assert (row["status"], row["verdict"], row["tool_calls"], row["looped"]) == ("ok", "failed", 3, 2)
    assert row["worst_score"] == {
        "name": "Tool Order", "value": 0.25, "threshold": 0.5, "outcome": "failed",
    }  # fmt: skip
    assert agenttrace("traces", "list", "--where", "tool:none", "--json").out == ""


@pytest.mark.parametrize(
    ("where", "why"),
    [
        ("customer:acme tool:nothing", "none matches tool:nothing"),
        ("customer:globex failed:refund", "none that matches customer:globex matches failed:refund as well"),
    ],
)
def test_a_query_that_nothing_matches_says_which_term_leaves_none(agenttrace, recorded, where, why):
    ran = agenttrace("traces", "list", "--where", where)
    assert (ran.code, ran.out) == (0, "")
    assert ran.err.endswith(f"{why}\n")


@pytest.mark.parametrize("command", [["traces", "list"], ["traces", "delete"], ["tools"], ["sessions"]])
def test_a_term_that_cannot_be_read_ends_with_2(agenttrace, recorded, command):
    ran = agenttrace(*command, "--where", "customer:acme statuss:error")
    assert (ran.code, ran.out) == (2, "")
    assert "cannot read 'statuss:error' (character 15)" in ran.err
    assert "did you mean 'status'?" in ran.err


def test_delete_says_how_many_and_deletes_them(agenttrace, recorded):
    ran = agenttrace("traces", "delete", "--where", "customer:acme", "--yes")
    assert ran.code == 0
    assert ran.out.startswith("deleted 2 traces from ")
    assert listed(agenttrace("traces", "list")) == [recorded[3][:12], recorded[2][:12]]


@pytest.mark.parametrize(("answer", "left"), [("y\n", 2), ("n\n", 4)])
def test_delete_asks(agenttrace, recorded, monkeypatch, answer, left):
    import io

    monkeypatch.setattr("sys.stdin", io.StringIO(answer))
    ran = agenttrace("traces", "delete", "--where", "customer:acme")
    assert ran.code == 0
    assert "delete 2 traces from" in ran.err
    assert len(listed(agenttrace("traces", "list"))) == left


def test_delete_wants_a_query(agenttrace, recorded):
    ran = agenttrace("traces", "delete", "--yes")
    assert ran.code == 2
    assert "give --where" in ran.err
    assert len(listed(agenttrace("traces", "list"))) == 4


def test_export_writes_whole_traces_with_their_scores(agenttrace, recorded, tmp_path):
    ran = agenttrace("traces", "export", "--where", "score<0.5", "-o", "out.jsonl")
    assert (ran.code, ran.out) == (0, "")
    assert ran.err == "wrote 1 trace to out.jsonl\n"
    (line,) = (tmp_path / "out.jsonl").read_text().splitlines()
    trace = json.loads(line)
    assert trace["trace_id"] == recorded[1]
    assert [span["name"] for span in trace["spans"]] == ["support", "lookup", "lookup", "refund"]
    assert trace["scores"][0]["value"] == 0.25


def test_export_as_otlp_is_a_request_a_line(agenttrace, recorded, tmp_path):
    ran = agenttrace("traces", "export", "--to", "otlp", "--where", "customer:acme", "-o", "out.json")
    assert ran.code == 0
    requests = [json.loads(line) for line in (tmp_path / "out.json").read_text().splitlines()]
    spans = [
        span
        for request in requests
        for scope in request["resourceSpans"]
        for span in scope["scopeSpans"][0]["spans"]
    ]
    assert {span["traceId"] for span in spans} == set(recorded[:2])
    assert len(spans) == 8


def test_export_to_parquet_says_what_it_needs(agenttrace, recorded, tmp_path):
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        ran = agenttrace("traces", "export", "--to", "parquet", "-o", "out.parquet")
        assert ran.code == 2
        assert "pip install pyarrow" in ran.err
        assert not (tmp_path / "out.parquet").exists()
    else:
        assert agenttrace("traces", "export", "--to", "parquet", "-o", "out.parquet").code == 0
    ran = agenttrace("traces", "export", "--to", "parquet")
    assert ran.code == 2


def test_vacuum_says_what_was_given_back(agenttrace, recorded, tmp_path):
    ran = agenttrace("traces", "vacuum")
    assert ran.code == 0
    before, after, given_back = (
        int(word.replace(",", "")) for word in ran.out.rpartition(": ")[2].split() if word[0].isdigit()
    )
    assert given_back == max(before - after, 0)
    assert after == (tmp_path / "traces.db").stat().st_size


def test_vacuum_of_a_damaged_file_leaves_it_where_it_is(agenttrace, recorded, tmp_path):
    path = tmp_path / "traces.db"
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2 // 4096 * 4096])
    ran = agenttrace("traces", "vacuum")
    assert ran.code == 2
    assert "malformed" in ran.err or "is damaged" in ran.err
    assert len(path.read_bytes()) == len(content) // 2 // 4096 * 4096
    assert [one.name for one in tmp_path.iterdir() if "corrupt" in one.name] == []


def test_vacuum_of_no_store_ends_with_2(agenttrace, tmp_path):
    ran = agenttrace("traces", "vacuum")
    assert ran.code == 2
    assert list(tmp_path.iterdir()) == []


def test_tools_counts_calls_and_failures(agenttrace, recorded):
    head, lookup, refund = agenttrace("tools").out.splitlines()
    assert head.split() == ["TOOL", "CALLS", "FAILED", "RATE", "P50", "P95", "TRACES"]
    assert lookup.split()[:4] == ["lookup", "8", "0", "0.0%"]
    assert refund.split()[:4] == ["refund", "4", "1", "25.0%"]
    row = json.loads(agenttrace("tools", "--where", "customer:acme", "--json").out.splitlines()[1])
    assert (row["name"], row["calls"], row["failed"], row["traces"]) == ("refund", 2, 1, 2)
    assert 0 < row["p50_ns"] <= row["p95_ns"]


def test_scores_counts_outcomes(agenttrace, recorded):
    head, line = agenttrace("scores").out.splitlines()
    assert head.split() == ["SCORER", "PASSED", "FAILED", "ERRORED", "SKIPPED", "MEAN", "LOWEST"]
    assert line.split() == ["Tool", "Order", "1", "1", "0", "0", "0.625", "0.25"]
    row = json.loads(agenttrace("scores", "--json").out)
    assert (row["values"], row["mean"], row["lowest"]) == (2, 0.625, 0.25)


def test_sessions_have_all_their_traces(agenttrace, recorded):
    lines = agenttrace("sessions", "--where", "failed:refund").out.splitlines()
    assert len(lines) == 2
    assert lines[1].split()[0] == "chat-acme"
    rows = [json.loads(line) for line in agenttrace("sessions", "--json").out.splitlines()]
    assert [(row["session"], row["traces"], row["verdict"]) for row in rows] == [
        ("chat-globex", 2, "passed"),
        ("chat-acme", 2, "failed"),
    ]


@pytest.mark.parametrize("command", ["tools", "scores", "sessions"])
def test_tables_without_anything_say_so(agenttrace, command):
    ran = agenttrace(command)
    assert (ran.code, ran.out) == (0, "")
    assert "no traces found in" in ran.err


def test_a_table_is_cut_to_the_width_that_there_is():
    columns = [("A", ["a" * 12]), ("B", ["b" * 30]), ("C", ["c" * 10])]
    assert fitted(columns, 100, ["B", "C"]) == columns
    (_, (cell,)) = fitted(columns, 40, ["B", "C"])[1]
    assert cell == "b" * 13 + "…"
    assert [head for head, _ in fitted(columns, 26, ["B", "C"])] == ["A", "C"]
    assert [head for head, _ in fitted(columns, 5, ["B", "C"])] == ["A"]


DATES = ["2026-11-29 19:46:41", "2026-11-28 09:00:00", ""]


@pytest.mark.parametrize(
    ("width", "first"),
    [(60, "2026-11-29 19:46:41"), (59, "2026-11-29 19:46"), (56, "11-29 19:46"), (52, "11-29 19:46")],
)
def test_dates_get_short_before_anything_is_left_out_or_cut(width, first):
    columns = [("STARTED", DATES), ("NAME", ["n" * 26] * 3), ("COST", ["$0.01"] * 3), ("X", ["x" * 4] * 3)]
    (head, dates), (_, names), *rest = fitted(columns, width, ["COST"], cut=["NAME"])
    assert (head, dates[0], names[0]) == ("STARTED", first, "n" * 26)
    assert [head for head, _ in rest] == ["COST", "X"]


def test_dates_of_several_years_become_days():
    columns = [("LAST", ["2026-01-02 10:00:00", "2025-12-30 10:00:00"]), ("NAME", ["n" * 40] * 2)]
    assert fitted(columns, 52, [])[0] == ("LAST", ["2026-01-02", "2025-12-30"])


def test_a_date_is_left_out_and_never_cut():
    columns = [("LAST", DATES), ("NAME", ["n" * 40] * 3)]
    assert [head for head, _ in fitted(columns, 50, ["LAST"])] == ["NAME"]
    assert fitted(columns, 30, [], cut=["NAME"])[0] == ("LAST", ["11-29 19:46", "11-28 09:00", ""])


def test_what_is_cut_shares_the_room_and_what_comes_last_is_left_out_where_there_is_none():
    columns = [("ID", ["i" * 12]), ("AT", DATES[:1]), ("NAME", ["n" * 20]), ("SCORE", ["s" * 30])]
    narrow = fitted(columns, 49, [], cut=["NAME", "SCORE"], last=["AT"])
    assert [(head, len(cells[0])) for head, cells in narrow] == [
        ("ID", 12),
        ("AT", 11),
        ("NAME", 10),
        ("SCORE", 10),
    ]
    least = fitted(columns, 40, [], cut=["NAME", "SCORE"], last=["AT"])
    assert [(head, len(cells[0])) for head, cells in least] == [("ID", 12), ("NAME", 12), ("SCORE", 12)]


HOSTILE = [
    "' OR 1=1 --",
    "x'; DROP TABLE span_rows; --",
    "%",
    "_%",
    "*",
    "../../etc/passwd",
    "//evil.example/x",
    "\\",
    "NEAR(a b)",
    "\u202ex\x1b[2J",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_of_a_query_is_anything_but_text(agenttrace, recorded, text):
    """Scenario 119: it matches what is written so, which is nothing, and changes nothing."""
    before = agenttrace("traces", "list").out
    assert before
    quoted = '"' + text.replace("\\", "\\\\") + '"'
    for arguments in (["--where", f"customer:{quoted}"], ["--where", f"tool:{quoted}"], ["--project", text]):
        ran = agenttrace("traces", "list", *arguments)
        assert ran.out == ""
        assert ran.code in (0, 2), ran.err
        assert "Traceback" not in ran.err
    assert agenttrace("traces", "show", text).code != 0
    assert agenttrace("traces", "list").out == before
