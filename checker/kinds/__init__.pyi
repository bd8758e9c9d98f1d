"""Made of `checker.faces.PUBLIC` by `python -m tests.typed.stubs`: what type checkers see of names that are resolved on first use."""

from checker.core.contract import BodyOpinions, MediaTypeVerdict, ResponsePlan, SchemaViolation, UndecodableBody
from checker.core.errors import ForeignDescription
from checker.core.operation import Body, Label, Parameter
from checker.core.request import Location
from checker.core.resources import TakenValue, Transition
from checker.core.scenarios import Scenario
from checker.kinds.protocol import ApiSchema
from checker.kinds.sources import DescriptionSource, FetchOptions, FileSource, TextSource, UrlSource
from checker.kinds.static import DeclaredOperation, DeclaredSchema, json_schema
from checker.kinds.table import register

__all__ = [
    "ApiSchema",
    "Body",
    "BodyOpinions",
    "DeclaredOperation",
    "DeclaredSchema",
    "DescriptionSource",
    "FetchOptions",
    "FileSource",
    "ForeignDescription",
    "Label",
    "Location",
    "MediaTypeVerdict",
    "Parameter",
    "ResponsePlan",
    "Scenario",
    "SchemaViolation",
    "TakenValue",
    "TextSource",
    "Transition",
    "UndecodableBody",
    "UrlSource",
    "json_schema",
    "register",
]
