"""Made of `checker.faces.PUBLIC` by `python -m tests.typed.stubs`: what type checkers see of names that are resolved on first use."""

from checker import (
    checks,
    cli,
    config,
    credentials,
    errors,
    graphql,
    kinds,
    observers,
    openapi,
    phases,
    pytest,
    python,
    reports,
    transport,
    warnings,
)
from checker.checks.context import CheckContext
from checker.checks.custom import UserCheck as CheckFunction
from checker.checks.custom import check
from checker.config.config import Config
from checker.core.case import NOT_SET, Case
from checker.core.hooks import GLOBAL_HOOKS as hooks
from checker.core.hooks import HookContext, MetricContext, MetricFunction, hook, metric
from checker.core.meta import GenerationMode
from checker.core.providers import GLOBAL_AUTH as auth
from checker.core.providers import AuthContext, AuthProvider
from checker.core.registry import DeserializationContext, Registry, SerializationContext, deserializer, serializer
from checker.core.response import Response
from checker.corpus import records as events
from checker.kinds.protocol import ApiOperation as APIOperation
from checker.library import runs as engine
from checker.library import state_machine as stateful
from checker.library.extensions import ExtraDataSource, Observation
from checker.library.runs import fuzz, run
from checker.library.schema import LoadedSchema as BaseSchema
from checker.phases.attempt import CheckResult
from checker.workers.authentication.keeper import ReauthState

__version__: str

__all__ = [
    "NOT_SET",
    "APIOperation",
    "AuthContext",
    "AuthProvider",
    "BaseSchema",
    "Case",
    "CheckContext",
    "CheckFunction",
    "CheckResult",
    "Config",
    "DeserializationContext",
    "ExtraDataSource",
    "GenerationMode",
    "HookContext",
    "MetricContext",
    "MetricFunction",
    "Observation",
    "ReauthState",
    "Registry",
    "Response",
    "SerializationContext",
    "auth",
    "check",
    "checks",
    "cli",
    "config",
    "credentials",
    "deserializer",
    "engine",
    "errors",
    "events",
    "fuzz",
    "graphql",
    "hook",
    "hooks",
    "kinds",
    "metric",
    "observers",
    "openapi",
    "phases",
    "pytest",
    "python",
    "reports",
    "run",
    "serializer",
    "stateful",
    "transport",
    "warnings",
]
