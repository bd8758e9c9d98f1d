"""Which methods a document has for a path as it is sent."""

from collections.abc import Iterator

import pytest

from checker.openapi.routes import PathTemplate, Routes

ROUTES = Routes([("/a", "get"), ("/a", "POST"), ("/a/{id}", "GET"), ("/a/{other}", "DELETE"), ("/a/own", "PUT")])


def test_each_template_that_fits_has_its_methods() -> None:
    assert ROUTES.methods_at("/a") == (frozenset({"GET", "POST"}),)
    assert ROUTES.methods_at("/a/1") == (frozenset({"GET"}), frozenset({"DELETE"}))
    assert ROUTES.methods_at("/a/own") == (frozenset({"GET"}), frozenset({"DELETE"}), frozenset({"PUT"}))
    assert ROUTES.methods_at("/a/1/2") == ()
    assert ROUTES.methods_at("/a/%6Fwn")[-1] == frozenset({"PUT"})


ODD = [
    "/",
    "/a",
    "/a/",
    "/{x}",
    "/a/{x}.json",
    "/a/{x}{y}",
    "/a/%6Fwn",
    "/a/100%",
    "/a b/{x}",
    "/ä/{x}",
    "/a/b?kind=1",
    "/a/b",
    "/{x}/b",
    "/{x}/{y}/",
    "//b",
]
SENT = ["/", "//", "/a", "/%61", "/a/", "/a//", "/a/b", "/a/%62", "/a/b.json", "/a/own", "/a/%6fwn"]
SENT += ["/a/100%25", "/a/100%", "/a%20b/1", "/a b/1", "/%C3%A4/1", "/%c3%A4/%2F", "/ä/1", "/Ã¤/1", "//b"]
SENT += ["/a/b?kind=1", "/a/%2Fb", "/x/b/", "/a/\N{LATIN SMALL LETTER E WITH ACUTE}", "", "a/b"]


@pytest.mark.parametrize("path", SENT)
def test_the_index_gives_what_asking_each_template_gives(path: str) -> None:
    routes = Routes((template, f"M{number}") for number, template in enumerate(ODD))
    expected = tuple(
        frozenset({f"M{number}"})
        for number, template in enumerate(ODD)
        if PathTemplate(template).split(path, "").variables
    )
    assert routes.methods_at(path) == expected


def test_only_templates_that_begin_alike_are_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []

    class Counted(PathTemplate):
        def __init__(self, path: str) -> None:
            compiled.append(path)
            super().__init__(path)

    monkeypatch.setattr("checker.openapi.routes.PathTemplate", Counted)
    many = Routes((f"/area{number}/{{id}}", "GET") for number in range(1000))
    for _ in range(2):
        assert many.methods_at("/area7/1") == (frozenset({"GET"}),)
    assert compiled == ["/area7/{id}"]


@pytest.mark.parametrize(
    ("template", "path", "ways"),
    [
        ("/a/{x}", "/a/1%2F2", [{"x": "1%2F2"}]),
        ("/a/{x}", "/a/", [{"x": ""}]),
        ("/a/{x}", "/a/1/2", []),
        ("/a/{x}/b", "/a/1/b", [{"x": "1"}]),
        ("/a/{x}/b", "/a/1", []),
        ("/a/{x}-{y}", "/a/1-2-3", [{"x": "1-2", "y": "3"}, {"x": "1", "y": "2-3"}]),
        ("/a/{x}.json", "/a/b.json.json", [{"x": "b.json"}]),
        ("/{x}{y}/c", "/12/c", [{"x": "1", "y": "2"}]),
    ],
)
def test_a_path_is_split_in_all_ways(template: str, path: str, ways: list[dict[str, str]]) -> None:
    assert list(PathTemplate(template).split("/base" + path, "/base").variables) == ways


def test_a_variable_that_is_a_whole_segment_is_tried_in_one_way() -> None:
    asked: list[int] = []

    class Counted(PathTemplate):
        def _ways(self, path: str, start: int, number: int = 0) -> Iterator[tuple[str, ...]]:
            asked.append(start)
            return super()._ways(path, start, number)

    assert Counted("/a/{x}/b/{y}").split("/a/" + 500 * "1" + "/b/" + 500 * "2", "").variables
    assert len(asked) == 3
