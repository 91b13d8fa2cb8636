"""Six questions answered on the planted demo by a reader who only clicks: few clicks, the answer in sight."""

from __future__ import annotations

import os
import time

import pytest

from agenttrace.cli.demo_history import plant

CHROMIUM = "/usr/bin/chromium"
playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not os.path.exists(CHROMIUM), reason=f"there is no browser at {CHROMIUM}"),
]
expect = playwright.expect


@pytest.fixture(scope="module")
def page(tmp_path_factory, start_server):
    path = tmp_path_factory.mktemp("questions") / "demo.db"
    plant(str(path), time.time_ns())
    server = start_server(path)
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1300, "height": 850})
        page.set_default_timeout(30_000)
        page.goto(f"{server.url}/?token={server.token}")
        yield page
        browser.close()


@pytest.fixture
def navigate(page):
    def go(word):
        page.get_by_role("navigation", name="Pages").get_by_role("link", name=word).click()
        return page

    return go


def test_which_example_got_worse_and_what_did_it_call_differently(navigate):
    page = navigate("Runs")
    page.get_by_role("link", name="refunds").first.click()
    page.get_by_role("link", name="Compare with the run of this name before it").click()
    first = page.locator("tr.change").first
    expect(first).to_contain_text("worse")
    expect(first).to_contain_text("refund gift card")
    expect(first.locator(".two-paths mark")).to_have_text(["refund", "store_credit"])


def test_why_did_it_fail_and_where_do_expected_and_made_part(navigate):
    page = navigate("Runs")
    page.get_by_role("link", name="refunds").first.click()
    page.get_by_role("link", name="Compare with the run of this name before it").click()
    page.locator("tr.change").first.get_by_role("link", name="after").click()
    expect(page.locator("tr.missing")).to_contain_text("refund(order_id=1020")
    expect(page.locator("tr.extra")).to_contain_text("store_credit")
    expect(page.locator("#detail h2")).to_contain_text("store_credit")


def test_where_did_it_loop_and_what_did_that_cost(navigate):
    page = navigate("Scores")
    page.get_by_role("link", name="Loop").click()
    page.locator(".turns a.row").first.click()
    expect(page.locator("#head")).to_contain_text("search_kb called the same way 6 times, meanwhile")
    expect(page.locator("#head")).to_contain_text("tokens and $")


def test_all_traces_where_a_tool_failed_for_a_customer(navigate):
    page = navigate("Traces")
    page.locator(".facets section", has_text="Tool failed").get_by_role("link", name="refund").click()
    page.locator(".facets section", has_text="Customer").get_by_role("link", name="acme").click()
    expect(page.locator("#q")).to_have_value("failed:refund customer:acme")
    assert page.locator("#rows tbody tr").count() > 4


def test_is_quality_drifting_and_since_which_release(navigate):
    page = navigate("Scores")
    page.get_by_role("link", name="Faithfulness", exact=True).click()
    expect(page.locator("figcaption")).to_contain_text("releases 2.4.0, 2.4.1, 2.5.0")
    newest = page.locator("table", has_text="release").locator("tbody tr").first
    expect(newest).to_contain_text("2.5.0")
    assert float(newest.locator("td").nth(3).inner_text()) < 0.85
