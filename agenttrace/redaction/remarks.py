"""What is said of a secret in its value's place: *This field is required.*, ``"string"``, ``"enabled"``."""

from __future__ import annotations

import re

_COMPLAINT = re.compile(
    r"""(?=[^\d]*(?:\d{1,3}(?!\w)[^\d]*){0,3}\Z)(?:[A-Z][a-z]+|[A-Z]{2,5}"""
    r"""|(?:is|isn't|are)(?=[ ](?:invalid|required|incorrect|missing|wrong|expired|too|not|a)\b)"""
    r"""|not(?=[ ]a\b)"""
    r"""|(?:can't|cannot|may[ ]not|must|should|must[ ]not)(?=[ ](?:be|contain|match|include)\b)"""
    r"""|(?:does[ ]not|doesn't|don't|didn't)(?=[ ]match)|too(?=[ ](?:short|long|common|weak)))"""
    r"""(?:[ ][\w'",()`-]+){1,30}[.!]?"""
)
_COMPLAINS = re.compile(
    r"(?i)\b(?:required|must|invalid|incorrect|wrong|missing|expired|at (?:least|most)"
    r"|too (?:short|long|common|weak)|cannot|can't|may not|should|does not|do not|doesn't|don't|didn't"
    r"|did not|not (?:a )?valid)\b"
)
"""What a check of a form says under the name of a field: *This field is required.*"""
_STATES = re.compile(
    r"(?i:required|invalid|missing|incorrect|enabled|disabled|string|str|text|varchar|allowed|blocked|accepted|denied|unchanged"
    r"|pending|approved|declined|granted|revoked|expired|active|inactive|authorized|unauthorized|captured|voided"
    r"|refused|rejected|unavailable|not_required|not_applicable)"
)
"""What is said of a secret, and of which type it is, where its value would stand."""
_LONGEST = 300


def is_remark(text: str) -> bool:
    """Returns True for a sentence that says what is wrong with a value, the name of a type, and a state."""
    if " " not in text:
        return _STATES.fullmatch(text) is not None
    is_sentence = len(text) <= _LONGEST and _COMPLAINT.fullmatch(text) is not None
    return is_sentence and _COMPLAINS.search(text) is not None
