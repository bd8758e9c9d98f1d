"""The transport of a run: the configured one, with its settings."""

from pathlib import Path

from checker.config.settings import RunSettings
from checker.corpus.layout import RunLayout
from checker.transport.factories import TransportFactory, in_process, transport_factory, with_policies
from checker.transport.policies import RateLimits


def transport_of(settings: RunSettings) -> TransportFactory:
    """Return the factory of the transports of a run; all workers share its rate limits. Raises `ConfigError`."""
    rates = RateLimits(RunLayout(Path(settings.corpus.folder)).rates)
    named = settings.target.transport
    if settings.target.app is not None and named is None:
        return with_policies(in_process().application_transport(settings.target.app), rates)
    return with_policies(transport_factory(named), rates)
