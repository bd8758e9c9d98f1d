"""A provider that tests register."""

import checker


class Token:
    """Gives a token."""

    def get(self, case: checker.Case, ctx: checker.AuthContext) -> str:
        return "t"

    def set(self, case: checker.Case, data: str, ctx: checker.AuthContext) -> None:
        case.headers["x-token"] = data
