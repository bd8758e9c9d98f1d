"""A loaded schema, as Python users hold it: operations by path and method, filters, hooks, strategies, tests."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final, Unpack

from msgspec import Struct
from msgspec.structs import replace

from checker.config.config import Config
from checker.config.filters import waits_for_name
from checker.config.resolve import LiveSettings
from checker.core.case import Case
from checker.core.errors import IncorrectUsage, InvalidSchema, OperationNotFound, did_you_mean
from checker.core.hooks import GLOBAL_HOOKS, HookChain, HookContext, HookDecorator, HookRegistry
from checker.core.meta import GenerationMode
from checker.core.operation import BrokenOperation, Label
from checker.core.operation_filter import FilterAttributes, OperationFilter, Predicate
from checker.core.providers import AuthRegistry
from checker.core.schema import SchemaWarning
from checker.core.system import later
from checker.core.user_code import require_texts
from checker.kinds.protocol import ApiOperation, ApiSchema, OperationEntry
from checker.kinds.sources import SchemaOptions
from checker.library import faults
from checker.library.decorators import Attachments, SchemaAuth, SchemaDecorators
from checker.library.extensions import ExtensionPoints, Observation, is_extended, kept, weighted

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    import checker.library.engine as engines
    import checker.library.state_machine as machines
    from checker.library.engine import LibraryEngine
    from checker.library.state_machine import APIStateMachine
else:
    # Not needed before there is a case.
    engines = later("checker.library.engine")
    machines = later("checker.library.state_machine")


Entry = OperationEntry | BrokenOperation
_WHOLE_PATH: Final = "*"  # In place of a method: the entry of a path whose operations cannot be read.


_nearest: Final = partial(did_you_mean, mark="`")


def readable(schema: "LoadedSchema", entry: Entry) -> ApiOperation:
    """Return the operation of an entry. Raises `InvalidSchema` for one that cannot be read."""
    operation = schema.read(entry)
    if isinstance(operation, BrokenOperation):
        raise InvalidSchema(f"`{entry.label}` cannot be read: {operation.error}")
    return operation


def fits(template: str, path: str) -> bool:
    """Whether a path matches a path template."""
    wanted, given = template.strip("/").split("/"), path.split("?")[0].strip("/").split("/")
    return len(wanted) == len(given) and all(
        one == other or ("{" in one and other != "") for one, other in zip(wanted, given, strict=True)
    )


_NO_METHOD: Final = "Method `{method}` not found. Available methods: {available}"
_NO_FIELD: Final = "Field `{name}` not found{hint} Available fields: {available}"


class CountedSelection(Struct, frozen=True):
    """A total, and the number of selected items in it."""

    total: int
    selected: int


class SchemaStatistic(Struct, frozen=True):
    """The statistics of a schema."""

    operations: CountedSelection
    links: CountedSelection  # Links that responses declare. The links of selected operations count as selected.


class PathOperations(Mapping[str, ApiOperation]):
    """Operations of one path by method, in any letter case."""

    def __init__(self, schema: "LoadedSchema", entries: Mapping[str, Entry]) -> None:
        self._schema = schema
        self._entries = entries

    def __getitem__(self, method: str) -> ApiOperation:
        # An unreadable path has one entry for all of its methods.
        names = (method, str(method).upper(), _WHOLE_PATH)
        entry = next((found for name in names if (found := self._entries.get(name)) is not None), None)
        if entry is None:
            # Methods are in upper case, and all other names are those of fields.
            available = ", ".join(self._entries)
            if all(known.isupper() for known in self._entries):
                message = _NO_METHOD.format(method=str(method).upper(), available=available)
            else:
                message = _NO_FIELD.format(
                    name=method, hint=_nearest(str(method), self._entries) or ".", available=available
                )
            raise OperationNotFound(message)
        return readable(self._schema, entry)

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def as_strategy(self, generation_mode: GenerationMode | str | None = None, **parts: Any) -> "SearchStrategy[Case]":
        """Strategy of cases of all operations of the path. The rest is as in `operation.as_strategy`."""
        operations = map(self._schema.read, self._entries.values())
        return _one_of(self._schema, operations, {"generation_mode": generation_mode, **parts})


class LoadedSchema(ExtensionPoints, SchemaDecorators, Mapping[str, PathOperations]):
    """A schema whose operations can make, send and judge cases. `include` and `exclude` give narrower ones."""

    def __init__(
        self,
        opened: ApiSchema,
        config: Config,
        attached: Attachments,
        filter: OperationFilter = OperationFilter(),  # noqa: B008 - frozen
    ) -> None:
        """`filter` holds the conditions of `include` and `exclude`."""
        self.opened = opened
        """The description, as its kind reads it."""
        self._config = config
        self.hooks: HookRegistry = attached.hooks[0]
        self.observations: list[Observation] = []
        """Locations of resources that responses to calls reported."""
        self._attached = attached
        self._filter = filter
        self._operations: dict[Label, ApiOperation | BrokenOperation] = {}
        if attached.engine is not None:
            self._settings = attached.engine.settings
            return
        self._settings = LiveSettings(config, opened.location or "", changed=lambda: None)
        opened.configure(
            SchemaOptions(
                server_variables=dict(config.servers.variables),
                asserts_formats=lambda operation: self._settings.of(operation).validate_formats,
                allows_null=lambda operation: self._settings.of(operation).cases.graphql_allow_null,
                queries=config.queries(),
                hooks=HookChain((GLOBAL_HOOKS, *attached.hooks)),
            )
        )

    @cached_property
    def engine(self) -> "LibraryEngine":
        if (found := self._attached.engine) is not None:
            return found  # type: ignore[no-any-return]
        found = engines.LibraryEngine(self.opened, self.config, self._attached)
        found.schema = self
        found.auth.reauth = lambda: self.reauth_state
        return found

    def __str__(self) -> str:
        return str(self.opened)

    __repr__ = __str__

    @property
    def config(self) -> Config:
        """Return the configuration. Change its options; another object has no effect on a loaded schema and is refused."""
        return self._config

    @property
    def title(self) -> str:
        """Return the title of the API, empty when it has none."""
        return self.opened.title

    @property
    def specification(self) -> str:
        """Return the name and version: `Open API 3.0.3`."""
        return self.opened.specification

    @property
    def location(self) -> str | None:
        """Return the final URL that the schema was read from; None if it was not read from a URL."""
        return self.opened.location

    @property
    def raw_schema(self) -> Any:
        """Return the loaded document."""
        return self.opened.raw_schema

    @property
    def app(self) -> object | None:
        """The application in this process that serves the API; None if requests go over the network."""
        return self.opened.app

    @app.setter
    def app(self, value: Any) -> None:
        self.engine.serve_from(value)
        application = self.engine.application
        assert application is not None
        self._attached = replace(self._attached, application=application)
        self.opened.serve_from(value, application.origin.url)

    @property
    def base_url(self) -> str | None:
        """Return the absolute URL before every path: that of the application, or the declared one, if any."""
        return self.opened.base_url

    @property
    def declared_base_url(self) -> str | None:
        """Return the absolute base URL that the schema advertises, if any."""
        return self.opened.base_url

    @property
    def base_path(self) -> str:
        """Return the path below which all operations are: begins and ends with `/`."""
        return self.opened.base_path

    def include(self, *functions: Predicate, **attributes: Unpack[FilterAttributes]) -> "LoadedSchema":
        """Return the schema with matching operations only.

        A filter is a function that takes an object with `operation`, or one of `name`, `method`, `path`, `tag` and
        `operation_id` (a string or a list), each also with `_regex`. An operation has to match all filters of one call. If there are several calls, a match of one call is enough.
        Raises `IncorrectUsage`.
        """
        return self._narrowed(self._filter.including(*functions, **attributes))

    def exclude(
        self, *functions: Predicate, deprecated: bool = False, **attributes: Unpack[FilterAttributes]
    ) -> "LoadedSchema":
        """Return the schema without matching operations; filters are those of `include`. Raises `IncorrectUsage`."""
        return self._narrowed(self._filter.excluding(*functions, deprecated=deprecated, **attributes))

    def _narrowed(self, wanted: OperationFilter) -> "LoadedSchema":
        return self._with(wanted, hooks=(self.hooks.copy(),))

    def _with(self, wanted: OperationFilter, **registered: Any) -> "LoadedSchema":
        """Return the schema with another filter and other registrations, and with the extension points that users replaced."""
        found = type(self)(self.opened, self.config, replace(self._attached, **registered), wanted)
        vars(found).update(kept(self))
        found.observations = self.observations
        return found

    def extended(self, filter: OperationFilter, hooks: HookRegistry) -> "LoadedSchema":
        """Return the schema with further filters and hooks of its own."""
        own = self.hooks.copy()
        own.extend(hooks)
        return self._with(self._filter.joined(filter), hooks=(own,))

    def with_test_hooks(self, hooks: HookRegistry) -> "LoadedSchema":
        """Return the schema with hooks that apply to only one test."""
        return self._with(self._filter, hooks=(self.hooks, hooks))

    @property
    def hook(self) -> HookDecorator:
        """Return the decorator of hooks that apply only to operations of this schema: `@schema.hook`, by name or by the name of the function."""
        return self.hooks.hook

    @property
    def auth(self) -> SchemaAuth:
        """Return the decorator of providers for this schema: `@schema.auth(...)`; `@schema.auth(Provider)` applies to only one test."""
        registry = self._attached.auth[-1]
        assert isinstance(registry, SchemaAuth)
        return registry

    def with_test_auth(self, own: AuthRegistry) -> "LoadedSchema":
        """Return the schema with providers that apply to only one test."""
        return self._with(self._filter, auth=(own, *self._attached.auth))

    def as_strategy(self, generation_mode: GenerationMode | str | None = None, **parts: Any) -> "SearchStrategy[Case]":
        """Strategy of cases of all selected operations. The rest is as in `operation.as_strategy`."""
        return _one_of(self, self.get_all_operations(), {"generation_mode": generation_mode, **parts})

    def as_state_machine(self) -> "type[APIStateMachine]":
        """Return a state machine of Hypothesis over the links of the selected operations, declared and inferred.

        Raises `NoLinksFound`; `InvalidStateMachine` if links are declared but none can be followed.
        """
        operations = list(self.get_all_operations())
        model = self.opened.resources().joined(self.apply_stateful_inference(self.observations))
        return machines.state_machine(self.title, model, operations, self.config)

    def get_all_operations(self) -> Iterator[ApiOperation | BrokenOperation]:
        """Yield the selected operations in document order; each is read when it is due, and broken ones carry their error."""
        return map(self.read, filter(self._settings.selects, self.matching_entries()))

    def in_turn(self) -> Iterator[tuple[str, Callable[[], ApiOperation | BrokenOperation]]]:
        """Yield the label of each selected operation with its reader, in the order in which tests of operations are made.

        No operation is read before its turn, unless a user's extension decides on the order.
        """
        if is_extended(self, "get_unit_scheduler"):
            for found in self.get_unit_scheduler(self.get_all_operations(), "fuzzing"):
                yield found.label, lambda operation=found: operation  # type: ignore[misc]
            return
        for entry in filter(self._settings.selects, self.matching_entries()):
            yield entry.label, partial(self.read, entry)

    def matching_entries(self) -> Iterator[Entry]:
        """Return the operations that `include` and `exclude` select, without reading them. The configuration is ignored."""
        return filter(self._matches, self.opened.entries())

    def find_operation_by_label(self, label: str) -> ApiOperation | None:
        """Return the operation of a label, such as `GET /users`; None if there is none."""
        found = self.opened.find(label)
        return None if found is None or isinstance(found, BrokenOperation) else self.bound(found)

    def find_operation_by_id(self, operation_id: str) -> ApiOperation:
        """Return the operation of an `operationId`. Raises `OperationNotFound` with the nearest one, `InvalidSchema`."""
        # If two operations have the same id, the first one counts.
        entries = reversed(list(self.opened.entries()))
        known = {name: one for one in entries if (name := getattr(one, "operation_id", None))}
        if operation_id not in known:
            raise OperationNotFound(f"Operation with ID `{operation_id}` not found{_nearest(str(operation_id), known)}")
        return readable(self, known[operation_id])

    def find_operation_by_reference(self, reference: str) -> ApiOperation:
        """Return the operation at a JSON pointer: `#/paths/~1users~1{id}/get`. Raises `OperationNotFound`, `InvalidSchema`."""
        known = {str(getattr(entry, "pointer", "")): entry for entry in self.opened.entries()}
        if reference not in known:
            raise OperationNotFound(f"Operation at `{reference}` not found{_nearest(str(reference), known)}")
        return readable(self, known[reference])

    def find_operation_by_path(self, method: str, path: str) -> ApiOperation | None:
        """Return the operation of a path such as `/users/7`, templates included; None if there is none. Raises `IncorrectUsage`."""
        require_texts(method=method, path=path)
        entries = (
            one for one in self.opened.entries() if one.method.upper() == method.upper() and fits(one.path, path)
        )
        found = next(map(self.read, entries), None)
        return None if isinstance(found, BrokenOperation) else found

    def operations_with_incoming_links(self) -> Iterator[ApiOperation]:
        """Yield the selected operations to which declared or inferred links of other operations lead, in document order."""
        targets = {one.target for one in self.opened.resources().transitions}
        return (one for one in self._readable() if one.label in targets)

    def _readable(self) -> Iterator[ApiOperation]:
        """Yield the selected operations that can be read."""
        return (one for one in self.get_all_operations() if not isinstance(one, BrokenOperation))

    @property
    def statistic(self) -> SchemaStatistic:
        """Return the numbers of operations and links, in total and selected. Reads every operation."""
        entries = list(self.opened.entries())
        selected = [str(one.label) for one in self.get_all_operations()]
        links = list(self.opened.links())
        chosen = set(selected)
        return SchemaStatistic(
            CountedSelection(len(entries), len(selected)),
            CountedSelection(len(links), sum(str(link.source) in chosen for link in links)),
        )

    def validate(self) -> None:
        """Raise `InvalidSchema` if the description has faults; its `errors` has one error for each."""
        entries = self.opened.checked_entries()
        found = [faults.unread(one) for one in entries if isinstance(one, BrokenOperation)]
        found += [faults.dropped(one.warning) for one in self.opened.dropped()]
        for operation in self._readable():
            found += faults.faults_of(operation)
        if found:
            sentence = f"the description of {self.title or 'the API'} is not valid"
            kind = found[0].kind
            raise InvalidSchema(sentence, [one.message for one in found], kind=kind, errors=found)

    def iter_schema_warnings(self) -> Iterator[SchemaWarning]:
        """Yield the warnings about the description, operation by operation."""
        yield from (dropped.warning for dropped in self.opened.dropped())
        for operation in self._readable():
            yield from operation.warnings()

    def read(self, entry: Entry) -> ApiOperation | BrokenOperation:
        """Return the operation of an entry with all capabilities that the kind offers."""
        label = Label(entry.label)
        known = self._operations.get(label)
        if known is None:
            found = self.opened.find(label)
            assert found is not None
            known = found if isinstance(found, BrokenOperation) else self.bound(found)
            self._operations[label] = known
        return known

    def bound(self, operation: ApiOperation) -> ApiOperation:
        """Return the operation with the engine of this schema: its configuration and hooks."""
        return operation.with_engine(self.engine)

    def _matches(self, entry: Entry) -> bool:
        if waits_for_name(entry) and not self._filter.names(HookContext(entry)):
            return False
        if not self._filter:
            return True
        subject = self.read(entry) if self._filter.asks_functions else entry
        return self._filter.matches(HookContext(subject))

    def __getitem__(self, path: str) -> PathOperations:
        found: dict[str, Entry] = {}
        paths: dict[str, None] = {}
        for entry in self.matching_entries():
            key, method = self.opened.place_of(entry)
            paths[key] = None
            if key == path:
                found[method] = entry
        if found:
            return PathOperations(self, found)
        template = next((one for one in paths if fits(one, str(path))), None)
        hint = f". Did you mean `{template}`?" if template else _nearest(str(path), paths)
        raise OperationNotFound(f"`{path}` not found{hint or '.'}")

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(self.opened.place_of(entry)[0] for entry in self.matching_entries()))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other


def _one_of(
    schema: LoadedSchema, operations: Iterable[ApiOperation | BrokenOperation], options: Mapping[str, Any]
) -> "SearchStrategy[Case]":
    """Return a strategy of cases of several operations; unreadable operations are left out. Raises `IncorrectUsage`."""
    usable = [one for one in operations if not isinstance(one, BrokenOperation)]
    if not usable:
        raise IncorrectUsage("no operation is selected; there are no cases to draw")
    return weighted(schema, usable, options)
