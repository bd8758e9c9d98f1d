"""Rules of a service that its description does not have."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

NAME, AGE, MAIL, COLOR, CODE = "name", "age", "mail", "color", "code"
PROPERTIES = {
    NAME: {"type": "string"},
    AGE: {"type": "integer"},
    MAIL: {"type": "string"},
    COLOR: {"type": "string"},
    CODE: {"type": "string"},
}


@dataclass(frozen=True)
class Rule:
    """One thing that the service asks for."""

    field: str
    keyword: str
    value: Any = True

    def is_broken_by(self, body: dict[str, Any]) -> bool:
        found = body.get(self.field)
        if self.keyword == "required":
            return self.field not in body
        if found is None:
            return False
        match self.keyword:
            case "minLength":
                return bool(len(found) < self.value)
            case "maxLength":
                return bool(len(found) > self.value)
            case "minimum":
                return bool(found < self.value)
            case "maximum":
                return bool(found > self.value)
            case "enum":
                return found not in self.value
            case "pattern":
                return re.search(self.value, found) is None
            case "format":
                return re.fullmatch(r"[^@\s]+@[^@\s]+\.[^@\s]+", found) is None
            case _:
                raise AssertionError(self.keyword)


REQUIRED = Rule(NAME, "required")
SHORT, LONG = Rule(NAME, "minLength", 3), Rule(NAME, "maxLength", 10)
YOUNG, OLD = Rule(AGE, "minimum", 18), Rule(AGE, "maximum", 99)
EMAIL = Rule(MAIL, "format", "email")
COLORS = Rule(COLOR, "enum", ["red", "green", "blue"])
UPPER = Rule(CODE, "pattern", "^[A-Z]{3}$")
Broken = Sequence[Rule]
