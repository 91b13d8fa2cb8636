"""The context variables: the record of the running call, and what answers calls in a simulation."""

from __future__ import annotations

import copyreg
from collections.abc import Callable, Mapping, Sequence
from contextvars import Context, ContextVar
from dataclasses import dataclass
from functools import update_wrapper
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar

from agenttrace.core.interruptions import pass_on_interruption
from agenttrace.process.fork_and_exit import at_fork
from agenttrace.tracing.record import END, INDEX, OBSERVED, PARENT, SCOPE, Record, Scope

if TYPE_CHECKING:
    from agenttrace.tracing.observed_function import ObservedFunction

P = ParamSpec("P")
T = TypeVar("T")

current: ContextVar[Record | None] = ContextVar("agenttrace_current", default=None)
"""The record of the running call, the head of a capture or of a remote trace, or None outside all."""


class Answering(Protocol):
    """A simulation: what answers calls of observed functions in their place."""

    def answer(
        self, observed: ObservedFunction, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """What a call gives: of a coroutine function a coroutine, of a generator function a generator."""
        ...

    def models(self) -> ModelAnswers | None:
        """What answers the requests of wrapped clients in place of the network, or None."""
        ...


class ModelAnswers(Protocol):
    """A recording that answers requests to models."""

    def answer_request(self, request: Mapping[str, Any]) -> RecordedAnswer:
        """The recorded answer to a request, as it is sent. Raises SimulationError where there is none."""
        ...


@dataclass(frozen=True, slots=True)
class RecordedAnswer:
    """A recorded answer of a model: its choices in the form of all providers, its id, model and usage."""

    choices: Sequence[Mapping[str, Any]]
    id: str
    model: str
    usage: Mapping[str, Any]


answering: ContextVar[Answering | None] = ContextVar("agenttrace_answering", default=None)
"""The simulation that holds here, or None. It follows wherever the running call does."""


def _current() -> ContextVar[Record | None]:
    return current


def _reduce(variable: ContextVar[object]) -> tuple[Callable[[], object], tuple[()]]:
    """How `current` is pickled, as part of an observed closure that cloudpickle or dill takes elsewhere: by
    its name. Any other variable is pickled as little as without us."""
    if variable is not current:
        raise TypeError(f"cannot pickle {type(variable).__module__}.{type(variable).__name__!r} object")
    return _current, ()


if ContextVar not in copyreg.dispatch_table:
    copyreg.pickle(ContextVar, _reduce)  # type: ignore[arg-type] # typeshed knows classes of one type only


captured_scopes: dict[int, Scope] = {}
"""The traces that are being captured in this process, by their keys."""


captured_open: dict[int, dict[int, Record]] = {}
"""Of each trace that is being captured, what runs without being the running call of a context, such as a
request to a model: the records by their places in the start order."""


def running() -> Record | None:
    """The record of the call that runs here, or None outside every recorded call."""
    record = current.get()
    if record is None or record[OBSERVED] is None or record[SCOPE] is None:
        return None
    return record


def runs_inside(record: Record) -> bool:
    """Returns True if the call that runs here is this one, or was called by it, directly or not."""
    ancestor = current.get()
    while ancestor is not None:
        if ancestor is record:
            return True
        ancestor = ancestor[PARENT]
    return False


def open_calls_in(context: Context) -> list[str]:
    """The names of the calls that run in a context, the outermost first. May be called on any thread.

    The last one may be a span that is open below them: of several, the one that began last.
    """
    names: list[str] = []
    record = context.get(current)
    scope = None if record is None else record[SCOPE]
    if record is not None and scope is not None:
        below = captured_open.get(scope.trace_key, {}).copy()
        newest = max(below, default=0)
        record = below[newest] if newest > record[INDEX] else record
    while record is not None and record[OBSERVED] is not None:
        names.append(str(record[OBSERVED].name))
        record = record[PARENT]
    return names[::-1]


class Entered:
    """Makes a record the running call until `leave`.

    A signal handler can raise between any two steps. If it raises in here, the running call is put back. If
    it keeps a ``with`` block from calling `leave`, the finaliser of this object puts the running call back.
    """

    __slots__ = ("_before", "_record", "_token")

    def __init__(self, record: Record) -> None:
        self._record = record
        self._before = current.get()
        try:
            self._token = current.set(record)
            self.__class__ = _NotLeft  # pyright: ignore[reportAttributeAccessIssue] # alike but for `__del__`
        except BaseException:
            current.set(self._before)
            raise

    def leave(self) -> bool:
        """Put the former running call back, once. Returns False in another context than that of the entry."""
        if type(self) is Entered:
            return True
        try:
            current.reset(self._token)
            if self._before is not None and self._before[END]:
                current.set(_open_above(self._before))
        except ValueError as error:  # in another context, which never had our value
            pass_on_interruption(error)
            return False
        finally:
            self.__class__ = Entered
        return True


class _NotLeft(Entered):
    """An `Entered` before `leave`. Only it has a finaliser, as Python ignores what is raised in one."""

    __slots__ = ()

    def __del__(self) -> None:
        if current.get() is self._record:
            current.set(_open_above(self._before))


def _open_above(record: Record | None) -> Record | None:
    """The running call where a record was: itself, or where it has ended, what it was called by.

    Blocks of two generators that run by turns end in the order in which they began, so what ran when the
    second began may be over when that ends.
    """
    while record is not None and record[END]:
        record = record[PARENT]
    if record is None or record[OBSERVED] is not None:
        return record
    # A head is only what runs inside of a capture, or of a trace that came from elsewhere.
    scope: Scope | None = record[SCOPE]
    if scope is None or scope.remote_parent is not None or scope.trace_key in captured_scopes:
        return record
    return None


def _go_on_in_child() -> None:
    """In a forked child: go on with the trace that was being recorded at the fork.

    What comes back there through headers gets ids of its own: the parent numbers its captured spans on.
    """
    captured_scopes.clear()
    captured_open.clear()
    record = current.get()
    if record is not None and record[SCOPE] is not None:
        record[SCOPE].go_on_after_fork()


at_fork("traces", in_child=_go_on_in_child)


def propagate(function: Callable[P, T]) -> Callable[P, T]:
    """Carry the running call into a thread or callback that the library did not start.

    The returned function runs `function` as if it were called here, wherever it is called.
    """
    carried = under(current.get(), answering.get(), function)
    try:
        return update_wrapper(carried, function)
    except (Exception, SystemExit, GeneratorExit) as error:  # choke-point: a lazy proxy may raise anything
        pass_on_interruption(error)
        return carried


def under(record: Record | None, answers: Answering | None, function: Callable[P, T]) -> Callable[P, T]:
    """A function that runs another one with `record` as the running call, in the simulation `answers`."""

    def call_here(*args: P.args, **kwargs: P.kwargs) -> T:
        before, answers_before = current.get(), answering.get()
        try:
            current.set(record)
            answering.set(answers)
            return function(*args, **kwargs)
        finally:
            current.set(before)
            answering.set(answers_before)

    return call_here
