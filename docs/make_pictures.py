"""Takes the pictures of ``docs/pictures/``: plants a demo store, opens its pages in Debian's chromium.

    make pictures

Needs playwright and /usr/bin/chromium. Equal stores are planted each time, so that pictures differ by what
changed in the pages alone, and by the times of day.
"""

from __future__ import annotations

import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from agenttrace.cli.demo_history import plant
from agenttrace.store import SQLiteStore
from agenttrace.viewer.serving import guard_of, listen, server_of

CHROMIUM = "/usr/bin/chromium"
HERE = Path(__file__).parent / "pictures"
MOST_BYTES = 1_500_000
WIDE = {"width": 1200, "height": 720}
NARROW = {"width": 390, "height": 700}


class Shot(NamedTuple):
    """A picture: its name, the page, and how the page is looked at."""

    name: str
    page: str
    dark: bool = False
    narrow: bool = False
    printed: bool = False


def shots(store: SQLiteStore) -> list[Shot]:
    """What is taken of a demo store."""
    runs = [run.run_id for run in store.runs(limit=100) if run.name == "refunds"]
    answers = next(run.run_id for run in store.runs(limit=100) if run.name == "answers")
    reads = store.trace_reads()
    gift_card = _first(reads, f'run:{runs[0]} example:"refund gift card"')
    loop, judged = _first(reads, "looped:6"), _first(reads, f"run:{answers} verdict:failed")
    comparison = f"/compare?a={runs[1]}&b={runs[0]}"
    return [
        Shot("traces", "/traces"),
        Shot("traces-dark", "/traces?q=failed:refund", dark=True),
        Shot("traces-narrow", "/traces", narrow=True),
        Shot("trace", f"/t/{gift_card}"),
        Shot("trace-dark", f"/t/{loop}", dark=True),
        Shot("trace-narrow", f"/t/{gift_card}", narrow=True),
        Shot("judge", f"/t/{judged}"),
        Shot("comparison", comparison),
        Shot("comparison-dark", comparison, dark=True),
        Shot("comparison-narrow", comparison, narrow=True, dark=True),
        Shot("comparison-printed", comparison, printed=True),
        Shot("scores", "/scores/Faithfulness?q=tag:production"),
        Shot("failures", "/failures"),
    ]


def _first(reads: Any, query: str) -> str:
    from agenttrace.core.query_parsing import parse

    trace_id: str = reads.search(parse(query), limit=1).traces[0].trace_id
    return trace_id


@contextmanager
def served(path: str) -> Iterator[str]:
    """The address of a viewer of a store, without a token, while the block runs."""
    listener = listen("127.0.0.1", 0)
    port = listener.getsockname()[1]
    server = server_of(SQLiteStore(path), guard_of("127.0.0.1", port, None))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(10)


def take(shot: Shot, url: str, browser: Any, target: Path) -> bool:
    """Take one picture; False where there is no such page."""
    context = browser.new_context(
        viewport=NARROW if shot.narrow else WIDE, color_scheme="dark" if shot.dark else "light"
    )
    try:
        page = context.new_page()
        answer = page.goto(url + shot.page, wait_until="networkidle")
        if answer is None or answer.status != 200:
            return False
        if shot.printed:
            page.emulate_media(media="print")
        page.screenshot(path=str(target / f"{shot.name}.png"))
        return True
    finally:
        context.close()


def main(directory: Path = HERE) -> int:
    """Take all pictures; 1 where they are too large to be kept."""
    from playwright.sync_api import sync_playwright

    directory.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        path = f"{place}/demo.db"
        plant(path, time.time_ns())
        with served(path) as url, sync_playwright() as started:
            browser = started.chromium.launch(
                executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"]
            )
            for shot in shots(SQLiteStore(path)):
                if not take(shot, url, browser, directory):
                    print(f"{shot.name}: there is no page {shot.page}")
            browser.close()
    size = sum(picture.stat().st_size for picture in directory.glob("*.png"))
    print(f"{len(list(directory.glob('*.png')))} pictures, {size:,} bytes")
    return int(size > MOST_BYTES)


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:])))
