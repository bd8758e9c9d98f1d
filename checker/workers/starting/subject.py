"""What a run tests: the description as it was read, and what holds for its operations."""

from msgspec import Struct

from checker.checks.custom import class_checks
from checker.config.operation_settings import OperationResolver
from checker.config.settings import RunSettings
from checker.config.user_code import load_all_hooks, load_attribute
from checker.core.hooks import GLOBAL_HOOKS, HookContext, run_hooks
from checker.core.operation import Label
from checker.core.request import BaseUrl
from checker.corpus.layout import RunLayout
from checker.corpus.records import Note
from checker.health import Safety, leaves_out
from checker.workers.authentication.schemes import SchemeCredentials
from checker.workers.class_checks import ClassChecks
from checker.workers.description import Description, read_description, settled_target
from checker.workers.selected import SelectedOperations
from checker.workers.starting.collector import uncollected
from checker.workers.starting.constants import with_constants
from checker.workers.users import ALL_SCHEMAS, UsersCode


class Contents(Struct, frozen=True):
    """The description, and those of its operations that are tested."""

    settings: RunSettings
    """Those of the project that the description is of."""
    description: Description
    operations: OperationResolver
    selected: SelectedOperations
    notes: tuple[Note, ...] = ()
    """What could not be taken in."""


class TestedDescription(Struct, frozen=True):
    """What is tested: the description as it was read, and what holds for its operations."""

    settings: RunSettings
    description: Description
    operations: OperationResolver
    classes: ClassChecks
    schemes: SchemeCredentials
    origin: BaseUrl
    selected: SelectedOperations
    notes: tuple[Note, ...] = ()
    """What could not be taken in."""


def read_subject(
    settings: RunSettings, layout: RunLayout, users: UsersCode = ALL_SCHEMAS
) -> TestedDescription:
    """Hooks and description. Raises `LoaderError`, `ConfigError` and `UsageError`."""
    return subject_of(read_contents(settings, layout, users), users)


def read_contents(
    settings: RunSettings, layout: RunLayout, users: UsersCode = ALL_SCHEMAS
) -> Contents:
    """What there is to be tested, wherever the target may be. Raises `LoaderError`, `ConfigError` and `UsageError`."""
    # What is wrong with them is told before anything is fetched.
    load_all_hooks(settings.certain_hooks)
    with uncollected():
        description = read_description(settings, layout, users.description)
    schema = description.schema
    settings = settings.for_project(schema.title)
    load_all_hooks(settings.hooks)
    # Hooks bring sources of constants.
    settings, unread = with_constants(settings)
    run_hooks(GLOBAL_HOOKS.named("after_load_schema"), "after_load_schema", HookContext(), schema)
    # After hooks are loaded: they bring checks.
    operations = OperationResolver(settings.operations)
    level = Safety(settings.target.safety)
    with uncollected():
        selected = SelectedOperations(
            schema,
            settings.selection,
            lambda entry: bool(operations.of(entry).phases) and not leaves_out(level, entry),
            users.transitions,
        )
    return Contents(settings, description, operations, selected, tuple(unread))


def subject_of(contents: Contents, users: UsersCode = ALL_SCHEMAS) -> TestedDescription:
    """What is needed to send something, too. Raises `ConfigError` and `UsageError`."""
    settings, operations = contents.settings, contents.operations
    schema = contents.description.schema
    classes = ClassChecks(
        class_checks(operations.layers.checks_somewhere(), operations.common.check_settings)
    )
    schemes = SchemeCredentials(schema.security_schemes, operations.common.authentication)
    for label, name in settings.auth.needs:
        schemes.need(Label(label), name)
    origin = settled_target(schema, settings, operations, users.hooks)
    named = settings.target.app
    schema.app = users.app if named is None else load_attribute(named, what="application")
    return TestedDescription(
        settings=settings,
        description=contents.description,
        operations=operations,
        classes=classes,
        schemes=schemes,
        origin=origin,
        selected=contents.selected,
        notes=contents.notes,
    )
