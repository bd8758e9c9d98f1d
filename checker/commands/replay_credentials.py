"""Credentials of replayed requests: the values that were masked in the recording are given anew."""

from dataclasses import replace
from pathlib import Path

from msgspec import Struct, field, structs

from checker.commands.runs_on_disk import PastRun
from checker.config.config import Config
from checker.config.resolve import Invocation, run_settings
from checker.config.wfc import chosen_users
from checker.core.credentials import Credentials
from checker.core.errors import UsageError
from checker.core.redact import Redaction
from checker.core.request import BaseUrl, WireRequest
from checker.corpus.layout import RunLayout
from checker.transport.proofs import drop, put
from checker.workers.authentication.identities import Identities, UserSource
from checker.workers.starting.configured_sources import wiring_of
from checker.workers.starting.fetched_credentials import FetchedCredentials
from checker.workers.starting.subject import read_subject


class ReplayCredentials(Struct, frozen=True):
    """The replacements of the credentials of recorded requests, and additional headers."""

    headers: tuple[tuple[str, str], ...] = ()
    """Given with `-H` and `--auth`."""
    credentials: Credentials = field(default_factory=Credentials)
    """Of a user of an authentication document."""

    def sign(self, request: WireRequest) -> None:
        """Have a request carry these where it carried credentials: what it left out, it left out on purpose."""
        rules = Redaction()
        for name, value in self.headers:
            one = Credentials({name: value})
            if not rules.is_sensitive(name) or _has(request, one):
                put(request, one)
        if _has(request, self.credentials):
            put(request, self.credentials)

    @property
    def all_headers(self) -> tuple[tuple[str, str], ...]:
        """Return all credentials as headers."""
        cookies = "; ".join(f"{name}={value}" for name, value in self.credentials.cookies.items())
        found = (*self.headers, *self.credentials.headers.items())
        return (*found, ("Cookie", cookies)) if cookies else found


def fetched_for(past: PastRun, base_url: str) -> FetchedCredentials:
    """Return the sources of credentials of today's configuration for the description of an earlier run.

    Raises `LoaderError`, `ConfigError`, `UsageError`.
    """
    opened = past.view.opened
    document = None if opened is None else opened.document
    settings = structs.replace(past.settings, base_url=base_url, document=document)
    return FetchedCredentials(read_subject(settings, RunLayout(Path(settings.corpus_dir))))


def user_of_document(config: Config, origin: BaseUrl | None) -> Credentials:
    """Return the current headers of the user of the configured authentication document; empty if there is no document.

    Raises `CredentialError` for a login that fails, `UsageError` if the place of the login is unknown.
    """
    settings = run_settings(config, Invocation("", "run"))
    authentication = settings.common.authentication
    if authentication.wfc is None:
        return Credentials()
    if origin is None:
        raise UsageError(
            "--auth-wfc: give the base URL of the API, where the user logs in, with --url"
        )
    user, *_ = chosen_users(settings.wfc, authentication.wfc.user)
    source = UserSource(Identities([user.name]), None, wiring_of(settings, origin), user)
    return source.log_in()


def _has(request: WireRequest, credentials: Credentials) -> bool:
    copy = replace(request, headers=list(request.headers))
    return drop(copy, credentials)
