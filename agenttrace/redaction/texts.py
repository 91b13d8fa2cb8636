"""Secrets by the names that stand before them in a text: JSON, ``password=…``, headers, options, XML."""

from __future__ import annotations

import re

from agenttrace.core.marks import REDACTED
from agenttrace.redaction.begins import begin_of_value
from agenttrace.redaction.brackets import end_of_brackets, is_secret_data
from agenttrace.redaction.calls import OF_CALLS
from agenttrace.redaction.codes import OF_CODES, name_of_code
from agenttrace.redaction.declared import declared_name, name_in_brackets
from agenttrace.redaction.escaped import with_blanks
from agenttrace.redaction.expressions import (
    end_of_name,
    joined_literal,
    text_in_expression,
    value_among,
)
from agenttrace.redaction.generated import end_of_generated
from agenttrace.redaction.headers import (
    OF_COOKIES,
    OF_SCHEMES,
    begins_scheme,
    cookies_at,
    has_secret,
    says_scheme_alone,
    secret_after_scheme,
    secret_joined,
)
from agenttrace.redaction.html_attributes import SIGNS as ATTRIBUTE_SIGNS
from agenttrace.redaction.html_attributes import without_attributes
from agenttrace.redaction.in_brackets import without_lists
from agenttrace.redaction.listed import FORMS, without_form
from agenttrace.redaction.name_before import WINDOW, name_before
from agenttrace.redaction.names import NAME_SIGNS, OF_OTHER_ALPHABETS
from agenttrace.redaction.names_in_code import has_random_part
from agenttrace.redaction.naming import Names, may_be_word
from agenttrace.redaction.other_meanings import is_postal_code
from agenttrace.redaction.own_line import setting, value_on_line
from agenttrace.redaction.quoted import end_of_quoted
from agenttrace.redaction.shape_search import looks_random
from agenttrace.redaction.unquoted import (
    compared_value,
    end_of_word,
    ends_literal,
    flow_list,
    in_call,
    is_dotted_password,
    is_outcome,
    is_value,
    is_variable,
    new_value,
    value_of_pair,
)
from agenttrace.redaction.values import is_made_up, is_opaque
from agenttrace.redaction.word_on_line import is_quoted_word, is_word_on_line

OTHER_MARKS = ("--", "</", '",', "',", "\"'")
_FEW = 12
"""Separators that are quicker looked at than all signs are looked for."""
_SEPARATOR = re.compile(r"[=:]")
_CUT = re.compile(r"…\[\+[\d,]+ chars(?: #\w+)?\]\Z")
_NUMBER = re.compile(r"-?\d[\w.+-]*")
_TEXT_VALUE = re.compile(r"""(\\{0,20})([brufneLBRUFNE@$]{0,2})(["'])(?:\3\3)?(?!\[redacted\])""")

_HIDDEN = re.compile(r"""\\{0,20}["'`]?\[redacted\]|[A-Za-z]{0,2}\\+(?=["'`])""")
_BARE = re.compile(r"""[^\s"'`&;,<>(){}\[\]|]+""")
_IN_BRACES = re.compile(r"""\{([^{}\s"'=:,]+)\}(?=;|\s|["'`]|\Z)""")
"""``Pwd={…};`` of ODBC."""
_OF_FORMAT = re.compile(r"[A-Za-z_][\w.]*![rsa]")
"""``{password!r}``."""
_OF_NUMBERS = re.compile(r"(?i)(?:\A|[_\W])(?:pin|pincode|cvv2?|cvc2?|csc|t?otp|code)\Z")
"""Names of secrets that are a number, which may be a short one."""
_SAYS_NOTHING = re.compile(r"(?:[HREP]S\d{3}|[$€£]\d+(?:[.,]\d+)*)")
"""An algorithm, ``jwt: RS256``, and a price."""
_ARN = re.compile(r"arn:[\w:-]*secret\Z")
_CMDLET = re.compile(
    r"lambda:|(?:Convert|Convertto|ConvertTo|ConvertFrom|Get|New|Read|Import)-[A-Z][A-Za-z]+"
)
"""``$password = ConvertTo-SecureString …`` of PowerShell; ``lambda: …``."""
_CODE_FOLLOWS = re.compile(r"""[(\[{]|<[\w:*&, ]{1,60}>\(""")
_BRACKET_FOLLOWS = re.compile(r"""\s+[(]""")
_IDENTIFIER = re.compile(
    r"[A-Za-z_][A-Za-z_]*(?:\.[A-Za-z_]\w*)*|[a-z]{1,20}\d{0,2}(?:_[a-z]{2,20}\d{0,2}){1,8}"
)
_BRACKETS = ("[", "(", "{")
_PRINTED_QUOTES = str.maketrans({**dict.fromkeys("“”„‟", '"'), **dict.fromkeys("‘’‚‛", "'")})
_METHODS = (".join(", ".format(")
_LONGEST_CUT = 120
_LONGEST_LINE = 200
_QUOTES = ("'", '"')
_IN_CALL = (",", ")")


def may_have_names(marks: str, lowered: str, signs: tuple[str, ...]) -> bool:
    """Returns True if a text could have a value after one of the signs of secret names; `marks` is its
    punctuation."""
    count = marks.count(":") + marks.count("=")
    if not count and not any(mark in marks for mark in OTHER_MARKS):
        return "<" in marks and "…[+" in lowered and has_sign(lowered, signs)
    return 0 < count <= _FEW or has_sign(lowered, signs)


def has_sign(lowered: str, signs: tuple[str, ...]) -> bool:
    """Returns True if a sign of a name stands in a text, or that of a call to log in."""
    return (
        has_any(NAME_SIGNS, lowered)
        or has_any(signs, lowered)
        or (not lowered.isascii() and has_any(OF_OTHER_ALPHABETS, lowered))
        or ("(" in lowered and has_any(OF_CALLS, lowered))
    )


def has_any(signs: tuple[str, ...], lowered: str) -> bool:
    """Returns True if one of the signs stands in the text."""
    for sign in signs:  # noqa: SIM110 - a generator in `any` takes half as long again
        if sign in lowered:
            return True
    return False


def without_named(text: str, names: Names) -> tuple[str, int]:
    """The text without the values of secret names, and how many were found.

    Also where the text is cut off inside a value, or is JSON inside JSON.
    """
    text, count = _Reader(text, names).read()
    if "<" in text and has_any(ATTRIBUTE_SIGNS, text):
        text, more = without_attributes(text, names)
        count += more
    if has_any(_BRACKETS, text):
        text, more = without_lists(text, names)
        count += more
    for _, signs, pattern in FORMS:
        if has_any(signs, text):
            text, more = without_form(text, pattern, names)
            count += more
    return text, count


def end_before_cut(text: str) -> int:
    """Where a text ends, but for the mark of one that was cut."""
    cut = _CUT.search(text, max(len(text) - _LONGEST_CUT, 0)) if text[-1:] == "]" else None
    return len(text) if cut is None else cut.start()


class _Reader:
    """Goes through a text from one ``:`` or ``=`` to the next, and takes out the values of secret names."""

    def __init__(self, text: str, names: Names) -> None:
        self.whole = text
        self.text = with_blanks(text if text.isascii() else text.translate(_PRINTED_QUOTES))
        self.names = names
        self.pieces: list[str] = []
        self.position = 0
        self.word = (0, 0)
        self.has_logprobs = "logprob" in text  # whose tokens are of a model's vocabulary
        self.end = end_before_cut(text)
        """Where a text ends that was cut: the mark is no part of a value."""

    def read(self) -> tuple[str, int]:
        text, done = self.text, 0
        for separator in _SEPARATOR.finditer(text):
            place = separator.start()
            if place < done:
                continue
            if text[place + 1 : place + 2] == "=":
                done = self._compared(place) or done
                continue
            if text[place - 1 : place] in ("=", "!", "<", ">"):  # a comparison
                if text[place - 1] == "!":
                    done = self._compared(place - 1) or done
                continue
            name, is_quoted = name_before(text, end_of_name(text, place))
            if (not name or not self.names.is_secret(name)) and separator[0] == "=":
                name = declared_name(text, max(0, place - WINDOW), place)
                before = text[max(0, place - WINDOW) : place].rstrip()[-1:]
                is_field = before == "]" and (text[place - 1] == "]" or name.isupper())
                if name and self.names.is_secret(name):  # what code has there may be a word
                    done = self._value(name, False, "=" if is_field else ":", place)
            elif name and self.names.is_secret(name):
                done = self._value(name, is_quoted, separator[0], place)
            elif separator[0] == ":" and name in OF_CODES:
                name = name_of_code(text, place)
                if name and self.names.is_secret(name):
                    done = self._value(name, False, ":", place)
        if not self.pieces:
            return self.whole, 0
        return "".join((*self.pieces, self.whole[self.position :])), len(self.pieces) // 2

    def _end_of_word(self, begin: int) -> int:
        """Where a word ends. A long one, which may have very many names, is gone through once."""
        first, last = self.word
        if not first <= begin < last:
            self.word = begin, _end(_BARE, self.text, begin)
        return self.word[1]

    def _compared(self, place: int) -> int:
        """``user.password == "…"``: a password that a test knows. Returns 0 where there is none."""
        literal = compared_value(self.text, place)
        if literal is None:
            return 0
        name, _ = name_before(self.text, place)
        name = name or name_in_brackets(self.text, max(0, place - WINDOW), place)
        value = self.text[literal[0] : literal[1]]
        is_secret = (
            name != ""
            and self.names.is_secret(name)
            and (may_be_word(name, self.names) or (is_made_up(value) and looks_random(value)))
            and self.names.hides(name, value)
        )
        return self._take(*literal) if is_secret else 0

    def _take(self, begin: int, end: int, mark: str = REDACTED) -> int:
        end = max(min(end, self.end), begin)
        self.pieces += (self.whole[self.position : begin], mark)
        self.position = end
        return end

    def _value(self, name: str, is_quoted: bool, separator: str, place: int) -> int:
        """Take out the value after a secret's name, if it is one. Returns the place up to which was read."""
        text = self.text
        place, begin = begin_of_value(text, place, is_quoted=is_quoted)
        if separator == "=" and "," in text[max(0, place - WINDOW) : place]:
            begin = value_among(text, place, begin)
        if not is_quoted and text[begin : begin + 1] in ('"', "'") and ends_literal(text, place, begin):
            return begin + 1
        if (name == "PASS" and is_outcome(text, begin)) or (self.has_logprobs and name == "token"):
            return begin
        if not is_quoted and is_postal_code(name, text, begin):
            return begin
        is_line = may_be_word(name, self.names) or (not is_quoted and (separator == "=" or name.isupper()))
        line = value_on_line(text, place, self.end, random=not is_line) if is_line or not is_quoted else None
        if line is not None and self.names.hides(name, value := text[line[0] : line[1]]):
            is_other = not is_quoted and is_variable(name, value, self.names)
            return begin if is_other else self._take(*line)
        flow = flow_list(text, begin) if text[begin : begin + 1] == "[" and not is_quoted else None
        if flow is not None and self.names.hides(name, text[flow[0] : flow[1]]):
            return self._take(*flow)
        opening = _TEXT_VALUE.match(text, begin)
        if opening is not None:
            is_data = is_quoted or separator == "=" or is_quoted_word(text, name, opening, place, self.names)
            return self._quoted(name, is_data, opening)
        if (hidden := _HIDDEN.match(text, begin)) is not None:
            return hidden.end()
        bare = _bare_name(name)
        if bare.endswith(OF_SCHEMES) and (secret := secret_after_scheme(text, begin)) is not None:
            joined = secret_joined(text, secret[0]) if secret[0] == secret[1] else secret
            return secret[0] if joined is None else self._take(*joined)
        if is_quoted:
            return self._data(name, begin)
        if bare in OF_COOKIES and separator == ":":
            cookies = cookies_at(text, begin)
            return begin if cookies is None else self._take(*cookies)
        done = self._bare_value(name, separator, place, begin)
        is_assigned = done == begin and ("=" in text[place : place + 2] or text.startswith("<%=", begin))
        return self._in_expression(name, place, begin) if is_assigned else done

    def _in_expression(self, name: str, place: int, begin: int) -> int:
        literal = text_in_expression(self.text, begin, self.end) or setting(
            self.text, name, place, self.names
        )
        is_secret = literal is not None and self.names.hides(name, self.text[literal[0] : literal[1]])
        return self._take(*literal) if literal is not None and is_secret else begin

    def _quoted(self, name: str, is_data: bool, opening: re.Match[str]) -> int:
        begin = opening.end()
        end = end_of_quoted(self.text, begin, opening[3], is_escaped=opening[1] != "")
        value = self.whole[begin:end]
        if begins_scheme(value):
            joined = secret_joined(self.text, end) or secret_joined(self.text, begin + value.rfind(" ") + 1)
            if joined is not None:
                return self._take(*joined)
        if not value or not self.names.hides(name, value):
            return end
        if not (is_data or is_opaque(value) or (_bare_name(name).endswith(OF_SCHEMES) and has_secret(value))):
            return end
        if self.text.startswith(_METHODS, end + 1) and not any(map(str.isalnum, value)):
            return end
        if not opening[1] and (new := new_value(self.text, end)) is not None:
            self._take(begin, end)
            return self._take(*new)
        if ("f" in opening[2].lower() and "{" in value) or says_scheme_alone(value):
            return end
        return self._with_joined(self._take(begin, end))

    def _with_joined(self, done: int) -> int:
        """Take out the literals, too, that code joins with one that was: ``"…" + "…"``."""
        while (joined := joined_literal(self.text, done)) is not None:
            done = self._take(*joined)
        return done

    def _data(self, name: str, begin: int) -> int:
        """The value of a name in JSON, or in Python's repr, that is no text."""
        text = self.text
        number = _NUMBER.match(text, begin)
        if number is not None:
            value = int(number[0]) if number[0].lstrip("-").isdigit() and len(number[0]) < 40 else 0.0
            return (
                self._take(begin, number.end(), f'"{REDACTED}"')
                if self.names.hides(name, value)
                else number.end()
            )
        if text[begin : begin + 1] not in ("{", "[", "(") or not is_secret_data(
            text, begin, name, self.names
        ):
            return begin
        return self._take(begin, end_of_brackets(text, begin, len(text)), f'"{REDACTED}"')

    def _bare_value(self, name: str, separator: str, place: int, begin: int) -> int:
        text = self.text
        is_pair = separator == "=" or "-" in name
        pair = value_of_pair(text, name, place, begin, self.end) if is_pair else None
        value = "" if pair is None else text[slice(*pair)]
        if pair is not None and value == self.whole[slice(*pair)] and self.names.hides(name, value):
            return self._take(*pair)
        generated = end_of_generated(text, begin, self.end)
        if generated > begin and self.names.hides(name, text[begin:generated]):
            return self._take(begin, generated)
        stop = self._end_of_word(begin)
        if stop == begin:
            return self._in_braces(name, begin) if separator == "=" else begin
        value = text[begin : min(stop, self.end)]
        is_name = value[-1:] == "=" and value[:-1].isidentifier() and not looks_random(value[:-1])
        if separator == ":" and is_name and text[stop : stop + 1] in _QUOTES:
            return begin  # the name of another value, as after a logger's: ``DEBUG auth: password='…'``
        value = value.rstrip(".") if separator == ":" else value
        end = begin + len(value)
        if text[end : end + 1] in ("&", ",") and may_be_word(name, self.names):
            end = min(end_of_word(text, end), self.end)
            value = text[begin:end]
        # As an argument in a call, and spaced as in code, a name with dots is one.
        is_word = separator == ":" or (
            text[place + 1 : place + 2] != " " and text[end : end + 1] not in _IN_CALL
        )
        if not is_value(name, value, self.names, separator, ends=is_word):
            return begin
        if separator == ":":
            return self._after_colon(name, place, begin, end)
        return self._after_equals(name, place, begin, end, is_word=is_word)

    def _in_braces(self, name: str, begin: int) -> int:
        braces = _IN_BRACES.match(self.text, begin)
        if braces is None or _OF_FORMAT.fullmatch(braces[1]):
            return begin
        is_secret = is_opaque(braces[1]) and self.names.hides(name, braces[1])
        return self._take(*braces.span(1)) if is_secret else begin

    def _after_colon(self, name: str, place: int, begin: int, end: int) -> int:
        text, value = self.text, self.text[begin:end]
        if (
            _SAYS_NOTHING.fullmatch(value)
            or (text[end : end + 1] == "(" and value.isidentifier())
            or (name.lower() == "secret" and _ARN.search(text, max(0, place - 200), place))
        ):
            return begin
        is_secret = (
            (is_opaque(value) and len(value) > 4)
            or (value.isdecimal() and len(value) > 2 and _OF_NUMBERS.search(name) is not None)
            or is_word_on_line(text, name, value, place, end, self.names)
        )
        return self._take(begin, end) if is_secret else begin

    def _after_equals(self, name: str, place: int, begin: int, end: int, *, is_word: bool) -> int:
        text, value = self.text, self.text[begin:end]
        if (end < self.end and _CODE_FOLLOWS.match(text, end)) or _CMDLET.fullmatch(value):
            return begin
        if _BRACKET_FOLLOWS.match(text, end) and not is_opaque(value):
            return begin
        is_code = _IDENTIFIER.fullmatch(value) is not None and not has_random_part(value)
        if is_code and not (is_word and is_dotted_password(name, value, self.names)):
            is_spaced = begin > place + 1 or text[place - 1 : place] == " "
            is_handed_on = not is_word and not may_be_word(name, self.names) and in_call(text, place)
            if (
                is_spaced
                or is_handed_on
                or self.names.is_secret(value)
                or self.names.is_secret(value.rpartition(".")[2])
                or "." in value
            ):
                return begin
        return self._take(begin, end)


def _bare_name(name: str) -> str:
    return re.sub(r"[_\-. ]", "", name).lower()


def _end(pattern: re.Pattern[str], text: str, begin: int) -> int:
    match = pattern.match(text, begin)
    return begin if match is None else match.end()
