"""`Tracer`: records one project's traces into its store."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, overload

from agenttrace.core.errors import ConfigError
from agenttrace.core.limits import CAPTURED, RECORDED, Limits, checked_limits
from agenttrace.core.numbers import is_number, is_whole
from agenttrace.core.protocols import Exporter, Sender, Store
from agenttrace.core.span import Span
from agenttrace.online.handle import EvaluationHandle
from agenttrace.redaction import Redaction, redaction_of
from agenttrace.redaction.option import Redact
from agenttrace.scoring.checks import check_rate, checked_alerts, fields_of, rules_and_alerts
from agenttrace.store.opening import connected, store_of
from agenttrace.tracing.capture import Capture
from agenttrace.tracing.context import running
from agenttrace.tracing.decorator import (
    checked_options,
    enabled_by_environment,
    observe_methods,
    observe_with,
    recorded_span_type,
)
from agenttrace.tracing.default_recorder import offer_recorder, withdraw_recorder
from agenttrace.tracing.flush_result import FlushResult
from agenttrace.tracing.live import LiveSpan, LiveTrace, add_score, add_to, running_trace
from agenttrace.tracing.observed_function import ObserveOptions
from agenttrace.tracing.open_span import SpanBlock
from agenttrace.tracing.pipeline import Pipeline
from agenttrace.tracing.record import Recorder, sampler
from agenttrace.tracing.remote import Continued, Headers, inject
from agenttrace.tracing.state import StateSource, register_state
from agenttrace.tracing.switches import check_switches
from agenttrace.tracing.threads import follow_threads
from agenttrace.tracing.turn import TurnBlock

if TYPE_CHECKING:
    from agenttrace.core.example import Example, ExpectedTools
    from agenttrace.core.protocols import ChatModel, Scorer
    from agenttrace.core.rates import Rule
    from agenttrace.core.tool_call import ToolCall
    from agenttrace.core.trace import Trace
    from agenttrace.online.alerts import Alert
    from agenttrace.online.evaluator import OnlineEvaluator
    from agenttrace.online.request import OnResult
    from agenttrace.simulation.recording import Models, Recording
    from agenttrace.simulation.simulation import Simulation
    from agenttrace.stubs.parse import Others

F = TypeVar("F")
C = TypeVar("C", bound=type)


class Tracer:
    """One project's recorder, with its store.

    Args:
        project_name: Under which name traces are kept.
        store: A path (also as ``sqlite:///path``), a `Store`, or None for ``AGENTTRACE_STORE`` or
            ``./.agenttrace/traces.db``. Nothing is opened before the first trace.
        enabled: False records nothing. ``AGENTTRACE_ENABLED=0`` does the same for every tracer, and leaves
            decorated functions untouched.
        sample_rate: Share of traces that are kept, 0 to 1, decided at the root.
        redact: What is taken out of all that is recorded: further names of parameters and keys; a level,
            ``"off"``, ``"standard"`` or ``"strict"``; a function ``redact(name, value) -> value`` over
            JSON-safe values; or all of it as a `Redaction`. By default names and shapes of secrets are:
            docs/redaction.md.
        exporters: Where else finished spans go.
        context_in_threads: Whether the running call follows `threading.Thread` and `ThreadPoolExecutor`; they
            are patched once per process, by the first tracer that wants it.
        queue_limit: Spans that may wait for the store; what comes beyond is dropped, counted in `stats`.
            From then on, until none waits, the limit goes down to 28,800: more would be stored no sooner.
        alerts: Whom to tell of a new failure of an online score, and of troubles of recording: functions of
            a `LowScore` or `TroubleAlert`; and rules over a window, as ``Rate("Faithfulness", below=0.8)``.
        drain_seconds: How long the end of the process waits for online evaluations under way.
        limits: How much of a value is kept in production.
        keep: How long traces stay in the store's file, how large it may grow, or both: ``"30d"``, ``"5GB"``,
            ``"30d 5GB"``. For a store of your own making, give it to that: ``SQLiteStore(path, keep="30d")``.
        capture_limits: How much inside `capture`, and so in `assert_test` and `run_evaluation`: whole values,
            up to 16 MB each, by default.
        join_opentelemetry: Whether a trace that begins where a sampled span of OpenTelemetry's is current has
            that one's trace id, with that span as its parent. OpenTelemetry is not imported for it.

    Raises:
        ConfigError: an option that cannot work.
    """

    def __init__(
        self,
        project_name: str = "default",
        *,
        store: str | Path | Store | None = None,
        enabled: bool = True,
        sample_rate: float = 1.0,
        redact: Redact = None,
        exporters: Sequence[Exporter | Sender] = (),
        context_in_threads: bool = True,
        queue_limit: int = 200_000,
        alerts: Sequence[Alert | Rule] = (),
        drain_seconds: float = 2.0,
        limits: Limits = RECORDED,
        capture_limits: Limits = CAPTURED,
        keep: str | None = None,
        join_opentelemetry: bool = True,
    ) -> None:
        _check_name_and_switches(project_name, enabled=enabled, join_opentelemetry=join_opentelemetry)
        check_switches(context_in_threads=context_in_threads)
        if not is_whole(queue_limit, 1):
            raise ConfigError(f"queue_limit is a positive number of spans, got {queue_limit!r}")
        _check_drain_seconds(drain_seconds)
        self.project_name = project_name
        self.enabled = enabled and enabled_by_environment()
        self.store: Store = store_of(store, keep)
        self._exporters, senders, destinations = connected(exporters, self.store, project_name)
        self._pipeline = Pipeline(
            self.store,
            exporters=self._exporters,
            senders=senders,
            send_to=destinations,
            redaction=redaction_of(redact),
            limit=queue_limit,
            limits=checked_limits("limits", limits),
            joins_otel=join_opentelemetry,
        )
        self._capture_limits = checked_limits("capture_limits", capture_limits)
        self._rules, self._alerts = rules_and_alerts(alerts)
        resolve = self._resolve_watched if self._rules or self._alerts else self._resolve
        self._recorder = Recorder(project_name, resolve, sampler(sample_rate))
        self._recorder.owner = self
        self._states: dict[str, StateSource] = {}
        self._drain_seconds = drain_seconds
        self._online: OnlineEvaluator | None = None
        self._redaction = self._pipeline.redaction
        if context_in_threads and self.enabled:
            follow_threads()
        if self.enabled:
            offer_recorder(self._recorder)

    @overload
    def observe(self, function: F) -> F: ...
    @overload
    def observe(
        self,
        function: None = None,
        *,
        span_type: str = "function",
        name: str | None = None,
        capture_input: bool = True,
        capture_output: bool = True,
        metadata: Mapping[str, Any] | None = None,
        tags: Iterable[str] = (),
        scorers: Sequence[Scorer] = (),
        sample_rate: float = 1.0,
    ) -> Callable[[F], F]: ...
    def observe(
        self,
        function: Any = None,
        *,
        span_type: str = "function",
        name: str | None = None,
        capture_input: bool = True,
        capture_output: bool = True,
        metadata: Mapping[str, Any] | None = None,
        tags: Iterable[str] = (),
        scorers: Sequence[Scorer] = (),
        sample_rate: float = 1.0,
    ) -> Any:
        """Record every call of a function, method, generator, callable object or class.

        Bare or with options. Parameters are recorded under their names, defaults applied, self and cls left
        out, as they were when the call began. What the function returns or raises is never changed. A class
        has its public methods observed, in place.

        Args:
            function: What to observe.
            span_type: ``"tool"`` for what scorers count as tool calls; else any word, by convention
                ``"function"``, ``"agent"``, ``"llm"``, ``"retriever"``, ``"chain"``.
            name: The span's name; the function's by default.
            capture_input: Whether arguments are recorded.
            capture_output: Whether the return value is recorded.
            metadata: Attributes of every span made here.
            tags: Words by which scorers can select tools, such as ``"write"``.
            scorers: What evaluates every call that succeeds, in the background: its input and output, and
                what was recorded below it.
            sample_rate: Share of the calls that `scorers` evaluate.

        Raises:
            ConfigError: something that cannot be called, or an option that cannot work.
        """
        options = checked_options(
            span_type=span_type,
            name=name,
            capture_input=capture_input,
            capture_output=capture_output,
            metadata=metadata,
            tags=tags,
        )
        if not self.enabled:
            return function if function is not None else lambda untouched: untouched
        check_rate(sample_rate)
        if scorers:
            options = options._replace(on_end=self._evaluate_each(scorers, sample_rate))
        if function is None:
            return lambda target: observe_with(self._recorder, target, options)
        return observe_with(self._recorder, function, options)

    @overload
    def observe_tools(self, cls: C) -> C: ...
    @overload
    def observe_tools(
        self, cls: None = None, *, exclude: Iterable[str] = (), include_private: bool = False
    ) -> Callable[[C], C]: ...
    def observe_tools(
        self, cls: Any = None, *, exclude: Iterable[str] = (), include_private: bool = False
    ) -> Any:
        """Make the public methods that a class defines tools, in place; bare or with options.

        Args:
            cls: The class. Inherited methods are left as they are.
            exclude: Names of methods that are no tools.
            include_private: Whether ``_private`` methods are tools too; dunders never are.

        Raises:
            ConfigError: not a class, or it defines no method of a name in `exclude`.
        """

        def decorate(target: type) -> type:
            if not isinstance(target, type):
                raise ConfigError(f"observe_tools decorates a class, got {target!r}")
            if not self.enabled:
                return target
            return observe_methods(
                self._recorder,
                target,
                options=ObserveOptions("tool"),
                exclude=exclude,
                include_private=include_private,
            )

        return decorate if cls is None else decorate(cls)

    def span(
        self,
        name: str,
        *,
        span_type: str = "function",
        input: Any = None,  # noqa: A002 - the field's own word
    ) -> SpanBlock:
        """A span for a block: ``with tracer.span("plan", span_type="chain") as span: …``.

        What is recorded in the block stands below it. `span` is a `LiveSpan`: ``span.output = …``,
        ``span.set_attribute(…)``. What the block raises is recorded, and raised.

        Args:
            name: The span's name: any text. It may come from a model: one that is empty, or no text, is
                recorded as ``"unnamed"``, or as its own text.
            span_type: As of `observe`. One that cannot be, which may come from data, is said once, and the
                span is recorded as a function's.
            input: What the block works on: values by name, or one value, which is named ``input`` then.
        """
        return SpanBlock(self._recorder, name, recorded_span_type(span_type), input)

    def turn(self, number: int | None = None) -> TurnBlock:
        """A span for one turn of a conversation: ``with tracer.turn(): agent(message)``.

        Calls in it have its number as their `turn`, for ``expect(…, turn=2)``. The turns of a trace are
        counted from 1, or on from a `number` that is given: where each turn is a trace of its own, say which
        it is. One that is no whole number from 1, which may come from data, is said once, and the turn is
        counted.
        """
        return TurnBlock(self._recorder, number)

    def capture(self) -> Capture:
        """Everything recorded inside a block, by any tracer: ``with tracer.capture() as captured: …``."""
        return Capture(self._recorder, self._capture_limits, self._states)

    def state(self, name: str, snapshot: Any) -> None:
        """Have a state read at the start and at the end of captures: what a run leaves behind is scored.

        `snapshot` is a function without arguments that returns the state, sync or async, or a value that is
        copied: mappings, lists and scalars. Said where nothing is recorded, it holds for every later capture
        of this tracer, also those of an evaluation; said by the agent while it is captured, for this run
        alone, from now on. Outside of captures nothing is read. What goes wrong with it never reaches the
        agent: it makes the score errored (docs/outcome.md).

        Raises:
            ConfigError: the name is no text, or has a dot.
        """
        register_state(self._states, name, snapshot)

    def simulate(
        self,
        tools: Mapping[str, Any],
        *,
        state: Mapping[str, Any] | None = None,
        others: Others | None = None,
        later: Iterable[str] = (),
    ) -> Simulation:
        """Answer calls of observed functions in their place: ``with tracer.simulate({"search": [7]}): …``.

        It holds in the block, and in the tasks and threads that are started there, whatever tracer records
        the functions, and whether it records them or not. Inside another one, the inner one answers first.
        The block's value has the `calls` that were answered, and the `state`. A call that has no answer
        raises SimulationError, and so does the end of the block if the agent swallowed it; the function
        itself is not called.

        Args:
            tools: For each name an answer: a plain value, an exception, a function (it gets those arguments
                that it names, and `state`), or a stub of `agenttrace.simulation`: `sequence`, `cases`,
                `slow`, `faulty`, `raises`, `returns`, `real`; or these as data with ``$`` words.
            state: What the functions among the answers share; copied for each run.
            others: What becomes of tools without an answer: ``"real"``, the default, calls them,
                ``"error"`` does not.
            later: Names of tools that are observed only while the agent runs.

        Raises:
            ConfigError: an answer that cannot be understood, and at the beginning of the block a tool that
                there is not, or that takes other arguments.
        """
        from agenttrace.simulation.simulation import Simulation

        return Simulation(tools, state=state, others=others, later=later)

    def replay(
        self,
        trace: Trace,
        *,
        models: Models = "recorded",
        ignore: Iterable[str] = (),
        complete: bool = True,
    ) -> Recording:
        """Answer calls from a recorded trace: ``with tracer.replay(trace): agent("Paris")``.

        Tools, retrievers and functions of the type ``"llm"`` get what was recorded for the same name and
        arguments, in order; so do requests of wrapped clients (`wrap`), without a network. A call that was
        not recorded raises SimulationError, as does every one after it, and so does the end of the block;
        so do recorded calls that were not made. What a recorded call called is not called again.

        Args:
            trace: The recording: ``captured.trace``, or one from a store.
            models: ``"live"`` sends requests to models, and calls functions of the type ``"llm"``.
            ignore: Names of arguments that are not compared, such as a time or a key that was redacted.
            complete: Whether recorded calls that are not made are an error.

        Raises:
            ConfigError: at the beginning of the block, a recorded tool that is not observed here, or a
                value that was cut, redacted or not recorded.
        """
        from agenttrace.simulation.recording import Recording

        return Recording(trace, models=models, ignore=ignore, complete=complete)

    def current_span(self) -> LiveSpan | None:
        """The call that runs here, or None."""
        record = running()
        return None if record is None else LiveSpan(record)

    def current_trace(self) -> LiveTrace | None:
        """The trace that is recorded here, or None."""
        return running_trace()

    def set_tags(self, tags: Iterable[str]) -> None:
        """Add words to the running trace: ``["beta", "german"]``. Each is kept once, 1,000 at most.

        May be called at any depth, several times; outside of a trace it does nothing. Read them back as
        `Trace.tags`. Tags of tools, by which scorers select them, are an option of `observe`. What is no list
        is left out, and said once in the log: what is noted never ends the call.
        """
        (running_trace() or LiveTrace(None)).set_tags(tags)

    def set_customer_id(self, customer_id: str) -> None:
        """Say for whom the agent runs, at any depth of the running trace; the last word counts.

        Outside of a trace it does nothing. Read it back as `Trace.customer_id`.
        """
        (running_trace() or LiveTrace(None)).set_customer_id(customer_id)

    def set_session_id(self, session_id: str) -> None:
        """Say to which conversation the running trace belongs, at any depth of it; the last word counts.

        Outside of a trace it does nothing. Read it back as `Trace.session_id`.
        """
        (running_trace() or LiveTrace(None)).set_session_id(session_id)

    def update_metadata(self, metadata: Mapping[str, Any]) -> None:
        """Add values of any kind, by name, to the running trace; a later value of a name replaces an earlier.

        Outside of a trace it does nothing. Read them back as `Trace.metadata`; `update_current_span` adds
        attributes to one span instead. What is no mapping is left out, and said once in the log.
        """
        (running_trace() or LiveTrace(None)).update_metadata(metadata)

    def log(self, message: str, *, label: str = "log", score: float | None = None) -> None:
        """Add a log entry to the running span, under a label of yours; `score` is feedback as a number.

        Outside of a span it does nothing. A score that scorers' scores stand beside is `score_current_span`.
        """
        LiveSpan(running()).log(message, label=label, score=score)

    def update_current_span(
        self,
        *,
        output: Any = None,
        usage: Mapping[str, Any] | None = None,
        model: str | None = None,
        attributes: Mapping[str, Any] | None = None,
    ) -> None:
        """Add to the running span. What is None stays as it is; attributes that are no mapping are left out,
        which is said once in the log."""
        add_to(LiveSpan(running()), output, usage, model, attributes)

    def score_current_span(
        self, name: str, value: float, *, threshold: float = 0.0, reason: str = ""
    ) -> None:
        """Put a score from 0 to 1 on the running span: it passes from `threshold` on.

        It is stored with the span, and shown with it. Outside of a span it does nothing. What is no number
        from 0 to 1 is left out, which is said once in the log, and counted on the span.
        """
        add_score(LiveSpan(running()), name, value, threshold, reason)

    def async_evaluate(
        self,
        scorers: Sequence[Scorer],
        example: Example | None = None,
        *,
        input: str | dict[str, Any] | None = None,  # noqa: A002 - the field's own word
        actual_output: Any = None,
        expected_output: Any = None,
        context: list[str] | None = None,
        retrieval_context: list[str] | None = None,
        tools_called: Sequence[str | Mapping[str, Any] | ToolCall] | None = None,
        expected_tools: ExpectedTools | None = None,
        additional_metadata: dict[str, Any] | None = None,
        model: str | ChatModel | None = None,
        sample_rate: float | None = None,
        span_id: str | None = None,
        timeout: float | None = None,
        on_result: OnResult | None = None,
        alerts: Sequence[Alert] | None = None,
    ) -> EvaluationHandle:
        """Score an example in the background; the scores land on the running span. Returns at once.

        Give an `Example`, or its fields. What is given is copied now; scorers that look at the trace see the
        span and what is below it, once it has ended. Up to 10,000 evaluations wait; what comes beyond is
        dropped, counted in `stats`. The returned handle may be ignored. What is None counts as not given.
        Outside of a span there is no trace to store the scores with: they go to the handle, to `on_result`
        and to alerts alone.

        Args:
            scorers: What to ask, deterministic scorers or judges.
            example: What to judge.
            input: A field of the example; so are the names that follow, as in `Example`.
            model: Which model the judges ask that have none of their own.
            sample_rate: Share of the calls that are evaluated.
            span_id: Another span of the running trace, 16 hex digits.
            timeout: Seconds for each scorer (120).
            on_result: Called with the scores, on a thread of ours.
            alerts: Whom to tell of a score below its threshold, besides the tracer's own.

        Raises:
            ConfigError: no scorers, an example and fields, a model that cannot be reached as configured.
            ScorerError: something that is not a scorer.
        """
        fields: dict[str, Any] = {
            "input": input,
            "actual_output": actual_output,
            "expected_output": expected_output,
            "context": context,
            "retrieval_context": retrieval_context,
            "tools_called": tools_called,
            "expected_tools": expected_tools,
            "additional_metadata": additional_metadata,
        }
        try:
            online = self._online or self._begin_online()
        except OSError as error:  # no file can be opened to import it from
            return EvaluationHandle.not_begun(scorers, error)
        return online.ask(
            scorers,
            fields if example is None else fields_of(example, fields),
            running(),
            model=model,
            sample_rate=0.0 if not self.enabled else 1.0 if sample_rate is None else sample_rate,
            span_id=span_id,
            timeout=timeout,
            on_result=on_result,
            alerts=self._alerts if alerts is None else (*self._alerts, *checked_alerts(alerts)),
        )

    def annotate(
        self,
        trace_id: str | None = None,
        *,
        label: str | None = None,
        note: str | None = None,
        thumbs: str | bool | None = None,
        score: float | None = None,
        span_id: str | None = None,
        result: str | tuple[str, int] | None = None,
        expected: Any = None,
        by: str | None = None,
    ) -> str:
        """Keep what a person says of a trace, a span of it, or a result of a run; returns the word's id.

        Args:
            trace_id: The whole id, 32 hex digits; not needed with `result`.
            label: A word of your own. A judge's name says that the verdict is about what that judge judges.
            note: Free text.
            thumbs: ``"up"`` or ``"down"``, or True or False.
            score: A number from 0 to 1; from 0.5 on it is a pass. `thumbs` and `score` also become a score
                of the scorer ``Human`` (with a label ``Human: label``).
            span_id: The span that it is about, 16 hex digits.
            result: ``"RUN:PLACE"``, or a pair, with the result's place in the run, from 0.
            expected: The corrected expectation: a text is the right answer, anything else says which calls.
            by: Who says it.

        Raises:
            ConfigError: it says nothing, or something that cannot be read.
            ExpectationError: `expected` cannot be understood.
            StoreError: the result is not in the store, or the store cannot be read.
        """
        from agenttrace.scoring.annotating import annotate

        of = {"label": label, "note": note, "thumbs": thumbs, "score": score, "expected": expected, "by": by}
        return annotate(self.store, self.project_name, self._redaction, trace_id, span_id, result, of)

    def wait_for_evaluations(self, timeout: float | None = None) -> bool:
        """Wait until every evaluation has ended and is stored. Returns False if `timeout` seconds passed.

        Evaluations of ``observe(scorers=…)`` count as soon as their call has ended, so that a script can wait
        for them before it ends. Evaluations that wait for the end of the calling span itself do not count.
        """
        return self._online is None or self._online.wait(timeout)

    def resume_evaluations(self, scorers: Sequence[Scorer]) -> list[EvaluationHandle]:
        """Finish what an earlier process left pending, with scorers of the same names.

        Evaluations of a process that still runs stay with it. The tracer's own alerts are called.
        """
        from agenttrace.online.resume import resume

        return resume(self._online or self._begin_online(), scorers, self._alerts)

    def _evaluate_each(self, scorers: Sequence[Scorer], sample_rate: float) -> Callable[[Span], None]:
        """The function with which the worker evaluates each stored span of an observed function."""
        from agenttrace.online.evaluator import each_span

        # Made now: the first span may be stored only at the end of the script, which is too late.
        online = self._online or self._begin_online()
        online.of_spans = True
        return each_span(online, scorers, sample_rate, self._alerts)

    def _begin_online(self) -> OnlineEvaluator:
        from agenttrace.online.evaluator import OnlineEvaluator
        from agenttrace.tracing.troubles import recording_troubles

        evaluator = OnlineEvaluator(
            self.store,
            self.project_name,
            flush_spans=self._pipeline.store_all,
            write_scores=self._pipeline.write_scores,
            redaction=self._redaction,
            exporters=self._exporters,
            drain_seconds=self._drain_seconds,
            rules=self._rules,
            alerts=self._alerts,
            troubles=lambda: recording_troubles(self._pipeline),
        )
        # If two threads come here together, the first evaluator is used, and the other one is dropped.
        self._online = self._online or evaluator
        return self._online

    def inject(self, headers: MutableMapping[str, str], *, baggage: bool = True) -> MutableMapping[str, str]:
        """Add the W3C ``traceparent`` of the running call to the headers of a request.

        With `baggage`, the header of that name says the trace's session, customer and tags, as far as they
        are set; not for those whom they do not concern.
        """
        return inject(headers, baggage=baggage)

    def extract(self, headers: Headers | None, *, baggage: bool = True) -> Continued:
        """Go on with a caller's trace: ``with tracer.extract(headers): …``.

        Headers are a mapping, a WSGI environ, or pairs as ASGI servers and Kafka's clients have them; names
        and values may be bytes, in any case. What cannot be read changes nothing, and is counted in `stats`.
        With `baggage`, session, customer and tags that the caller sends are the trace's here, too.
        """
        return Continued(self._recorder, headers, baggage=baggage)

    def flush(self, timeout: float = 5.0) -> FlushResult:
        """Wait, at most `timeout` seconds, until what has ended is stored; true if all of it is.

        Spans that a store keeps in memory, because its file cannot be written, are pending.
        """
        return self._pipeline.flush(timeout)

    def shutdown(self, timeout: float = 5.0) -> FlushResult:
        """Flush, stop recording for good, close the store. Later calls are counted but not recorded.

        All of it within `timeout` seconds: spans first, then evaluations for at most the drain time.
        """
        deadline = time.monotonic() + timeout
        withdraw_recorder(self._recorder)
        if self._online is not None:
            self._pipeline.flush(timeout / 2)
            self._close_online(deadline - time.monotonic())
        return self._pipeline.shutdown(max(deadline - time.monotonic(), 0.0))

    def _close_online(self, seconds: float) -> None:
        """Close the evaluator within three quarters of the time; the rest is for the spans and the store."""
        online = self._online
        if online is not None:
            stop = min(0.5, max(seconds, 0.0) / 4)
            online.close(min(self._drain_seconds, max(seconds, 0.0) / 2), stop_seconds=stop)

    def stats(self) -> dict[str, Any]:
        """Counts of this process since the tracer was made, under names that are always there.

        Of spans: ``queued`` (not stored yet), ``written``, ``sampled_out``, ``dropped`` (a mapping of reasons
        to counts) and the like. ``evaluations`` are the online ones, ``exporters`` those that send.
        """
        online = self._online
        try:
            from agenttrace.online.backlog import Counts

            none = Counts().to_dict(0)
        except (ImportError, OSError):  # no descriptor is left to read the module with
            none = {}
        return {
            **self._pipeline.stats(),
            "evaluations": none if online is None else online.stats(),
            "exporters": [sender.stats() for sender in self._pipeline.senders],
        }

    @property
    def recorder(self) -> Recorder:
        """Where what integrations record goes."""
        return self._recorder

    @property
    def redaction(self) -> Redaction:
        """The rules for removing secrets from spans, scores and evaluations' reports."""
        return self._redaction

    def _resolve(self) -> Pipeline | None:
        if not self.enabled:
            return None
        if self._pipeline.closed:
            self._pipeline.after_shutdown.add()
            return None
        return self._pipeline

    def _resolve_watched(self) -> Pipeline | None:
        """The same for a tracer with alerts: rules and troubles are looked at from its first trace on."""
        pipeline = self._resolve()
        if pipeline is not None:
            (self._online or self._begin_online()).watch()
        return pipeline

    def __deepcopy__(self, memo: dict[int, Any]) -> Tracer:
        """The tracer itself: a copied agent goes on recording to the same place."""
        return self

    def __copy__(self) -> Tracer:
        return self

    def __repr__(self) -> str:
        return f"<Tracer {self.project_name!r}>"


def _check_name_and_switches(project_name: str, **switches: bool) -> None:
    if not isinstance(project_name, str) or not project_name:
        raise ConfigError(f"project_name is a non-empty string, got {project_name!r}")
    check_switches(**switches)


def _check_drain_seconds(drain_seconds: float) -> None:
    if not is_number(drain_seconds) or drain_seconds < 0:
        raise ConfigError(f"drain_seconds is a number from 0, got {drain_seconds!r}")
