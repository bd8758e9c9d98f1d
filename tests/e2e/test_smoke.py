"""Real documents against an API that keeps to them: nothing breaks, and nothing is found."""

import os
from pathlib import Path

import pytest

from tests.apps.document import read
from tests.apps.mock import Mock
from tests.apps.serving import serving
from tests.e2e.documents import CORPORA, smoke_documents
from tests.e2e.runner import Command

EXAMPLES = 4
# The loop is the same, and processes for every document would cost more than all their requests.
IS_INLINE = CORPORA not in os.environ


@pytest.mark.thorough_beyond(3)
@pytest.mark.parametrize("path", smoke_documents(), ids=lambda path: path.name)
def test_a_real_document_runs_clean(path: Path, command: Command) -> None:
    document = read(path)
    mock = Mock(document)
    with serving(mock, document) as app:
        ran = command.run(
            str(path),
            "--url",
            app.url,
            "-n",
            str(EXAMPLES),
            "--continue-on-failure",
            # The mock asks nobody who he is.
            "--exclude-checks",
            "ignored_auth",
            inline=IS_INLINE,
        )
    assert ran.findings == [], ran.shown
    assert list(ran.view.errors.values()) == [], ran.shown
    assert "Traceback" not in ran.shown
    assert ran.code == 0, ran.shown
    assert mock.answered == {operation.label for operation in mock.document.operations()}
    assert mock.complaints == []
