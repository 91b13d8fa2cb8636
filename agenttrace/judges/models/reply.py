"""What a language model answered."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ChatReply:
    """What a language model answered, with what it cost.

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
