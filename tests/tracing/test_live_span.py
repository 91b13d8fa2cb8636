"""What the code of an agent says of the call that runs."""

import gc
import logging
import subprocess
import sys
import threading
import types

import pydantic
import pytest
from stored import Sink, stored

from agenttrace.core import jsonable
from agenttrace.core.errors import ConfigError
from agenttrace.process.said_once import SaidOnce
from agenttrace.store import open_store
from agenttrace.tracer import Tracer
from agenttrace.tracing import live
from agenttrace.tracing.context import current
from agenttrace.tracing.record import PARENT


@pytest.fixture
def said(monkeypatch, caplog):
    """What the log says of notes, each said once in a test."""
    monkeypatch.setattr(live, "_warnings", SaidOnce())
    caplog.set_level(logging.WARNING, "agenttrace")

    def text():
        (record,) = caplog.records
        return record.getMessage()

    return text


class Loud:
    def __str__(self):
        raise SystemExit("code of the value's ran")

    __repr__ = __iter__ = __len__ = __str__


class BrokenMapping(dict):
    __iter__ = keys = items = Loud.__str__


def only(captured):
    (span,) = captured.trace.spans
    return span


class TestRunningCall:
    def test_is_known_inside_and_nowhere_else(self, tracer):
        @tracer.observe(span_type="agent")
        def agent():
            span = tracer.current_span()
            with tracer.span("inner") as inner:
                assert inner.parent_id == span.span_id
                assert tracer.current_span().name == "inner"
            return span.name, span.span_type, len(span.span_id), span.parent_id, span.trace_id, span.recorded

        with tracer.capture() as captured:
            name, kind, digits, parent, trace_id, is_recorded = agent()
            assert tracer.current_span() is None
            assert tracer.current_trace().trace_id == trace_id
        assert (name, kind, digits, parent, is_recorded) == ("agent", "agent", 16, None, True)
        assert trace_id == captured.trace.trace_id
        assert tracer.current_span() is tracer.current_trace() is None

    def test_outside_of_any_everything_is_accepted_and_nothing_kept(self, tracer):
        tracer.log("x", score=1)
        tracer.set_tags(["a"])
        tracer.set_customer_id("c")
        tracer.set_session_id("s")
        tracer.update_metadata({"a": 1})
        tracer.update_current_span(output=1, usage={"input_tokens": 1}, model="m", attributes={"a": 1})
        tracer.score_current_span("quality", 0.5)
        assert stored(tracer) == []

    def test_takes_notes(self, tracer):
        @tracer.observe
        def work():
            tracer.log("first", label="note", score=1)
            tracer.update_current_span(
                output="other", usage={"input_tokens": 3}, model="gpt", attributes={"a": [1]}
            )
            tracer.update_current_span(usage={"output_tokens": 4})
            tracer.current_span().set_name("renamed")
            tracer.current_span().input = {"q": 1}
            return "returned"

        with tracer.capture() as captured:
            assert work() == "returned"
        span = only(captured)
        assert (span.name, span.input, span.output) == ("renamed", {"q": 1}, "other")
        assert span.usage == {"input_tokens": 3, "output_tokens": 4}
        after = span.attributes["agenttrace.logs"][0]["after_ns"]
        assert 0 <= after <= span.duration_ns
        assert span.attributes == {
            "a": [1],
            "gen_ai.request.model": "gpt",
            "agenttrace.logs": [{"message": "first", "label": "note", "score": 1, "after_ns": after}],
        }

    def test_gives_back_what_it_was_told(self, tracer):
        with tracer.span("x") as span:
            assert span.output is span.input is None
            span.output = {"a": ["x" * 1_000] * 20}
            span.input = [1, 2]
            assert span.output == {"a": ["x" * 1_000] * 20}
            assert span.input == [1, 2]

    def test_keeps_scores_in_the_store(self):
        sink = Sink()
        tracer = Tracer("test", store=sink)
        with tracer.span("x") as span:
            tracer.score_current_span("quality\ud800", 0.5, threshold=0.4, reason="so\ud800")
        tracer.flush()
        ((trace_id, span_id, score),) = sink.scores
        assert (trace_id, span_id) == (span.trace_id, span.span_id)
        assert (score.name, score.value, score.reason, score.passed) == (
            "quality\ufffd",
            0.5,
            "so\ufffd",
            True,
        )
        tracer.shutdown()

    @pytest.mark.parametrize("value", [1.5, -1, float("nan"), True, "0.5", None])
    def test_leaves_out_a_score_that_is_none_says_so_and_goes_on(self, tracer, value, said):
        with tracer.capture() as captured, tracer.span("x"):
            tracer.score_current_span("quality", value)
        tracer.score_current_span("quality", value)
        assert only(captured).attributes["agenttrace.notes_left_out"] == 1
        assert "a score was left out: ValueError: a score must be a number from 0 to 1" in said()

    @pytest.mark.parametrize("error", [RuntimeError, SystemExit])
    def test_is_never_disturbed_by_the_class_of_a_value(self, tracer, error):
        """Such as a weak reference's proxy has whose object is gone."""

        class Nameless:
            @property
            def __class__(self):
                raise error("no class")

        gone = Nameless()
        with tracer.capture() as captured, tracer.span("x") as span:
            span.set_usage(gone)
            span.add_score(gone)
            tracer.update_current_span(usage=gone, attributes=gone, model=gone, output=gone)
            tracer.set_tags(gone)
            tracer.set_tags([gone])
            tracer.update_metadata(gone)
            tracer.update_metadata({"a": gone})
            tracer.score_current_span(gone, 0.5)
            tracer.score_current_span("quality", gone)
            tracer.log(gone, label=gone, score=gone)
            tracer.set_session_id(gone)
        assert only(captured).attributes["agenttrace.notes_left_out"] == 3
        tracer.flush()
        assert not any(tracer.stats()["dropped"].values())

    def test_is_never_disturbed_by_a_value(self, tracer):
        """Scenarios 1 to 4, said of a span."""
        with tracer.capture() as captured, tracer.span("x") as span:
            span.set_attribute("a", Loud())
            span.set_attribute(Loud(), 1)
            span.set_name(Loud())
            span.output = Loud()
            span.log(Loud(), label=Loud())
            span.set_usage(Loud())
            span.set_usage(BrokenMapping(a=1))
            span.set_usage(types.MappingProxyType({"input_tokens": 1}))
            tracer.set_customer_id(Loud())
            tracer.set_session_id(Loud())
            tracer.set_tags([Loud(), "good"])
            tracer.update_metadata(BrokenMapping(a=1))
        span = only(captured)
        assert span.usage == {"a": 1, "input_tokens": 1}
        assert "good" in span.attributes["agenttrace.tags"]
        assert span.attributes["agenttrace.metadata"] == {"a": 1}

    def test_takes_the_usage_object_of_a_client_library(self, tracer):
        class Usage(pydantic.BaseModel):
            input_tokens: int

        with tracer.capture() as captured, tracer.span("x") as span:
            span.set_usage(Usage(input_tokens=7))
        assert only(captured).usage == {"input_tokens": 7}

    def test_keeps_a_bounded_number_of_notes(self, tracer):
        with tracer.capture() as captured, tracer.span("x") as span:
            for n in range(3_000):
                span.log(n)
                span.set_attribute(str(n), n)
                if n == 1_500:
                    span.set_attribute("0", "later")
        attributes = only(captured).attributes
        assert len(attributes) == 1_002
        assert len(attributes["agenttrace.logs"]) == 1_000
        assert attributes["0"] == "later"
        assert attributes["agenttrace.notes_left_out"] == 4_000

    def test_may_be_told_things_by_another_thread_until_long_after(self, tracer):
        """Scenario 21."""
        done, spans = threading.Event(), []

        def tell():
            n = 0
            while not done.is_set():
                for span in spans[-20:]:
                    span.set_attribute(f"key {n % 900}", n)
                    n += 1

        teller = threading.Thread(target=tell)
        teller.start()
        try:
            for _ in range(300):
                with tracer.span("x") as span:
                    spans.append(span)
            assert tracer.flush()
        finally:
            done.set()
            teller.join()
        assert tracer.stats()["written"] == 300


class TestRunningTrace:
    def test_is_described_on_its_root(self, tracer):
        @tracer.observe
        def agent():
            with tracer.span("deep"):
                tracer.set_tags(["a", "b"])
                tracer.set_tags(["b", "c"])
                tracer.set_customer_id("ann")
                tracer.set_session_id("s1")
                tracer.update_metadata({"plan": "free", "api_key": "k"})
                tracer.update_metadata({"plan": "paid"})

        agent()
        (summary,) = tracer.store.traces() if tracer.flush() else ()
        trace = tracer.store.trace(summary.trace_id)
        assert (trace.tags, trace.customer_id, trace.session_id) == (("a", "b", "c"), "ann", "s1")
        assert trace.metadata == {"plan": "paid", "api_key": "[redacted]"}

    @pytest.mark.parametrize("tags", ["tag", 5, None])
    def test_leaves_out_tags_that_are_no_list_and_says_so(self, tracer, tags, said):
        with tracer.span("x"):
            tracer.set_tags(tags)
        tracer.set_tags(tags)
        assert f"they are a list of strings, got {type(tags).__name__}" in said()

    @pytest.mark.parametrize("metadata", ["x", 5, None, [("a", 1)]])
    def test_leaves_out_metadata_that_is_no_mapping_and_says_so(self, tracer, metadata, said):
        with tracer.span("x"):
            tracer.update_metadata(metadata)
        tracer.update_metadata(metadata)
        assert f"it is a mapping of names to values, got {type(metadata).__name__}" in said()

    @pytest.mark.parametrize("attributes", [5, "ab", [("a", 1)]])
    def test_leaves_out_attributes_that_are_no_mapping_and_says_so(self, tracer, attributes, said):
        with tracer.span("x"):
            tracer.update_current_span(attributes=attributes)
        assert f"attributes are a mapping of names to values, got {type(attributes).__name__}" in said()


class TestBlocks:
    def test_record_input_output_and_type(self, tracer):
        with tracer.capture() as captured, tracer.span("plan", span_type="chain", input={"a": [1]}) as span:
            span.output = "done"
        kept = only(captured)
        assert (kept.name, kept.span_type, kept.input, kept.output, kept.status) == (
            *("plan", "chain", {"a": [1]}, "done", "ok"),
        )

    def test_record_the_error_that_leaves_them(self, tracer):
        with tracer.capture() as captured, pytest.raises(LookupError), tracer.span("x"):
            raise LookupError("gone")
        assert (only(captured).status, only(captured).error.message) == ("error", "gone")
        assert current.get() is None

    def test_redact_their_input(self, tracer):
        with tracer.capture() as captured, tracer.span("x", input={"api_key": "k", 5: "\ud800"}):
            pass
        assert only(captured).input == {"api_key": "[redacted]", "5": "\ufffd"}

    def test_open_once(self, tracer):
        block = tracer.span("x")
        with block:
            pass
        with pytest.raises(ConfigError, match="opened a second time"), block:
            pass

    def test_left_in_another_context_are_recorded_and_counted(self, tracer):
        """Scenario 45."""
        import contextvars

        block = tracer.span("x")
        contextvars.copy_context().run(block.__enter__)
        block.__exit__(None, None, None)
        assert [span.name for span in stored(tracer)] == ["x"]
        assert tracer.stats()["foreign_contexts"] == 1


@pytest.mark.parametrize(
    ("name", "recorded"),
    [("", "unnamed"), (None, "unnamed"), (5, "5"), ("\ud800", "\ufffd"), (("a", 1), "['a', 1]")],
)
def test_a_name_that_a_model_gave_is_recorded_whatever_it_is(tracer, name, recorded):
    with tracer.span(name):
        pass
    assert [span.name for span in stored(tracer)] == [recorded]


@pytest.mark.parametrize(
    ("given", "recorded"),
    [
        ("Paris", {"input": "Paris"}),
        (["a", 1], {"input": ["a", 1]}),
        ({"city": "Paris"}, {"city": "Paris"}),
        ({}, None),
        (0, {"input": 0}),
    ],
)
def test_any_value_is_the_input_of_a_span(tracer, given, recorded):
    with tracer.span("x", input=given):
        pass
    (span,) = stored(tracer)
    assert (span.input or None) == recorded


def test_a_mapping_that_breaks_is_the_input_of_a_span_and_raises_nothing(tracer):
    with tracer.span("x", input=BrokenMapping(a=1)):
        pass
    assert [span.name for span in stored(tracer)] == ["x"]


class TestBlocksOfGeneratorsThatRunByTurns:
    @staticmethod
    def both_by_turns(tracer):
        def steps(name):
            with tracer.span(name):
                yield 1
                yield 2

        first, second = steps("first"), steps("second")
        next(first), next(second)
        assert [*first, *second] == [2, 2]

    def test_leave_no_ended_span_behind_as_the_running_call(self, tracer):
        self.both_by_turns(tracer)
        assert current.get() is None

    def test_leave_the_call_that_they_were_in(self, tracer):
        with tracer.span("outer") as outer:
            self.both_by_turns(tracer)
            with tracer.span("after") as after:
                assert after.parent_id == outer.span_id
        assert current.get() is None

    def test_leave_the_capture_that_they_were_in(self, tracer):
        with tracer.capture() as captured:
            self.both_by_turns(tracer)
            with tracer.span("after"):
                pass
        assert [span.name for span in captured.trace.spans] == ["first", "second", "after"]
        assert captured.trace.spans[-1].parent_id is None

    def test_leave_the_trace_of_another_service(self, tracer):
        trace_id, span_id = "1" * 32, "2" * 16
        with tracer.extract({"traceparent": f"00-{trace_id}-{span_id}-01"}):
            self.both_by_turns(tracer)
            with tracer.span("after") as after:
                assert (after.trace_id, after.parent_id) == (trace_id, span_id)

    def test_whose_first_is_dropped_leave_nothing_behind(self, tracer):
        def steps(name):
            with tracer.span(name):
                yield

        first, second = steps("first"), steps("second")
        next(first), next(second)
        del first
        gc.collect()
        del second
        gc.collect()
        assert current.get() is None


class TestSpansThatNobodyEnds:
    def test_are_abandoned_when_they_are_dropped(self, tracer):
        span = tracer.span("stream").open()
        span.output = "half an answer"
        del span
        gc.collect()
        (span,) = stored(tracer)
        assert (span.name, span.status, span.output) == ("stream", "abandoned", "half an answer")

    def test_are_not_recorded_twice_when_they_ended_before(self, tracer):
        span = tracer.span("stream").open()
        span.end()
        del span
        gc.collect()
        assert [span.status for span in stored(tracer)] == ["ok"]

    def test_keep_those_that_were_opened_under_them(self, tracer):
        above = tracer.span("above").open()
        below = tracer.span("below").open(under=above)
        del above
        gc.collect()
        below.end()
        spans = {span.name: span for span in stored(tracer)}
        assert spans["below"].parent_key == spans["above"].span_key

    def test_are_abandoned_when_the_process_ends(self, tmp_path):
        path = tmp_path / "traces.db"
        program = (
            "import os, sys\nfrom agenttrace import Tracer\n"
            f"tracer = Tracer('x', store={str(path)!r})\n"
            "span = tracer.span('stream').open()\nspan.output = 'half'\n"
            "child = os.fork() if hasattr(os, 'fork') else 1\n"
            "if not child:\n    del span\n    sys.exit()\n"
            "os.waitpid(child, 0) if hasattr(os, 'fork') else None\n"
        )
        subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
        store = open_store(path)
        (trace,) = store.iter_traces()
        store.close()
        assert [(span.name, span.status, span.output) for span in trace.spans] == [
            ("stream", "abandoned", "half")
        ]


class Endless(set):
    def __repr__(self):
        raise AssertionError("code of the value's ran")


def test_a_reason_that_is_no_text_is_refused_without_its_repr(tracer):
    with tracer.span("x"):
        tracer.score_current_span("x", 0.5, reason=Endless())
    (span,) = stored(tracer)
    assert span.attributes["agenttrace.notes_left_out"] == 1


def test_metadata_may_be_written_while_its_span_is_being_read(tracer, monkeypatch):
    """The moment at which two threads meet by chance: more is written by what reads the first value."""

    def meddling(text):
        tracer.update_metadata({f"{text}, too": 1})
        return text

    with tracer.capture() as captured:
        with tracer.span("x"):
            tracer.update_metadata({"é": 1, "è": 2})
            record = current.get()
        with monkeypatch.context() as patched:
            patched.setattr(jsonable, "clean_text", meddling)
            current.set(record)
            attributes = only(captured).attributes
            current.set(record[PARENT])
    assert attributes["agenttrace.metadata"] == {"é": 1, "è": 2}


@pytest.mark.parametrize("score", [5, "good", None, {"value": 1}])
def test_a_score_of_a_span_is_a_score(score, said):
    tracer = Tracer("test", store="memory")
    with tracer.span("step") as span:
        span.add_score(score)
    assert "a score was left out: wanted a Score" in said()


@pytest.mark.parametrize("reason", [5, None, b"good"])
def test_the_reason_of_a_score_is_a_text(reason, said):
    tracer = Tracer("test", store="memory")
    with tracer.span("step"):
        tracer.score_current_span("good", 1.0, reason=reason)
    assert "a score's reason is a text, got" in said()
