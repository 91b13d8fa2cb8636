"""Whether one of several texts may hold a secret, told by a look at all of them as lines of one."""

from __future__ import annotations

from agenttrace.redaction.encodings import QUOTED_SIGNS, may_be_styled
from agenttrace.redaction.escaped import may_have_escaped
from agenttrace.redaction.events import may_have_events
from agenttrace.redaction.names import NAME_SIGNS
from agenttrace.redaction.names_at_once import may_hold_named
from agenttrace.redaction.naming import Names
from agenttrace.redaction.other_forms import may_have_others, may_hold_others
from agenttrace.redaction.pages import may_be_page
from agenttrace.redaction.prefixed import may_be_prefixed
from agenttrace.redaction.shapes import ENCODED_RUN
from agenttrace.redaction.signs import PROSE, Look, may_hold_shape
from agenttrace.redaction.texts import has_any

_CUT = "…[+"


def may_hold_secret(
    text: str, lowered: str, look: Look, names: Names, signs: tuple[str, ...], *, has_lines: bool
) -> bool:
    """Returns False only if none of several texts, each on lines of its own, holds a secret.

    `lowered` is all of it in lower case, `look` what a look at it told, `signs` those of the user's names;
    `has_lines`: one of the texts has several lines.
    """
    marks = look.marks
    if "\\" in text and may_have_escaped(text):
        return True  # what is quoted is looked at as what it spells, by itself
    if may_be_styled(text) or (has_lines and may_have_events(text)):
        return True
    is_page = ("<" in marks or "&" in text) and may_be_page(text)
    if (is_page or (has_lines and may_be_prefixed(text))) and has_any(NAME_SIGNS, lowered):
        return True
    has_others = look is not PROSE and may_have_others(lowered, look, has_lines=has_lines)
    if not (look.run or marks or has_others or "bearer" in lowered):
        return False
    if look.run == ENCODED_RUN or _CUT in text or ("%" in marks and has_any(QUOTED_SIGNS, text)):
        return True  # what is cut, or spelled in another way, is looked at by itself
    return (
        may_hold_named(text, lowered, marks, names, signs)
        or may_hold_shape(text, lowered, look)
        or (has_others and may_hold_others(text, lowered, names))
    )
