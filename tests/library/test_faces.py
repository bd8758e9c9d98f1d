import pytest

import checker
from checker import faces


def test_every_public_name_resolves() -> None:
    assert [name for name in sorted(faces.PUBLIC) if faces.resolve(name) is None] == []


def test_public_names_are_attributes_of_the_package() -> None:
    assert list(checker.GenerationMode) == ["positive", "negative"]
    assert repr(checker.NOT_SET) == "NOT_SET"
    assert checker.Config().seed is None
    assert issubclass(checker.errors.LoaderError, Exception)
    assert issubclass(checker.config.ConfigError, Exception)
    assert callable(checker.openapi.from_dict)
    assert callable(checker.openapi.format)


@pytest.mark.parametrize("package", ["", "checks", "graphql", "kinds", "openapi", "phases", "pytest", "transport"])
def test_completion_offers_the_public_names_and_no_others(package: str) -> None:
    module = getattr(checker, package) if package else checker
    offered = [name for name in dir(module) if not name.startswith("_")]
    parts = [name.rpartition(".") for name in faces.PUBLIC]
    assert sorted(offered) == sorted(name for below, _, name in parts if below == package)


def test_unknown_name_suggests_the_nearest() -> None:
    with pytest.raises(AttributeError) as caught:
        _ = checker.GenerationMod  # type: ignore[attr-defined]
    expected = "module 'checker' has no attribute 'GenerationMod'. Did you mean 'GenerationMode'?"
    assert str(caught.value) == expected


def test_unknown_name_of_a_module_names_the_module() -> None:
    with pytest.raises(AttributeError) as caught:
        _ = checker.openapi.from_dct  # type: ignore[attr-defined]
    expected = "module 'checker.openapi' has no attribute 'from_dct'. Did you mean 'from_dict'?"
    assert str(caught.value) == expected


def test_tools_that_look_for_special_names_are_not_confused() -> None:
    assert not hasattr(checker, "__wrapped__")


@pytest.mark.parametrize("name", sorted(faces.EARLIER))
def test_a_name_of_the_earlier_generation_is_the_public_one_and_says_so(name: str) -> None:
    with pytest.warns(FutureWarning, match=rf"^checker\.{name} is now checker\.{faces.EARLIER[name]}$"):
        found = getattr(checker, name)
    assert found is faces.resolve(faces.EARLIER[name])
