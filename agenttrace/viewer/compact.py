"""Makes the markup of a file small: what a page says twice, or says only to its script, is left out.

All text from a store is escaped, so that quotes and angle brackets are markup wherever they stand.
"""

from __future__ import annotations

import re

_BLANK_LINES = re.compile(r">\s*\n\s*\n\s*<")
_FOR_THE_SCRIPT = re.compile(r' data-[a-z-]+="[^"]*"')
_SIMPLE_VALUE = re.compile(r'( [a-z-]+)="([A-Za-z0-9#_-]+)"(?=[\s>])')
"""Not before a slash: without quotes it would belong to the value."""
_END_TAGS = re.compile(r"</(?:td|th|tr|li|dd|dt)>\s*(?=</?(?:td|th|tr|li|dd|dt|div|tbody|thead|ul|ol|dl)\b)")
"""End tags that HTML lets go where such a tag follows."""
_TAG = re.compile(r"<[a-z][^>]*>")

_COMMENT = re.compile(r"/\*.*?\*/", re.S)
_RULE = re.compile(r"([^{}]+)\{((?:[^{}]|\{[^{}]*\})*)\}")
_NAMED = re.compile(r"[.#]([A-Za-z][\w-]*)")


def compact(html: str) -> str:
    """The same page in fewer characters: no quotes, end tags and attributes that nothing needs."""
    html = _BLANK_LINES.sub(">\n<", _END_TAGS.sub("", html))
    return _TAG.sub(lambda tag: _SIMPLE_VALUE.sub(r"\1=\2", _FOR_THE_SCRIPT.sub("", tag[0])), html)


def used_rules(sheet: str, html: str) -> str:
    """The rules of a style sheet that name no class and no id, or only such as the page has."""
    names = {name for tag in _TAG.findall(html) for name in re.findall(r"[\w-]+", tag)}
    return _rules(_COMMENT.sub("", sheet), names)


def _rules(text: str, names: set[str]) -> str:
    rules = []
    for head, body in _RULE.findall(text):
        head = " ".join(head.split())
        if head.startswith("@"):
            inside = _rules(body, names) if "{" in body else " ".join(body.split())
            rules.append(f"{head}{{{inside}}}" if inside else "")
            continue
        selectors = [one.strip() for one in _selectors(head) if names.issuperset(_NAMED.findall(one))]
        if selectors:
            rules.append(f"{','.join(selectors)}{{{_shorter(body)}}}")
    return "".join(rules)


def _selectors(head: str) -> list[str]:
    """The selectors of a rule; a comma within brackets parts none."""
    return re.split(r",(?![^()]*\))", head)


def _shorter(body: str) -> str:
    text = " ".join(body.split())
    return re.sub(r"\s*([;{}])\s*", r"\1", text).removesuffix(";").replace(": ", ":")
