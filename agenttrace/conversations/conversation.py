"""`Conversation`: an agent and a user who talk, turn by turn; the function that an evaluation runs."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from contextvars import copy_context
from threading import Event
from typing import Any, Literal, cast

from agenttrace.conversations.user import Message, ScriptedUser, User
from agenttrace.core.errors import ConfigError
from agenttrace.core.jsonable import jsonable
from agenttrace.core.numbers import is_whole
from agenttrace.process.loop_thread import loop_keeper
from agenttrace.scoring.isolation import Refused
from agenttrace.tracing.default_recorder import default_recorder
from agenttrace.tracing.turn import TurnBlock

EndedBy = Literal["user", "agent", "limit"]
UserMaker = Callable[..., User]

_Steps = Generator[Any, Any, dict[str, Any]]
"""Yields what may be awaited, and gets what it gives."""


class Conversation:
    """Lets a user talk to an agent: call it with an example's input, or give it as ``function=``.

    The agent is called with each message of the user, and with the messages so far where it has a parameter
    `history`; it returns its answer (any JSON value), or None to end the conversation. An agent that
    remembers is made anew for each conversation: `make_agent` returns it. Agents may be sync or async; so
    may users.

    `user` is a `User` for every example, or a function or class that makes one of an example's input, by its
    keys. Without one, the input has the user's words: ``{"messages": ["hello", "thanks"]}``. A text as input
    is the user's first message.

    The call returns ``{"output": the agent's last answer, "ended_by": "user" | "agent" | "limit",
    "turns": how many, "messages": all of them}``. Each turn is a span with its number, so that
    `Example.turns` and ``expect(…, turn=2)`` can speak of it. A user that fails, or says
    nothing at all, makes the result errored: it says nothing about the agent.

    Raises:
        ConfigError: neither agent nor `make_agent`, or both; `max_turns` is no whole number from 1.
    """

    def __init__(
        self,
        agent: Callable[..., Any] | None = None,
        user: User | UserMaker | None = None,
        *,
        make_agent: Callable[[], Callable[..., Any]] | None = None,
        max_turns: int = 20,
        tracer: Any = None,
    ) -> None:
        if (agent is None) == (make_agent is None):
            raise ConfigError("a conversation needs an agent, or make_agent, which returns one; not both")
        if not callable(agent or make_agent):
            raise ConfigError(f"the agent of a conversation is a function, got {type(agent).__name__}")
        if not is_whole(max_turns, 1):
            raise ConfigError(f"max_turns is a whole number from 1, got {max_turns!r}")
        self._agent, self._make_agent = agent, make_agent
        self._user: Any = user
        self._max_turns = max_turns
        self._tracer = tracer
        named = agent or make_agent
        self.__name__ = f"conversation with {getattr(named, '__name__', type(named).__name__)}"

    def __call__(self, message: str | None = None, /, **details: Any) -> Any:
        """Hold one conversation; returns an awaitable where the agent is async."""
        agent = self._agent or cast("Callable[[], Callable[..., Any]]", self._make_agent)()
        steps = self._steps(agent, self._user_of(details), message)
        return _awaited(steps) if _is_async(agent) else _waited(steps)

    def _user_of(self, details: dict[str, Any]) -> User:
        if self._user is None:
            messages = details.pop("messages", None)
            if messages is None or details:
                names = sorted(details) if messages is None else ["messages", *sorted(details)]
                raise Refused(
                    'without user= the input of a conversation is {"messages": [what the user says]}, got '
                    f"{names or 'a text, or nothing'}"
                )
            return _made_user(ScriptedUser, {"messages": messages})
        if hasattr(self._user, "reply") and not isinstance(self._user, type):
            if details:
                raise Refused(f"the user of this conversation is given, so {sorted(details)} say nothing")
            return cast(User, self._user)
        return _made_user(self._user, details)

    def _steps(self, agent: Callable[..., Any], user: User, first: str | None) -> _Steps:
        messages: list[Message] = []
        ended_by: EndedBy = "limit"
        answer: Any = None
        takes_history = _takes_history(agent)
        for number in range(self._max_turns + 1):
            text = first if first is not None and not messages else (yield _from_user(user, messages))
            if text is None and not messages:
                raise Refused("the user ended the conversation before its first message")
            if text is None:
                ended_by = "user"
                break
            if number == self._max_turns:  # there was more to say
                break
            history = {"history": [dict(one) for one in messages]} if takes_history else {}
            messages.append({"role": "user", "content": text})
            with TurnBlock(self._recorder(), None) as turn:
                turn.input = {"message": text}
                reply = yield agent(text, **history)
                turn.output = reply
            if reply is None:
                ended_by = "agent"
                break
            answer = jsonable(reply)
            messages.append({"role": "assistant", "content": answer})
        turns = sum(message["role"] == "user" for message in messages)
        return {"output": answer, "ended_by": ended_by, "turns": turns, "messages": messages}

    def _recorder(self) -> Any:
        return default_recorder() if self._tracer is None else self._tracer.recorder


def _made_user(make: Callable[..., User], details: Mapping[str, Any]) -> User:
    """The user that a function or class makes of an input; what goes wrong says nothing about the agent."""
    try:
        return make(**details)
    except Exception as error:  # choke-point: what makes the user says nothing about the agent
        raise Refused(f"no user could be made of the input: {type(error).__name__}: {error}") from error


def _takes_history(agent: Callable[..., Any]) -> bool:
    try:
        return "history" in inspect.signature(agent).parameters
    except (TypeError, ValueError):  # some builtins have none
        return False


def _is_async(agent: Any) -> bool:
    return inspect.iscoroutinefunction(agent) or inspect.iscoroutinefunction(getattr(agent, "__call__", None))  # noqa: B004 - asks for its kind


async def _from_user(user: User, messages: Sequence[Message]) -> str | None:
    """The user's next message; what goes wrong with it says nothing about the agent."""
    try:
        text = user.reply([cast(Message, dict(message)) for message in messages])
        text = await text if isinstance(text, Awaitable) else text
    except Exception as error:  # choke-point: the user's side of the conversation
        raise Refused(f"the user said nothing: {type(error).__name__}: {error}") from error
    if text is not None and not isinstance(text, str):
        raise Refused(f"the user's message is a text, or None at the end, got {type(text).__name__}")
    return text


async def _awaited(steps: _Steps) -> dict[str, Any]:
    """Take the steps on the running event loop."""
    value: Any = None
    error: BaseException | None = None
    while True:
        try:
            value = steps.send(value) if error is None else steps.throw(error)
        except StopIteration as done:
            return cast("dict[str, Any]", done.value)
        error = None
        try:
            value = await value if isinstance(value, Awaitable) else value
        except BaseException as raised:  # choke-point: it goes back into the steps, which close the turn
            error = raised


def _waited(steps: _Steps) -> dict[str, Any]:
    """Take the steps on this thread; what is to be awaited runs on its kept loop."""
    value: Any = None
    error: BaseException | None = None
    while True:
        try:
            value = steps.send(value) if error is None else steps.throw(error)
        except StopIteration as done:
            return cast("dict[str, Any]", done.value)
        error = None
        if isinstance(value, Awaitable):
            value, error = _result_of(value)


def _result_of(awaitable: Awaitable[Any]) -> tuple[Any, BaseException | None]:
    ended = Event()
    outcome: list[tuple[Any, BaseException | None]] = []

    async def run() -> None:
        try:
            outcome.append((await awaitable, None))
        except BaseException as error:  # choke-point: it is raised on the thread that waits
            outcome.append((None, error))

    loop_keeper().loop().start(run, copy_context(), lambda _: ended.set())
    ended.wait()
    return outcome[0]
