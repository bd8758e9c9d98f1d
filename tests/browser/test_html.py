"""The HTML report in Chromium, with 500 failures and 1,000 operations; `make test-browser` runs it."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, sync_playwright

from checker.core.reports import REPORT_FORMATS
from checker.corpus.records import OperationDescribed, OperationsSelected
from checker.reporting.shown import ReportContext
from tests.reporting.formats import written
from tests.reporting.samples import AT, changed, finding, opened, progress, records, schema_finding, settings, started

TOOLS = Path(__file__).parents[2] / ".browser" / "node_modules"
LABELS = tuple(f"GET /things/{number}/parts/{{id}}" for number in range(1000))
SEVERITIES = ("critical", "high", "medium", "low")


def failures() -> list[Any]:
    return [
        changed(
            schema_finding() if number % 3 == 0 else finding(),
            fingerprint=f"{number:016x}",
            label=LABELS[number],
            severity=SEVERITIES[number % 4],
            cause=f"c{number // 6}",
            at=AT + number / 100,
        )
        for number in range(500)
    ]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    described = [OperationDescribed(label, (), ("200", "404"), ("path id",), False) for label in LABELS]
    tried = tuple((label, "path id", "maximum", 4, 2) for label in LABELS[:50])
    statuses = tuple((label, 200 + number % 4 * 100, 5) for number, label in enumerate(LABELS))
    run = [
        started(),
        OperationsSelected(LABELS),
        opened(1000, 1000),
        *described,
        *failures(),
        progress(labels=LABELS, tried=tried, statuses=statuses),
        *records()[-9:],
    ]
    context = ReportContext("checker run", 1, "http://127.0.0.1:8080", title="Shop", started_at=AT)
    row = REPORT_FORMATS.get("html")
    assert row is not None
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_bytes(written(row, run, (), settings(), context)[""])
    return path


@pytest.fixture
def page(file: Path) -> Iterator[Page]:
    with sync_playwright() as playwright:
        chromium = shutil.which("chromium") or shutil.which("google-chrome")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
        opened_page = context.new_page()
        problems: list[str] = []
        opened_page.on("console", lambda said: problems.append(said.text))
        opened_page.on("pageerror", lambda error: problems.append(str(error)))

        def note(sent: Any) -> None:
            if not sent.url.startswith("file:"):
                problems.append(sent.url)

        opened_page.on("request", note)
        opened_page.goto(file.as_uri())
        yield opened_page
        browser.close()
        assert problems == []


def test_it_is_small_and_valid(file: Path, page: Page) -> None:
    assert file.stat().st_size < 2_000_000
    assert page.evaluate("document.querySelectorAll('*').length") < 5_000
    jar = TOOLS / "vnu-jar" / "build" / "dist" / "vnu.jar"
    said = subprocess.run(
        ["java", "-jar", str(jar), "--errors-only", str(file)], capture_output=True, text=True, check=False
    )
    assert (said.returncode, said.stderr) == (0, "")


def test_filters_are_kept_in_the_url(page: Page) -> None:
    page.select_option("#by-severity", "high")
    assert page.inner_text("#count") == "125 of 500 shown"
    page.fill("#filter", "/things/1/")
    assert page.inner_text("#count") == "1 of 500 shown"
    assert "severity=high" in page.url
    page.reload()
    assert page.inner_text("#count") == "1 of 500 shown"
    page.locator("summary:has-text('All operations')").click()
    page.select_option("#outcome", "failed")
    assert page.locator("tr.operation:not([hidden])").count() == 500


def test_a_link_opens_its_failure(page: Page) -> None:
    page.goto(page.url.partition("#")[0] + "#f-0000000000000007")
    assert page.locator("#f-0000000000000007").get_attribute("open") is not None
    assert page.locator("#f-0000000000000007 a.anchor").get_attribute("href") == "#f-0000000000000007"
    assert page.locator("#f-0000000000000007 a.anchor").is_visible()


def test_commands_are_copied(page: Page) -> None:
    page.locator("#c-c0 > summary").click()
    page.locator("#f-0000000000000001 > summary").click()
    page.locator("#f-0000000000000001 .copy").first.click()
    page.wait_for_selector("#f-0000000000000001 .copy:has-text('Copied')")
    assert page.evaluate("navigator.clipboard.readText()").startswith("curl -X GET")


def test_the_keyboard_suffices(page: Page) -> None:
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    assert page.locator(".cause[open]").count() == 1
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    assert page.locator(".cause[open] > .finding[open]").count() == 1
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "filter"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_everybody_can_read_it(page: Page, theme: str) -> None:
    page.goto(page.url + f"?theme={theme}")
    page.locator(".cause > summary").first.click()
    page.locator(".finding > summary").first.click()
    page.evaluate((TOOLS / "axe-core" / "axe.min.js").read_text(encoding="utf-8"))
    found = page.evaluate("axe.run().then(result => result.violations)")
    assert [one["id"] for one in found] == []
