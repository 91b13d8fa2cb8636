"""A judge's reply: its shape as JSON, read without any repair."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from agenttrace.core.errors import JudgeError
from agenttrace.core.json_reader import InvalidJSON, strict_json

MAX_REPLY_CHARACTERS = 1_000_000
MAX_ITEMS = 500
"""The most claims, verdicts and the like that one reply may hold."""


class UnreadableReply(JudgeError):
    """A reply that cannot be read; `problem` says why, `raw` is its text."""

    def __init__(self, problem: str, raw: str) -> None:
        super().__init__(f"the judge's reply cannot be used: {problem}")
        self.problem = problem
        self.raw = raw


class Reply(BaseModel):
    """The shape of a reply. Every field is needed, no other is taken, and types are exact."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)

    nonce: str


def _lowered(value: Any) -> Any:
    return value.strip().lower() if isinstance(value, str) else value


Verdict = Annotated[Literal["yes", "no", "idk"], BeforeValidator(_lowered)]
"""``idk``: the judge does not know."""


class ItemsReply(Reply):
    """Claims, statements, sentences, instructions or questions found in a text."""

    items: list[str] = Field(max_length=MAX_ITEMS)


class ReasonedVerdict(BaseModel):
    """One verdict. The reason comes first, so that the model writes it before the verdict."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    reason: str
    verdict: Verdict


class VerdictsReply(Reply):
    """One verdict for each item of the question, in their order."""

    verdicts: list[ReasonedVerdict] = Field(max_length=MAX_ITEMS)

    @staticmethod
    def one_for_each(items: Sequence[str]) -> Callable[[VerdictsReply], str | None]:
        """Return a check that there are as many verdicts as items."""
        return lambda reply: wrong_number(len(reply.verdicts), len(items), "verdicts")


class RatingReply(Reply):
    """A rating of 1 to 5."""

    reason: str
    rating: int = Field(ge=1, le=5, description="a whole number from 1 to 5")


class ScoreReply(Reply):
    """A number from 0 to 1."""

    reason: str
    score: float = Field(ge=0, le=1, description="a number from 0 to 1")


def wrong_number(actual: int, expected: int, what: str) -> str | None:
    """Return why a list of the wrong length cannot be used, or None if the length is right."""
    if actual == expected:
        return None
    return f"it has {actual} {what} where {expected} are needed, one for each item in order"


Shape = TypeVar("Shape", bound=Reply)

_IN_A_FENCE = "a code fence stands round it; the JSON alone is to be the whole reply"
"""Local models often write one; told so, most leave it out of their second reply."""


def read_reply(text: str, shape: type[Shape], nonce: str) -> Shape:
    """Read a whole reply as one JSON document of a shape.

    Nothing is repaired, stripped or searched for: a parser that looks for the first JSON object could take
    one that the judge quotes from the judged text. White space round the document is allowed, as in JSON.

    Raises:
        UnreadableReply: it is anything else, or has a wrong nonce.
    """
    if not text.strip():
        raise UnreadableReply("it is empty", text)
    if len(text) > MAX_REPLY_CHARACTERS:
        raise UnreadableReply(f"it is longer than {MAX_REPLY_CHARACTERS:,} characters", text[:2_000])
    try:
        reply = shape.model_validate(strict_json(text))
    except InvalidJSON as error:
        problem = _IN_A_FENCE if text.lstrip().startswith("```") else error.problem
        raise UnreadableReply(problem, text) from None
    except ValidationError as error:
        raise UnreadableReply(_first_problem(error), text) from None
    if reply.nonce != nonce:
        raise UnreadableReply("the nonce is not the one that was asked for", text)
    return reply


def reply_schema(shape: type[Reply]) -> dict[str, Any]:
    """Return the JSON schema of a shape, with the keywords that every endpoint knows.

    It has no references, titles or bounds (these are checked when the reply is read, and stated in
    descriptions); every object is closed and needs all of its keys.
    """
    full = shape.model_json_schema()
    definitions = full.get("$defs", {})
    simple: dict[str, Any] = _simplify(full, definitions)
    return simple


def _simplify(node: Any, definitions: dict[str, Any]) -> Any:
    if "$ref" in node:
        return _simplify(definitions[node["$ref"].rpartition("/")[2]], definitions)
    out: dict[str, Any] = {key: node[key] for key in ("type", "enum") if key in node}
    if "const" in node:
        out["enum"] = [node["const"]]
    if node.get("type") == "object":
        properties = node["properties"]
        out["properties"] = {name: _simplify(child, definitions) for name, child in properties.items()}
        out["required"] = list(properties)
        out["additionalProperties"] = False
    elif node.get("type") == "array":
        out["items"] = _simplify(node["items"], definitions)
    elif "description" in node:
        out["description"] = node["description"]
    return out


def _first_problem(error: ValidationError) -> str:
    """Return the place and the reason of the first error, without repeating the reply."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    where = ".".join(str(part) for part in first["loc"]) or "the document"
    if first["type"] == "extra_forbidden":
        return "it has a key that was not asked for"
    return f"{where}: {first['msg']}"
