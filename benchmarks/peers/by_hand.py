"""What a careful engineer writes round a function to record it with an interface that has no decorator."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import wraps
from typing import Any

Spans = Callable[[str], AbstractContextManager[Any]]
Set = Callable[[Any, str, str], None]


def observe_by_hand(function: Callable[..., Any], spans: Spans, note: Set) -> Callable[..., Any]:
    """Bind the arguments with a signature made once, apply defaults, keep input and output as JSON.

    `spans` opens a span by name, `note` puts the JSON of ``"input"`` or ``"output"`` on it.
    """
    signature = inspect.signature(function)
    name = function.__name__

    def begin(span: Any, args: Any, kwargs: Any) -> None:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        arguments = {key: value for key, value in bound.arguments.items() if key != "self"}
        note(span, "input", json.dumps(arguments, default=repr))

    if inspect.iscoroutinefunction(function):

        @wraps(function)
        async def observed(*args: Any, **kwargs: Any) -> Any:
            with spans(name) as span:
                begin(span, args, kwargs)
                output = await function(*args, **kwargs)
                note(span, "output", json.dumps(output, default=repr))
                return output

    elif inspect.isgeneratorfunction(function):

        @wraps(function)
        def observed(*args: Any, **kwargs: Any) -> Any:
            with spans(name) as span:
                begin(span, args, kwargs)
                items = []
                for item in function(*args, **kwargs):
                    items.append(item)
                    yield item
                note(span, "output", json.dumps(items, default=repr))

    else:

        @wraps(function)
        def observed(*args: Any, **kwargs: Any) -> Any:
            with spans(name) as span:
                begin(span, args, kwargs)
                output = function(*args, **kwargs)
                note(span, "output", json.dumps(output, default=repr))
                return output

    return observed
