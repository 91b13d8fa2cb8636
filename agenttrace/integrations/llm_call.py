"""One recorded call to a model, from its request to the end of its answer: ok, failed or abandoned."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, TypeVar

from agenttrace.core import semconv
from agenttrace.core.identity import monotonic_ns
from agenttrace.core.interruptions import raised_by_signal
from agenttrace.core.span import Status
from agenttrace.integrations.hosted import record_hosted
from agenttrace.integrations.spans import Spans
from agenttrace.providers.answer import Answer, Choice, Reader
from agenttrace.providers.prices import Price, cost_of
from agenttrace.tracing.open_span import OpenSpan

T = TypeVar("T")


def _guarded(step: Callable[..., None]) -> Callable[..., None]:
    @wraps(step)
    def guarded(call: LLMCall, *args: Any, **kwargs: Any) -> None:
        try:
            step(call, *args, **kwargs)
        except Exception as error:  # choke-point: recording a server's answer must not break the caller
            if raised_by_signal(error):
                raise
            call.span.recording_failed(error)

    return guarded


class LLMCall:
    """One call to a model that is being recorded. Only the call's own exceptions are raised."""

    def __init__(
        self, span: OpenSpan, reader: Reader, prices: Mapping[str, Price], spans: Spans | None = None
    ) -> None:
        self.span = span
        self._spans = spans
        self._request: Mapping[str, Any] = {}
        self._reader = reader
        self._prices = prices
        self._requested: str | None = None
        self._started = monotonic_ns()
        self._first_part: int | None = None
        self._stepping = False
        self._ended = False

    @_guarded
    def describe(self, provider: str, address: tuple[str, int | None], request: Mapping[str, Any]) -> None:
        """Record the provider, its address and the settings of the request."""
        say = self.span.set_attribute
        self._request = request
        self._requested = request.get("model")
        say(semconv.OPERATION, "chat")
        say(semconv.PROVIDER, provider)
        host, port = address
        if host:
            say(semconv.SERVER_ADDRESS, host)
        if port is not None:
            say(semconv.SERVER_PORT, port)
        for setting, name in semconv.REQUEST.items():
            if request.get(setting) is not None:
                say(name, request[setting])

    @_guarded
    def reply(self, reply: Any) -> None:
        """Take the whole answer."""
        self._reader.reply(reply)

    @_guarded
    def item(self, item: Any) -> None:
        """Take one item of a stream."""
        if self._reader.item(item) and self._first_part is None:
            self._first_part = monotonic_ns()

    def step(self, advance: Callable[[], T]) -> T:
        """Go one item further in a stream."""
        if self._stepping:  # a stream whose iterator goes through itself
            return advance()
        self._stepping = True
        try:
            item = advance()
        except StopIteration:
            self.finish("ok")
            raise
        except BaseException as error:
            self.fail(error)
            raise
        finally:
            self._stepping = False
        self.item(item)
        return item

    async def async_step(self, advance: Callable[[], Any]) -> Any:
        """The same for an asynchronous stream."""
        if self._stepping:
            return await advance()
        self._stepping = True
        try:
            item = await advance()
        except StopAsyncIteration:
            self.finish("ok")
            raise
        except BaseException as error:
            self.fail(error)
            raise
        finally:
            self._stepping = False
        self.item(item)
        return item

    def abandon(self) -> None:
        """Finish a stream that was closed or dropped, unless it closes itself while an item is fetched."""
        if not self._stepping:
            self.finish(None)

    def finish(self, status: Status | None) -> None:
        """Record the answer so far, end the span. None: *ok* if the answer is complete, else *abandoned*."""
        if self._ended:
            return
        self._ended = True
        try:
            self._record_answer()
            complete = self.span.recorded and self._complete()
            status = status or ("ok" if complete else "abandoned")
        finally:  # also where a signal handler's exception arrives meanwhile
            self.span.end(status=status)

    def fail(self, error: BaseException) -> None:
        """Record the answer so far, end the span with what the call raised."""
        if self._ended:
            return
        self._ended = True
        try:
            self._record_answer()
            self._record_failure(error)
        finally:
            self.span.end(error=error)

    def _complete(self) -> bool:
        try:
            choices = self._reader.answer().choices
            return bool(choices) and all(choice.finish_reason for choice in choices)
        except Exception as error:  # choke-point: see above
            if raised_by_signal(error):
                raise
            return False

    @_guarded
    def _record_failure(self, error: BaseException) -> None:
        self.span.set_attribute(semconv.ERROR_TYPE, type(error).__qualname__)

    @_guarded
    def _record_answer(self) -> None:
        if not self.span.recorded:
            return
        answer = self._reader.answer()
        say = self.span.set_attribute
        if self._first_part is not None:
            say(semconv.TIME_TO_FIRST_CHUNK, (self._first_part - self._started) / 1e9)
        if answer.id:
            say(semconv.RESPONSE_ID, answer.id)
        if answer.model:
            say(semconv.RESPONSE_MODEL, answer.model)
        reasons = [choice.finish_reason for choice in answer.choices if choice.finish_reason]
        if reasons:
            say(semconv.FINISH_REASONS, reasons)
        if answer.choices:
            self.span.output = _output(answer.choices)
        self._record_usage(answer)
        self._record_hosted(answer)

    @_guarded
    def _record_hosted(self, answer: Answer) -> None:
        if self._spans is not None:
            record_hosted(self._spans, self.span, answer.choices, self._request)

    def _record_usage(self, answer: Answer) -> None:
        if not answer.usage:
            return
        for word, count in answer.usage.items():
            if word in semconv.USAGE:
                self.span.set_attribute(semconv.USAGE[word], count)
        cost = cost_of(answer.model, answer.usage, self._prices, requested=self._requested)
        self.span.set_usage(answer.usage if cost is None else {**answer.usage, "cost": cost})


def _output(choices: list[Choice]) -> Any:
    """Return one answer as it is, several as a list."""
    answers = [choice.to_dict() for choice in choices]
    return answers[0] if len(answers) == 1 else answers
