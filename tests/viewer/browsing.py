"""A window of a real browser in which everything is noted. The policy of the pages forbids code from text, so
tests ask by locators."""

from __future__ import annotations

import os
from typing import Any

import pytest

CHROMIUM = "/usr/bin/chromium"
playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
needs_browser = [
    pytest.mark.browser,
    pytest.mark.skipif(not os.path.exists(CHROMIUM), reason=f"there is no browser at {CHROMIUM}"),
]
expect = playwright.expect
expect.set_options(timeout=20_000)  # a busy machine is slow; only what never comes fails


class Watched:
    """A page of which every request, message and dialog is noted."""

    def __init__(self, browser, server, **options) -> None:
        self.server = server
        self.context = browser.new_context(**{"viewport": {"width": 1300, "height": 850}, **options})
        self.context.set_default_timeout(20_000)
        self.page = self.context.new_page()
        self.requests: list[str] = []
        self.troubles: list[str] = []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("dialog", lambda dialog: (self.troubles.append(dialog.message), dialog.dismiss()))
        self.page.on("pageerror", lambda error: self.troubles.append(str(error)))
        self.page.on(
            "console", lambda line: self.troubles.append(line.text) if line.type == "error" else None
        )
        self.page.goto(f"{server.url}/?token={server.token}")

    def goto(self, path: str) -> Any:
        self.page.goto(self.server.url + path)
        return self.page

    def check(self) -> None:
        """Nothing was said by the browser, and nothing was asked elsewhere."""
        assert self.troubles == [], self.page.url
        assert [url for url in self.requests if not url.startswith((self.server.url, "data:,"))] == []
