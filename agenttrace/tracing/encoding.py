"""Make the row of a record, on the worker: the short way for records in which nothing has to be changed.

Nearly all values are plain data that is kept whole and holds no secret. They are looked at once, written as
JSON once, and their texts are searched for secrets together. Whatever shows anything unusual on the way goes
the long way (`finish`), which opens, bounds, cleans and redacts part by part; both ways give the same row.
"""

from __future__ import annotations

from collections import deque
from gc import get_referents
from typing import Any

from agenttrace.core.identity import SPAN_KEY_MASK
from agenttrace.core.interruptions import pass_on_interruption
from agenttrace.core.jsonable import quoted
from agenttrace.core.limits import Limits
from agenttrace.core.snapshot import EXACT_INT
from agenttrace.core.span import Span
from agenttrace.core.span_rows import SpanKind, SpanRow
from agenttrace.core.tagged import LONG_INT
from agenttrace.core.tool_text import definition_text
from agenttrace.redaction import Redaction
from agenttrace.redaction.answers import holds_answers
from agenttrace.redaction.asked import may_ask
from agenttrace.redaction.pairs import holds_beside, holds_named, may_be_entry
from agenttrace.redaction.result_words import may_be_given
from agenttrace.redaction.spans import gives_secret
from agenttrace.redaction.tool_messages import holds_results, may_have_results
from agenttrace.tracing.finish import finish, is_stream, rules_for
from agenttrace.tracing.freeze import Frozen
from agenttrace.tracing.kept_whole import is_kept_whole
from agenttrace.tracing.observed_function import ObservedFunction, RedactedNames
from agenttrace.tracing.plain_values import NotPlain, by_name, content_of
from agenttrace.tracing.record import (
    ARGUMENTS,
    EXTRA,
    INDEX,
    OBSERVED,
    OUTPUT,
    PARENT,
    SCOPE,
    START,
    Record,
    Scope,
    parent_key_of,
    weight_of,
)
from agenttrace.tracing.repeated_secrets import secrets_of_callers

_SCALARS = frozenset({str, int, float, bool, type(None)})
_CONTAINERS = frozenset({dict, list, tuple})
_PLAIN = _SCALARS | _CONTAINERS
_PER_ITEM = 6
"""What an item of a snapshot counts for at most beyond the length of its JSON."""

_FIRST_TOGETHER, _MOST_TOGETHER = 8, 64
"""Records whose texts are looked through together, at first and at most; fewer where some held a secret."""
_TOGETHER = 32_000
"""Characters from which on no more are: the look takes a fraction of a millisecond."""

_NOT_IN_A_ROW = ("name", "input", "output", "scores")
"""What running code set on its span, and what has to be worked out for a whole span."""


_WORDS = {None: "null", True: "true", False: "false"}


def _mapping_of(names: tuple[str, ...]) -> str:
    """The JSON of a mapping with these names, with ``%s`` in place of each value.

    Raises:
        NotPlain: a name stands twice, or is no text that can be stored.
    """
    if len(set(names)) < len(names) or not all(map(str.isprintable, names)):
        raise NotPlain
    return "{" + ",".join([quoted(name).replace("%", "%%") + ":%s" for name in names]) + "}"


def _kind_of(rules: RedactedNames, project: str) -> tuple[RedactedNames, SpanKind, str]:
    definition = "" if rules[3] is None else definition_text(rules[3])
    return rules, (project, rules[2], rules[5], definition), _mapping_of(rules[4])


class Encoder:
    """Makes rows of records, for one redaction.

    `weight` is the size of the heavy values in all of them, `size` that of their JSON.

    Raises:
        ImportError: what writes JSON is not installed.
    """

    def __init__(self, redaction: Redaction) -> None:
        from pydantic_core import to_json  # on the worker: making a tracer must stay light

        self.redaction = redaction
        self.weight = 0
        self.size = 0
        self.is_stopped = False
        self._texts: list[set[str]] = []
        self._together = _FIRST_TOGETHER
        self._to_json = to_json
        self._hold_nothing = redaction.holds_nothing
        self._shortest, self._largest = redaction.shortest, redaction.largest_number
        self._keeps_outputs = redaction.call is None and not redaction.is_secret("output")

    def rows(self, queue: deque[Any], since: int, most: int, room: int) -> list[SpanRow]:
        """The rows of the first records of a queue, `most` at most, none that began before `since`, and none
        behind those whose JSON fills the `room`.

        Their texts are looked through together: that takes far fewer steps, and many stand in several.
        `is_stopped` afterwards says that the record behind them has to go the long way.
        """
        rows: list[SpanRow] = []
        heavy: list[tuple[int, set[str], int, int]] = []
        texts: set[str] = set()
        counted, length = (self.weight, self.size), 0
        self._texts.clear()
        self.is_stopped, together = False, self._together
        for place in range(min(len(queue), most, together)):  # by their place: callers add meanwhile
            record = queue[place]
            if type(record) is not list or record[START] < since or record[OBSERVED].on_end is not None:
                break
            try:
                rows.append(self._row(record))
            except BaseException as error:  # choke-point: the long way tells what is wrong
                pass_on_interruption(error)
                self.is_stopped = True
                break
            if self._texts:
                own = self._texts.pop()
                heavy.append((place, own, *counted))
                counted = self.weight, self.size
                length += sum(map(len, own - texts))
                texts |= own
                if length > _TOGETHER or self.size > room:
                    break
        self.weight, self.size = counted
        if not texts or self._hold_nothing(texts):
            self._together = min(2 * together, _MOST_TOGETHER)
            return rows
        self._together = max(together // 4, 1)
        return self._harmless(rows, heavy)

    def _harmless(self, rows: list[SpanRow], heavy: list[tuple[int, set[str], int, int]]) -> list[SpanRow]:
        """The rows before the first one with a secret. `heavy` has of each with texts its place, these, and
        what the weight and the size were before it."""
        for place, own, weight, size in heavy:
            if len(heavy) == 1 or not self._hold_nothing(own):
                self.is_stopped, self.weight, self.size = True, weight, size
                return rows[:place]
        return rows

    def row(self, record: Record) -> SpanRow:
        """The row of a record whose call has ended.

        Raises:
            NotPlain: it has to go the long way.
        """
        self._texts.clear()
        row = self._row(record)
        self._check_texts()
        return row

    def _row(self, record: Record) -> SpanRow:
        """The row of a record, if none of its `_texts` holds a secret."""
        observed: ObservedFunction
        scope: Scope
        parent, scope, observed, index, start, arguments, end, output, failure, extra = record
        rules = observed.rules
        if rules[0] is not self.redaction:
            rules = observed.rules = rules_for(observed, self.redaction)
        is_other = rules[1] or scope.hidden or observed.rebinding or (extra is not None and is_stream(extra))
        has_new_caller = parent[INDEX] != scope.harmless_caller
        if is_other or not self._keeps_outputs or (has_new_caller and self._callers_have_secrets(record)):
            raise NotPlain
        project, kind = scope.project, observed.kind
        if kind is None or kind[0] is not rules or kind[1][0] != project:
            kind = observed.kind = _kind_of(rules, project)
        inputs = result = None
        heavy: list[Any] = []
        values: Any = arguments
        light = None if arguments is None else self._light(arguments)
        if light is not None:
            inputs = kind[2] % light
        elif arguments is not None:
            values = by_name(rules[4], arguments)
            heavy.append(values)
        if output is not None:
            result = self._light_output(output)
            if result is None:
                output = content_of(output) if type(output) is Frozen else output
                heavy.append(output)
            if values and (result is None or (type(output) is str and not output.isalpha())):
                self._check_result(observed.name, values, output)
        if heavy:
            written = self._written(heavy, scope.limits)
            inputs = written.pop(0) if arguments is not None and inputs is None else inputs
            result = written[0] if written else result
            self.weight += weight_of(record)
        is_all = extra is None and failure is None and scope.attributes is None and observed.metadata is None
        more = None if is_all else self._more(record)
        base, anchor, is_root = scope.base, scope.anchor, parent[OBSERVED] is None
        return (
            scope.trace_key,
            (base + index) & SPAN_KEY_MASK or 1,
            parent_key_of(record) if is_root else (base + parent[INDEX]) & SPAN_KEY_MASK or 1,
            index,
            kind[1],
            anchor + start,
            anchor + (end or start),
            inputs,
            result,
            more,
        )

    def _callers_have_secrets(self, record: Record) -> bool:
        if secrets_of_callers(record, self.redaction, self._hold_nothing_in):
            return True
        scope: Scope = record[SCOPE]
        scope.harmless_caller = record[PARENT][INDEX]  # most calls have sisters
        return False

    def _hold_nothing_in(self, call: Record) -> bool:
        """Returns True if the arguments of a call, seen from one that it made, hold no secret."""
        observed: ObservedFunction = call[OBSERVED]
        arguments, size = call[ARGUMENTS], self.size
        if arguments is None:
            return len(call) <= EXTRA or not call[EXTRA]
        rules = (
            rules_for(observed, self.redaction) if observed.rules[0] is not self.redaction else observed.rules
        )
        if rules[1] or observed.rebinding is not None:
            return False
        try:
            if self._light(arguments) is None:
                self._written([by_name(rules[4], arguments)], call[SCOPE].limits)
                self._check_texts()
        except NotPlain:
            return False
        finally:
            self._texts.clear()
            self.size = size
        return True

    def _check_result(self, name: str, arguments: Any, output: Any) -> None:
        """Raise NotPlain if the arguments ask for a secret, which the result may be, or have."""
        values = arguments.values() if type(arguments) is dict else arguments
        if may_be_given(output) and may_ask(values) and gives_secret(name, values, output, self.redaction):
            raise NotPlain

    def _light(self, arguments: tuple[Any, ...]) -> tuple[Any, ...] | None:
        """The JSON of arguments that are scalars or short; None where one of them is neither."""
        shortest, largest, texts = self._shortest, self._largest, []
        for value in arguments:
            kind = type(value)
            if kind is str:
                if len(value) >= shortest or not value.isascii():
                    return None
                texts.append(quoted(value))
            elif kind is int:
                if not -EXACT_INT < value < largest:
                    raise NotPlain
                texts.append(value)
            elif value is None or kind is bool:
                texts.append(_WORDS[value])
            else:
                return None
        return tuple(texts)

    def _light_output(self, output: Any) -> str | None:
        """The JSON of an output that is a scalar or short; None where it is neither."""
        kind = type(output)
        if kind is str:
            return quoted(output) if len(output) < self._shortest and output.isascii() else None
        if kind is bool:
            return _WORDS[output]
        return str(output) if kind is int and -EXACT_INT < output < self._largest else None

    def _more(self, record: Record) -> Span:
        """The span without its values, for what is rare."""
        extra = record[EXTRA]
        if extra is not None and any(name in extra for name in _NOT_IN_A_ROW):
            raise NotPlain
        light = record.copy()
        light[ARGUMENTS] = light[OUTPUT] = None
        return finish(light, self.redaction)

    def encoded(self, values: list[Any], limits: Limits) -> list[str]:
        """The JSON of each of these values: plain data that is kept whole and holds no secret.

        They are looked at together, which takes far fewer steps than one by one.

        Raises:
            NotPlain: one of them is not, or it may not be.
        """
        self._texts.clear()
        written = self._written(values, limits)
        self._check_texts()
        return written

    def _check_texts(self) -> None:
        if not all(map(self._hold_nothing, filter(None, self._texts))):
            raise NotPlain

    def _written(self, values: list[Any], limits: Limits) -> list[str]:
        """The JSON of values; their texts, which may hold a secret, are added to `_texts`."""
        kinds, count, texts = self._look(values, limits)
        self._texts.append(texts)
        written = []
        for value in values:
            try:
                json = self._to_json(value)
            except ValueError:  # a lone surrogate
                raise NotPlain from None
            # A snapshot counts characters, no bytes, and a third of an integer's bits.
            most = len(json) + (len(json) >> 3) + count * _PER_ITEM
            if most > limits.value and type(value) is not str and not is_kept_whole(value, json, limits):
                raise NotPlain
            if float in kinds and (b"NaN" in json or b"Infinity" in json):
                raise NotPlain
            self.size += len(json)
            written.append(json.decode())
        return written

    def _look(self, values: list[Any], limits: Limits) -> tuple[set[type], int, set[str]]:
        """The types in values, the number of their items, each counted where it stands, and their texts.

        Raises:
            NotPlain: other types than JSON's, integers so long that they are tagged, names that are secret or
                begin with ``$``, a value beside the name of a secret, too many items or levels.
        """
        most, room = limits.items, limits.value // _PER_ITEM
        kinds = set(map(type, values))
        if int in kinds and max([abs(part) for part in values if type(part) is int]) >= LONG_INT:
            raise NotPlain
        texts = {part for part in values if type(part) is str}
        mappings: list[Any] = [part for part in values if type(part) is dict]
        lists: list[Any] = [part for part in values if type(part) is list or type(part) is tuple]
        level: list[Any] = mappings + lists
        count = len(values)
        for _ in range(limits.depth):
            if not level:
                break
            size = sum(map(len, level))
            count += size
            if count > room or (size > most and max(map(len, level)) > most):
                raise NotPlain
            below = get_referents(*level)  # a loop over the items would take five times as long
            if len(below) < size:
                raise NotPlain
            kinds_below = set(map(type, below))  # what is not among them is not looked for
            kinds |= kinds_below
            if str in kinds_below:
                texts.update(
                    below if len(kinds_below) == 1 else [part for part in below if type(part) is str]
                )
            if int in kinds_below and max([abs(part) for part in below if type(part) is int]) >= LONG_INT:
                raise NotPlain
            level = []
            if dict in kinds_below:
                level = [part for part in below if type(part) is dict]
                mappings += level
            if list in kinds_below or tuple in kinds_below:
                lists_below = [part for part in below if type(part) is list or type(part) is tuple]
                lists += lists_below
                level = level + lists_below
        if level or not kinds <= _PLAIN or (int in kinds and self._largest < EXACT_INT):
            raise NotPlain
        if mappings or lists:
            self._check_names(mappings, lists)
        return kinds, count, texts

    def _check_names(self, mappings: list[Any], lists: list[Any]) -> None:
        redaction = self.redaction
        keys = set().union(*mappings)
        if not keys <= redaction.harmless_keys:
            unknown = keys - redaction.harmless_keys
            if not all(redaction.are_harmless(part) for part in mappings if not unknown.isdisjoint(part)):
                raise NotPlain
        entries = filter(may_be_entry, mappings) if may_be_entry(keys) else ()
        if any(holds_beside(entry, redaction) for entry in entries):
            raise NotPlain
        if lists and holds_named(lists, redaction):
            raise NotPlain
        if any(len(items) > 1 and holds_answers(items, redaction) for items in lists):
            raise NotPlain
        if may_have_results(keys, mappings) and any(holds_results(items, redaction) for items in lists):
            raise NotPlain
