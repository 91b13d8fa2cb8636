"""Which terminals show a link behind words (OSC 8): the others would print its address among them."""

from __future__ import annotations

import os
from collections.abc import Mapping

_PROGRAMS = ("iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper", "Tabby", "rio")
_TERMS = ("xterm-kitty", "alacritty", "foot", "contour", "xterm-ghostty", "wezterm")
_SET_BY_TERMINALS = ("WT_SESSION", "KONSOLE_VERSION", "DOMTERM")
_FIRST_VTE = 5_000
"""GNOME's terminal and its kin have links from version 0.50 on."""


def has_hyperlinks(environment: Mapping[str, str] | None = None) -> bool:
    """Whether the terminal of this process shows links, as far as its environment tells.

    ``FORCE_HYPERLINK`` (0 or 1) goes first. tmux and screen count as having none: not all pass them on.
    """
    known = os.environ if environment is None else environment
    forced = known.get("FORCE_HYPERLINK")
    if forced is not None:
        return forced not in ("", "0")
    if known.get("TERM") == "dumb" or "TMUX" in known or known.get("TERM", "").startswith("screen"):
        return False
    version = known.get("VTE_VERSION", "")
    return (
        (version.isdecimal() and int(version[:9]) >= _FIRST_VTE)
        or known.get("TERM_PROGRAM") in _PROGRAMS
        or known.get("TERM") in _TERMS
        or any(known.get(name) for name in _SET_BY_TERMINALS)
    )
