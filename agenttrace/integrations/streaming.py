"""Watches streams and raw responses that the user reads: each item, and the end, goes to the recorded call.

The user gets the library's own object, whose class becomes a subclass made here. Its methods and state stay
as they are, and no reference keeps it alive longer than without recording.
"""

from __future__ import annotations

import inspect
import weakref
from collections.abc import AsyncIterator, Callable, Iterator
from functools import lru_cache
from typing import Any

from agenttrace.core.interruptions import raised_by_signal
from agenttrace.core.json_reader import lenient_json
from agenttrace.integrations.llm_call import LLMCall

_CALL = "_agenttrace_call"


def watch_result(result: Any, call: LLMCall) -> None:
    """Record the result of a call until its answer is complete: a reply, a stream, or a raw response."""
    kind = type(result)
    if hasattr(kind, "__next__"):
        _watch(result, call, _stream_class)
        _watch_closing(result, call)
    elif hasattr(kind, "__anext__"):
        _watch(result, call, _async_stream_class)
        _watch_closing(result, call)
    elif hasattr(result, "http_response"):
        _watch_raw(result, call)
    else:
        call.reply(result)
        call.finish("ok")


def _watch_closing(stream: Any, call: LLMCall) -> None:
    """Watch the HTTP response of a stream, too: helpers close it, and never the stream itself."""
    response = getattr(stream, "response", None)
    if response is not None:
        _change(response, _response_class, call)


def _watch_raw(raw: Any, call: LLMCall) -> None:
    body = _body(raw.http_response)
    if body is not None:
        call.reply(body)
        call.finish("ok")
        return
    _change(raw, _async_raw_class if inspect.iscoroutinefunction(type(raw).parse) else _raw_class, call)
    weakref.finalize(raw, _finish_raw, raw.http_response, call)


def _watch(stream: Any, call: LLMCall, subclass: Callable[[Any], type]) -> None:
    _change(stream, subclass, call)
    weakref.finalize(stream, call.abandon)


def _change(thing: Any, subclass: Callable[[Any], type], call: LLMCall) -> None:
    setattr(thing, _CALL, call)
    thing.__class__ = subclass(type(thing))


def _body(response: Any) -> Any:
    """Return the JSON of a response that was read, or else None."""
    try:
        return lenient_json(response.content)
    except Exception as error:  # choke-point: not read yet (each library has its own error), or no JSON
        if raised_by_signal(error):
            raise
        return None


def _finish_raw(response: Any, call: LLMCall) -> None:
    body = _body(response)
    if body is not None:
        call.reply(body)
        call.finish("ok")
    elif getattr(response, "is_stream_consumed", False):  # the caller reads the bytes itself
        call.finish("ok")
    else:
        call.abandon()


def _watch_parsed(result: Any, call: LLMCall) -> Any:
    if not hasattr(result, _CALL):  # `parse` gives the same stream again
        try:
            watch_result(result, call)
        except Exception as error:  # choke-point: the guard of recording
            if raised_by_signal(error):
                raise
            call.span.recording_failed(error)
    return result


def like(subclass: type, cls: type) -> type:
    """Give a subclass the name of its base, by which users know it."""
    subclass.__module__, subclass.__qualname__, subclass.__name__ = (
        cls.__module__,
        cls.__qualname__,
        cls.__name__,
    )
    subclass.__doc__ = cls.__doc__
    return subclass


@lru_cache(maxsize=64)
def _stream_class(cls: Any) -> type:
    class Watched(cls):  # type: ignore[misc]  # the base is known at run time only
        def __next__(self) -> Any:
            return call_of(self).step(super().__next__)

        def __iter__(self) -> Iterator[Any]:
            call, items = call_of(self), super().__iter__()
            while True:
                try:
                    item = call.step(items.__next__)
                except StopIteration:
                    return
                yield item

    return like(Watched, cls)


@lru_cache(maxsize=64)
def _async_stream_class(cls: Any) -> type:
    class Watched(cls):  # type: ignore[misc]  # the base is known at run time only
        async def __anext__(self) -> Any:
            return await call_of(self).async_step(super().__anext__)

        async def __aiter__(self) -> AsyncIterator[Any]:
            call, items = call_of(self), super().__aiter__()
            while True:
                try:
                    item = await call.async_step(items.__anext__)
                except StopAsyncIteration:
                    return
                yield item

    return like(Watched, cls)


@lru_cache(maxsize=64)
def _response_class(cls: Any) -> type:
    class Watched(cls):  # type: ignore[misc]  # the base is known at run time only
        def close(self) -> None:
            try:
                super().close()
            finally:
                call_of(self).abandon()

        async def aclose(self) -> None:
            try:
                await super().aclose()
            finally:
                call_of(self).abandon()

    return like(Watched, cls)


@lru_cache(maxsize=64)
def _raw_class(cls: Any) -> type:
    class Watched(cls):  # type: ignore[misc]  # the base is known at run time only
        def parse(self, **options: Any) -> Any:
            return _watch_parsed(super().parse(**options), call_of(self))

        def close(self) -> None:
            try:
                super().close()
            finally:
                _finish_raw(self.http_response, call_of(self))

    if not hasattr(cls, "close"):
        del Watched.close
    return like(Watched, cls)


@lru_cache(maxsize=64)
def _async_raw_class(cls: Any) -> type:
    class Watched(cls):  # type: ignore[misc]  # the base is known at run time only
        async def parse(self, **options: Any) -> Any:
            return _watch_parsed(await super().parse(**options), call_of(self))

        async def close(self) -> None:
            try:
                await super().close()
            finally:
                _finish_raw(self.http_response, call_of(self))

    return like(Watched, cls)


def call_of(thing: Any) -> LLMCall:
    """Return the recorded call of a watched object."""
    call: LLMCall = vars(thing)[_CALL]
    return call
