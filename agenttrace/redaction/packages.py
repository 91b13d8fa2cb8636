"""Packages of npm that are named as a secret is: ``"jsonwebtoken": {"version": "9.0.2", …}``."""

from __future__ import annotations

import re
from typing import Any

VERSION = re.compile(r"[~^]?v?\d{1,3}\.\d{1,4}\.\d{1,5}(?:-[a-z]{2,10}(?:\.\d{1,4})*)?")
"""Of a library whose name has a secret's word: ``"jsonwebtoken": "^9.0.2"``."""


def is_package(value: dict[Any, Any]) -> bool:
    """Returns True for an entry of a lock file: npm has packages such as `cookie` and `jsonwebtoken`."""
    version = value.get("version")
    return type(version) is str and VERSION.fullmatch(version) is not None and _OF_PACKAGES.issuperset(value)


_OF_PACKAGES = frozenset(
    re.findall(
        r"\w+",
        "version resolved integrity dependencies requires license engines dev peer devOptional optional bin"
        " funding peerDependencies peerDependenciesMeta extraneous optionalDependencies devDependencies"
        " overridden invalid problems hasInstallScript hasShrinkwrap inBundle bundled cpu os deprecated link"
        " resolution from path name description required missing workspaces",
    )
)
"""What an entry of a package has in npm's files and lists."""
