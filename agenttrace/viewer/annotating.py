"""Keeps what a reader sends from a page: a word on a trace or a result, or the state of a failure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple, cast, get_args

from agenttrace.core.errors import ConfigError, StoreError
from agenttrace.core.failure import State
from agenttrace.core.protocols import KeepsWatch, Store, optional
from agenttrace.redaction import Redaction
from agenttrace.scoring.annotating import annotate, expectation_in, stored_trace

LONGEST_ADDRESS = 2_000
_SECONDS_TO_WRITE = 2.0
_WORD = ("trace", "span", "result", "thumbs", "label", "note", "expected", "by")
_STATE = ("failure", "project", "state", "fixed_in")


class NotThere(ConfigError):
    """What a form is about is not in the store."""


class Done(NamedTuple):
    """What came of a form: the annotation's id or the failure's fingerprint, and whether it is in the file.

    What is not in the file is in memory until the file can be written.
    """

    id: str
    is_stored: bool
    reader: str = ""


def keep(store: Store, fields: Mapping[str, str]) -> Done:
    """Do what a form asks for.

    Raises:
        NotThere: what it is about is not in the store.
        ConfigError: a field is missing, unknown, or cannot be read.
        ExpectationError: what is expected is no expectation.
        StoreError: the store cannot be used.
    """
    known = _STATE if "failure" in fields else _WORD
    unknown = sorted(set(fields) - set(known))
    if unknown:
        raise ConfigError(f"got a field {unknown[0][:40]!r}, wanted some of {', '.join(known)}")
    trimmed = {name: text.replace("\r\n", "\n").strip() for name, text in fields.items()}
    sent = {name: text for name, text in trimmed.items() if text}
    return _set_state(store, sent) if "failure" in fields else _say(store, sent)


def _set_state(store: Store, sent: Mapping[str, str]) -> Done:
    watch = optional(store, KeepsWatch)
    state, fixed_in = sent.get("state"), sent.get("fixed_in")
    if watch is None or state not in get_args(State) or state == "back":
        raise ConfigError("a failure is said to be open or fixed")
    if state == "fixed" and fixed_in is None:
        raise ConfigError("name the revision or the release in which it is fixed")
    with _looked_up():
        failure = watch.set_failure_state(
            sent.get("failure", ""),
            cast(State, state),
            fixed_in=fixed_in if state == "fixed" else None,
            project=sent.get("project"),
        )
    return Done(failure.fingerprint, True)


@contextmanager
def _looked_up() -> Iterator[None]:
    """What a store has not, it says without a cause; a store that cannot be used says by what."""
    try:
        yield
    except StoreError as error:
        if error.__cause__ is None:
            raise NotThere(str(error)) from None
        raise


def _say(store: Store, sent: Mapping[str, str]) -> Done:
    word: dict[str, Any] = {name: sent.get(name) for name in ("thumbs", "label", "note", "by")}
    if all(word[name] is None for name in ("thumbs", "label", "note")) and "expected" not in sent:
        raise ConfigError("say something: good or bad, a label, a note, or what should have happened")
    word["expected"] = expectation_in(sent["expected"]) if "expected" in sent else None
    trace_id, project = None, None
    with _looked_up():
        if "trace" in sent:
            trace_id, project = stored_trace(store, sent["trace"])
        number = annotate(store, project, Redaction(), trace_id, sent.get("span"), sent.get("result"), word)
    return Done(number, store.flush(_SECONDS_TO_WRITE), sent.get("by", ""))


def own_address(text: str, otherwise: str) -> str:
    """The address on this server that a form names to go on to, or else another one.

    Anything that a browser could take for an address elsewhere is not followed.
    """
    is_path = text.startswith("/") and not text.startswith("//") and text.isprintable() and text.isascii()
    return text if is_path and "\\" not in text and len(text) <= LONGEST_ADDRESS else otherwise
