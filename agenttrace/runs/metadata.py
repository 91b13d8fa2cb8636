"""What is known of a run besides its results: git revision, dataset, function, scorers, versions."""

from __future__ import annotations

import inspect
import platform
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from agenttrace.core.example import Example
from agenttrace.core.jsonable import jsonable
from agenttrace.core.protocols import Scorer
from agenttrace.runs.fingerprints import dataset_fingerprint, fingerprint_of
from agenttrace.runs.git_revision import git_revision
from agenttrace.scoring.score_options import options_of, qualified_name, version_of
from agenttrace.version import __version__

_LARGEST_FILE = 64 * 1024 * 1024
"""Bytes of a file of examples up to which it is hashed."""


def run_metadata(
    examples: Sequence[Example],
    scorers: Iterable[Scorer],
    *,
    function: Any,
    trials: int,
    trial_of: Sequence[int] | None = None,
) -> dict[str, Any]:
    """Return JSON data that tells two runs apart, or says that they may be compared.

    ``git`` (commit, branch, dirty), ``dataset`` (fingerprint, number of examples; file and its sha256 where
    all came from one), ``examples`` (for each its fingerprint, and its id where the user gave one),
    ``function``, ``code`` (the sha256 of the file that defines it), ``scorers`` (name, class, version, the
    options that are not its defaults), ``trials``, ``versions``.
    What is not known is left out. With `trial_of` (of which one each example is a trial, by number from 0)
    ``examples`` has the first trial of each, so that it has one entry for each position of the results.
    """
    prints = [fingerprint_of(example) for example in examples]
    firsts = {place: at for at, place in reversed(list(enumerate(trial_of or range(len(examples)))))}
    data: dict[str, Any] = {
        "git": git_revision(),
        "dataset": {
            "fingerprint": dataset_fingerprint(prints),
            "examples": len(prints),
            **_file_of(examples),
        },
        "examples": [_identity(examples[firsts[place]], prints[firsts[place]]) for place in sorted(firsts)],
        "function": None if function is None else qualified_name(function),
        "code": None if function is None else _code_of(function),
        "scorers": [_description(scorer) for scorer in scorers],
        "trials": trials,
        "versions": {"python": platform.python_version(), "agenttrace": __version__},
    }
    return {name: value for name, value in data.items() if value is not None}


def _identity(example: Example, fingerprint: str) -> dict[str, str]:
    """By what an example is known in another run; an id that was made up tells nothing there."""
    has_own_id = "example_id" in example.model_fields_set
    return {"fingerprint": fingerprint, **({"id": example.example_id} if has_own_id else {})}


def _file_of(examples: Sequence[Example]) -> dict[str, Any]:
    """The file that all examples came from, with its hash, or nothing."""
    files = {(example.source or "").rpartition(":")[0] or example.source for example in examples}
    file = files.pop() if len(files) == 1 else None
    if file is None:
        return {}
    return {"file": file, **_hash_of(file)}


def _code_of(function: Any) -> str | None:
    """The hash of the file that a function, or what wraps it, was defined in; None where there is none."""
    function = inspect.unwrap(function) if callable(function) else function
    plain = getattr(function, "__func__", function)
    code = getattr(plain, "__code__", None)
    file = (
        code.co_filename
        if code is not None
        else getattr(sys.modules.get(type(plain).__module__), "__file__", None)
    )
    return None if file is None else _hash_of(file).get("sha256")


def _hash_of(file: str) -> dict[str, str]:
    from hashlib import sha256

    try:
        path = Path(file)
        if path.stat().st_size > _LARGEST_FILE:
            return {}
        return {"sha256": sha256(path.read_bytes()).hexdigest()}
    except OSError:
        return {}


def _description(scorer: Scorer) -> dict[str, Any]:
    kind = type(scorer)
    described: dict[str, Any] = {"name": scorer.name, "class": f"{kind.__module__}.{kind.__qualname__}"}
    version = version_of(scorer)
    if version is not None:
        described["version"] = version
    options = options_of(scorer)
    # A scorer that is no class of options still has the threshold that its verdicts are made with.
    options.setdefault("threshold", jsonable(getattr(scorer, "threshold", None)))
    described["options"] = options
    return described
