"""What is known of a run besides its results: git revision, dataset, function, scorers, versions."""

from __future__ import annotations

import inspect
import platform
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from agenttrace.core.example import Example
from agenttrace.core.jsonable import jsonable
from agenttrace.core.protocols import Scorer, name_of_model
from agenttrace.evaluation.fingerprints import dataset_fingerprint, fingerprint_of
from agenttrace.evaluation.git_revision import git_revision
from agenttrace.version import __version__

_LARGEST_FILE = 64 * 1024 * 1024
"""Bytes of a file of examples up to which it is hashed."""
_OPTION_LENGTH = 500
_OWN_NAMES = frozenset({"self", "options", "args", "kwargs", "name"})


def run_metadata(
    examples: Sequence[Example], scorers: Iterable[Scorer], *, function: Any, trials: int
) -> dict[str, Any]:
    """Return JSON data that tells two runs apart, or says that they may be compared.

    ``git`` (commit, branch, dirty), ``dataset`` (fingerprint, number of examples; file and its sha256 where
    all came from one), ``examples`` (for each its fingerprint, and its id where the user gave one),
    ``function``, ``scorers`` (name, class, the options that are not its defaults), ``trials``, ``versions``.
    What is not known is left out.
    """
    prints = [fingerprint_of(example) for example in examples]
    data: dict[str, Any] = {
        "git": git_revision(),
        "dataset": {
            "fingerprint": dataset_fingerprint(prints),
            "examples": len(prints),
            **_file_of(examples),
        },
        "examples": [
            {"fingerprint": print_, **({"id": example.example_id} if _has_own_id(example) else {})}
            for print_, example in zip(prints, examples, strict=True)
        ],
        "function": None if function is None else _name_of(function),
        "scorers": [_description(scorer) for scorer in scorers],
        "trials": trials,
        "versions": {"python": platform.python_version(), "agenttrace": __version__},
    }
    return {name: value for name, value in data.items() if value is not None}


def _has_own_id(example: Example) -> bool:
    """Whether the id was given: one that was made up tells nothing about another run."""
    return "example_id" in example.model_fields_set


def _file_of(examples: Sequence[Example]) -> dict[str, Any]:
    """The file that all examples came from, with its hash, or nothing."""
    files = {(example.source or "").rpartition(":")[0] or example.source for example in examples}
    file = files.pop() if len(files) == 1 else None
    if file is None:
        return {}
    return {"file": file, **_hash_of(file)}


def _hash_of(file: str) -> dict[str, str]:
    from hashlib import sha256

    try:
        path = Path(file)
        if path.stat().st_size > _LARGEST_FILE:
            return {}
        return {"sha256": sha256(path.read_bytes()).hexdigest()}
    except OSError:
        return {}


def _name_of(function: Any) -> str:
    """``module:qualified.name``; of an object that is called, its class."""
    named = function if hasattr(function, "__qualname__") else type(function)
    module = getattr(named, "__module__", None)
    return f"{module}:{named.__qualname__}" if module else str(named.__qualname__)


def _description(scorer: Scorer) -> dict[str, Any]:
    kind = type(scorer)
    described: dict[str, Any] = {"name": scorer.name, "class": f"{kind.__module__}.{kind.__qualname__}"}
    options = {
        name: _readable(value)
        for name, default in _options(kind)
        if (value := _option(scorer, name)) is not default and not _equal(value, default)
    }
    # A scorer that is no class of options still has the threshold that its verdicts are made with.
    options.setdefault("threshold", getattr(scorer, "threshold", None))
    described["options"] = options
    return described


def _option(scorer: Scorer, name: str) -> Any:
    """An option's value: an attribute of the scorer of that name, or of what chooses its calls."""
    selection = getattr(scorer, "selection", None)
    absent = inspect.Parameter.empty
    value = getattr(scorer, name, absent)
    return getattr(selection, name, absent) if value is absent else value


@lru_cache(maxsize=256)
def _options(kind: type) -> tuple[tuple[str, Any], ...]:
    """The options that a class of scorers takes, each with its default; `empty` where there is none."""
    try:
        parameters = inspect.signature(kind).parameters.values()
    except (TypeError, ValueError):
        return ()
    options = [(p.name, p.default) for p in parameters if p.name not in _OWN_NAMES]
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        options += [("agent", None), ("attempts", "count"), ("names", {}), ("tools", None)]
    return tuple((name, default) for name, default in options if not name.startswith("_"))


def _equal(value: Any, default: Any) -> bool:
    if value is inspect.Parameter.empty or (default is None and value in ({}, (), [])):
        return True
    try:
        return bool(value == default)
    except Exception:  # choke-point: values of the user's compare as they like
        return False


def _readable(value: Any) -> Any:
    """An option as short JSON data: functions and classes by name, models by theirs."""
    if isinstance(value, type) or inspect.isroutine(value):
        return _name_of(value)
    if callable(getattr(value, "complete", None)):
        return name_of_model(value)
    return jsonable(value, limit=_OPTION_LENGTH)
