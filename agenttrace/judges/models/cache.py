"""Judge replies kept on disk, by request."""

from __future__ import annotations

import hashlib
import logging
import os
import secrets
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from agenttrace.core.errors import ConfigError
from agenttrace.core.jsonable import to_json
from agenttrace.core.protocols import ChatModel, Identified, name_of_model, optional
from agenttrace.judges.models.reading import ChatReply
from agenttrace.judges.strict_json import StrictJSONError, parse_strict

_FORMAT = 1

log = logging.getLogger("agenttrace")


class CachedModel:
    """A model whose usable replies are kept in a directory and given again for the same request.

    Only what the judge has accepted is kept (`keep`): no failure, no unreadable reply. A reply from disk is
    marked `cached`, costs nothing, and says nothing new: the votes of one score are different requests,
    and a second trial that hits the cache is marked so in the score's metadata. Files are private to the
    user; a broken one is a miss, and one that cannot be written is warned of once and not kept.

    Raises:
        ConfigError: the model does not say its `identity`, so its replies cannot be told from another's.
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
        self._warned = False

    async def complete(
        self, messages: Sequence[Mapping[str, Any]], schema: Mapping[str, Any] | None = None
    ) -> Any:
        """The kept reply to this request, or the model's."""
        kept = self._read(self._path(messages, schema))
        return kept if kept is not None else await self.model.complete(messages, schema)

    def keep(
        self, messages: Sequence[Mapping[str, Any]], schema: Mapping[str, Any] | None, reply: ChatReply
    ) -> None:
        """Keep a reply that the judge could read; a full disk costs the next time, never this verdict."""
        if reply.cached:
            return
        document = {"format": _FORMAT, "reply": asdict(reply)}
        try:
            _write(self._path(messages, schema), to_json(document).encode())
        except OSError as error:
            if not self._warned:
                self._warned = True
                log.warning(
                    "the judge cache in %s cannot keep replies: %s (said once)", self.directory, error
                )

    def _path(self, messages: Sequence[Mapping[str, Any]], schema: Mapping[str, Any] | None) -> Path:
        request = to_json([_FORMAT, self.identity, [dict(m) for m in messages], schema])
        digest = hashlib.sha256(request.encode("utf-8", "backslashreplace")).hexdigest()
        return self.directory / digest[:2] / f"{digest}.json"

    def _read(self, path: Path) -> ChatReply | None:
        try:
            document = parse_strict(path.read_text("utf-8"))
            if document["format"] != _FORMAT:
                return None
            reply = ChatReply(**document["reply"])
        except (OSError, ValueError, KeyError, TypeError, StrictJSONError):
            return None
        return replace(reply, cached=True, cost=0.0) if isinstance(reply.text, str) else None

    def _secret(self) -> bytes:
        """What the fences of cached requests are derived from: stable here, unknown to what is judged."""
        path = self.directory / "secret"
        for _ in range(2):
            try:
                found = path.read_bytes()
            except FileNotFoundError:
                self._begin(path)
            else:
                if len(found) == 32:
                    return found
                break
        try:
            return path.read_bytes() if path.stat().st_size == 32 else self._broken(path)
        except OSError as error:
            raise ConfigError(f"the judge cache in {self.directory} cannot be used: {error}") from None

    def _begin(self, path: Path) -> None:
        try:
            _write(path, secrets.token_bytes(32), overwrite=False)
        except OSError as error:
            raise ConfigError(f"the judge cache in {self.directory} cannot be written: {error}") from None

    def _broken(self, path: Path) -> bytes:
        raise ConfigError(f"{path} is not the secret of a judge cache; remove the directory to start anew")


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
