"""From an endpoint's HTTP answer to a `ChatReply`, or to an error that says why there is none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agenttrace.core.errors import JudgeError
from agenttrace.core.json_reader import InvalidJSON, strict_json
from agenttrace.core.jsonable import to_json
from agenttrace.core.text import short_line
from agenttrace.http.endpoint import ApiKey
from agenttrace.http.transport import Answer, Failure, Transport
from agenttrace.providers.prices import cost_of
from agenttrace.providers.usage import read_usage

_EXCERPT = 300


async def ask(transport: Transport, url: str, headers: Mapping[str, str], payload: Any) -> Answer:
    """Post JSON to a model's endpoint.

    Raises:
        JudgeError: there is no complete reply in time, or it is too long or a redirect.
    """
    body = to_json(payload).encode("utf-8", "replace")
    outcome = await transport.post(url, {"content-type": "application/json", **headers}, body)
    if isinstance(outcome, Failure):
        raise JudgeError(outcome.problem)
    return outcome


def read_answer(answer: Answer, *, model: str, key: ApiKey | None) -> Mapping[str, Any]:
    """Return the JSON object of an answer with status 200.

    Raises:
        JudgeError: it has another status, or its body is not one strict JSON object. A refused key is
            reported by the name of its source, without the endpoint's text, which often repeats the key.
    """
    if answer.status in (401, 403):
        if key is None:
            raise JudgeError(f"the endpoint of {model!r} wants a key ({answer.status}): pass api_key=")
        raise JudgeError(f"the endpoint of {model!r} refuses the key ({answer.status}); see {key.source}")
    problem = None
    try:
        body = strict_json(answer.body.decode("utf-8", "replace"))
    except InvalidJSON as error:
        body, problem = None, error.problem
    if answer.status != 200:
        raise JudgeError(f"the endpoint of {model!r} answered {answer.status}{_excerpt(answer, body, key)}")
    if not isinstance(body, Mapping):
        raise JudgeError(
            f"the endpoint of {model!r} answered with something that is no JSON object"
            + (f": {problem}" if problem else "")
        )
    return body


def reply_of(model: str, body: Mapping[str, Any], text: Any, finish: Any) -> ChatReply:
    """Return the reply in an answer's body, without values of a wrong type, and then without its cost."""
    usage, answering = read_usage(body.get("usage")), body.get("model")
    return ChatReply(
        text=text if isinstance(text, str) else "",
        model=model,
        input_tokens=usage.get("input_tokens"),
        output_tokens=usage.get("output_tokens"),
        cost=cost_of(answering if isinstance(answering, str) else None, usage, requested=model),
        finish=finish if isinstance(finish, str) else None,
    )


def _excerpt(answer: Answer, body: Any, key: ApiKey | None) -> str:
    """Return the endpoint's own text about an error: short, on one line, without the key."""
    text = answer.body.decode("utf-8", "replace")
    if isinstance(body, Mapping):
        error = body.get("error")
        message = error.get("message") if isinstance(error, Mapping) else error
        text = message if isinstance(message, str) else text
    if key is not None:
        text = key.mask(text)
    text = short_line(text, _EXCERPT)
    return f": {text}" if text else ""


@dataclass(frozen=True, slots=True)
class ChatReply:
    """The answer of a language model, with its cost.

    `cost` is in US dollars, None where the model's price is not known. `finish` is the endpoint's own word
    for why the text ends (``"stop"``, ``"length"``, ``"refusal"`` …). `cached` replies came from disk: they
    cost nothing, and are not an independent opinion.
    """

    text: str
    model: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost: float | None = None
    finish: str | None = None
    cached: bool = False
