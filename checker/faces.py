"""The public names, each resolved on first use: the only way from the top of the package to lower layers."""

from difflib import get_close_matches
from importlib import import_module
from operator import attrgetter
from typing import Any
from warnings import warn

_CHECKS = """
    allow_header_conformance collection_conformance content_type_conformance ensure_resource_availability
    error_disclosure ignored_auth injection location_conformance mass_assignment max_response_time
    missing_required_header negative_data_rejection not_a_server_error object_level_authorization object_level_writes
    positive_data_acceptance races read_your_writes refused_write response_headers_conformance
    response_schema_conformance safe_methods session_ends status_code_conformance unsupported_method
    update_conformance use_after_free
"""

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
    **{f"checks.{name}": f"checker.checks.direct:functions.{name}" for name in _CHECKS.split()},
    "config": "checker.config",
    "credentials": "checker.credentials",
    "engine": "checker.library.runs",
    "errors": "checker.errors",
    "events": "checker.corpus.records",
    "fuzz": "checker.library.runs:fuzz",
    "graphql": "checker.graphql",
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
    **{
        f"{kind}.{name}": f"checker.library.loaders:{kind}.{name}"
        for kind in ("graphql", "openapi")
        for name in ("from_asgi", "from_dict", "from_file", "from_path", "from_url", "from_wsgi")
    },
    "metric": "checker.core.hooks:metric",
    "MetricContext": "checker.core.hooks:MetricContext",
    "MetricFunction": "checker.core.hooks:MetricFunction",
    "openapi": "checker.openapi",
    "openapi.format": "checker.core.registry:register_format",
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

    For an earlier name, the object of its current name is returned, with a `FutureWarning`.
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


def names_below(prefix: str) -> list[str]:
    """Return the public names of the package with a prefix such as `openapi.`, for completion; the prefix of `checker` is empty."""
    found = (name.removeprefix(prefix) for name in PUBLIC if name.startswith(prefix))
    return [name for name in found if "." not in name]
