"""Values that stand after their secret's name in markup: elements, attributes, property lists."""

from __future__ import annotations

import re

ELEMENT = re.compile(
    r"<(?P<name>[A-Za-z][\w.:-]{0,60})(?:\s[^<>]{0,200})?>(?:<!\[CDATA\[)?"
    r"(?P<value>[^<>]{1,4096}?)(?=(?:\]\]>)?</(?P=name)>)"
)
ATTRIBUTE = re.compile(
    r"""<[A-Za-z][^<>]{0,200}?\s(?:name|key|id|type)=["'](?P<name>[\w.-]{2,60})["']"""
    r"""[^<>]{0,200}?\svalue=["'](?P<value>[^"'<>]{1,4096})["']"""
)
PROPERTY = re.compile(r"<key>(?P<name>[^<>]{2,60})</key>\s{0,20}<string>(?P<value>[^<>]{1,4096})</string>")

MARKUP = ((("</",), ELEMENT), (("value=",), ATTRIBUTE), (("<key>",), PROPERTY))
"""The patterns, each with what is in every text that has it."""
