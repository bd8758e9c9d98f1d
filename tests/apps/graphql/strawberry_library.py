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


def library(*, planted: bool) -> FastAPI:
    """The application; its endpoint is `/graphql`."""

    @strawberry.type
    class Author:
        id: strawberry.ID

        @strawberry.field
        def name(self) -> str:
            name: Any = AUTHORS[self.id]
            return name if planted or name else "Anonymous"

        @strawberry.field
        def books(self, first: int = 3) -> list["Book"]:
            return [book(number) for number in range(max(0, min(first, 3)))]

    Author.__annotations__  # noqa: B018 - forward references are resolved below

    @strawberry.type
    class Book:
        id: strawberry.ID
        title: str
        genre: Genre
        pages: int | None

        @strawberry.field
        def author(self) -> Author:
            return Author(id=strawberry.ID("1"))

    globals()["Book"] = Book

    def book(number: int) -> Book:
        return Book(
            id=strawberry.ID(str(number)), title=f"Book {number}", genre=Genre.NOVEL, pages=9
        )

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
        def average_pages(self) -> float:
            return 12.5 / (0 if planted else 1)

    @strawberry.type
    class Query:
        @strawberry.field
        def books(self, limit: int = 2, offset: int = 0) -> list[Book]:
            if planted and offset < 0:
                raise IndexError("list index out of range")
            return [book(number) for number in range(max(0, min(limit, 5)))]

        @strawberry.field
        def author(self, id: strawberry.ID) -> Author | None:
            found = id if id in AUTHORS else "3"
            return Author(id=strawberry.ID(found))

        @strawberry.field
        def search(self, text: str, limit: int | None = None) -> list[Item]:
            if planted and "%" in text:
                raise RuntimeError("malformed pattern")
            return [book(1), Author(id=strawberry.ID("2"))]

        @strawberry.field
        def statistics(self) -> Statistics:
            return Statistics(books=3)

        @strawberry.field
        def newest(self) -> Book:
            found = book(1)
            if planted:
                found.genre = Broken.POEM  # type: ignore[assignment]
            return found

    @strawberry.type
    class Mutation:
        @strawberry.mutation
        def add_book(self, book: NewBook) -> Book:
            if planted and book.pages == 0:
                raise ZeroDivisionError("division by zero")
            return Book(
                id=strawberry.ID("9"), title=book.title, genre=Genre.NOVEL, pages=book.pages
            )

        @strawberry.mutation
        def rate(self, id: strawberry.ID, stars: int) -> float:
            return 5 / stars if planted else 5.0

    app = FastAPI()
    app.include_router(GraphQLRouter(strawberry.Schema(Query, Mutation)), prefix="/graphql")
    return app
