from agenttrace.core import semconv
from agenttrace.core.score import Score
from agenttrace.core.span import Frame, Span, SpanError
from agenttrace.core.trace import Trace
from agenttrace.reports.text import plain
from agenttrace.reports.tree import duration_text, trace_lines

MS = 1_000_000


def span(key, parent, name, start, end, **fields):
    return Span(
        trace_key=1,
        span_key=key,
        parent_key=parent,
        index=key,
        name=name,
        start_ns=start * MS,
        end_ns=end * MS,
        **fields,
    )


def text_of(spans, scores=(), **options):
    return plain(trace_lines(Trace(spans, trace_key=1), scores, **options))


def test_a_trace_is_a_tree_with_durations_parameters_outputs_errors_and_scores():
    error = SpanError("ValueError", "no such city", (Frame("agent.py", 4, "look"),))
    spans = [
        span(1, None, "run_agent", 0, 90, input={"prompt": "hi"}, output="done", project="travel"),
        span(2, 1, "search", 1, 50, span_type="tool", input={"city": "Paris", "days": 3}, output=["a"]),
        span(3, 2, "fetch", 2, 3),
        span(4, 1, "book", 60, 61, span_type="tool", status="error", error=error),
    ]
    scores = [
        (None, Score.of("Tool Order", 0.0, 1.0, reason="1 of 2")),
        ("0000000000000002", Score.of("Speed", 1, 0.5)),
    ]
    text = text_of(spans, scores)
    head, tree = text.split("\n\n")
    assert head.splitlines()[0] == "Trace 00000000000000000000000000000001"
    assert "project travel · " in head
    assert " · 90.0 ms · 4 spans · 2 tool calls" in head
    assert "✗ Tool Order: 0.0 (threshold 1.0)  1 of 2" in head
    assert tree.splitlines() == [
        "run_agent  [function]  90.0 ms",
        '    prompt = "hi"',
        '    → "done"',
        "├─ search  [tool]  49.0 ms",
        '│      city = "Paris"',
        "│      days = 3",
        '│      → ["a"]',
        "│      ✓ Speed: 1.0 (threshold 0.5)",
        "│  └─ fetch  [function]  1.0 ms",
        "└─ book  [tool]  1.0 ms  ERROR",
        "       ✗ ValueError: no such city",
        "         at agent.py:4 in look",
    ]


def test_what_another_library_left_out_is_said_with_its_switch():
    said = {semconv.NOT_RECORDED: "content=True"}
    failed = {"status": "error", "error": SpanError("ValueError", "no")}
    spans = [
        span(1, None, "a", 0, 1, span_type="tool", attributes=said),
        span(2, None, "b", 1, 2, span_type="tool", attributes=said, input={}),
        span(3, None, "c", 2, 3, span_type="tool", attributes=said, **failed),
        span(4, None, "d", 3, 4, span_type="tool", attributes=said, input={}, output=1),
    ]
    lines = [line.strip() for line in text_of(spans).splitlines() if "not recorded" in line]
    assert lines == [
        "arguments and output not recorded: content=True",
        "output not recorded: content=True",
        "arguments not recorded: content=True",
    ]


def test_notes_stand_on_their_span_with_the_time_since_it_began():
    notes = [
        {"message": "attempt 0 failed:\n429", "label": "retry", "score": None, "after_ns": 5 * MS},
        {"message": "liked", "label": "log", "score": 0.5, "after_ns": 7 * MS},
        {"message": "of an older version", "label": "log", "score": None},
        {"message": {"a": 1}, "label": 3, "after_ns": "soon"},
    ]
    spans = [
        span(1, None, "pay", 0, 9, input={"id": 8}, output="done", attributes={semconv.LOGS: notes}),
        span(2, 1, "refund", 1, 2),
    ]
    assert text_of(spans).split("\n\n")[1].splitlines() == [
        "pay  [function]  9.0 ms",
        "    id = 8",
        "    · after 5.0 ms  retry: attempt 0 failed:\\n429",
        "    · after 7.0 ms  liked  (score 0.5)",
        "    · of an older version",
        '    · 3: {"a":1}',
        '    → "done"',
        "└─ refund  [function]  1.0 ms",
    ]
    odd = [span(1, None, "pay", 0, 9, attributes={semconv.LOGS: value}) for value in (5, ["a", None])]
    assert all("·" not in text_of([each]).split("\n\n")[1] for each in odd)


def test_of_many_notes_the_first_are_shown_and_the_others_counted():
    notes = [{"message": f"step {n}", "label": "log"} for n in range(40)]
    text = text_of([span(1, None, "pay", 0, 9, attributes={semconv.LOGS: notes})])
    assert "step 19" in text
    assert "step 20" not in text
    assert "    … 20 more notes" in text


def test_several_roots_and_missing_parents_stand_side_by_side():
    tree = text_of([span(1, None, "a", 0, 1), span(2, 99, "b", 2, 3), span(3, 2, "c", 2, 3)]).split("\n\n")[1]
    assert tree.splitlines() == ["a  [function]  1.0 ms", "b  [function]  1.0 ms", "└─ c  [function]  1.0 ms"]


def test_a_loop_of_parents_and_an_empty_trace_are_shown():
    assert "x  [function]" in text_of([span(1, 2, "x", 0, 1), span(2, 1, "y", 0, 1)])
    assert "no spans" in text_of([])


def test_large_and_deep_traces_are_bounded():
    flat = [span(1, None, "root", 0, 1)] + [span(n, 1, "leaf", 0, 1) for n in range(2, 3_000)]
    assert "… 2499 more spans" in text_of(flat)
    deep = [span(1, None, "s", 0, 1)] + [span(n, n - 1, "s", 0, 1) for n in range(2, 450)]
    assert max(map(len, text_of(deep).splitlines())) < 200


def test_values_are_cut_at_the_width_asked():
    text = text_of([span(1, None, "a", 0, 1, input={"x": "y" * 500})], value_length=30)
    assert "chars]" in text
    assert "y" * 31 not in text


def test_recorded_text_cannot_control_the_terminal():
    evil = "\x1b[2J\r\n\x07"
    error = SpanError(evil, evil, (Frame(evil, 1, evil),))
    text = text_of(
        [
            span(
                1,
                None,
                evil,
                0,
                1,
                span_type=evil,
                input={evil: evil},
                output=evil,
                error=error,
                project=evil,
            )
        ],
        [(None, Score.of(evil, 0.0, 1.0, reason=evil))],
    )
    assert not [c for c in text if c != "\n" and not c.isprintable()]


def test_durations_have_a_readable_unit():
    assert [duration_text(n) for n in (0, 1_500, 12 * MS, 2_340 * MS, 90_000 * MS)] == [
        "–",
        "2 µs",
        "12.0 ms",
        "2.34 s",
        "1.5 min",
    ]


def test_a_failed_score_has_its_diff_and_one_that_passed_has_none():
    diff = "    ✓ 1  look()\n    - 2  pay()   missing"
    spans = [span(1, None, "agent", 0, 1), span(2, 1, "look", 0, 1)]
    failed = Score.of("Tool Order", 0.5, 1.0, diff=diff)
    text = text_of(spans, [(None, failed), ("0000000000000002", failed)])
    assert "✗ Tool Order: 0.5 (threshold 1.0)\n    ✓ 1  look()\n    - 2  pay()   missing\n" in text
    assert "\n           - 2  pay()   missing" in text
    assert "missing" not in text_of(spans, [(None, Score.of("Tool Order", 1.0, 1.0, diff=diff))])
    long = Score.of("Tool Order", 0.5, 1.0, diff="- x\n" * 1_000)
    assert "… 940 more lines" in text_of(spans, [(None, long)])


def test_what_took_no_measured_time_has_no_duration():
    assert [duration_text(0), duration_text(900)] == ["–", "1 µs"]
