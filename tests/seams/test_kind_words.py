"""What is above the kinds knows none of them by name: it goes by their protocol (`kinds/protocol.py`)."""

import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

import checker

PACKAGE = Path(checker.__file__).parent
ABOVE = ("workers", "phases", "checks", "reporting", "supervisor")
OF_USERS = {"graphql_allow_null", "cases.graphql_allow_null"}
"""Settings are called as users call them: `generation.graphql-allow-null`."""
WORD = re.compile(r"graphql|introspection", re.IGNORECASE)


def spoken(folder: str) -> Iterator[tuple[str, str]]:
    """(file, name or text of its code that speaks of GraphQL); no comments, no docstrings."""
    for path in sorted((PACKAGE / folder).rglob("*.py")):
        with path.open("rb") as lines:
            previous = tokenize.NEWLINE
            for token in tokenize.tokenize(lines.readline):
                is_docstring = token.type == tokenize.STRING and previous in (
                    tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING,
                )  # fmt: skip
                if token.type in (tokenize.NAME, tokenize.STRING) and not is_docstring and WORD.search(token.string):
                    yield str(path.relative_to(PACKAGE)), token.string.strip("\"'")
                if token.type not in (tokenize.NL, tokenize.COMMENT):
                    previous = token.type


@pytest.mark.thorough
def test_only_settings_of_users_speak_of_graphql_above_the_kinds() -> None:
    said = {text for folder in ABOVE for _, text in spoken(folder)}
    assert said == OF_USERS


def test_openapi_does_not_know_that_there_is_another_kind() -> None:
    assert [one for one in spoken("openapi") if "graphql" in one[1].lower()] == []
