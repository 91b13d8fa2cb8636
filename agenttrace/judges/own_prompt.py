"""A judge's task as the user writes it: one prompt, or a conversation."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from agenttrace.core.errors import ConfigError, did_you_mean
from agenttrace.judges.evidence import FIELDS, Evidence
from agenttrace.judges.prompting import Prompt, fill, placeholders

_ROLES = ("system", "user", "assistant")


class OwnPrompt:
    """A judge's task in the user's words, with ``{{input}}``, ``{{actual_output}}``, ``{{trajectory}}`` and
    the example's other fields.

    A placeholder becomes the name of a fenced text, and the text follows as data: what an agent wrote never
    stands among the instructions. The fields that are named are needed. The version is a digest of the text.

    Raises:
        ConfigError: neither a prompt nor a conversation, or both; an unknown placeholder or role.
    """

    def __init__(
        self,
        owner: str,
        prompt: str | None,
        conversation: Sequence[Mapping[str, str]] | None,
    ) -> None:
        if (prompt is None) == (conversation is None):
            raise ConfigError(f"{owner} needs prompt= or conversation=, one of them")
        messages = [{"role": "system", "content": prompt}] if prompt is not None else list(conversation or ())
        texts = [_content(owner, message) for message in messages]
        if not "".join(texts).strip():
            raise ConfigError(f"{owner} has an empty prompt")
        joined = "\n".join(texts)
        self.needs = placeholders(joined, FIELDS, f"the prompt of {owner}")
        pointers = {field: f'[the text "{field}"]' for field in FIELDS}
        filled = [fill(text, pointers) for text in texts]
        roles = [message["role"] for message in messages]
        pairs = list(zip(roles, filled, strict=True))
        self.dialogue = tuple({"role": role, "content": text} for role, text in pairs if role != "system")
        system = [text for role, text in pairs if role == "system"]
        task = "\n\n".join(system) or "Answer the last message of the conversation that follows."
        digest = hashlib.sha256(joined.encode("utf-8", "replace")).hexdigest()[:8]
        self.prompt = Prompt(owner, digest, task)

    def blocks(self, evidence: Evidence) -> dict[str, str]:
        """The texts that the prompt names."""
        return evidence.blocks(*self.needs)


def _content(owner: str, message: Mapping[str, str]) -> str:
    role, content = message.get("role", ""), message.get("content")
    if role not in _ROLES:
        raise ConfigError(
            f"{owner}: unknown role {role!r} in the conversation{did_you_mean(str(role), _ROLES)}"
        )
    if not isinstance(content, str):
        raise ConfigError(f"{owner}: the content of a message is text, got {type(content).__name__}")
    return content
