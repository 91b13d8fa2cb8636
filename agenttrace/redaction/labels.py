"""A secret alone on a line below what says that it follows: a heading, a label in bold, a sentence."""

from __future__ import annotations

import re

from agenttrace.core.marks import REDACTED
from agenttrace.redaction.answers import begin_of_answer
from agenttrace.redaction.asked import asked_by
from agenttrace.redaction.beside import reads_as_key
from agenttrace.redaction.generated import is_generated
from agenttrace.redaction.naming import Names, name_of_words
from agenttrace.redaction.questions import asked_name
from agenttrace.redaction.values import is_made_up, is_measure

_LONGEST_LABEL = 100
_BELOW = re.compile(
    r"""\r?\n(?:[ \t]*\r?\n)?(?:[ \t]{0,8}(?:```|~~~)\w{0,20}[ \t]*\r?\n)?[ \t>]{0,20}[`*"']{0,3}"""
    r"""(?P<value>[^\s`*"'#-][^\s`"']{3,300}+)(?<!\*)[`*"']{0,3}[ \t]*(?=\r?\n|\Z)"""
)
_ANSWER = re.compile(
    r"""\r?\n(?:[ \t]*\r?\n)?(?:[*]{0,2}[A-Za-z][\w ]{0,20}[*]{0,2}:[*]{0,2}[ \t]{1,4}|>[ ]?)?"""
    r"""(?P<value>[^\s`*"'#-][^\s`"']{3,200}+)[ \t]*(?=\r?\n|\Z)"""
)
"""What is answered on the next line, *User: …*."""
_LINE_OF_ANSWER = re.compile(
    r"\r?\n(?:[ \t]*\r?\n)?(?:[*]{0,2}[A-Za-z][\w ]{0,20}[*]{0,2}:[*]{0,2}[ \t]{1,4}|>[ ]?)"
    r"(?P<line>[^\r\n]{4,200})"
)
_PROMPT = re.compile(
    r"[ \t]{0,8}(?:[\w.@~:/\[\] -]{0,60}\$|[^\s#]{1,60}[#%]|>>>|In \[\d{1,4}\]:|PS [^>\n]{0,60}>)[ \t]+"
    r"(?P<asked>\S.*)"
)
_PRINTED = re.compile(r"""\r?\n(?:Out\[\d{1,4}\]: )?["']?(?P<value>[^\s"']{4,200}+)["']?[ \t]*(?=\r?\n|\Z)""")
"""A command, or code, at a prompt, and what is printed for it."""
_ASKS = r"\b(?:enter|type|provide|give|send|tell|share|paste|need|confirm)\s.*"
_REQUEST = re.compile(
    rf"(?i){_ASKS}[.:]\Z|\A[*]{{0,2}}(?:assistant|ai|bot|agent|model|system)[*]{{0,2}}:.*{_ASKS}\Z"
)
_TITLE = re.compile(r"[ \t]{0,8}[A-Z][\w-]{1,20}(?: [\w-]{1,20}){0,3}")
"""The label of a field on a page: only a key below it is one, and a password."""
_HEADING = re.compile(r"[ \t>]{0,20}(?:#{1,6}[ ]\S.*|\*\*[^*]{1,80}\*\*:?|__[^_]{1,80}__:?)\s*")
_ENDS = (":", "=", ":**", ":__", ":*", "**:", "`:")
_OF_CODE = re.compile(r"[()=\[\]{}<>;,]")


_REST_OF_NAME = re.compile(r"\w{0,20}")
_PASSWORD = re.compile(r"(?i)pass|pwd")
_BETWEEN_WORDS = re.compile(r"[^\w.$-]+")
_MOST_WORDS = 3


def value_below(text: str, place: int, names: Names) -> tuple[int, int] | None:
    """Where the secret stands on the line below a label that names it, of which a sign stands at a place.

    None where the line is no label, or something else stands below.
    """
    stop = text.find("\n", place, place + _LONGEST_LABEL)
    begin = text.rfind("\n", max(0, place - _LONGEST_LABEL), place) + 1
    if stop < 0 or (begin == 0 and place > _LONGEST_LABEL):
        return None
    label = text[begin:stop].rstrip()
    prompt = _PROMPT.fullmatch(label)
    below = _line_below(text, label, stop, is_prompt=prompt is not None)
    if below is None:
        return None
    value = text[slice(*below)]
    if prompt is not None:
        name = asked_by(prompt["asked"], names)
        return below if name and names.hides(name, value) else None
    rest = _REST_OF_NAME.match(text, place)
    end = place if rest is None else rest.end()
    line = text[max(0, place - _LONGEST_LABEL) : end].rpartition("\n")[2]
    words = [word for word in _BETWEEN_WORDS.split(line)[-_MOST_WORDS:] if word]
    name = name_of_words(words, names) if words else ""
    is_last = not any(map(str.isalnum, text[end:stop]))
    is_password = is_last and _PASSWORD.search(name) is not None and not is_measure(value)
    is_secret = name != "" and (is_password or reads_as_key(value)) and names.hides(name, value)
    if not is_secret and (label.endswith("?") or _REQUEST.search(label)):
        name = asked_name(label, names)
        is_secret = name != "" and not is_measure(value) and names.hides(name, value)
    return below if is_secret else None


def _line_below(text: str, label: str, stop: int, *, is_prompt: bool) -> tuple[int, int] | None:
    """Where the one word stands that is on the line below a label, which ends at a place."""
    pattern = _BELOW if label.endswith(_ENDS) or _HEADING.fullmatch(label) else _ANSWER
    if is_prompt:
        pattern = _PRINTED
    elif pattern is _ANSWER and _TITLE.fullmatch(label):
        pattern = _BELOW
    elif pattern is _ANSWER and not (label.endswith("?") or _REQUEST.search(label)):
        return None
    end = stop - (text[stop - 1] == "\r")
    asks = label.endswith(("?", ":")) or _REQUEST.search(label) is not None
    word = pattern.match(text, end)
    if word is None and asks and not is_prompt:
        answer = _LINE_OF_ANSWER.match(text, end)
        begin = -1 if answer is None else begin_of_answer(answer["line"])
        if answer is not None and begin >= 0:
            return answer.start("line") + begin, answer.end("line")
    if word is None or REDACTED in word["value"]:
        return None
    value = word["value"].rstrip(".")
    is_code = _OF_CODE.search(value) is not None and not is_generated(value, is_whole=True)
    is_one = value[-1] != ":" and not is_code and is_made_up(value)
    return (word.start("value"), word.start("value") + len(value)) if is_one else None
