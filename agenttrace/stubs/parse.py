"""`parse_plan`: read what a simulation answers from plain data, as files hold it, or from Python's stubs."""

from __future__ import annotations

import builtins
import importlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from agenttrace.core.errors import AgentTraceError, ConfigError, did_you_mean
from agenttrace.core.tagged import untagged
from agenttrace.stubs.making import (
    NOTHING,
    Nothing,
    as_stub,
    cases,
    check_operator,
    faulty,
    raises,
    real,
    returns,
    sequence,
    slow,
    when,
)
from agenttrace.stubs.stub import Calls, Case, Stub

Others = Literal["real", "error"]


class StubError(ConfigError):
    """What a tool is answered with cannot be understood; `place` says where: ``simulate.search.$raise``."""

    def __init__(self, message: str, place: str) -> None:
        super().__init__(f"{place}: {message}")
        self.message = message
        self.place = place


@dataclass(frozen=True, slots=True)
class Plan:
    """What a simulation answers: a stub for each tool.

    `state` is what its functions share, copied for each run; `others` says what becomes of tools without a
    stub; `later` names tools that are observed only while the agent runs.
    """

    stubs: Mapping[str, Stub]
    state: Mapping[str, Any] = field(default_factory=dict)
    others: Others = "real"
    later: tuple[str, ...] = ()


def parse_plan(raw: Any, place: str = "simulate") -> Plan:
    """Read a plan: a mapping of tools to answers, with ``$state``, ``$others`` and ``$later`` beside them.

    Raises:
        StubError: it cannot be understood.
    """
    if not isinstance(raw, Mapping):
        raise StubError(f"a simulation is a mapping of tools to answers, got {type(raw).__name__}", place)
    stubs: dict[str, Stub] = {}
    options: dict[str, Any] = {}
    for name, value in raw.items():
        if not isinstance(name, str) or not name:
            raise StubError(f"a tool is named by its text, got {name!r}", place)
        if name.startswith("$"):
            if name not in _OPTIONS:
                raise StubError(f"there is no {name!r}{did_you_mean(name, _OPTIONS)}", f"{place}.{name}")
            options[name[1:]] = _OPTIONS[name](value, f"{place}.{name}")
        else:
            stubs[name] = parse_stub(value, f"{place}.{name}")
    plan = Plan(stubs, **options)
    for name in plan.later:
        if name not in plan.stubs and plan.others != "error":
            hint = did_you_mean(name, plan.stubs)
            raise StubError(f"{name!r} is observed later, but has no answer{hint}", f"{place}.$later")
    return plan


def without_imports(raw: Any) -> Any:
    """A plan of a file that can be read without importing what it names: to load a file runs no code."""
    if isinstance(raw, Mapping):
        plan = {key: without_imports(value) for key, value in raw.items()}
        if isinstance(raw.get("$raise"), str) and "." in raw["$raise"]:
            plan["$raise"] = "Exception"
        if isinstance(raw.get("$call"), str) and ":" in raw["$call"]:
            plan["$call"] = "builtins:print"
        return plan
    return [without_imports(value) for value in raw] if isinstance(raw, list) else raw


def _state(value: Any, place: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise StubError(f"a state is a mapping, got {type(value).__name__} {value!r:.60}", place)
    return value


def _others(value: Any, place: str) -> Others:
    if value not in ("real", "error"):
        raise StubError(f"other tools are 'real' or an 'error', got {value!r}", place)
    answer: Others = value
    return answer


def _later(value: Any, place: str) -> tuple[str, ...]:
    if isinstance(value, Iterable) and not isinstance(value, str | Mapping):
        names = tuple(value)
        if all(isinstance(name, str) and name for name in names):
            return names
    raise StubError(f"the tools that are observed later are a list of names, got {value!r}", place)


_OPTIONS: Mapping[str, Callable[[Any, str], Any]] = {"$state": _state, "$others": _others, "$later": _later}


def parse_stub(raw: Any, place: str) -> Stub:
    """Read what a tool is answered with.

    Raises:
        StubError: it cannot be understood.
    """
    try:
        return _parsed(raw, place)
    except StubError:
        raise
    except AgentTraceError as error:
        raise StubError(str(error), place) from None
    except RecursionError:
        raise StubError("it is nested too deeply, or holds itself", place) from None


def _parsed(raw: Any, place: str) -> Stub:
    if type(raw) is list:
        return returns(_literal(raw))
    if not isinstance(raw, Mapping):
        return as_stub(raw)
    if untagged(raw) is not raw:
        return returns(untagged(raw))
    words = [key for key in raw if isinstance(key, str) and key.startswith("$") and not key.startswith("$$")]
    if not words:
        return returns(_literal(raw))
    for word in words:
        check_operator(word, _WORDS)
    if len(words) < len(raw):
        other = next(key for key in raw if key not in words)
        raise ConfigError(f"{words[0]!r} and the ordinary key {other!r} stand in one mapping")
    heads = [word for word in words if word in _HEADS]
    if len(heads) != 1:
        what = f"got {' and '.join(map(repr, heads))}" if heads else f"{words[0]!r} is none"
        raise ConfigError(f"one of {', '.join(_HEADS)} says what is answered; {what}")
    for word in words:
        owner = _OWNERS.get(word)
        if owner is not None and owner not in raw:
            raise ConfigError(f"{word!r} belongs to {owner!r}, which is missing")
    stub = _HEADS[heads[0]](raw, place)
    if "$fault" in raw:
        if "$rate" not in raw:
            raise ConfigError("a '$fault' has a '$rate' from 0 to 1: the share of the calls that get it")
        fault = parse_stub(raw["$fault"], f"{place}.$fault")
        stub = faulty(stub, fault, rate=raw["$rate"], seed=raw.get("$seed", 0))
    return slow(stub, raw["$latency"]) if "$latency" in raw else stub


def _literal(value: Any) -> Any:
    """A value of a file, with ``$$`` keys as they are meant, and tagged mappings as their values."""
    if isinstance(value, Mapping):
        if (plain := untagged(value)) is not value:
            return plain
        return {_key(key): _literal(item) for key, item in value.items()}
    return [_literal(item) for item in value] if type(value) is list else value


def _key(key: Any) -> Any:
    if isinstance(key, str) and key.startswith("$"):
        if not key.startswith("$$"):
            raise ConfigError(f"the key {key!r} stands inside a value; a literal one is written '${key}'")
        return key[1:]
    return key


def _raised(raw: Mapping[str, Any], place: str) -> Stub:
    error, arguments = raw["$raise"], raw.get("$args", ())
    if isinstance(arguments, str) or not isinstance(arguments, list | tuple):
        raise StubError(f"the arguments of an exception are a list, got {arguments!r}", f"{place}.$args")
    if "$message" in raw:
        arguments = (raw["$message"], *arguments)
    if isinstance(error, str):
        error = _exception_named(error)
    return raises(error, *arguments)


def _exception_named(name: str) -> type[BaseException]:
    value: Any = _named(name) if "." in name else getattr(builtins, name, None)
    if isinstance(value, type) and issubclass(value, BaseException):
        return value
    if value is not None:
        raise ConfigError(f"{name} is no exception")
    known = [
        word
        for word, kind in vars(builtins).items()
        if isinstance(kind, type) and issubclass(kind, BaseException)
    ]
    hint = did_you_mean(name, known) if "." not in name else ""
    hint = hint if hint.startswith("; did") else ""
    raise ConfigError(
        f"there is no exception {name!r}{hint}; others are written with their module: 'httpx.ReadTimeout'"
    )


def _named(name: str) -> Any:
    """What a dotted name stands for: a module's attribute, however deep; None where there is none."""
    parts = name.split(".")
    for length in range(len(parts) - 1, 0, -1):
        module = ".".join(parts[:length])
        try:
            value: Any = importlib.import_module(module)
        except ModuleNotFoundError as error:
            if error.name is not None and not module.startswith(error.name):
                raise ConfigError(f"{module} cannot be imported: {error}") from None
            continue
        except Exception as error:  # choke-point: whatever a module raises while it is imported
            raise ConfigError(f"{module} cannot be imported: {error}") from None
        for part in parts[length:]:
            value = getattr(value, part, None)
        return value
    return None


def _in_sequence(raw: Mapping[str, Any], place: str) -> Stub:
    answers = raw["$sequence"]
    if not isinstance(answers, list | tuple):
        raise StubError(f"a sequence is a list of answers, got {answers!r:.80}", f"{place}.$sequence")
    stubs = [parse_stub(answer, f"{place}.$sequence[{n}]") for n, answer in enumerate(answers)]
    return sequence(*stubs, afterwards=_optional(raw, "$afterwards", place))


def _by_case(raw: Mapping[str, Any], place: str) -> Stub:
    choices = raw["$cases"]
    if not isinstance(choices, list | tuple):
        raise StubError(f"cases are a list of {{when: …, then: …}}, got {choices!r:.80}", f"{place}.$cases")
    read = [_case(choice, f"{place}.$cases[{n}]") for n, choice in enumerate(choices)]
    return cases(*read, otherwise=_optional(raw, "$otherwise", place))


def _case(raw: Any, place: str) -> Case:
    if isinstance(raw, Case):
        return raw
    if not isinstance(raw, Mapping) or "when" not in raw or "then" not in raw:
        raise StubError(f"a case is {{when: {{…}}, then: …}}, got {raw!r:.80}", place)
    for key in raw:
        if key not in ("when", "then"):
            raise StubError(f"a case has no {key!r}{did_you_mean(str(key), ('when', 'then'))}", place)
    answer = parse_stub(raw["then"], f"{place}.then")
    try:
        return when(raw["when"], answer)
    except ConfigError as error:
        raise StubError(str(error), f"{place}.when") from None


def _optional(raw: Mapping[str, Any], word: str, place: str) -> Stub | Nothing:
    return parse_stub(raw[word], f"{place}.{word}") if word in raw else NOTHING


def _called(raw: Mapping[str, Any], place: str) -> Stub:
    name = raw["$call"]
    function = _named(name.replace(":", ".")) if isinstance(name, str) else name
    if not callable(function):
        raise StubError(f"there is no function {name!r}; write 'pkg.mod:name'", f"{place}.$call")
    return Calls(function)


def _real(raw: Mapping[str, Any], place: str) -> Stub:
    if raw["$real"] is not True:
        raise StubError(f"the tool itself is called by {{$real: true}}, got {raw['$real']!r}", place)
    return real()


_HEADS: Mapping[str, Callable[[Mapping[str, Any], str], Stub]] = {
    "$return": lambda raw, _: returns(raw["$return"]),
    "$raise": _raised,
    "$sequence": _in_sequence,
    "$cases": _by_case,
    "$call": _called,
    "$real": _real,
}
_OWNERS = {
    "$args": "$raise",
    "$message": "$raise",
    "$afterwards": "$sequence",
    "$otherwise": "$cases",
    "$rate": "$fault",
    "$seed": "$fault",
}
_WORDS = (*_HEADS, *_OWNERS, "$fault", "$latency")
