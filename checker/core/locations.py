"""The locations of the parts of a request."""

from enum import StrEnum


class Location(StrEnum):
    """The location of a part of a request. The order is the order in which parts are drawn."""

    PATH = "path"
    QUERY = "query"
    HEADER = "header"
    COOKIE = "cookie"
    BODY = "body"

    @property
    def container(self) -> str:
        """Name of the field of `Case` that holds parts of this location."""
        return _CONTAINERS[self]


_CONTAINERS = {
    Location.PATH: "path_parameters",
    Location.QUERY: "query",
    Location.HEADER: "headers",
    Location.COOKIE: "cookies",
    Location.BODY: "body",
}
