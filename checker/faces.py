"""The public names, each resolved on first use: the only way from the top of the package to the floors below."""

from difflib import get_close_matches
from importlib import import_module
from operator import attrgetter
from typing import Any
from warnings import warn

PUBLIC = {
    "Case": "checker.core.case:Case",
    "Config": "checker.config.config:Config",
    "GenerationMode": "checker.core.meta:GenerationMode",
    "NOT_SET": "checker.core.case:NOT_SET",
    "APIOperation": "checker.kinds.protocol:ApiOperation",
    "BaseSchema": "checker.library.schema:LoadedSchema",
    "CheckContext": "checker.checks.context:CheckContext",
    "ExtraDataSource": "checker.library.extensions:ExtraDataSource",
    "Observation": "checker.library.extensions:Observation",
    "ReauthState": "checker.workers.authentication.keeper:ReauthState",
    "Registry": "checker.core.registry:Registry",
    "HookContext": "checker.core.hooks:HookContext",
    "Response": "checker.core.response:Response",
    "auth": "checker.core.providers:GLOBAL_AUTH",
    "AuthContext": "checker.core.providers:AuthContext",
    "AuthProvider": "checker.core.providers:AuthProvider",
    "check": "checker.checks.custom:check",
    "checks": "checker.checks",
    "checks.allow_header_conformance": "checker.checks.direct:allow_header_conformance",
    "checks.collection_conformance": "checker.checks.direct:collection_conformance",
    "checks.content_type_conformance": "checker.checks.direct:content_type_conformance",
    "checks.ensure_resource_availability": "checker.checks.direct:ensure_resource_availability",
    "checks.error_disclosure": "checker.checks.direct:error_disclosure",
    "checks.ignored_auth": "checker.checks.direct:ignored_auth",
    "checks.injection": "checker.checks.direct:injection",
    "checks.location_conformance": "checker.checks.direct:location_conformance",
    "checks.mass_assignment": "checker.checks.direct:mass_assignment",
    "checks.max_response_time": "checker.checks.direct:max_response_time",
    "checks.missing_required_header": "checker.checks.direct:missing_required_header",
    "checks.negative_data_rejection": "checker.checks.direct:negative_data_rejection",
    "checks.not_a_server_error": "checker.checks.direct:not_a_server_error",
    "checks.object_level_authorization": "checker.checks.direct:object_level_authorization",
    "checks.object_level_writes": "checker.checks.direct:object_level_writes",
    "checks.positive_data_acceptance": "checker.checks.direct:positive_data_acceptance",
    "checks.races": "checker.checks.direct:races",
    "checks.read_your_writes": "checker.checks.direct:read_your_writes",
    "checks.refused_write": "checker.checks.direct:refused_write",
    "checks.response_headers_conformance": "checker.checks.direct:response_headers_conformance",
    "checks.response_schema_conformance": "checker.checks.direct:response_schema_conformance",
    "checks.safe_methods": "checker.checks.direct:safe_methods",
    "checks.status_code_conformance": "checker.checks.direct:status_code_conformance",
    "checks.unsupported_method": "checker.checks.direct:unsupported_method",
    "checks.update_conformance": "checker.checks.direct:update_conformance",
    "checks.use_after_free": "checker.checks.direct:use_after_free",
    "config": "checker.config",
    "credentials": "checker.credentials",
    "engine": "checker.library.runs",
    "errors": "checker.errors",
    "events": "checker.corpus.records",
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
    "kinds.DeclaredOperation": "checker.kinds.static:DeclaredOperation",
    "kinds.DeclaredSchema": "checker.kinds.static:DeclaredSchema",
    "kinds.DescriptionSource": "checker.kinds.sources:DescriptionSource",
    "kinds.FetchOptions": "checker.kinds.sources:FetchOptions",
    "kinds.FileSource": "checker.kinds.sources:FileSource",
    "kinds.ForeignDescription": "checker.core.errors:ForeignDescription",
    "kinds.Label": "checker.core.operation:Label",
    "kinds.Location": "checker.core.request:Location",
    "kinds.MediaTypeVerdict": "checker.core.contract:MediaTypeVerdict",
    "kinds.Parameter": "checker.core.operation:Parameter",
    "kinds.ResponsePlan": "checker.core.contract:ResponsePlan",
    "kinds.SchemaViolation": "checker.core.contract:SchemaViolation",
    "kinds.Scenario": "checker.core.scenarios:Scenario",
    "kinds.TakenValue": "checker.core.resources:TakenValue",
    "kinds.Transition": "checker.core.resources:Transition",
    "kinds.TextSource": "checker.kinds.sources:TextSource",
    "kinds.UndecodableBody": "checker.core.contract:UndecodableBody",
    "kinds.UrlSource": "checker.kinds.sources:UrlSource",
    "kinds.json_schema": "checker.kinds.static:json_schema",
    "kinds.register": "checker.kinds.table:register",
    "metric": "checker.core.hooks:metric",
    "MetricContext": "checker.core.hooks:MetricContext",
    "MetricFunction": "checker.core.hooks:MetricFunction",
    "openapi": "checker.openapi",
    "openapi.format": "checker.core.registry:register_format",
    "openapi.from_asgi": "checker.library.loaders:openapi.from_asgi",
    "openapi.from_dict": "checker.library.loaders:openapi.from_dict",
    "openapi.from_file": "checker.library.loaders:openapi.from_file",
    "openapi.from_path": "checker.library.loaders:openapi.from_path",
    "openapi.from_url": "checker.library.loaders:openapi.from_url",
    "openapi.from_wsgi": "checker.library.loaders:openapi.from_wsgi",
    "openapi.require_security_scheme": "checker.library.loaders:require_security_scheme",
    "phases": "checker.phases",
    "phases.CaseSource": "checker.core.phases:CaseSource",
    "phases.ListingContext": "checker.phases.listing:ListingContext",
    "phases.Phase": "checker.core.phases:Phase",
    "phases.register": "checker.config.table:register_phase",
    "pytest": "checker.pytest",
    "pytest.LazySchema": "checker.pytest.expansion:LazySchema",
    "pytest.from_fixture": "checker.pytest.expansion:from_fixture",
    "pytest.parametrize": "checker.pytest.expansion:parametrize",
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
    "cli.EventHandler": "checker.commands.extending:EventHandler",
    "cli.HandlerContext": "checker.commands.extending:HandlerContext",
    "cli.OptionGroup": "checker.commands.extending:OptionGroup",
    "cli.add_group": "checker.commands.extending:add_group",
    "cli.handler": "checker.commands.extending:handler",
    "openapi.media_type": "checker.core.registry:register_media_type",
    "stateful": "checker.library.state_machine",
    "transport": "checker.transport",
    "transport.BaseUrl": "checker.core.request:BaseUrl",
    "transport.BlockingTransport": "checker.transport.applications:BlockingTransport",
    "transport.FailureKind": "checker.core.response:FailureKind",
    "transport.HttpSettings": "checker.config.operation_settings:HttpSettings",
    "transport.NetworkFailure": "checker.core.response:NetworkFailure",
    "transport.Response": "checker.core.response:Response",
    "transport.Transport": "checker.core.send:Transport",
    "transport.WireRequest": "checker.core.request:WireRequest",
    "transport.asgi": "checker.transport.applications:asgi",
    "transport.wsgi": "checker.transport.applications:wsgi",
    "observers": "checker.observers",
    "warnings": "checker.warnings",
}
"""Name below `checker` -> module, or module:attribute, with dots for attributes of attributes."""

EARLIER = {
    "register_check": "check",
    "register_target": "metric",
    "target": "metric",
    "register_string_format": "openapi.format",
}
"""Earlier name -> current public name with the same meaning."""


def resolve(name: str) -> Any:
    """Return the object of a public name. Raises `AttributeError` with the nearest name.

    An earlier name gives the object of its current name, with a `FutureWarning`.
    """
    if name in EARLIER:
        warn(f"checker.{name} is now checker.{EARLIER[name]}", FutureWarning, stacklevel=3)
        name = EARLIER[name]
    target = PUBLIC.get(name)
    if target is None:
        package, _, attribute = f"checker.{name}".rpartition(".")
        near = [] if attribute.startswith("_") else get_close_matches(name, PUBLIC, n=1)
        hint = f". Did you mean {near[0].rpartition('.')[2]!r}?" if near else ""
        raise AttributeError(f"module {package!r} has no attribute {attribute!r}{hint}")
    module, _, attribute = target.partition(":")
    found = import_module(module)
    return attrgetter(attribute)(found) if attribute else found
