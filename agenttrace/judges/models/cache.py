"""A cache of judge replies on disk."""

from __future__ import annotations

import hashlib
import os
import secrets
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from agenttrace.core.errors import ConfigError
from agenttrace.core.json_reader import strict_json
from agenttrace.core.jsonable import to_json
from agenttrace.core.protocols import ChatModel, Identified, name_of_model, optional
from agenttrace.judges.models.reading import ChatReply
from agenttrace.process.said_once import SaidOnce

_FORMAT = 1


class CachedModel:
    """A model whose usable replies are stored in a directory and returned again for the same request.

    Only replies that the judge has accepted are stored (`keep`): no failure, no unreadable reply. A reply
    from disk is marked `cached`, costs nothing, and is not an independent opinion. The votes of one score are
    different requests; a second trial that hits the cache is marked in the score's metadata. Files are
    private to the user. A broken file is a miss; one that cannot be written is logged once and not stored.

    Raises:
        ConfigError: the model has no `identity`, by which its replies are told from another model's.
    """

    def __init__(self, model: ChatModel, directory: str | Path) -> None:
        identified = optional(model, Identified)
        identity = None if identified is None else identified.identity
        if not isinstance(identity, str):
            raise ConfigError(
                f"{type(model).__name__} cannot be cached: it needs an attribute identity, "
                "a text that no other model has"
            )
        self.model = model
        self.directory = Path(directory)
        self.name = name_of_model(model)
        self.identity = identity
        self.fence_secret = self._secret()
        self._warnings = SaidOnce()

    async def complete(
        self, messages: Sequence[Mapping[str, Any]], schema: Mapping[str, Any] | None = None
    ) -> Any:
        """Return the stored reply to this request, or else the model's."""
        reply = self._read(self._path(messages, schema))
        return reply if reply is not None else await self.model.complete(messages, schema)

    def keep(
        self, messages: Sequence[Mapping[str, Any]], schema: Mapping[str, Any] | None, reply: ChatReply
    ) -> None:
        """Store a reply that the judge could read. Where the disk is full, this verdict still counts."""
        if reply.cached:
            return
        document = {"format": _FORMAT, "reply": asdict(reply)}
        try:
            _write(self._path(messages, schema), to_json(document).encode())
        except OSError as error:
            text = f"the judge cache in {self.directory} cannot keep replies"
            self._warnings.warn("cannot keep", text, error)

    def _path(self, messages: Sequence[Mapping[str, Any]], schema: Mapping[str, Any] | None) -> Path:
        request = to_json([_FORMAT, self.identity, [dict(m) for m in messages], schema])
        digest = hashlib.sha256(request.encode("utf-8", "backslashreplace")).hexdigest()
        return self.directory / digest[:2] / f"{digest}.json"

    def _read(self, path: Path) -> ChatReply | None:
        try:
            document = strict_json(path.read_text("utf-8"))
            if document["format"] != _FORMAT:
                return None
            reply = ChatReply(**document["reply"])
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return replace(reply, cached=True, cost=0.0) if isinstance(reply.text, str) else None

    def _secret(self) -> bytes:
        """Return the secret that fences of cached requests derive from; judged texts cannot know it."""
        path = self.directory / "secret"
        deed = "used"
        try:
            if not path.exists():
                deed = "written"
                _write(path, secrets.token_bytes(32), overwrite=False)
            secret = path.read_bytes()
        except OSError as error:
            raise ConfigError(f"the judge cache in {self.directory} cannot be {deed}: {error}") from None
        if len(secret) != 32:
            raise ConfigError(
                f"{path} is not the secret of a judge cache; remove the directory to start anew"
            )
        return secret


def _write(path: Path, content: bytes, *, overwrite: bool = True) -> None:
    """Put a whole file in place at once, readable by its owner only."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle, temporary = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        if overwrite:
            os.replace(temporary, path)
        else:
            os.link(temporary, path)
    except FileExistsError:
        pass  # another process was first, its secret counts
    finally:
        Path(temporary).unlink(missing_ok=True)
