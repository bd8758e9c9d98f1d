"""The hostile descriptions, by family."""

from collections.abc import Mapping
from typing import Final

from tests.hostile.grammar import grammar
from tests.hostile.making import Row
from tests.hostile.names import NAMES
from tests.hostile.references import REFERENCES
from tests.hostile.schemas import SCHEMAS
from tests.hostile.texts import BYTES

FAMILIES: Final[Mapping[str, Mapping[str, Row]]] = {
    "bytes": BYTES,
    "references": REFERENCES,
    "schemas": SCHEMAS,
    "names": NAMES,
    "grammar": grammar(),
}
