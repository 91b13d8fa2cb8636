"""Remove secrets from recorded values, before anything leaves the process."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from agenttrace.core.digests import digest_of, secret_digest
from agenttrace.core.interruptions import pass_on_interruption
from agenttrace.core.jsonable import jsonable, to_json
from agenttrace.core.limits import CAPTURED, LONGEST_WHOLE
from agenttrace.core.marks import REDACTED, Redacted, bytes_of, cut, parted_at_cut, spelled
from agenttrace.core.score import Score
from agenttrace.core.snapshot import EXACT_INT
from agenttrace.core.span import Span
from agenttrace.core.tool import REQUIRED, ToolDefinition
from agenttrace.redaction.encodings import (
    QUOTED_SIGNS,
    may_be_styled,
    texts_of,
    without_encoded,
    without_quoted,
    without_styled,
    without_torn,
)
from agenttrace.redaction.escaped import may_have_escaped, without_escaped, without_key_of_literals
from agenttrace.redaction.events import may_have_events
from agenttrace.redaction.harmless_copy import LONGEST_CACHED, MOST_CACHED
from agenttrace.redaction.json_text import DATA_ENDS, may_be_data, without_secrets_of_data
from agenttrace.redaction.lines import without_joined
from agenttrace.redaction.name_rules import rule_of
from agenttrace.redaction.names import NameRule, own_name, plain
from agenttrace.redaction.options import Level, OwnShape, asks_for_cards, checked, checked_call, own_shapes
from agenttrace.redaction.other_forms import may_have_others, without_others
from agenttrace.redaction.other_meanings import names_another
from agenttrace.redaction.pages import may_be_page, without_secrets_of_page
from agenttrace.redaction.pairs import (
    NAMED_BESIDE,
    holds_beside,
    may_be_entry,
    without_beside,
    without_listed,
)
from agenttrace.redaction.personal import LARGEST_IF_CARDS, is_card
from agenttrace.redaction.prefixed import may_be_prefixed, without_prefixed
from agenttrace.redaction.repeated import without_again
from agenttrace.redaction.scores import score_without_secrets
from agenttrace.redaction.shape_search import without_shape
from agenttrace.redaction.shapes import ENCODED_RUN
from agenttrace.redaction.signs import LONGEST_ID, PROSE, Look, is_id, look_at, shapes_in
from agenttrace.redaction.spans import redacted_span
from agenttrace.redaction.streamed import without_split, without_split_events
from agenttrace.redaction.texts import has_any, may_have_names, without_named
from agenttrace.redaction.together import may_hold_secret
from agenttrace.redaction.values import (
    hides,
    is_schema,
    without_examples,
    without_opaque,
    without_random,
)

_CACHES = ("_secret_names", "_rules", "_keys", "_tools")
"""Names, keys and tools for which the result is cached."""
SHORTEST_TEXT = 8
"""Shorter texts are not looked into: ``pwd=…`` needs more."""
SHORTEST_OWN = 5
"""The same where shapes are looked for that the user asked for: ``a@b.co``."""
_NO_RULE = NameRule("", "", "whole", ())

RedactCall = Callable[[str, Any], Any]
"""``redact(name, value) -> value``: for each recorded parameter, attribute, item of metadata under its name,
the output under ``"output"``, an error's message under ``"error"``, a log's under ``"log"``, a score's reason
under ``"reason"``."""


class Redaction:
    """Removes values with secret names or shapes, and what the user adds.

    Args:
        names: Further names of parameters and keys, of which every value is taken out.
        call: Sees each recorded value, JSON-safe, after the other rules, and returns what is recorded; when
            it raises anything at all, the value is dropped (fail closed) and counted.
        level: ``"standard"`` has the rules of the tables. ``"strict"`` also takes out flags, counts and words
            under secret names, and what is personal. ``"off"`` has only `names`, `shapes` and `call`.
        except_: Names of parameters and keys, and of rows of the table of shapes (``"JSON Web Token"``), that
            are left alone.
        shapes: What else is looked for in texts: ``"card"``, ``"iban"``, ``"email"``, ``"phone"``,
            ``"personal"`` for these four, or a regular expression.

    Raises:
        ConfigError: an option is none of these.

    `redacted` counts what was taken out; it is an estimate, since captures redact on their own threads.
    """

    def __init__(
        self,
        names: Iterable[str] = (),
        call: RedactCall | None = None,
        *,
        level: Level = "standard",
        except_: Iterable[str] = (),
        shapes: Iterable[OwnShape] = (),
    ) -> None:
        names, left_alone = checked(names, "names"), checked(except_, "except_")
        self.level: Level = level
        self.names = {plain(name) for name in names}
        self.except_ = frozenset(plain(name) for name in left_alone)
        self.call: RedactCall | None = checked_call(call)
        self.redacted = 0
        self.failed = 0
        self.harmless_keys: set[str] = set()
        """Keys that were found to name no secret and no mark, and to hold no secret themselves."""
        self._own_shapes = own_shapes(level, shapes, self.except_)
        self.largest_number = LARGEST_IF_CARDS if asks_for_cards(level, shapes, self.except_) else EXACT_INT
        self.shortest = 1 if self._own_shapes else SHORTEST_OWN if self.names else SHORTEST_TEXT
        self._signs = tuple({max(re.split(r"[_\-. ]+", name.lower()), key=len) for name in names})
        self._secret_names: dict[str, bool] = {}
        self._rules: dict[str, NameRule | None] = {}
        self._keys: dict[str, str] = {}
        self._tools: dict[int, tuple[ToolDefinition, ToolDefinition]] = {}

    def __getstate__(self) -> dict[str, Any]:
        """The rules alone: what is cached is known by objects of this process."""
        fresh = {"redacted": 0, "failed": 0, "harmless_keys": set()}
        return {**self.__dict__, **fresh, **{name: {} for name in _CACHES}}

    def is_secret(self, name: str) -> bool:
        """Returns True if values of a parameter or key of this name are redacted: all but those that `hides`
        spares."""
        secret = self._secret_names.get(name)
        if secret is None:
            bare = plain(own_name(name))
            rule = None if self.level == "off" else rule_of(name)
            secret = self._is_own(bare) or (rule is not None and bare not in self.except_)
            if len(self._secret_names) < MOST_CACHED and len(name) <= LONGEST_CACHED:
                self._secret_names[name] = secret
                if secret:
                    self._rules[name] = self._rule_of(bare, rule)
        return secret

    def _rule_of(self, bare: str, rule: NameRule | None) -> NameRule | None:
        """The row that says which values a name hides; None: all of them."""
        is_strict = self.level == "strict" and (rule is None or rule.weight != "if random")
        return None if is_strict or self._is_own(bare) else rule

    def _is_own(self, bare: str) -> bool:
        """Returns True for a name of the user's; a number at its end does not matter."""
        return bool(self.names) and (bare in self.names or bare.rstrip("0123456789") in self.names)

    def are_harmless(self, items: Mapping[Any, Any]) -> bool:
        """Returns True if no key of a mapping names a value that is taken out, holds a secret, or looks like
        a mark's. Keys that are harmless with any value are added to `harmless_keys`."""
        for key, item in items.items():
            if type(key) is not str or key[:1] == "$" or self.key(key) != key:
                return False
            if self.is_secret(key):
                if item is not None and (type(item) is dict or self.hides(key, item)):
                    return False
            elif key in NAMED_BESIDE:
                if holds_beside(dict(items), self):
                    return False
            elif len(self.harmless_keys) < MOST_CACHED and len(key) <= LONGEST_CACHED:
                self.harmless_keys.add(key)
        return True

    def hides(self, name: str, value: Any) -> bool:
        """Returns True if this value of a secret name is redacted: no None, and by the tables no flag, count,
        schema or placeholder."""
        rule = self._rules.get(name, _NO_RULE)
        if rule is _NO_RULE:
            rule = self._rule_of(plain(own_name(name)), rule_of(name))
        return hides(rule, name, value)

    def value(self, name: str, value: Any) -> Any:
        """The redacted form of one recorded parameter or output, which is strict JSON."""
        if value is not None and self.is_secret(name) and self.hides(name, value):
            self.redacted += 1
            value = Redacted(REDACTED, secret_digest(value))
        else:
            value = self.inside(value)
        if self.call is None:
            return value
        try:
            replaced = self.call(name, value)
            return value if replaced is value else jsonable(replaced, limit=CAPTURED.value)
        except BaseException as error:  # choke-point: the user's function failed; the value could leak
            pass_on_interruption(error)
            self.failed += 1
            return REDACTED

    def stream(self, items: list[Any]) -> list[Any]:
        """The items that a stream yielded, without secrets that are split over several of them."""
        return without_split(items, self._text_within)

    def text(self, name: str, text: str) -> str:
        """The redacted form of a text. It stays a text, whatever the user's own function returns."""
        if self.call is None:
            return text if len(text) < self.shortest else self._text(text)
        value = self.value(name, text)
        return value if isinstance(value, str) else to_json(value)

    def fields(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Each of several named values in its redacted form; they are strict JSON."""
        return self.without_beside({self.key(key): self.value(key, value) for key, value in values.items()})

    def without_beside(self, fields: dict[str, Any]) -> dict[str, Any]:
        """Several named values without those of which another one is the name: the arguments of
        ``set_header(name, value)``. They are taken out of the mapping itself."""
        if may_be_entry(fields):
            without_beside(fields, fields, self, self.taken_out)
        return fields

    def span(self, span: Span) -> Span:
        """The redacted form of a span that was not recorded here: it was read, or came from elsewhere."""
        return redacted_span(span, self)

    def score(self, score: Score) -> Score:
        """A score without secrets, and without digests, in its texts and details."""
        return score_without_secrets(score, self, self._signs)

    def tool(self, tool: ToolDefinition) -> ToolDefinition:
        """A tool's definition without secrets in texts and defaults: for one definition always the same."""
        pair = self._tools.get(id(tool))
        if pair is None:
            parameters = tuple(
                p if p.default is REQUIRED else replace(p, default=self.value(p.name, p.default))
                for p in tool.parameters
            )
            texts = tool.name, tool.tags, tool.description
            clean = self.key(tool.name), tuple(map(self.key, tool.tags)), self.inside(tool.description)
            if parameters != tool.parameters or texts != clean:
                name, tags, description = clean
                redacted = replace(tool, name=name, parameters=parameters, tags=tags, description=description)
                pair = tool, redacted
            else:
                pair = tool, tool
            if len(self._tools) < MOST_CACHED:
                self._tools[id(tool)] = pair
        return pair[1]

    def inside(self, value: Any) -> Any:
        """Redact by the keys and shapes inside a value; the same object where there is nothing to redact."""
        kind = type(value)
        if kind is str:
            text = value if len(value) < self.shortest else self._text(value)
            return value if text is value else Redacted(text, secret_digest(value))
        if kind is dict:
            if "$bytes" in value and self._holds_secret_bytes(value):
                return {**value, "$bytes": REDACTED}
            items = {}
            for key, item in value.items():
                if len(key) >= self.shortest:
                    name = self.key(key)
                    while name in items:
                        name += "'"
                else:
                    name = key
                is_other = names_another(key, value)
                items[name] = self.inside(item) if is_other else self._item(key, item)
            if may_be_entry(value):
                without_beside(value, items, self, self.taken_out)
            return items
        if kind is list:
            whole, mark = parted_at_cut(value)  # a table whose last rows were left out is one still
            whole = without_joined(whole, self._text_within)
            items_of = [self.inside(item) for item in whole]
            without_listed(whole, items_of, self, self.taken_out)
            return items_of + mark
        if kind is int and value >= self.largest_number < EXACT_INT and is_card(value):
            return self.taken_out(value)
        return value

    def taken_out(self, value: Any, begin: int = 0) -> Redacted:
        """What is kept of a secret value, from a place in it on: the mark, and a digest that compares it."""
        self.redacted += 1
        option = 2 if begin and value[:1] == "-" != value[1:2] else 0  # ``-u…``, whose letter begins no word
        before = self._uncounted(self._text_within, value[option:begin]) if begin else ""
        return Redacted(f"{value[:option] if begin else ''}{before}{REDACTED}", secret_digest(value))

    def _item(self, key: str, item: Any) -> Any:
        if item is not None and self.is_secret(key) and self.hides(key, item):
            self.redacted += 1
            return Redacted(REDACTED, secret_digest(item))
        if type(item) is list and item and self.is_secret(key):  # of a name that hides no list
            item = without_opaque(item, partial(self.hides, key), self.taken_out)
        if type(item) is dict and item and self.is_secret(key):
            if is_schema(item):
                return self.inside(without_examples(item, self.taken_out))
            return self.inside(without_random(item, self.taken_out, key))
        return self.inside(item)

    def key(self, key: str) -> str:
        """A key or name without secrets in its own text."""
        redacted = self._keys.get(key)
        if redacted is None:
            redacted = key if len(key) < self.shortest else self._text(key)
            if redacted is key and len(self._keys) < MOST_CACHED and len(key) <= LONGEST_CACHED:
                self._keys[key] = redacted
        return redacted

    def digest(self, content: str | bytes) -> str | None:
        """The digest of a text, or of bytes, that will be cut; None where a secret could be guessed by it."""
        if self.call is not None or len(content) > LONGEST_WHOLE:
            return None
        text = content if isinstance(content, str) else spelled(content)
        return digest_of(content) if self.is_harmless(text) else None

    def _holds_secret_bytes(self, data: Mapping[str, Any]) -> bool:
        """Returns True if recorded bytes, read as text, hold a secret."""
        content = bytes_of(data)
        if content is None:
            return False
        is_whole = len(content) == data["size"]
        texts = (text if is_whole else cut(f"{text} ", len(text)) for text in texts_of(content))
        return not all(map(self.is_harmless, texts))

    def holds_nothing(self, texts: Collection[str]) -> bool:
        """Returns True if nothing is taken out of any of these texts.

        They are looked at together, as lines of one; if that tells no more, one by one.
        """
        text = "\n\n".join(texts)  # each begins a paragraph
        look, lowered = look_at(text), text.lower()
        has_lines = "\n" in "".join(texts)  # in C: `count` goes from letter to letter
        if (
            not self._own_shapes
            and not may_hold_secret(text, lowered, look, self, self._signs, has_lines=has_lines)
            and not (has_any(DATA_ENDS, text) and may_be_data(texts, self, self._signs))
        ):
            return True
        return all(self.is_harmless(text) for text in texts if self.looks_into(text))

    def looks_into(self, text: str) -> bool:
        """Returns False for a text too short for a secret, and for an id or a moment."""
        size = len(text)
        return size >= self.shortest and (size > LONGEST_ID or bool(self._own_shapes) or not is_id(text))

    def is_harmless(self, text: str) -> bool:
        """Returns True if nothing is taken out of a text, which is not counted: it is kept, or read later."""
        count = self.redacted
        harmless = self._text(text) is text
        self.redacted = count
        return harmless

    def without_counting(self, text: str) -> str:
        """The text without secrets, which are not counted: it is kept elsewhere."""
        return text if len(text) < self.shortest else self._uncounted(self._text, text)

    def _text(self, text: str) -> str:
        cleaned = self._text_once(text)
        return cleaned if cleaned is text else without_again(text, cleaned)

    def _text_once(self, text: str, is_page: bool = True) -> str:
        if "\\" in text and may_have_escaped(text):  # first: to what comes later an escape is a letter
            if self.level != "off" and "privatekey" not in self.except_:
                text, count = without_key_of_literals(text)
                self.redacted += count
            text, count = without_escaped(text, partial(self._uncounted, self._text_within))
            self.redacted += count
        if "\n" in text and may_have_events(text):
            text, count = without_split_events(text, partial(self._uncounted, self._text_within))
            self.redacted += count
        if is_page and may_be_page(text):
            of_page = partial(self._text_once, is_page=False)
            text, count = without_secrets_of_page(text, partial(self._uncounted, of_page), self)
            self.redacted += count
        if "\n" in text and may_be_prefixed(text):
            text, count = without_prefixed(text, partial(self._uncounted, self._text_within))
            self.redacted += count
        text, look = self._readable(text)
        if may_be_styled(text):
            text, count = without_styled(text, partial(self._uncounted, self._spelled))
            self.redacted += count
        if look is PROSE and text[-1:] != "]":
            return text
        if "%" in look.marks and has_any(QUOTED_SIGNS, text):
            text, count = without_quoted(text, partial(self._uncounted, self._spelled))
            self.redacted += count
        if look.marks and may_be_data((text,), self, self._signs):
            text, count = without_secrets_of_data(text, partial(self._uncounted, self.inside))
            self.redacted += count
        if look.run == ENCODED_RUN and self.level != "off":
            text, count = without_encoded(text, partial(self._uncounted, self._spelled))
            self.redacted += count
        if self.level != "off" and text[-1:] == "]":
            text, count = without_torn(text)
            self.redacted += count
        return text

    def _text_within(self, text: str) -> str:
        return self._text(text) if len(text) >= self.shortest else text

    def _spelled(self, text: str) -> str:
        return self._readable(text)[0]

    def _uncounted(self, clean: Callable[[Any], Any], part: Any) -> Any:
        """A part of a text, or what it spells, without secrets; what is found counts with that part."""
        count = self.redacted
        part = clean(part)
        self.redacted = count
        return part

    def _readable(self, text: str) -> tuple[str, Look]:
        """The text without secrets that stand in it as they are, and what a look at it told."""
        look, lowered = look_at(text), text.lower()
        has_others = look is not PROSE and may_have_others(lowered, look, has_lines="\n" in text)
        if not self._own_shapes and (
            not (look.run or look.marks or has_others or "bearer" in lowered) or is_id(text)
        ):
            return text, PROSE
        if (self.level != "off" or self._signs) and may_have_names(look.marks, lowered, self._signs):
            text, count = without_named(text, self)
            self.redacted += count
        if has_others:
            text, count = without_others(text, self)
            self.redacted += count
        if self.level != "off":
            for shape in shapes_in(text, lowered, look):
                if not self.except_ or plain(shape.what) not in self.except_:
                    text, count = without_shape(shape, text)
                    self.redacted += count
        for without_own in self._own_shapes:
            text, count = without_own(text)
            self.redacted += count
        return text, look
