"""The public names, each resolved on first use: the only way from the top of the package to the floors below."""

from difflib import get_close_matches
from importlib import import_module
from operator import attrgetter
from typing import Any

PUBLIC = {
    "Case": "checker.core.case:Case",
    "Config": "checker.config.config:Config",
    "GenerationMode": "checker.core.meta:GenerationMode",
    "NOT_SET": "checker.core.case:NOT_SET",
    "APIOperation": "checker.kinds.protocol:ApiOperation",
    "BaseSchema": "checker.library.schema:LoadedSchema",
    "CheckContext": "checker.checks.context:CheckContext",
    "HookContext": "checker.core.hooks:HookContext",
    "Response": "checker.core.response:Response",
    "auth": "checker.core.providers:GLOBAL_AUTH",
    "AuthContext": "checker.core.providers:AuthContext",
    "AuthProvider": "checker.core.providers:AuthProvider",
    "check": "checker.checks.custom:check",
    "config": "checker.config",
    "credentials": "checker.credentials",
    "engine": "checker.library.runs",
    "errors": "checker.errors",
    "fuzz": "checker.library.runs:fuzz",
    "graphql": "checker.graphql",
    "graphql.from_asgi": "checker.library.loaders:graphql.from_asgi",
    "graphql.from_dict": "checker.library.loaders:graphql.from_dict",
    "graphql.from_file": "checker.library.loaders:graphql.from_file",
    "graphql.from_path": "checker.library.loaders:graphql.from_path",
    "graphql.from_url": "checker.library.loaders:graphql.from_url",
    "graphql.from_wsgi": "checker.library.loaders:graphql.from_wsgi",
    "graphql.nodes": "checker.graphql.nodes",
    "graphql.scalar": "checker.graphql.scalars:scalar",
    "hook": "checker.core.hooks:hook",
    "hooks": "checker.core.hooks:GLOBAL_HOOKS",
    "kinds": "checker.kinds",
    "kinds.ApiSchema": "checker.kinds.protocol:ApiSchema",
    "kinds.Body": "checker.core.operation:Body",
    "kinds.BodyOpinions": "checker.core.contract:BodyOpinions",
    "kinds.DeclaredOperation": "checker.kinds.declared:DeclaredOperation",
    "kinds.DeclaredSchema": "checker.kinds.declared:DeclaredSchema",
    "kinds.DescriptionSource": "checker.kinds.sources:DescriptionSource",
    "kinds.FetchOptions": "checker.kinds.sources:FetchOptions",
    "kinds.FileSource": "checker.kinds.sources:FileSource",
    "kinds.ForeignDescription": "checker.core.errors:ForeignDescription",
    "kinds.Label": "checker.core.operation:Label",
    "kinds.Location": "checker.core.locations:Location",
    "kinds.MediaTypeVerdict": "checker.core.contract:MediaTypeVerdict",
    "kinds.Parameter": "checker.core.operation:Parameter",
    "kinds.ResponsePlan": "checker.core.contract:ResponsePlan",
    "kinds.SchemaViolation": "checker.core.contract:SchemaViolation",
    "kinds.TextSource": "checker.kinds.sources:TextSource",
    "kinds.UndecodableBody": "checker.core.contract:UndecodableBody",
    "kinds.UrlSource": "checker.kinds.sources:UrlSource",
    "kinds.json_schema": "checker.kinds.declared:json_schema",
    "kinds.register": "checker.kinds.table:register",
    "metric": "checker.core.metrics:metric",
    "MetricContext": "checker.core.metrics:MetricContext",
    "MetricFunction": "checker.core.metrics:MetricFunction",
    "openapi": "checker.openapi",
    "openapi.format": "checker.core.registry:register_format",
    "openapi.from_asgi": "checker.library.loaders:openapi.from_asgi",
    "openapi.from_dict": "checker.library.loaders:openapi.from_dict",
    "openapi.from_file": "checker.library.loaders:openapi.from_file",
    "openapi.from_path": "checker.library.loaders:openapi.from_path",
    "openapi.from_url": "checker.library.loaders:openapi.from_url",
    "openapi.from_wsgi": "checker.library.loaders:openapi.from_wsgi",
    "openapi.require_security_scheme": "checker.library.security_filters:require_security_scheme",
    "phases": "checker.phases",
    "phases.CaseSource": "checker.core.phases:CaseSource",
    "phases.ListingContext": "checker.phases.listing:ListingContext",
    "phases.Phase": "checker.core.phases:Phase",
    "phases.register": "checker.config.table:register_phase",
    "pytest": "checker.pytest",
    "pytest.LazySchema": "checker.pytest.lazy:LazySchema",
    "pytest.from_fixture": "checker.pytest.lazy:from_fixture",
    "pytest.parametrize": "checker.pytest.several:parametrize",
    "reports": "checker.reports",
    "run": "checker.library.runs:run",
    "python": "checker.python",
    "serializer": "checker.core.registry:serializer",
    "deserializer": "checker.core.registry:deserializer",
    "CheckFunction": "checker.checks.custom:UserCheck",
    "CheckResult": "checker.phases.attempt:CheckResult",
    "DeserializationContext": "checker.core.registry:DeserializationContext",
    "SerializationContext": "checker.core.registry:SerializationContext",
    "cli": "checker.cli",
    "openapi.media_type": "checker.core.registry:register_media_type",
    "stateful": "checker.library.state_machine",
    "transport": "checker.transport",
    "transport.BaseUrl": "checker.core.request:BaseUrl",
    "transport.BlockingTransport": "checker.transport.blocking:BlockingTransport",
    "transport.FailureKind": "checker.core.response:FailureKind",
    "transport.HttpSettings": "checker.transport.settings:HttpSettings",
    "transport.NetworkFailure": "checker.core.response:NetworkFailure",
    "transport.Response": "checker.core.response:Response",
    "transport.Transport": "checker.core.send:Transport",
    "transport.WireRequest": "checker.core.request:WireRequest",
    "transport.asgi": "checker.transport.applications:asgi",
    "transport.wsgi": "checker.transport.applications:wsgi",
    "warnings": "checker.warnings",
}
"""Name below `checker` -> module, or module:attribute, with dots for attributes of attributes."""


def resolve(name: str) -> Any:
    """What a public name stands for. Raises `AttributeError` with the nearest name."""
    target = PUBLIC.get(name)
    if target is None:
        package, _, attribute = f"checker.{name}".rpartition(".")
        near = [] if attribute.startswith("_") else get_close_matches(name, PUBLIC, n=1)
        hint = f". Did you mean {near[0].rpartition('.')[2]!r}?" if near else ""
        raise AttributeError(f"module {package!r} has no attribute {attribute!r}{hint}")
    module, _, attribute = target.partition(":")
    found = import_module(module)
    return attrgetter(attribute)(found) if attribute else found
