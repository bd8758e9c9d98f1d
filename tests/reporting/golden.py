"""What people read, kept as files. Set CHECKER_REWRITE_GOLDEN=1 to accept what the code prints now."""

import os
from pathlib import Path

_FOLDER = Path(__file__).parent / "golden"


def assert_golden(name: str, text: str) -> None:
    path = _FOLDER / f"{name}.txt"
    if os.environ.get("CHECKER_REWRITE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    kept = path.read_text(encoding="utf-8")
    assert kept == text, f"{name}: {kept!r} became {text!r}"
