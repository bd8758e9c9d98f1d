"""The real documents of the end-to-end tests: small copies in this repository, all of them when the corpora are near."""

import os
from pathlib import Path

COPIES = Path(__file__).parent.parent / "data" / "smoke"
CORPORA = "CHECKER_CORPORA"
"""Environment variable that names the folder with `smoke.txt` and the documents that it lists."""


def smoke_documents() -> list[Path]:
    """Every document of the smoke set that is there."""
    folder = os.environ.get(CORPORA)
    if folder:
        names = (Path(folder) / "smoke.txt").read_text().split()
        return [Path(folder) / name for name in names]
    return sorted(path for path in COPIES.iterdir() if path.suffix in (".json", ".yaml", ".yml"))
