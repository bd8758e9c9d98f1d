"""A check from outside the package that looks at its sequence and sends a request."""

import ast
from pathlib import Path

from tests.apps.chain import DOCUMENT, Parcels
from tests.apps.http import Reply
from tests.apps.serving import serving
from tests.e2e.runner import Command

from .plugged import install

MADE = Path(__file__).with_name("made_check.py")
MOST_LINES = 80


class Sticky(Parcels):
    """Forgets what it deleted, and deletes it again."""

    def _member(self, method: str, tracking: str) -> Reply:
        if method == "DELETE" and tracking in self.stored and self.stored[tracking] is None:
            return Reply(204)
        return super()._member(method, tracking)


def test_it_is_made_of_public_names_in_a_few_lines() -> None:
    text = MADE.read_text()
    imported = [
        node.module if isinstance(node, ast.ImportFrom) else node.names[0].name
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    assert set(imported) == {"checker", "checker.errors"}
    assert len(text.splitlines()) <= MOST_LINES


def test_a_package_brings_it_and_it_finds_what_it_looks_for(tmp_path: Path) -> None:
    command = Command(tmp_path)
    install(command, "made_check")
    with serving(Sticky(is_planted=False), DOCUMENT) as app:
        chosen = ("--checks", "gone_is_gone", "--mode", "positive")
        limits = ("--seed", "1", "--workers", "1", *chosen)
        ran = command("fuzz", app.document_url, *limits)
    assert ran.defects == [("DELETE /parcels/{shipment}", "gone_is_gone")], ran.shown
    (finding,) = ran.findings
    assert (finding.title, finding.message) == ("Deleted twice", "Expected: 404\nReceived: 204")
    # What was created before is part of the finding.
    assert finding.steps[0].label == "POST /parcels"
    assert finding.investigation.stage == "minimised"
