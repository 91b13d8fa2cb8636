"""The functions that make stubs: `returns`, `raises`, `sequence`, `cases`, `slow`, `faulty`, `real`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from threading import TIMEOUT_MAX
from types import AsyncGeneratorType, CoroutineType, GeneratorType
from typing import Any, Final

from agenttrace.core.errors import ConfigError, ExpectationError, did_you_mean
from agenttrace.core.numbers import is_number
from agenttrace.expectations.matcher import Matcher, read_value
from agenttrace.expectations.references import Ref
from agenttrace.expectations.scalar_matchers import semantic
from agenttrace.expectations.values import prepare
from agenttrace.stubs.stub import ByCase, Calls, Case, Faulty, InSequence, Raises, Real, Returns, Slow, Stub


class Nothing(Enum):
    """That no answer is said, as None is one."""

    NOTHING = "no answer"


NOTHING: Final = Nothing.NOTHING


def as_stub(value: Any) -> Stub:
    """The stub of what stands for one: an exception, a function, a value; a stub as it is.

    Raises:
        ConfigError: a class that is no exception, a generator or a coroutine, which can be used once.
    """
    if isinstance(value, Stub):
        return value
    if isinstance(value, BaseException):
        return Raises(type(value), instance=value)
    if isinstance(value, type):
        if issubclass(value, BaseException):
            return raises(value)
        raise ConfigError(
            f"the class {value.__name__} stands for an answer; write a function, or returns({value.__name__})"
        )
    if isinstance(value, Mapping) and any(isinstance(key, str) and key.startswith("$") for key in value):
        raise ConfigError(
            f"{dict(value)!r:.80} holds words of files; write raises(…), slow(…), returns({{…}})"
        )
    if isinstance(value, _USED_ONCE):
        raise ConfigError(
            f"a {type(value).__name__} stands for an answer, and can be used once; write a list, "
            "sequence(*answers), or a function that makes it"
        )
    return Calls(value) if callable(value) else Returns(value)


_USED_ONCE = (GeneratorType, CoroutineType, AsyncGeneratorType)


def returns(value: Any) -> Stub:
    """Answer with this value, whatever it is: a function, a class, a mapping with ``$`` in its keys."""
    return Returns(value)


def raises(error: type[BaseException] | BaseException, *arguments: Any) -> Stub:
    """Answer with an exception: an instance, or a class with its arguments, made anew for each call.

    Raises:
        ConfigError: no exception, or a class that does not take these arguments.
    """
    if isinstance(error, BaseException):
        return Raises(type(error), instance=error)
    if not (isinstance(error, type) and issubclass(error, BaseException)):
        raise ConfigError(f"raises takes an exception or its class, got {error!r}")
    try:
        error(*arguments)
    except Exception as failure:  # choke-point: the class's own code says what it takes
        raise ConfigError(
            f"{error.__qualname__} cannot be made of these arguments: {failure}; give its arguments, or an "
            "exception that was made, or a function that raises it"
        ) from None
    return Raises(error, arguments)


def sequence(*answers: Any, afterwards: Any = NOTHING) -> Stub:
    """Answer one call after another; a call beyond the last is an error, unless `afterwards` answers it.

    Raises:
        ConfigError: no answers.
    """
    if not answers:
        raise ConfigError("a sequence has one answer or more")
    return InSequence(tuple(map(as_stub, answers)), None if afterwards is NOTHING else as_stub(afterwards))


def when(arguments: Mapping[str, Any], answer: Any) -> Case:
    """A case of `cases`: calls with these arguments get this answer. Other arguments may be anything.

    Values may be matchers, and predicates.

    Raises:
        ConfigError: arguments that are no mapping, or hold what cannot be told of one call.
    """
    if not isinstance(arguments, Mapping):
        raise ConfigError(f"the arguments of a case are a mapping of names to values, got {arguments!r}")
    try:
        tests = read_value(arguments)
        prepare(tests)
    except ExpectationError as error:
        raise ConfigError(str(error)) from None
    _check_matchers(tests)
    return Case(tests, as_stub(answer))


_JUDGED = type(semantic("x"))


def _check_matchers(value: Any) -> None:
    if isinstance(value, Ref | _JUDGED):
        why = "it looks at other calls" if isinstance(value, Ref) else "it asks a judge"
        raise ConfigError(
            f"{value!r} cannot choose an answer: {why}; use a value, a test of it, or a function"
        )
    inner: Sequence[Any] = ()
    if isinstance(value, Matcher):
        inner = value.values
    elif isinstance(value, Mapping):
        inner = tuple(value.values())
    elif isinstance(value, list | tuple):
        inner = value
    for part in inner:
        _check_matchers(part)


def cases(*choices: Case, otherwise: Any = NOTHING) -> Stub:
    """Answer by arguments: the first case that fits; without one `otherwise`, or an error.

    Raises:
        ConfigError: no cases, or something else in their place.
    """
    for choice in choices:
        if not isinstance(choice, Case):
            raise ConfigError(f"cases takes when({{…}}, answer), got {choice!r}")
    if not choices:
        raise ConfigError("cases takes one when({…}, answer) or more")
    return ByCase(choices, None if otherwise is NOTHING else as_stub(otherwise))


def slow(answer: Any, seconds: float | tuple[float, float]) -> Stub:
    """Answer after some seconds, or by chance between two numbers of them, the same in every run.

    Raises:
        ConfigError: seconds that are no finite numbers from 0, the smaller first.
    """
    both = seconds if isinstance(seconds, list | tuple) else (seconds, seconds)
    if len(both) != 2 or not all(map(_is_time, both)) or both[0] > both[1]:
        raise ConfigError(f"a latency is seconds from 0, or two of them, the smaller first; got {seconds!r}")
    return Slow(as_stub(answer), (float(both[0]), float(both[1])))


def _is_time(value: Any) -> bool:
    return is_number(value) and 0 <= value <= TIMEOUT_MAX


def faulty(answer: Any, fault: Any, *, rate: float, seed: int = 0) -> Stub:
    """Answer a share of the calls with a fault, by chance; the same calls in every run with this seed.

    In an evaluation each trial of an example has its own chances.

    Raises:
        ConfigError: a rate that is no number from 0 to 1, a seed that is no whole number.
    """
    if not is_number(rate) or not 0 <= rate <= 1:
        raise ConfigError(f"a rate is a number from 0 to 1, got {rate!r}")
    if type(seed) is not int:
        raise ConfigError(f"a seed is a whole number, got {seed!r}")
    return Faulty(as_stub(answer), as_stub(fault), float(rate), seed)


def real() -> Stub:
    """Call the tool itself, or what an outer simulation answers in its place."""
    return Real()


def check_operator(word: str, known: Sequence[str]) -> None:
    """Raise ConfigError for a ``$`` word that there is none of."""
    if word not in known:
        hint = did_you_mean(word, known)
        raise ConfigError(
            f"there is no {word!r}{hint}; a literal key that begins with $ is written '${word}'"
        )
