"""Rules for texts that no linter checks: a short and true map, docstrings beside their attributes, links that lead somewhere."""

import ast
import re
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).parents[1]
WORDS_OF_MAP = 900
FENCED = re.compile(r"```.*?```", re.S)
SPOKEN_OF = (ast.Module, ast.ClassDef, ast.FunctionDef)


def sources(folder: str) -> list[Path]:
    return [path for path in (ROOT / folder).rglob("*.py") if "data" not in path.parts]


def test_the_map_is_read_in_ten_minutes_and_names_what_there_is() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text()
    words = [word for word in text.split() if re.search(r"\w", word)]
    named = set(re.findall(r"`([a-z_]+/[\w/]+(?:\.py)?)`", text))
    # Some stand below the folder that the sentence is about.
    missing = [path for path in named if not (ROOT / path).exists() and not any((ROOT / "checker").rglob(path))]
    assert len(words) <= WORDS_OF_MAP
    assert len(named) > 30
    assert missing == []


def test_links_between_pages_lead_to_a_file_and_a_heading() -> None:
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    found = []
    for page in pages:
        for target in re.findall(r"\]\(([^)\s]+)\)", FENCED.sub("", page.read_text())):
            path, _, heading = target.partition("#")
            # Pages below `reference` are written when the site is built.
            if ":" in path or path.startswith("reference/"):
                continue
            place = page.parent / path if path else page
            if not place.exists() or (heading and place.suffix == ".md" and heading not in headings(place)):
                found.append(f"{page.relative_to(ROOT)}: {target}")
    assert found == []


def headings(page: Path) -> set[str]:
    """Return the anchors of a page as the site and code hosts make them."""
    titles = re.findall(r"^#+ (.*)$", FENCED.sub("", page.read_text()), re.M)
    plain = (re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title).lower() for title in titles)
    return {re.sub(r"\s+", "-", re.sub(r"[^\w\s-]", "", title).strip()) for title in plain}


def test_what_is_said_of_an_attribute_stands_behind_it() -> None:
    """Two texts in a row: one of them was left behind when its attribute moved, or went."""
    found = [
        f"{path.relative_to(ROOT)}:{second.lineno}"
        for path in sources("checker")
        for node in ast.walk(ast.parse(path.read_text()))
        for first, second in pairwise(node.body if isinstance(node, SPOKEN_OF) else ())
        if is_text(first) and is_text(second)
    ]
    assert found == []


def is_text(statement: ast.stmt) -> bool:
    said = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(said, ast.Constant) and isinstance(said.value, str)
