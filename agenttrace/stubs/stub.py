# ruff: noqa: D102 - overridden methods are described once, in Stub
"""`Stub`: what a simulated tool answers: values, errors, sequences, by arguments, late, or faulty.

In Python stubs are made by functions (`returns`, `raises`, `sequence`, `cases`, `slow`, `faulty`, `real`); in
plain data they are ``$`` operators, which `stubs.parse` reads. A plain value stands for `returns`, an
exception for `raises`, a function for itself.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any, ClassVar, Literal, NamedTuple

from agenttrace.core.errors import ConfigError, ExpectationError
from agenttrace.expectations.matcher import Context, write_value
from agenttrace.expectations.values import agree, prepare
from agenttrace.stubs.tool import CalledTool

ReplyKind = Literal["value", "error", "real", "function", "nothing"]


class Reply(NamedTuple):
    """What one call is answered with.

    `value` is the value that is returned, the exception that is raised, the function that is called, or for
    *nothing* why there is no answer; for *real* the tool itself is called. `note` says in a word or two which
    part of the stub it is, `delay` how many seconds it takes.
    """

    kind: ReplyKind
    value: Any
    note: str
    delay: float = 0.0


Decide = Callable[[Mapping[str, Any]], Reply]
"""What a call with these arguments is answered with; it may count its calls."""


class Stub(ABC):
    """What stands in the place of a tool. It never changes: what counts calls is made by `begin`."""

    __slots__ = ()
    operator: ClassVar[str] = ""

    @abstractmethod
    def begin(self, salt: str) -> Decide:
        """Begin a run of the simulation: `salt` makes the chances of one tool differ from another's."""

    def check(self, tool: CalledTool) -> None:
        """Raise ConfigError for what cannot answer this tool."""
        for part in self.parts:
            part.check(tool)

    @property
    def parts(self) -> tuple[Stub, ...]:
        """The stubs that it is made of."""
        return ()

    @abstractmethod
    def to_data(self) -> Any:
        """The plain data that reads back as this stub.

        Raises:
            ExpectationError: it holds a function, or an exception of which only Python knows the arguments.
        """


@dataclass(frozen=True, slots=True)
class Returns(Stub):
    """The same value each time, in new containers: what the agent does to it the next call does not see."""

    operator = "$return"
    value: Any

    def begin(self, salt: str) -> Decide:
        return lambda _: Reply("value", _renewed(self.value), "return")

    def check(self, tool: CalledTool) -> None:
        tool.check_value(self.value)
        if tool.yields and isinstance(self.value, Iterator):
            raise ConfigError(
                f"{tool.name} is a generator: it is answered with a list of what it yields, got an iterator, "
                "which can be read once"
            )

    def to_data(self) -> Any:
        return {"$return": self.value}


def _renewed(value: Any) -> Any:
    kind = type(value)
    if kind is dict:
        return {key: _renewed(item) for key, item in value.items()}
    if kind in (list, tuple, set):
        return kind(map(_renewed, value))
    return value


@dataclass(frozen=True, slots=True)
class Raises(Stub):
    """A new exception each time, of the right type."""

    operator = "$raise"
    kind: type[BaseException]
    arguments: tuple[Any, ...] = ()
    instance: BaseException | None = None

    def begin(self, salt: str) -> Decide:
        note = f"raise {self.kind.__qualname__}"
        return lambda _: Reply("error", self._made(), note)

    def _made(self) -> BaseException:
        if self.instance is None:
            return self.kind(*self.arguments)
        try:
            made = copy.copy(self.instance)
        except Exception:  # choke-point: exceptions whose arguments are not those of their class
            made = self.instance
        return made.with_traceback(None)

    def to_data(self) -> Any:
        if self.instance is not None and type(self.instance)(*self.instance.args).args != self.instance.args:
            raise ExpectationError(f"this cannot be written as data: {self.instance!r}")
        arguments = self.arguments if self.instance is None else self.instance.args
        module = "" if self.kind.__module__ == "builtins" else f"{self.kind.__module__}."
        return {"$raise": f"{module}{self.kind.__qualname__}"} | (
            {"$args": [*arguments]} if arguments else {}
        )


@dataclass(frozen=True, slots=True)
class Calls(Stub):
    """A function of the user's, which gets the arguments that it names, and the shared `state`."""

    operator = "$call"
    function: Callable[..., Any]

    def begin(self, salt: str) -> Decide:
        name = getattr(self.function, "__name__", type(self.function).__name__)
        return lambda _: Reply("function", self.function, f"call {name}")

    def check(self, tool: CalledTool) -> None:
        tool.check_function(self.function)

    def to_data(self) -> Any:
        raise ExpectationError(f"this cannot be written as data: {self.function!r}")


@dataclass(frozen=True, slots=True)
class Real(Stub):
    """The tool itself is called: only where that is said in so many words."""

    operator = "$real"

    def begin(self, salt: str) -> Decide:
        return lambda _: Reply("real", None, "real")

    def to_data(self) -> Any:
        return {"$real": True}


@dataclass(frozen=True, slots=True)
class InSequence(Stub):
    """One answer after another; then `afterwards`, or none: a further call is an error."""

    operator = "$sequence"
    answers: tuple[Stub, ...]
    afterwards: Stub | None = None

    @property
    def parts(self) -> tuple[Stub, ...]:
        return self.answers if self.afterwards is None else (*self.answers, self.afterwards)

    def begin(self, salt: str) -> Decide:
        answers = [answer.begin(f"{salt}[{n}]") for n, answer in enumerate(self.answers)]
        afterwards = None if self.afterwards is None else self.afterwards.begin(f"{salt}.afterwards")
        count, total = 0, len(answers)

        def decide(arguments: Mapping[str, Any]) -> Reply:
            nonlocal count
            count += 1
            if count <= total:
                return _noted(answers[count - 1](arguments), f"{count} of {total}")
            if afterwards is not None:
                return _noted(afterwards(arguments), "afterwards")
            why = (
                f"its sequence has {total} answer{'' if total == 1 else 's'}, and this is call {count}; add "
                "one, or say what comes afterwards"
            )
            return Reply("nothing", why, "exhausted")

        return decide

    def to_data(self) -> Any:
        last = {} if self.afterwards is None else {"$afterwards": self.afterwards.to_data()}
        return {"$sequence": [answer.to_data() for answer in self.answers]} | last


def _noted(reply: Reply, where: str) -> Reply:
    return reply._replace(note=f"{reply.note}, {where}")


@dataclass(frozen=True, slots=True)
class Case:
    """One case of `cases`: the arguments for which it holds, and the answer."""

    arguments: Mapping[str, Any]
    answer: Stub


@dataclass(frozen=True, slots=True)
class ByCase(Stub):
    """The answer of the first case that the arguments fit; else `otherwise`, or none, which is an error."""

    operator = "$cases"
    choices: tuple[Case, ...]
    otherwise: Stub | None = None

    @property
    def parts(self) -> tuple[Stub, ...]:
        answers = tuple(choice.answer for choice in self.choices)
        return answers if self.otherwise is None else (*answers, self.otherwise)

    def check(self, tool: CalledTool) -> None:
        for choice in self.choices:
            for name in choice.arguments:
                tool.check_parameter(name)
        for part in self.parts:
            part.check(tool)

    def begin(self, salt: str) -> Decide:
        tests = [prepare(dict(choice.arguments)) for choice in self.choices]
        answers = [choice.answer.begin(f"{salt}[{n}]") for n, choice in enumerate(self.choices)]
        otherwise = None if self.otherwise is None else self.otherwise.begin(f"{salt}.otherwise")

        def decide(arguments: Mapping[str, Any]) -> Reply:
            for number, (test, answer) in enumerate(zip(tests, answers, strict=True), 1):
                if agree(test, arguments, _LISTED) == 1.0:
                    return _noted(answer(arguments), f"case {number}")
            if otherwise is not None:
                return _noted(otherwise(arguments), "otherwise")
            why = f"none of its {len(tests)} cases fits these arguments; add one, or an answer otherwise"
            return Reply("nothing", why, "no case")

        return decide

    def to_data(self) -> Any:
        choices = [
            {"when": write_value(choice.arguments), "then": choice.answer.to_data()}
            for choice in self.choices
        ]
        last = {} if self.otherwise is None else {"$otherwise": self.otherwise.to_data()}
        return {"$cases": choices} | last


_LISTED = Context(mode="listed")


@dataclass(frozen=True, slots=True)
class Slow(Stub):
    """An answer after some seconds, or by chance between two numbers of them."""

    operator = "$latency"
    answer: Stub
    seconds: tuple[float, float]

    @property
    def parts(self) -> tuple[Stub, ...]:
        return (self.answer,)

    def begin(self, salt: str) -> Decide:
        answer, chance = self.answer.begin(salt), Random(f"latency {salt}")  # noqa: S311 - chances

        def decide(arguments: Mapping[str, Any]) -> Reply:
            reply = answer(arguments)
            return reply._replace(delay=reply.delay + chance.uniform(*self.seconds))

        return decide

    def to_data(self) -> Any:
        return {**self.answer.to_data(), "$latency": list(self.seconds)}


@dataclass(frozen=True, slots=True)
class Faulty(Stub):
    """A share of the calls gets a fault, by chance that a seed decides: the same in every run."""

    operator = "$fault"
    answer: Stub
    fault: Stub
    rate: float
    seed: int = 0

    @property
    def parts(self) -> tuple[Stub, ...]:
        return self.answer, self.fault

    def begin(self, salt: str) -> Decide:
        answer, fault = self.answer.begin(salt), self.fault.begin(f"{salt}.fault")
        chance = Random(f"{self.seed} {salt}")  # noqa: S311 - chances

        def decide(arguments: Mapping[str, Any]) -> Reply:
            if chance.random() < self.rate:
                return _noted(fault(arguments), "fault")
            return answer(arguments)

        return decide

    def to_data(self) -> Any:
        fault = {"$fault": self.fault.to_data(), "$rate": self.rate, "$seed": self.seed}
        return {**self.answer.to_data(), **fault}
