"""Which methods a document has for a path as it is sent."""

from checker.openapi.routes import Routes

ROUTES = Routes(
    [
        ("/a", "get"),
        ("/a", "POST"),
        ("/a/{id}", "GET"),
        ("/a/{other}", "DELETE"),
        ("/a/own", "PUT"),
    ]
)


def test_each_template_that_fits_has_its_methods() -> None:
    assert ROUTES.methods_at("/a") == (frozenset({"GET", "POST"}),)
    assert ROUTES.methods_at("/a/1") == (frozenset({"GET"}), frozenset({"DELETE"}))
    assert ROUTES.methods_at("/a/own") == (
        frozenset({"GET"}),
        frozenset({"DELETE"}),
        frozenset({"PUT"}),
    )
    assert ROUTES.methods_at("/a/1/2") == ()
    assert ROUTES.methods_at("/a/%6Fwn")[-1] == frozenset({"PUT"})
