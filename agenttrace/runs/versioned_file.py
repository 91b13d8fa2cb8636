"""Reads JSON files of ours that say under a key of their own which version of their form they have."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from agenttrace.core.errors import ConfigError, DatasetError, error_text
from agenttrace.core.json_reader import strict_json
from agenttrace.datasets.files import read_text

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class VersionedFile:
    """One kind of file. `noun` is what messages call it, `advice` what they say at their end."""

    key: str
    version: int
    noun: str
    most_bytes: int
    advice: str = ""

    def read(self, path: str | Path, build: Callable[[Mapping[str, Any]], T]) -> T:
        """What `build` makes of the data; an error that it raises says that they are damaged.

        Raises:
            ConfigError: there is no such file, it is damaged, of another kind, or of another version.
        """
        try:
            data = strict_json(read_text(Path(path), self.most_bytes))
        except DatasetError as error:
            raise self._error(str(error)) from None
        except ValueError as error:
            raise self._error(f"{path} is damaged: {error}") from None
        if not isinstance(data, Mapping) or data.get(self.key) is None:
            raise ConfigError(f"{path} is no {self.noun}{self.advice}")
        if data[self.key] != self.version:
            raise self._error(
                f"{path} has version {data[self.key]!r}, and this agenttrace reads {self.version}: upgrade"
            )
        try:
            return build(data)
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise self._error(f"{path} is damaged: {error_text(error)}") from None

    def _error(self, problem: str) -> ConfigError:
        return ConfigError(f"the {self.noun} {problem}{self.advice}")
