"""What a loaded schema has in a run of it: its hooks and providers, and what users put in place of its extension points."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from checker.core.case import Case
from checker.core.credentials import Credentials, CredentialSource
from checker.core.hooks import GLOBAL_HOOKS, HookChain, HookContext, HookRegistry, HookScope
from checker.core.meta import GenerationMode
from checker.core.operation import Label, Operation
from checker.core.providers import GLOBAL_AUTH
from checker.core.registry import FORMATS
from checker.core.request import BaseUrl, WireRequest
from checker.core.response import Outcome, Response
from checker.kinds.protocol import ApiOperation
from checker.kinds.table import packed
from checker.library import extensions
from checker.library.extra_data import ExtraDataSource, ExtraValues
from checker.library.schema import LoadedSchema
from checker.phases.attempt import KnowingMaker
from checker.workers.authentication.credentials import ReauthState
from checker.workers.users import UsersCode


def users_code(schema: LoadedSchema) -> UsersCode:
    """The code of users that acts in runs of a loaded schema."""

    def is_mine(*names: str) -> bool:
        return any(extensions.is_extended(schema, name) for name in names)

    source = schema.engine.extra_data
    usual = UsersCode(
        hooks=HookChain((GLOBAL_HOOKS, *schema.engine.hooks, _coverage(schema))),
        auth=(*schema.engine.auth.registries, GLOBAL_AUTH),
        description=packed(schema.opened),
        app=schema.app,
        told=(partial(_tell, schema),) if is_mine(*_TOLD) else (),
        applies=AppliedByUsers(schema) if is_mine("apply_auth") else None,
        reauth=lambda: _reauth_state(schema),
        formats=lambda mode: _formats(schema, mode),
        engine=schema.engine,
        values=None if source is None else partial(_values, schema, source),
        judges=extensions.judges(schema),
        transitions=lambda: schema.apply_stateful_inference(schema.observations),
        order=partial(_order, schema) if is_mine("get_unit_scheduler") else None,
        weights=partial(_weights, schema) if is_mine("compute_fuzz_operation_weights") else None,
    )
    makes = is_mine("prepare_request_body", "build_request_url")
    return replace(usual, makes=partial(ExtendedMaker, schema)) if makes else usual


_TOLD = (
    "record_runtime_observations",
    "adapt_to_null_byte_in_header_failure",
    "adapt_to_path_decoder_rejection",
)


class ExtendedMaker(Struct, frozen=True):
    """Makes requests with bodies and URLs as users want them."""

    schema: LoadedSchema
    maker: KnowingMaker
    origin: BaseUrl

    def make(self, case: Case) -> WireRequest:
        """The request of a case. Raises `SerializationError`."""
        prepared = extensions.prepared(self.schema, case)
        request = self.maker.make(prepared)
        where = self.origin.url + self.base_path_of(case.operation)
        request.target = extensions.target_of(self.schema, prepared, where, request.target)
        return request

    def base_path_of(self, operation: Operation) -> str:
        """What stands before the path of an operation on the wire."""
        return self.maker.base_path_of(operation)


@dataclass(slots=True)
class AppliedByUsers(CredentialSource):
    """What `apply_auth` of users puts into a case, as credentials: they are masked wherever requests are shown."""

    schema: LoadedSchema
    name: str = "apply_auth"
    is_kept: bool = False

    def fetch(self, case: Case) -> Credentials:
        """What a case has that it had not before."""
        sent = extensions.authorised(self.schema, case)
        headers, query, cookies = (
            _added(getattr(case, part), getattr(sent, part))
            for part in ("headers", "query", "cookies")
        )
        return Credentials(headers, query, cookies, data=sent is not case)

    def carried(self, held: Credentials, case: Case) -> Credentials | None:
        """None where users did not authenticate the case."""
        return held if held.data else None


def _added(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, str]:
    return {name: str(value) for name, value in after.items() if before.get(name) != value}


def _tell(schema: LoadedSchema, case: Case, request: WireRequest, outcome: Outcome) -> None:
    extensions.adapt(schema, request, outcome)
    if isinstance(outcome, Response):
        schema.record_runtime_observations(case, outcome)


def _values(schema: LoadedSchema, source: ExtraDataSource, operation: Operation) -> ExtraValues:
    (known,) = _operations(schema, [operation.label])
    return ExtraValues(source, known)


def _reauth_state(schema: LoadedSchema) -> ReauthState:
    return schema.reauth_state


def _formats(schema: LoadedSchema, mode: GenerationMode | None) -> Mapping[str, Any]:
    own = schema.get_custom_format_strategies(schema.config.generation, mode)
    return {**FORMATS, **own} if own else FORMATS


def _coverage(schema: LoadedSchema) -> HookRegistry:
    """What keeps cases of coverage back that users do not want."""
    registry = HookRegistry(HookScope.SCHEMA)
    if extensions.is_extended(schema, "get_coverage_capabilities"):

        def filter_case(context: HookContext, case: Case) -> bool:
            return any(True for _ in extensions.within_capabilities(schema, [case]))

        registry.register(filter_case)
    return registry


def _order(schema: LoadedSchema, phase: str, labels: Sequence[Label]) -> list[Label]:
    operations = _operations(schema, labels)
    return [Label(one.label) for one in schema.get_unit_scheduler(operations, phase)]


def _weights(schema: LoadedSchema, labels: Sequence[Label]) -> Sequence[float]:
    return schema.compute_fuzz_operation_weights(_operations(schema, labels))


def _operations(schema: LoadedSchema, labels: Sequence[Label]) -> list[ApiOperation]:
    found = (schema.find_operation_by_label(label) for label in labels)
    return [one for one in found if one is not None]
