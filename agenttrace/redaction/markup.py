"""Values that stand after their secret's name in markup: elements, attributes, property lists, forms."""

from __future__ import annotations

import re

_ATTRIBUTES = r"(?:\s[^<>]{0,200})?"
ELEMENT = re.compile(
    r"<(?P<name>[^\W\d_][\w.:-]{0,60})(?:\s[^<>]{0,200})?>(?:<!\[CDATA\[)?"
    r"(?P<value>[^<>]{1,4096}?)(?=(?:\]\]>)?</(?P=name)>)"
)
CUT_ELEMENT = re.compile(
    r"<(?P<name>[A-Za-z][\w.:-]{0,60})(?:\s[^<>]{0,200})?>(?:<!\[CDATA\[)?"
    r"(?P<value>[^<>…]{1,4096})(?=\]{0,2}>?(?:</?[\w.:-]{0,60})?…\[\+)"
)
"""An element of a text that was cut within it."""
NAMED_ELEMENT = re.compile(
    r"""<[A-Za-z][\w.:-]{0,60}\s[^<>]{0,100}?(?:[Nn]ame|[Kk]ey|[Ii]d)=["'](?P<name>[\w.-]{2,60})["'][^<>]{0,100}>(?:\s{0,20}<[Vv]alue(?:\s[^<>]{0,200})?>)?"""
    r"""(?P<value>[^<>]{1,4096})</"""
)
CELL = re.compile(
    r"""<(?P<cell>t[hd]|dt|span|strong|b|label|div|p)\b[^<>]{0,100}>\s{0,9}(?:<\w+>)?(?P<name>[^<>]{2,60}?)\s{0,9}:?(?:</\w+>)?\s{0,9}</(?P=cell)>"""
    r""":?\s{0,20}<(?:td|dd|span|code|kbd|samp|div|p|b|strong)\b[^<>]{0,100}>\s{0,9}(?:<\w+>)?(?P<value>[^<>\s]{1,4096})"""
)
BROKEN_LINE = re.compile(
    r"""(?<![\w-])(?P<name>[A-Za-z][\w-]{1,40}(?:[ ][\w-]{1,20}){0,2}):\s{0,9}(?:</\w{1,9}>\s{0,9})?"""
    r"""<br\s?/?>\s{0,20}(?:<\w{1,9}>)?(?P<value>[^<>\s]{1,4096})"""
)
"""``Password:<br/>…``, as a letter in HTML has it."""
HEREDOC = re.compile(
    r"""(?<![\w-])(?P<name>[A-Za-z][\w-]{1,60})["']?[ \t]{0,20}[:=][ \t]{0,20}<<[-~]?["']?"""
    r"""(?P<tag>[A-Z]\w{1,30})["']?[ \t]*\r?\n"""
    r"""[ \t]*(?P<value>[^\n]{1,4096}(?:\n[^\n]{0,4096}){0,60}?)(?=\r?\n[ \t]*(?P=tag)\b)"""
)
"""``password = <<EOT`` and the lines below, in HCL and Ruby."""
PARAMETER = re.compile(
    r"""(?:Parameter)?(?:[Kk]ey|[Nn]ame)=["']?(?P<name>[\w.-]{2,60})["']?,[ ]?"""
    r"""(?:Parameter)?[Vv]alue=["']?(?P<value>[^\s,"'{}\[\]]+)"""
)
"""``ParameterKey=DBPassword,ParameterValue=…`` of the AWS CLI."""
FLOW = re.compile(
    r"""(?<![\w"'])(?:[Kk]ey|[Nn]ame):[ ]{0,9}["']?(?P<name>[\w.-]{2,60})["']?,[ ]{0,9}[Vv]alue:[ ]{0,9}"""
    r"""(?P<quote>["'])?(?P<value>(?(quote)(?:(?!(?P=quote))[^\\\n…]|\\.){1,4096}|[^\s,"'{}\[\]]+))"""
)
"""An entry on one line, ``{name: DB_PASSWORD, value: …}``, as YAML and JavaScript write it."""
PROPERTY = re.compile(
    r"<(?P<of_name>[Kk]ey|[Nn]ame)>(?P<name>[^<>]{2,60})</(?P=of_name)>"
    rf"\s{{0,20}}<(?P<of_value>string|[Vv]alue){_ATTRIBUTES}>(?:\s{{0,20}}<string>)?"
    r"(?P<value>[^<>]{1,4096})(?:</string>\s{0,20})?</(?P=of_value)>"
)
"""Of property lists, of Hadoop's, Jenkins' and KeePass' files, of XML-RPC:
``<name>…</name><value>…</value>``."""

NESTED = re.compile(
    rf"<(?P<name>[^\W\d_][\w.:-]{{0,60}})>\s{{0,40}}<[Vv]alue{_ATTRIBUTES}>(?P<value>[^<>]{{1,4096}})</[Vv]alue>"
)
"""``<AdministratorPassword><Value>…</Value>``, as Windows is set up."""
SERIALIZED = re.compile(
    r"""\bs:\d{1,4}:\\?"(?P<name>[\w.-]{2,60})\\?";s:\d{1,5}:\\?"(?!\[redacted\])"""
    r"""(?P<value>(?:[^"\\]|\\(?!")|(?<!\\)"(?!;)){1,4096})"""
)
"""``s:8:"password";s:11:"…";`` as PHP writes data."""
PART = re.compile(
    r"""(?i:content-disposition:\s{0,9}form-data;)[^\r\n]{0,200}?\bname=\\?["']?(?P<name>[\w.-]{2,60})\\?["']?[^\r\n\\]{0,200}"""
    r"""(?:(?:\r?\n|\\r\\n|\\n)[^\r\n\\]{1,500}){0,8}(?:\r?\n|\\r\\n|\\n){2}(?P<value>[^\r\n\\]{1,4096})"""
)
"""A field of a form that is sent in parts; in a text within a text its lines end with ``\\n``."""

SNAPSHOT = re.compile(
    r"""(?<![^\s"'+>:;-])(?:text|search|combo)box[ \t]"""
    r"""\\{0,20}"(?P<name>[^"\n\\]{2,60})\\{0,20}"(?:[ \t]\[[^\]\n]{1,80}\]){0,6}"""
    r"""(?::[ \t]\\{0,20}"?|[ \t]value=\\{0,20}")(?P<value>[^\s"\\][^\n"\\]{0,400})"""
)
"""A field of a page as browsers tell agents of it: ``- textbox "Password" [ref=e5]: …``."""
MARKUP = (
    ('"', ("box ",), SNAPSHOT),
    ("</", ("</",), ELEMENT),
    ("<", ("…[+",), CUT_ELEMENT),
    ("</", ("</",), NAMED_ELEMENT),
    ("</", ("</td>", "</th>", "</dt>", "</span>", "</strong>", "</b>", "</label>", "</div>", "</p>"), CELL),
    ("</", ("<key>", "<Key>", "<name>", "<Name>"), PROPERTY),
    ("<", ("<br",), BROKEN_LINE),
    ("</", ("<Value", "<value"), NESTED),
    (":", ('";s:',), SERIALIZED),
    ("<<", ("<<",), HEREDOC),
    ("=", ("alue=",), PARAMETER),
    (":", ("alue:",), FLOW),
    ("-", ("form-data",), PART),
)
"""The patterns, each with punctuation, and signs of which one, that are in every text that has it."""
