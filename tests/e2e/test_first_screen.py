"""The first screen of console, HTML and Markdown names everything that is wrong with a service, and nothing twice."""

import re
from collections.abc import Iterator

import html5lib
import pytest

from tests.apps.orchard import DEFECTS, HABITS, TOKEN, build
from tests.apps.uvicorn_server import served
from tests.e2e.runner import Command, Ran

pytestmark = pytest.mark.thorough


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ran]:
    command = Command(tmp_path_factory.mktemp("run"))
    (command.directory / "checker.toml").write_text(f'[auth.openapi.HTTPBearer]\nbearer = "{TOKEN}"\n')
    with served(build()) as url:
        reports = ("--report", "html,markdown", "--report-dir", "out", "--continue-on-failure", "-n", "25")
        yield command.run_as_usual(f"{url}/openapi.json", *reports, inline=True)


def lines_of(ran: Ran, name: str) -> list[str]:
    """The line of each cause, without markup."""
    if name == "console":
        causes = ran.stdout.partition(" CAUSES ")[2].partition(" FAILURES ")[0]
        lines = [line.strip() for line in causes.splitlines() if line.startswith("  ")]
    else:
        (path,) = (ran.directory / "out").glob(f"*.{name}")
        text = path.read_text()
        if name == "html":
            (text,) = re.findall(r'<section aria-labelledby="failures">.*?</section>', text, re.DOTALL)
        page = html5lib.parse(text, namespaceHTMLElements=False)
        inner = {id(one) for outer in page.iter("details") for one in outer.iter("details") if one is not outer}
        # The places of a cause are listed when its line is opened.
        lines = ["".join(next(one.iter("summary")).itertext()) for one in page.iter("details") if id(one) not in inner]
    return [line.replace("`", "") for line in lines]


def count(lines: list[str], *parts: str) -> int:
    return sum(all(part.replace("`", "") in line for part in parts) for line in lines)


@pytest.mark.parametrize("name", ["console", "html", "md"])
def test_it_names_every_cause_once(ran: Ran, name: str) -> None:
    lines = lines_of(ran, name)
    found: dict[tuple[str, ...], int] = {
        (code, label, fact): count(lines, code, label, fact) for code, label, fact in DEFECTS
    }
    found |= {(code, fact): count(lines, code, fact, "more operation") for code, fact in HABITS}
    assert found == dict.fromkeys(found, 1), "\n".join(lines)
    assert len(lines) == len(found), "\n".join(lines)


def test_the_causes_end_within_60_lines_of_the_console(ran: Ran) -> None:
    before, _, _ = ran.stdout.partition(" FAILURES ")
    # On a slow machine lines about the progress come in between.
    lines = [line for line in before.splitlines() if "requests/s" not in line]
    assert len(lines) <= 60
    assert re.search(r"= 1[0-9] bugs, 1[0-9] contract deviations \(\d+ places", ran.stdout)
