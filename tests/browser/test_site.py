"""The search of the site finds what users of such tools ask in public threads, from disk, in Chromium; `make test-browser` runs it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

from playwright.sync_api import Page, sync_playwright

ROOT: Final = Path(__file__).parents[2]
QUESTIONS: Final = {
    "exclude one endpoint": "questions.html",
    "skip deprecated operations": "questions.html",
    "stop TRACE requests": "questions.html",
    "false positive negative data": "questions.html",
    "expected status codes": "checks.html",
    "token expires during the run": "credentials.html",
    "login request token": "authentication.html",
    "authentication declared but not enforced": "reference/codes.html",
    "fail when every response is 401": "questions.html",
    "run is slow": "questions.html",
    "max examples number of tests": "phases.html",
    "fill missing examples": "phases.html",
    "shrinking takes too long": "shrinking.html",
    "health check filter too much": "questions.html",
    "rate limit 429": "questions.html",
    "allure report": "reports.html",
    "reset database django": "frameworks.html",
    "custom values for body properties": "questions.html",
    "static path parameter": "questions.html",
    "unique value conflict 409": "questions.html",
    "Accept header": "checks.html",
    "check the second call of a sequence": "stateful.html",
    "docker localhost connection refused": "questions.html",
    "self-signed certificate proxy": "questions.html",
    "no OpenAPI schema": "questions.html",
    "readOnly writeOnly": "checks.html",
}
"""Words of the issues, questions and pages of other tools -> a page with the answer."""
FIRST: Final = 3
"""Results that are seen without scrolling."""


def found(page: Page, words: str) -> list[str]:
    """Return the pages of the first results for these words."""
    results = page.locator(".md-search-result__item")
    for text in ("", words):
        page.fill(".md-search__input", text)
        # The page reads the field when a key goes up.
        page.press(".md-search__input", "End")
        results.first.wait_for(state="attached" if text else "detached")
    pages = [item.locator("a").first for item in results.all()[:FIRST]]
    return [str(link.get_attribute("href")).split("#")[0].split("?")[0] for link in pages]


def test_each_question_is_answered_by_one_of_the_first_results(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", tmp_path],
        cwd=ROOT, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"}, check=True,
    )  # fmt: skip
    requested: list[str] = []
    with sync_playwright() as playwright:
        chromium = shutil.which("chromium") or shutil.which("google-chrome")
        page = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"]).new_page()
        page.on("request", lambda request: requested.append(request.url))
        page.goto((tmp_path / "index.html").as_uri())
        page.click(".md-search__input")
        results = {words: found(page, words) for words in QUESTIONS}
    missed = {
        words: shown for words, shown in results.items() if not any(one.endswith(QUESTIONS[words]) for one in shown)
    }
    assert missed == {}
    assert [url for url in requested if url.startswith("http")] == []
