"""A source of credentials, made of public names alone: a token that is fetched by logging in, and expires."""

import os
from urllib.request import Request, urlopen

import checker
from checker.credentials import Credentials, CredentialSource


class LoggedIn(CredentialSource):
    """Logs in where the tests say; the answer is the token."""

    name = "login"

    def fetch(self, case: checker.Case) -> Credentials:
        login = Request(os.environ["LOGIN_URL"], method="POST")
        with urlopen(login, timeout=20) as answer:
            token = answer.read().decode()
        return Credentials(
            headers={"Authorization": f"Bearer {token}"}, query={"session": f"q-{token}"}, cookies={"sid": f"c-{token}"}
        )

    def carried(self, held: Credentials, case: checker.Case) -> Credentials | None:
        """Everything to most operations, the header alone to one, nothing to what is public."""
        if case.operation.path == "/public":
            return None
        return Credentials(held.headers) if case.operation.path == "/plain" else held

    def is_refused(self, response: checker.Response) -> bool:
        return bool(response.status_code == 401)


checker.credentials.register(LoggedIn())
