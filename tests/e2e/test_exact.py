"""Real descriptions against a service that does what they say and no more: nothing is found, whatever is tried."""

import json
from pathlib import Path

import pytest

from tests.apps.document import read
from tests.apps.exact import Exact, Sight, first_operations, prepared
from tests.apps.serving import serving
from tests.e2e.documents import smoke_documents
from tests.e2e.runner import Command

_OPERATIONS = 20
_EXAMPLES = 5


@pytest.mark.parametrize("path", smoke_documents(), ids=lambda path: path.name)
@pytest.mark.thorough_beyond(1)
def test_nothing_is_found_where_everything_is_as_described(path: Path, command: Command) -> None:
    document = first_operations(prepared(read(path)), _OPERATIONS)
    described = command.directory / "described.json"
    described.write_text(json.dumps(document))
    exact = Exact(document)
    with serving(exact, document) as app:
        ran = command.run_as_usual(
            str(described), "--url", app.url, "-n", str(_EXAMPLES), "--continue-on-failure", inline=True
        )
    assert ran.findings == [], ran.shown
    assert list(ran.view.errors.values()) == [], ran.shown
    assert ran.code == 0, ran.shown
    assert exact.sights[Sight.RIGHT] + exact.sights[Sight.UNSURE] > 0
