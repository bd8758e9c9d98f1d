"""A library by Strawberry on FastAPI: clean, or with labelled defects."""

from enum import Enum
from typing import Annotated, Any

import strawberry
from fastapi import FastAPI
from strawberry.fastapi import GraphQLRouter

PLANTED = {
    ("Query.books", "not_a_server_error"): "a negative offset",
    ("Query.search", "not_a_server_error"): "a percent sign",
    ("Query.author", "response_schema_conformance"): "the name of an author who has none",
    ("Query.statistics", "not_a_server_error"): "the average of nothing",
    ("Query.newest", "not_a_server_error"): "a genre that is not in the enum",
    ("Mutation.addBook", "not_a_server_error"): "a book without pages",
    ("Mutation.rate", "not_a_server_error"): "zero stars",
}
"""(operation, check) -> what makes it fail."""
AUTHORS = {"1": "Ursula", "2": "Stanislaw", "3": None}


@strawberry.enum
class Genre(Enum):
    NOVEL = "novel"
    ESSAY = "essay"


class Broken(Enum):
    POEM = "poem"


Asked = strawberry.Info[dict[str, bool], None]
"""What resolvers are told of the request: whether defects are planted."""


def is_planted(info: Asked) -> bool:
    return info.context["planted"]


@strawberry.type
class Author:
    id: strawberry.ID

    @strawberry.field
    def name(self, info: Asked) -> str:
        name: Any = AUTHORS[self.id]
        return name if is_planted(info) or name else "Anonymous"

    @strawberry.field
    def books(self, first: int = 3) -> list["Book"]:
        return [book_of(number) for number in range(max(0, min(first, 3)))]


@strawberry.type
class Book:
    id: strawberry.ID
    title: str
    genre: Genre
    pages: int | None

    @strawberry.field
    def author(self) -> Author:
        return Author(id=strawberry.ID("1"))


def book_of(number: int) -> Book:
    return Book(id=strawberry.ID(str(number)), title=f"Book {number}", genre=Genre.NOVEL, pages=9)


Item = Annotated[Book | Author, strawberry.union("Item")]


@strawberry.input
class NewBook:
    title: str
    pages: int | None = None
    tags: list[str] | None = None


@strawberry.type
class Statistics:
    books: int

    @strawberry.field
    def average_pages(self, info: Asked) -> float:
        return 12.5 / (0 if is_planted(info) else 1)


@strawberry.type
class Query:
    @strawberry.field
    def books(self, info: Asked, limit: int = 2, offset: int = 0) -> list[Book]:
        if is_planted(info) and offset < 0:
            raise IndexError("list index out of range")
        return [book_of(number) for number in range(max(0, min(limit, 5)))]

    @strawberry.field
    def author(self, id: strawberry.ID) -> Author | None:
        found = id if id in AUTHORS else "3"
        return Author(id=strawberry.ID(found))

    @strawberry.field
    def search(self, info: Asked, text: str, limit: int | None = None) -> list[Item]:
        if is_planted(info) and "%" in text:
            raise RuntimeError("malformed pattern")
        return [book_of(1), Author(id=strawberry.ID("2"))]

    @strawberry.field
    def statistics(self) -> Statistics:
        return Statistics(books=3)

    @strawberry.field
    def newest(self, info: Asked) -> Book:
        found = book_of(1)
        if is_planted(info):
            found.genre = Broken.POEM  # type: ignore[assignment]
        return found


@strawberry.type
class Mutation:
    @strawberry.mutation
    def add_book(self, info: Asked, book: NewBook) -> Book:
        if is_planted(info) and book.pages == 0:
            raise ZeroDivisionError("division by zero")
        return Book(id=strawberry.ID("9"), title=book.title, genre=Genre.NOVEL, pages=book.pages)

    @strawberry.mutation
    def rate(self, info: Asked, id: strawberry.ID, stars: int) -> float:
        return 5 / stars if is_planted(info) else 5.0


async def _planted() -> dict[str, bool]:
    return {"planted": True}


async def _clean() -> dict[str, bool]:
    return {"planted": False}


def library(*, planted: bool) -> FastAPI:
    """The application; its endpoint is `/graphql`."""
    context = _planted if planted else _clean
    router = GraphQLRouter[dict[str, bool], None](strawberry.Schema(Query, Mutation), context_getter=context)
    app = FastAPI()
    app.include_router(router, prefix="/graphql")
    return app
