"""`OnlineEvaluator`: takes requests from the agent's threads, starts and stops the worker that does them."""

from __future__ import annotations

import importlib
import os
import sys
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from agenttrace.core.batch import Batch, ScoreRow
from agenttrace.core.protocols import Store
from agenttrace.core.rates import Rule
from agenttrace.core.span import Span
from agenttrace.online.alerts import Alert
from agenttrace.online.backlog import Backlog, adds_up
from agenttrace.online.handle import EvaluationHandle
from agenttrace.online.request import OnResult, Request, key_of_span, make_request, owner_text
from agenttrace.process.fork_and_exit import at_exit, at_fork, before_executors_end
from agenttrace.process.threads import SupervisedThread, no_thread_at_the_end
from agenttrace.redaction import Redaction
from agenttrace.scoring.checks import check_delivery, check_rate, checked_request
from agenttrace.tracing.record import Record, admitted

if TYPE_CHECKING:
    from agenttrace.core.protocols import ChatModel
    from agenttrace.online.trouble_watch import Troubles
    from agenttrace.online.worker import OnlineWorker

QUEUE_LIMIT = 10_000
"""Evaluations that may wait. Beyond it, new ones are dropped: older ones are nearer to their end."""

MAX_WEIGHT = 64 * 1024 * 1024
"""Bytes of heavy example values that may wait."""

CONCURRENCY = 16
TIMEOUT = 120.0
DRAIN_SECONDS = 2.0
_FORK_SECONDS = 5.0
_STOP_SECONDS = 0.5
_STORING_SECONDS = 30.0
"""How long `wait` without a timeout waits until spans that are to be evaluated are stored."""

_SPAN_SECONDS = 1.0
"""How long the end of the process waits for the same."""

_LOOKS, _BETWEEN_LOOKS = 20, 0.001
"""How often counts are read that do not add up, since the worker changes them meanwhile; seconds between."""

_FULL = "the evaluation was dropped: the queue of evaluations is full"
_SHUT = "the evaluation was dropped: the tracer was shut down"


class OnlineEvaluator:
    """Evaluates in production, on a thread of its own and with a bounded queue.

    `submit` appends to a deque and returns; one daemon thread with an event loop does the rest: `concurrency`
    evaluations at a time, each with a deadline. What waits is also written to the store, so that a later
    process can finish it. When the process ends, `drain_seconds` are given to what is under way; the rest
    stays pending in the store, its handles say so. A forked child starts with an empty queue of its own.

    `of_spans` is True where finished spans are evaluated when they are stored: before it waits for
    evaluations, it has the spans that have ended stored.
    """

    def __init__(
        self,
        store: Store,
        project: str,
        *,
        flush_spans: Callable[[float], Any],
        write_scores: Callable[[Sequence[ScoreRow]], None] | None = None,
        redaction: Redaction | None = None,
        exporters: Sequence[Any] = (),
        limit: int = QUEUE_LIMIT,
        concurrency: int = CONCURRENCY,
        timeout: float = TIMEOUT,
        drain_seconds: float = DRAIN_SECONDS,
        rules: Sequence[Rule] = (),
        alerts: Sequence[Alert] = (),
        troubles: Troubles | None = None,
    ) -> None:
        self.store = store
        self.project = project
        self.limit = limit
        self.concurrency = concurrency
        self.timeout = timeout
        self.drain_seconds = drain_seconds
        self.of_spans = False
        self._rules = tuple(rules)
        self._alerts = tuple(alerts)
        self._troubles = troubles
        self._write_scores = write_scores or (lambda rows: store.write(Batch(scores=rows)))
        self._redaction = redaction or Redaction()
        self._flush_spans = flush_spans
        self._exporters = tuple(exporters)
        self._closed = False
        self._begin()
        _evaluators.add(self)
        at_fork("evaluations", before=self.before_fork, in_child=self.after_fork)

    def _begin(self) -> None:
        self._backlog = Backlog(self.store, self.project, self._redaction)
        self.inbox = self._backlog.inbox  # found faster here, as the counts are: `ask` takes the agent's time
        self.counts = self._backlog.counts
        self._nonce = os.urandom(6).hex()
        self._starting = threading.Lock()
        self._worker: SupervisedThread | None = None
        self._threadless = False

    # On the agent's thread.

    def ask(
        self,
        scorers: Sequence[Any],
        fields: dict[str, Any],
        record: Record | None = None,
        *,
        model: str | ChatModel | None = None,
        sample_rate: float = 1.0,
        span_id: str | None = None,
        timeout: float | None = None,
        on_result: OnResult | None = None,
        alerts: Sequence[Alert] = (),
    ) -> EvaluationHandle:
        """Check, copy, hand over. `fields` are those of an example; they become the evaluator's.

        Raises only for wrong use; see `Tracer.async_evaluate`.
        """
        if sample_rate != 1.0:
            check_rate(sample_rate)
        check_delivery(timeout, on_result)
        scorers = checked_request(scorers, model)
        if not admitted(sample_rate):
            return self._sampled_out()
        if not self.has_room():
            return self._dropped(scorers)
        return self.submit(
            make_request(
                scorers,
                fields,
                record,
                span_key=None if span_id is None else key_of_span(span_id, record),
                model=model,
                timeout=timeout,
                on_result=on_result,
                alerts=alerts,
            )
        )

    def ask_for_span(
        self, scorers: Sequence[Any], fields: dict[str, Any], span: Span, *, alerts: Sequence[Alert]
    ) -> None:
        """Ask for a finished span, on the pipeline's worker. After `close`, it is left to a later process."""
        if not self._closed and not self.has_room():
            self._dropped(scorers)
            return
        self._take(
            make_request(scorers, fields, trace_key=span.trace_key, span_key=span.span_key, alerts=alerts)
        )
        if self._closed:
            self._backlog.leave_inbox()

    @property
    def owner(self) -> str:
        """The text that marks pending evaluations in the store as those of this evaluator."""
        return owner_text(self._nonce)

    def submit(self, request: Request) -> EvaluationHandle:
        """Take a request; never waits, never raises."""
        self._take(request)
        if self._closed:  # closed in the meantime: perhaps nobody empties the inbox again
            self._backlog.drop_inbox(_SHUT)
        return request.handle

    def _take(self, request: Request) -> None:
        self.counts.asked.add()
        if request.weight:
            self.counts.weight += request.weight
        self.inbox.append(request)
        worker = self._worker
        if worker is None or not worker.alive:
            self._start()

    def has_room(self) -> bool:
        """Return True if there is room for another request."""
        counts = self.counts
        return (
            len(self.inbox) + counts.waiting < self.limit and counts.weight < MAX_WEIGHT and not self._closed
        )

    def _dropped(self, scorers: Sequence[Any]) -> EvaluationHandle:
        counts = self.counts
        counts.asked.add()
        counts.dropped.add()
        return EvaluationHandle.undone("dropped", scorers, _SHUT if self._closed else _FULL)

    def _sampled_out(self) -> EvaluationHandle:
        self.counts.asked.add()
        self.counts.sampled_out.add()
        handle = EvaluationHandle()
        handle.finish("sampled_out")
        return handle

    def watch(self) -> None:
        """Look at rules and troubles from now on, whether or not anything is evaluated."""
        if (self._rules or self._alerts) and (self._worker is None or not self._worker.alive):
            self._start()

    def _start(self) -> None:
        if self._closed or not self._starting.acquire(blocking=False):
            return
        try:
            if self._worker is None or not self._worker.alive:
                self._worker = SupervisedThread(self._make_worker, self._give_up, name="online evaluation")
        except RuntimeError as error:  # no new thread: limit reached, or the interpreter is going down
            # The next request tries again; until then this one is pending.
            self._threadless = no_thread_at_the_end(error)
        finally:
            self._starting.release()

    def _make_worker(self) -> OnlineWorker:
        """Make the worker, on its own thread, so that its imports take no time of the agent's."""
        for later in ("agenttrace.core.example", "agenttrace.expectations.matcher"):
            importlib.import_module(later)  # what it needs later must be there at a fork
        from agenttrace.online.worker import OnlineWorker

        return OnlineWorker(
            self._backlog,
            owner=self.owner,
            flush_spans=self._flush_spans,
            write_scores=self._write_scores,
            exporters=self._exporters,
            concurrency=self.concurrency,
            timeout=self.timeout,
            rules=self._rules,
            alerts=self._alerts,
            troubles=self._troubles,
        )

    # Waiting, ending, forking.

    @property
    def open(self) -> bool:
        """True until it is closed."""
        return not self._closed

    def flush_observed_spans(self, timeout: float) -> bool:
        """Have the spans that have ended stored, which asks for their evaluations.

        Returns True if all were stored in time.
        """
        return not self.of_spans or self._flush_spans(timeout).pending == 0

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until every evaluation has ended, also those of spans that have ended by now.

        Returns True if that was so within `timeout` seconds. Evaluations that wait for the end of a call that
        the caller is inside are left out. After `close` no evaluation ends any more: where one is left, the
        answer is False at once.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        all_stored = self.flush_observed_spans(_STORING_SECONDS if timeout is None else timeout)
        return self._wait(deadline) and all_stored

    def _wait(self, deadline: float | None) -> bool:
        while self._backlog.size > self._backlog.waiting_for_caller():
            late = deadline is not None and time.monotonic() >= deadline
            if late or self._closed or self._threadless:
                return False
            time.sleep(0.005)
        return self.counts.left.value() == 0

    @property
    def busy(self) -> bool:
        """True while anything waits or runs."""
        return self._backlog.size > 0

    def close(self, timeout: float | None = None, *, stop_seconds: float = _STOP_SECONDS) -> bool:
        """Wait `timeout` seconds (or the drain time) for what is under way, then stop.

        Returns True if everything was done. The worker gets `stop_seconds` to write the rest to the store;
        what it has not taken is written here.
        """
        if self._closed:
            return not self.busy
        all_done = self._wait(time.monotonic() + (self.drain_seconds if timeout is None else timeout))
        self._closed = True
        worker_ended = self._worker is None or self._worker.stop(stop_seconds)
        self._backlog.leave_unfinished(keep=worker_ended)
        self._backlog.leave_inbox()
        return all_done

    def close_without_waiting(self) -> None:
        """Evaluate nothing more: what is asked for spans from now on is left to a later process."""
        self._closed = True
        self._backlog.leave_inbox()

    def _give_up(self, reason: str) -> None:
        """Drop everything, on the thread of a worker that cannot go on."""
        self._backlog.drop_all(f"the evaluation was dropped: its worker failed: {reason}")

    def stats(self) -> dict[str, int]:
        """The counts; of the evaluations in ``asked``, each is in exactly one other count of evaluations."""
        counts = self.counts.to_dict(len(self.inbox))
        for _ in range(_LOOKS):
            if adds_up(counts):
                break
            time.sleep(_BETWEEN_LOOKS)
            counts = self.counts.to_dict(len(self.inbox))
        return counts

    def before_fork(self) -> None:
        """Wait until the worker has made its imports: see `SupervisedThread`."""
        if self._worker is not None:
            self._worker.ready.wait(_FORK_SECONDS)

    def after_fork(self) -> None:
        """In a forked child: start with an empty queue; the parent does what it was asked for. One that was
        closed stays so."""
        self._begin()


def each_span(
    online: OnlineEvaluator, scorers: Sequence[Any], sample_rate: float, alerts: Sequence[Alert]
) -> Callable[[Span], None]:
    """The function that asks for evaluations of successful spans, of a share `sample_rate` of them."""
    scorers = checked_request(scorers)

    def evaluate(span: Span) -> None:
        if span.status == "ok" and admitted(sample_rate):
            fields = {"input": dict(span.input or {}), "actual_output": span.output}
            online.ask_for_span(scorers, fields, span, alerts=alerts)

    return evaluate


_evaluators: weakref.WeakSet[OnlineEvaluator] = weakref.WeakSet()


def open_owners() -> set[str]:
    """The owner texts of the evaluators of this process that are not closed."""
    return {evaluator.owner for evaluator in list(_evaluators) if evaluator.open}


def _end_of_main_thread() -> None:
    """Finish evaluations while executors still work, unless the process goes on in other threads."""
    if not _other_threads_run():
        _drain(_flush_open_evaluators())


def _end_of_process() -> None:
    """Finish evaluations when those threads have ended, too; later requests are left to a later process."""
    evaluators = _flush_open_evaluators()
    _drain(evaluators)
    for evaluator in evaluators:
        evaluator.close_without_waiting()


def _flush_open_evaluators() -> list[OnlineEvaluator]:
    """Return the evaluators that are not closed, after spans that have ended were handed to them."""
    evaluators = [evaluator for evaluator in list(_evaluators) if evaluator.open]
    deadline = time.monotonic() + _SPAN_SECONDS
    for evaluator in evaluators:
        evaluator.flush_observed_spans(max(deadline - time.monotonic(), 0.0))
    return evaluators


def _drain(evaluators: list[OnlineEvaluator]) -> None:
    evaluators = [evaluator for evaluator in evaluators if evaluator.busy]
    deadline = time.monotonic() + max([evaluator.drain_seconds for evaluator in evaluators], default=0.0)
    for evaluator in evaluators:
        evaluator.close(max(min(evaluator.drain_seconds, deadline - time.monotonic()), 0.0))


def _other_threads_run() -> bool:
    """Return True if threads of the user's keep the process alive, as those of a server may.

    Always False in a child of multiprocessing, which exits without running `_end_of_process`.
    """
    process = sys.modules.get("multiprocessing.process")
    if process is not None and process.parent_process() is not None:
        return False
    here = threading.current_thread()
    return any(thread is not here and not thread.daemon for thread in threading.enumerate())


before_executors_end(_end_of_main_thread)
at_exit("evaluations", _end_of_process)
