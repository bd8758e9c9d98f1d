"""The stateful phase finds what only sequences reach, and reports nothing else."""

from pathlib import Path

import pytest

from tests.apps.library import DEFECTS, DOCUMENT, Library
from tests.apps.serving import serving
from tests.e2e.runner import Command, Ran

CHECKS = ("--checks", "not_a_server_error,response_schema_conformance,content_type_conformance")


def ran(directory: Path, library: Library, *arguments: str, workers: int = 1, seed: int = 1) -> Ran:
    directory.mkdir(exist_ok=True)
    with serving(library, DOCUMENT) as app:
        return Command(directory).run(
            *(app.document_url, "--phases", "stateful", *arguments), seed=seed, workers=workers
        )


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_defects_behind_sequences_are_found_and_nothing_else(tmp_path: Path, seed: int) -> None:
    done = ran(tmp_path, Library(), *CHECKS, seed=seed)
    assert done.code == 1, done.shown
    assert sorted(label for label, _ in done.defects) == sorted(DEFECTS.values()), done.shown


def test_the_twin_without_defects_is_clean(tmp_path: Path) -> None:
    done = ran(tmp_path, Library({}), *CHECKS)
    assert done.code == 0, done.shown
