"""Passwords among the arguments of calls in code, where a name of the call alone says which is one."""

from __future__ import annotations

import re

_TEXT = r"""\\{0,20}[brfu]?["'][^"'\n\\]{1,300}\\{0,20}["']\s{0,20},\s{0,20}"""
_VALUE = r"""\\{0,20}[brfu]?["'](?!\[redacted\])(?P<value>(?:[^"'\\\n]|\\(?!["']))+)"""
LOGGED_IN = re.compile(
    r"""(?i)(?P<name>auth|log_?in|sign_?in|authenticate|(?:set_?|network|password)?credentials?(?:\.basic)?)\("""
    rf"""\s{{0,20}}{_TEXT}{_VALUE}"""
)
"""A user and a password: ``HTTPBasicAuth("ann", "…")``, ``new NetworkCredential("ann", "…")``."""
CALLS = (
    *("uth(", "ogin(", "ogIn(", "og_in(", "ignin(", "ignIn(", "ign_in(", "uthenticate("),
    *("redentials(", "redential(", "redentials.basic("),
)
"""What stands in each text with such a call."""
PASSWORD_SET = re.compile(rf"""(?i)(?P<name>set_password)\(\s{{0,20}}(?:{_TEXT}){{1,2}}{_VALUE}""")
"""A password that is put by: ``keyring.set_password("service", "ann", "…")``."""
CONNECTED = re.compile(
    r"""(?i)\b(?P<name>(?:get_?)?connect(?:ion)?|PDO|mysqli(?:_connect)?|pg_connect|oci_connect)\(\s{0,20}"""
    r"""(?:\\{0,20}["'](?:jdbc|dbi|mysql|pgsql|oci|odbc|sqlsrv|dblib|sqlite|localhost|[\w-]+\.[\w.-]+)(?=[:\\"']))"""
    rf"""[^"'\n\\]{{0,300}}\\{{0,20}}["']\s{{0,20}},\s{{0,20}}{_TEXT}{_VALUE}"""
)
"""An address or a host, a user and a password: ``DriverManager.getConnection("jdbc:…", "ann", "…")``."""
CONNECTIONS = ("onnection(", "onnect(", "PDO(", "mysqli(")
OF_CALLS = ("ogin(", "og_in(", "ignin(", "ign_in(", "pdo(", "mysqli(")
"""In lower case what stands in each text with a call of these that has no sign of a secret's name."""
