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
    rf"""[^"'\n\\]{{0,300}}\\{{0,20}}["']\s{{0,20}},\s{{0,20}}(?:\d{{1,5}}\s{{0,9}},\s{{0,9}})?{_TEXT}{_VALUE}"""
)
"""An address or a host, a user and a password: ``DriverManager.getConnection("jdbc:…", "ann", "…")``."""
_ALGORITHM = r"""["'][Ss][Hh][Aa]-?\d{1,3}["']\s{0,20},\s{0,20}"""
_VARIABLE = r"\$?[A-Za-z_][\w.]{0,60}\s{0,3},\s{0,20}"
CONNECTED_TO_VARIABLE = re.compile(
    rf"""\b(?P<name>[gG]et_?[cC]onnection|PDO|mysqli)\(\s{{0,20}}{_VARIABLE}{_TEXT}{_VALUE}"""
)
CONNECTED_TO_HOST = re.compile(
    rf"""\b(?P<name>mysqli|mysqli_connect|(?:py)?mysql\w{{0,20}}\.connect|MySQLdb\.connect)\(\s{{0,20}}{_TEXT}{_TEXT}{_VALUE}"""
)
CONNECTED_TO_ORACLE = re.compile(
    rf"""\b(?P<name>(?:cx_Oracle|oracledb)\.connect|oci_(?:p|new_)?connect)\(\s{{0,20}}{_TEXT}{_VALUE}"""
)
"""A user and a password, and behind them where the database is: ``cx_Oracle.connect("ann", "…", "h/x")``."""
KEYED = re.compile(
    rf"""\b(?P<name>Fernet|hmac\.new|hmac\.digest|createHmac)\(\s{{0,20}}(?:{_ALGORITHM})?{_VALUE}"""
)
"""A key as the first text, or behind an algorithm: ``Fernet(b"…")``, ``createHmac("sha256", "…")``."""
USER_IN_VARIABLE = re.compile(
    rf"""(?i)\b(?P<name>(?:imap|smtp|mail|server|ftp|client|conn)\w{{0,20}}\.login)\(\s{{0,20}}{_VARIABLE}{_VALUE}"""
)
"""The same where a variable stands before: ``getConnection(url, "ann", "…")``, ``imap.login(user, "…")``."""
CONNECTIONS = ("onnection(", "onnect(", "PDO(", "mysqli(")
CREATED = re.compile(
    rf"""(?P<name>WiFi\.begin|[Cc]reate_?(?:[Ss]uper_?)?[Uu]ser|FTP(?:_TLS)?|(?:Strict)?Redis)\(\s{{0,20}}{_TEXT}(?:{_TEXT}|\d{{1,6}}\s{{0,9}},\s{{0,9}}){{0,2}}{_VALUE}"""
)
"""A user, an address, numbers, and then a password: ``create_superuser("ann", "ann@…", "…")``."""
CREATORS = ("reate", "WiFi.begin(", "FTP(", "FTP_TLS(", "Redis(")
SIGNED = re.compile(
    r"""(?P<name>\bjwt\.(?:encode|decode|sign|verify))\(\s{0,20}(?:[^()"'\n]|\([^()\n]{0,200}\)|"[^"\n]{0,200}"|'[^'\n]{0,200}'){1,200}?"""
    rf""",\s{{0,20}}{_VALUE}"""
)
"""What a token is signed with: ``jwt.encode(payload, "…")``."""
_OTHERS = r"""\(\s{0,20}(?:[^()"'\n]|\([^()\n]{0,200}\)|"[^"\n]{0,200}"|'[^'\n]{0,200}'){1,200}?,\s{0,20}"""
"""The arguments before a text."""
CHECKED = re.compile(
    rf"""\b(?P<name>check_password(?:_hash)?|argon2\.verify|pgp_sym_(?:en|de)crypt(?:_bytea)?){_OTHERS}{_VALUE}"""
)
"""What is behind a hash, or data: ``check_password_hash(stored, "…")``, ``pgp_sym_decrypt(data, '…')``."""
SIGNS_OF_CHECKS = ("check_password", "argon2.", "pgp_sym_")
HASHED = re.compile(
    r"""\b(?P<name>(?i:bcrypt\.(?:hash(?:pw|password|_?sync)?|compare(?:sync)?|checkpw|verify))|argon2\.hash"""
    rf"""|Hash::(?:make|check)|password_(?:hash|verify)|(?:generate|make)_password(?:_hash)?)\(\s{{0,20}}{_VALUE}"""
)
"""The first text of what is hashed, or compared with a hash: ``bcrypt.hashpw(b"…", salt)``."""
BOUND = re.compile(
    rf"""\b(?P<name>(?:simple_|ldap_)?bind(?:_s)?)\(\s{{0,20}}(?:{_VARIABLE})?(?=\\{{0,20}}["'][^"'\n]{{0,300}}[=@]){_TEXT}{_VALUE}"""
)
"""Somebody of a directory, and a password: ``simple_bind_s("cn=admin,dc=x", "…")``."""
CONNECTED_AT_PORT = re.compile(
    rf"""\b(?P<name>connect)\(\s{{0,20}}{_TEXT}\d{{1,5}}\s{{0,9}},\s{{0,9}}{_TEXT}{_VALUE}"""
)
"""A host, a port, a user and a password: ``ssh.connect("h", 22, "root", "…")``."""
OPTION_SET = re.compile(
    r"""\b(?P<name>CURLOPT_(?:PROXY)?(?:USERPWD|PASSWORD)|CURLOPT_XOAUTH2_BEARER)\s{0,9}(?:,|=>)\s{0,9}"""
    rf"""{_VALUE}"""
)
"""A user and a password, or a token, of curl's library."""
OF_VALUES = (
    (CALLS, LOGGED_IN),
    (CONNECTIONS, CONNECTED),
    (("set_password(",), PASSWORD_SET),
    (CREATORS, CREATED),
)
"""Those behind a text among the arguments, each with signs of which one is in every text that has it."""
OF_ONE_TEXT = (
    (("jwt.",), SIGNED),
    (("CURLOPT_",), OPTION_SET),
    (("onnection(", "PDO(", "mysqli("), CONNECTED_TO_VARIABLE),
    (("mysqli", "onnect("), CONNECTED_TO_HOST),
    (("onnect(",), CONNECTED_AT_PORT),
    (("onnect(",), CONNECTED_TO_ORACLE),
    (("bind(", "bind_s("), BOUND),
    (("crypt.", "Crypt.", "argon2.", "Hash::", "_password", "password_"), HASHED),
    (("Fernet(", "hmac.", "createHmac("), KEYED),
    ((".login(",), USER_IN_VARIABLE),
)
"""The others."""
OF_CALLS = (
    *("user(", "redis(", "ftp(", "gin(", "_in(", "pdo(", "mysqli", "onnection(", "onnect("),
    *("bind(", "bind_s(", "bcrypt.", "argon2.", "hash::", "pgp_sym_"),
    *("wifi.begin(", "fernet(", "hmac.new(", "hmac.digest(", "createhmac("),
)
"""In lower case what stands in each text with a call of these that has no sign of a secret's name."""
