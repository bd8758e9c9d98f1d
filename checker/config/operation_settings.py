"""The settings of one operation in one phase, resolved once from all layers and shared between operations with equal settings."""

import dataclasses
from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from functools import cached_property, partial
from itertools import takewhile
from typing import Any, Final, TypeVar

from msgspec import Struct, convert, field
from msgspec.structs import fields, replace

from checker.checks.custom import CUSTOM_CHECKS
from checker.checks.table import BUILT_IN
from checker.config.auth import BASIC, Authentication, authentication_in
from checker.config.filters import Selectable
from checker.config.reading import Layer, OperationBlock
from checker.config.table import CUSTOM_CHECK, SECTIONS, Key, Path, default_of, is_of_checks, keys_of_operations
from checker.config.value_kinds import WarningSettings, retries_of
from checker.core.phases import phase_named, phase_names

Group = TypeVar("Group", bound=Struct)
OTHER_CHECKS = "*"  # Stands for users' checks that are not named, if some checks were chosen.

Layers = Sequence[Layer]  # Nearest first: the first one that has a key counts.


def keys_of(path: Path) -> dict[str, Key]:
    """Return the keys of a section, which may be that of a user's check."""
    if path in SECTIONS:
        return dict(SECTIONS[path])
    return dict(CUSTOM_CHECK) if is_of_checks(path[:-1]) else {}


def value_in(layers: Layers, path: Path, key: str) -> Any:
    """Return the nearest value, or the default. Headers are merged from all layers, tables of warnings are completed."""
    found = [layer[path][key] for layer in layers if key in layer.get(path, {})]
    if key == "headers" and found:
        merged: dict[str, tuple[str, str]] = {}
        for headers in reversed(found):
            for name, value in headers.items():
                merged[name.lower()] = (name, value)
        return dict(merged.values())
    if (path, key) == ((), "warnings") and found:
        tables = list(takewhile(lambda one: isinstance(one, Mapping), found))
        return deepcopy({key: one for table in reversed(tables) for key, one in table.items()} or found[0])
    # Copied, because all operations share a default.
    return deepcopy(found[0] if found else keys_of(path)[key].default)


def is_check_enabled(layers: Layers, name: str) -> bool:
    """Whether a check runs. A user's check runs unless it is switched off; a check whose switch is a value runs if the value is set."""
    check = BUILT_IN.get(name)
    if check is not None and check.switch is not None:
        return value_in(layers, ("checks",), name) is not None
    return _is_switched_on(layers, "checks", (name, OTHER_CHECKS))


def is_phase_enabled(layers: Layers, name: str) -> bool:
    """Whether a phase runs."""
    return _is_switched_on(layers, "phases", (name,), usual=phase_named(name).is_default)


def custom_checks_in(layers: Layers) -> Iterator[str]:
    """Return the checks that a layer names and that are not built in, each once."""
    names = {path[-1]: None for layer in layers for path in layer if is_of_checks(path[:-1])}
    return (name for name in names if name not in (*BUILT_IN, OTHER_CHECKS))


def check_settings_in(layers: Layers) -> dict[str, dict[str, Any]]:
    """Return, by name of a check, its settings that differ from the defaults."""
    found: dict[str, dict[str, Any]] = {}
    for check in BUILT_IN.values():
        for setting in check.all_settings:
            path = ("checks",) if setting is check.switch else ("checks", check.name)
            value = value_in(layers, path, setting.name)
            if value != setting.default:
                found.setdefault(check.name, {})[setting.name] = value
    for name in custom_checks_in(layers):
        for layer in reversed(layers):
            given = layer.get(("checks", name), {})
            own = {key: value for key, value in given.items() if key not in CUSTOM_CHECK}
            if own:
                found.setdefault(name, {}).update(deepcopy(own))
    return found


def _is_switched_on(layers: Layers, group: str, names: tuple[str, ...], *, usual: bool = True) -> bool:
    """Return the nearest switch. A master switch that is off applies to names without a switch in its layer or a nearer one."""
    master = None
    for layer in layers:
        for name in names:
            if "enabled" in layer.get((group, name), {}):
                return bool(layer[(group, name)]["enabled"])
        if master is None:
            master = layer.get((group,), {}).get("enabled")
            if master is False:
                return False
    return usual


FUZZING = "fuzzing"  # These settings also apply outside of the configurable phases, because `fuzz` explores with them.


def _setting(*path: str) -> Any:
    """Return a field that is a key of the table, such as `_setting("generation", "codec")`, with the default of the key."""
    return _derived(lambda layers: value_in(layers, path[:-1], path[-1]))


def _derived(read: Callable[[Layers], Any], *, is_hashed: bool = True) -> Any:
    """Return a field that is derived from several keys; its default is the value if none of them is set."""
    return dataclasses.field(default_factory=partial(read, ()), metadata={"read": read}, hash=is_hashed)


def _headers(layers: Layers) -> tuple[tuple[str, str], ...]:
    """Return the headers of all layers, and `Authorization` for user and password unless a nearer layer has this header."""
    found: dict[str, str] = value_in(layers, (), "headers")
    basic = authentication_in(layers).basic
    if basic is None or basic.type != "basic":
        return tuple(found.items())
    for layer in layers:
        if any(name.lower() == "authorization" for name in layer.get((), {}).get("headers", {})):
            return tuple(found.items())
        if "username" in layer.get(BASIC, {}):
            break
    kept = [(name, value) for name, value in found.items() if name.lower() != "authorization"]
    return (*kept, ("Authorization", basic.header))


def _modes(mode: str) -> tuple[str, ...]:
    return ("positive", "negative") if mode == "all" else (mode,)


def _names(asked: str | list[str] | None) -> tuple[str, ...]:
    if isinstance(asked, str):
        return tuple(name.strip() for name in asked.split(",") if name.strip())
    return tuple(asked or ())


_MOST_PROBE_S: Final = 10.0


class HttpSettings(Struct, frozen=True):
    """Limits, certificates and policies of the HTTP transport."""

    timeout_s: float = field(name="request-timeout", default=default_of((), "request-timeout"))
    """Limit for the whole transfer, so that a server cannot exceed it by sending single bytes."""
    connect_timeout_s: float = 5.0
    max_response_bytes: int = 1 << 20
    """A longer body is truncated here and marked as truncated. The rest is never read."""
    stream_time_s: float = 2.0
    """Time to read an event stream, which may never end."""
    proxy: str | None = None
    verify: bool | str = field(name="tls-verify", default=True)
    """False accepts any certificate; a string is a file or folder of authorities."""
    cert: str | None = field(name="request-cert", default=None)
    """File with the client certificate."""
    cert_key: str | None = field(name="request-cert-key", default=None)
    """File with the key of the certificate; None: the key is in the same file."""
    max_stream_events: int = field(name="max-stream-events", default=default_of((), "max-stream-events"))
    """Events of a stream after which reading ends."""
    max_redirects: int = field(name="max-redirects", default=default_of((), "max-redirects"))
    """Number of redirects that are followed on the same site. The response to the last of them counts."""
    retries: int = field(name="request-retries", default=0)
    """Times that a request without a response is sent again."""
    rate: str | None = field(name="rate-limit", default=None)
    """Requests per time, such as `50/s`; `auto`: as the target requests."""

    @property
    def probe_s(self) -> float:
        """Return the timeout of a connection that only tests whether the target is reachable: the request timeout, at most 10 s.

        A host that drops packets would otherwise delay the start of a run by minutes.
        """
        return min(self.timeout_s, _MOST_PROBE_S)

    def with_options(
        self, *, timeout_s: float | None = None, verify: bool | str | None = None, proxy: str | None = None
    ) -> "HttpSettings":
        """Return these settings with the options of one call; None keeps a setting."""
        given = {"timeout_s": timeout_s, "verify": verify, "proxy": proxy}
        return replace(self, **{name: value for name, value in given.items() if value is not None})

    @property
    def connection(self) -> tuple[str | None, bool | str, str | None, str | None]:
        """Return the settings that decide whether a connection can be made."""
        return self.proxy, self.verify, self.cert, self.cert_key


class CaseSettings(Struct, frozen=True, rename="kebab"):
    """The cases of an operation: `[generation]`, and additional keys of two phases."""

    max_examples: int  # Number of cases, in `run`.
    mode: str  # `positive`, `negative` or `all`.
    no_shrink: bool
    allow_x00: bool
    graphql_allow_null: bool  # Valid GraphQL requests may hold null, and NUL in strings.
    codec: str | None  # Codec that generated text can be written in; None: any Unicode.
    exclude_header_characters: str
    allow_extra_parameters: bool  # Requests may have parameters and properties that the description does not mention.
    unique_inputs: bool
    maximize: tuple[str, ...]  # Metrics to maximise, in `fuzz` and in tests.
    security_parameters: bool = field(name="with-security-parameters")
    """Requests carry generated credentials if users give none."""
    fill_missing: bool  # The examples phase makes a case if no examples are declared.
    repeats_query: bool = field(name="generate-duplicate-query-parameters")
    """The coverage phase sends query parameters twice."""
    costly_queries: bool  # The coverage phase sends GraphQL queries with hundreds of aliases, and of great depth.
    unexpected_methods: tuple[str, ...] | None
    """Undeclared methods that the coverage phase tries; None: all usual ones."""

    @property
    def modes(self) -> tuple[str, ...]:
        return _modes(self.mode)


def _read(kind: type[Group], layers: Layers, *sections: Path, **rewrites: Callable[[Any], Any]) -> Group:
    """Return a struct whose fields are keys of these sections; `rewrites` change the values of keys."""
    names = {one.encode_name for one in fields(kind)}
    values = {key: value_in(layers, path, key) for path in sections for key in SECTIONS[path] if key in names}
    for name, rewrite in rewrites.items():
        key = name.replace("_", "-")
        values[key] = rewrite(values[key])
    return convert(values, kind)


def _cases(layers: Layers) -> CaseSettings:
    sections = (("generation",), ("phases", "examples"), ("phases", "coverage"))
    return _read(
        CaseSettings,
        layers,
        *sections,
        maximize=_names,
        unexpected_methods=lambda names: (
            None if names is None else tuple(dict.fromkeys(name.upper() for name in names))
        ),
    )


@dataclasses.dataclass(frozen=True, slots=True)
class OperationSettings:
    """The settings of one operation in one phase. A new setting is a row of the table and a field here or of a group."""

    headers: tuple[tuple[str, str], ...] = _derived(_headers)
    """Headers of every request. Those of the root are also sent with the request for the description."""
    authentication: Authentication = _derived(authentication_in)  # noqa: RUF009 - a field
    """Basic authentication is among the headers, too."""
    http: HttpSettings = _derived(lambda layers: _read(HttpSettings, layers, (), request_retries=retries_of))  # noqa: RUF009 - a field
    warnings: WarningSettings = _derived(  # noqa: RUF009 - a field
        lambda layers: WarningSettings.of(value_in(layers, (), "warnings"))
    )
    """The warnings about the operation that are shown, and those that make a run fail."""
    server_variables: tuple[tuple[str, str], ...] = _derived(
        # The nearest value of each variable counts.
        lambda layers: tuple(ChainMap(*(layer.get(("servers",), {}).get("variables", {}) for layer in layers)).items())
    )
    """Values of variables in the URL of its server, in place of their defaults."""
    continue_on_failure: bool = _setting("continue-on-failure")
    cases: CaseSettings = _derived(_cases)  # noqa: RUF009 - a field
    modes_in_python: tuple[str, ...] = _derived(
        lambda layers: (
            _modes(value_in(layers, ("generation",), "mode"))
            if any("mode" in layer.get(("generation",), {}) for layer in layers)
            else ("positive",)
        )
    )
    """Default kinds of data of strategies: valid data, unless the configuration names a kind."""
    checks: tuple[str, ...] = _derived(
        lambda layers: tuple(
            name
            for name in dict.fromkeys((*BUILT_IN, *CUSTOM_CHECKS, *custom_checks_in(layers)))
            if is_check_enabled(layers, name)
        )
    )
    """Enabled names, in the order in which they run; names that are not built in are users' checks known so far."""
    check_settings: Mapping[str, Mapping[str, Any]] = _derived(check_settings_in, is_hashed=False)
    """Return, by name of a check, its settings that differ from the defaults."""
    phases: tuple[str, ...] = _derived(
        lambda layers: tuple(name for name in phase_names() if is_phase_enabled(layers, name))
    )
    layers: Layers = dataclasses.field(default=(), compare=False, repr=False)
    """The layers that the other fields were read from."""

    @property
    def validate_formats(self) -> bool:
        """Whether `response_schema_conformance` validates formats."""
        check = BUILT_IN["response_schema_conformance"]
        return bool(check.config(self.check_settings.get(check.name, {}))["validate-formats"])

    def beside(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return these settings by the keys of the file, sections as dictionaries, overridden by the options of a check."""
        found: dict[str, Any] = {}
        for path, key in keys_of_operations():
            section = found
            for name in path:
                section = section.setdefault(name, {})
            section[key] = value_in(self.layers, path, key)
        return found | dict(options)

    @classmethod
    def read(cls, layers: Layers) -> "OperationSettings":
        derived = [one for one in dataclasses.fields(cls) if "read" in one.metadata]
        return cls(layers=layers, **{one.name: one.metadata["read"](layers) for one in derived})


class OperationLayers(Struct, frozen=True, dict=True):
    """All layers of settings of operations. The layers are sent to workers, which resolve them."""

    command: Layer = field(default_factory=dict)  # Settings from the command line and from updates in Python.
    blocks: tuple[OperationBlock, ...] = ()
    """`[[operations]]`, those of the project first. If several match an operation, the first one counts."""
    wide: tuple[Layer, ...] = ()  # Settings of the project and of the root.

    @property
    def common(self) -> OperationSettings:
        """Return the settings of operations without blocks, in phases without sections."""
        return self.settled((), "")

    @property
    def has_phases(self) -> bool:
        layers = (self.command, *(block.values for block in self.blocks), *self.wide)
        return any(path[:1] == ("phases",) and len(path) > 2 for one in layers for path in one)

    def everywhere(self) -> Iterator[OperationSettings]:
        """Yield all settings: first those without a block, then those with each single block."""
        phases = ("", *phase_names()) if self.has_phases else ("",)
        for blocks in ((), *((block,) for block in self.blocks)):
            yield from (self.settled(blocks, phase) for phase in phases)

    def checks_somewhere(self) -> frozenset[str]:
        """Return the names of the checks that run for some operation in some phase."""
        return frozenset(name for settings in self.everywhere() for name in settings.checks)

    def layers_of(self, operation: Selectable | None, phase: str) -> list[Layer]:
        """Return the layers of an operation in a phase, nearest first; None: of operations without blocks."""
        mine = (one for one in self.blocks if operation is not None and one.filters.matches(operation))
        return self._ordered(tuple(mine), phase)

    @cached_property
    def _settled(self) -> dict[tuple[object, ...], OperationSettings]:
        """Cache of settings that were read, because a run asks about 50 times for the same settings and reading takes 0.2 ms."""
        return {}

    def settled(self, blocks: Iterable[OperationBlock], phase: str) -> OperationSettings:
        """Return the settings of an operation in a phase. `blocks` are the blocks of this object that match the operation."""
        matching = tuple(blocks)
        # Users' code may add checks and phases between two calls.
        place = (tuple(map(id, matching)), phase, *CUSTOM_CHECKS, *phase_names())
        found = self._settled.get(place)
        if found is None:
            found = self._settled[place] = OperationSettings.read(self._ordered(matching, phase))
        return found

    def _ordered(self, blocks: tuple[OperationBlock, ...], phase: str) -> list[Layer]:
        """Return the layers by precedence: command line, operation and phase, phase, operation, project, root."""
        own = [block.values for block in blocks]
        groups = [[self.command], with_first_headers(own), list(self.wide)]
        (command, operation, wide) = groups
        (command_phase, operation_phase, wide_phase) = (
            [_of_phase(layer, phase) for layer in group] for group in groups
        )
        # Settings of a phase in the file precede settings of a block for all phases (docs/operations.md, "Precedence").
        layers = [
            *command_phase, *command, *operation_phase, *wide_phase, *operation, *wide,
        ]  # fmt: skip
        return [layer for layer in layers if layer]


class OperationResolver:
    """Settings of operations, each resolved on first use. Equal settings are one object."""

    def __init__(self, layers: OperationLayers) -> None:
        self.layers = layers
        self.common = layers.common
        self._has_phases = layers.has_phases
        self._known: dict[OperationSettings, OperationSettings] = {self.common: self.common}
        self._by_operation: dict[tuple[str, str], OperationSettings] = {}

    @property
    def is_uniform(self) -> bool:
        return not self.layers.blocks and not self._has_phases

    def of(self, operation: Selectable, phase: str = FUZZING) -> OperationSettings:
        if self.is_uniform:
            return self.common
        key = (operation.label, phase)
        found = self._by_operation.get(key)
        if found is None:
            known = phase if phase in phase_names() else FUZZING
            mine = (block for block in self.layers.blocks if block.filters.matches(operation))
            found = self.layers.settled(mine, known if self._has_phases else "")
            found = self._by_operation[key] = self._known.setdefault(found, found)
        return found


def _of_phase(layer: Layer, phase: str) -> Layer:
    """Return the part of a layer for one phase, as if it were for all phases."""
    start = ("phases", phase)
    return {path[2:]: values for path, values in layer.items() if path[:2] == start and path[2:]}


def with_first_headers(layers: list[Layer]) -> list[Layer]:
    """Return the layers of blocks that apply to an operation, with headers only in the first layer that has any."""
    found: list[Layer] = []
    has_headers = False
    for layer in layers:
        root = layer.get((), {})
        if has_headers and "headers" in root:
            layer = layer | {(): {key: one for key, one in root.items() if key != "headers"}}
        has_headers = has_headers or "headers" in root
        found.append(layer)
    return found
