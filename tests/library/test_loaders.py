import io
import json

import pytest

import checker


def test_every_loader_gives_a_schema_with_an_engine(document, api, tmp_path) -> None:
    text = json.dumps(document)
    (tmp_path / "a.json").write_text(text)
    api.body = document
    schemas = [
        checker.openapi.from_dict(document),
        checker.openapi.from_path(tmp_path / "a.json"),
        checker.openapi.from_file(text),
        checker.openapi.from_file(io.StringIO(text)),
        checker.openapi.from_url(f"{api.url}/openapi.json"),
    ]
    assert [schema.title for schema in schemas] == ["Items"] * 5
    assert all(schema["/items"]["POST"].Case().engine for schema in schemas)


def test_loaders_take_a_configuration(document) -> None:
    config = checker.Config.from_str("seed = 3\n[[project]]\ntitle = 'Items'\nproxy = 'http://a:1'")
    schema = checker.openapi.from_dict(document, config=config)
    assert (schema.config.seed, schema.config.proxy) == (3, "http://a:1")


def test_configuration_is_discovered(document, tmp_path) -> None:
    (tmp_path / "checker.toml").write_text("seed = 4")
    assert checker.openapi.from_dict(document).config.seed == 4


def test_configured_headers_go_out_with_the_fetch(document, api) -> None:
    api.body = document
    config = checker.Config.from_dict({"headers": {"X-Key": "a", "X-B": "b"}})
    checker.openapi.from_url(f"{api.url}/openapi.json", config=config, headers={"X-B": "c"})
    assert (api.requests[0][2]["x-key"], api.requests[0][2]["x-b"]) == ("a", "c")


def test_hooks_of_the_configuration_are_loaded(document, tmp_path) -> None:
    (tmp_path / "my.py").write_text(
        "import checker\n@checker.hook\ndef map_query(ctx, query):\n    return query\n"
    )
    checker.openapi.from_dict(document, config=checker.Config.from_dict({"hooks": "my.py"}))
    assert len(checker.hooks.named("map_query")) == 1


def test_applications_are_refused_for_now() -> None:
    with pytest.raises(checker.errors.NotAvailableYet):
        checker.openapi.from_asgi("/openapi.json", object())
    with pytest.raises(checker.errors.NotAvailableYet):
        checker.openapi.from_wsgi("/openapi.json", object())
