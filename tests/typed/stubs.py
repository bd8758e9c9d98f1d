"""Type stubs of the packages whose names are resolved on first use, made of the one table of public names.

Write them anew with `python -m tests.typed.stubs` after a name has come, moved or gone.
"""

import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from checker import errors, faces

ROOT: Final = Path(faces.__file__).parent
_HEAD: Final = '"""Made of `checker.faces.PUBLIC` by `python -m tests.typed.stubs`: what type checkers see of names that are resolved on first use."""\n'


def packages() -> list[str]:
    """Packages with lazy names: the top, called "", and those below it. `checker.cli` is a module and declares its own."""
    below = {name.rpartition(".")[0] for name in faces.PUBLIC}
    return sorted(below - {"cli"})


def stub_of(package: str) -> str:
    """The stub of one package, before it is `formatted`."""
    names = {
        name.rpartition(".")[2]: target for name, target in faces.PUBLIC.items() if name.rpartition(".")[0] == package
    }
    bound = [line for name, target in sorted(names.items()) for line in _bound(name, target)]
    # Imports first, each once.
    lines = sorted(dict.fromkeys(bound), key=lambda line: not line.startswith("from "))
    if not package:
        lines.append("__version__: str")
    return _stub(lines, names)


def stub_of_errors() -> str:
    """The stub of `checker.errors`: each kind of failure is a class there, one that came since the last time is a failure."""
    names = dir(errors)
    lines = [_import(getattr(errors, name).__module__, name, name) for name in names]
    return _stub([*lines, "", "def __getattr__(name: str) -> type[Failure]: ..."], names)


def stubs() -> Iterator[tuple[Path, str]]:
    """Each stub: where it stands, and its text before it is `formatted`."""
    for package in packages():
        yield ROOT / package.replace(".", "/") / "__init__.pyi", stub_of(package)
    yield ROOT / "errors.pyi", stub_of_errors()


def _stub(lines: list[str], names: Iterable[str]) -> str:
    # Names that stand in `__all__` are exported, also under another name than their own.
    listed = "".join(f'    "{name}",\n' for name in sorted(names))
    return _HEAD + "\n" + "\n".join(lines) + f"\n\n__all__ = [\n{listed}]\n"


def formatted(text: str) -> str:
    """The stub with imports in order, laid out as all other code."""
    for command in (["check", "--select", "I,RUF022", "--fix-only", "--quiet"], ["format", "--quiet"]):
        ruff = [sys.executable, "-m", "ruff", *command, "--stdin-filename", "checker/names.pyi", "-"]
        text = subprocess.run(ruff, input=text, capture_output=True, text=True, check=True, cwd=ROOT.parent).stdout
    return text


def _bound(name: str, target: str) -> Iterator[str]:
    module, _, attribute = target.partition(":")
    if not attribute:
        package, _, attribute = module.rpartition(".")
        yield _import(package, attribute, name)
    elif "." in attribute:
        owner, _, member = attribute.partition(".")
        yield _import(module, owner, f"_{owner}")
        yield f"{name} = _{owner}.{member}"
    else:
        yield _import(module, attribute, name)


def _import(module: str, attribute: str, name: str) -> str:
    return f"from {module} import {attribute}" + ("" if attribute == name else f" as {name}")


if __name__ == "__main__":
    for path, text in stubs():
        path.write_text(formatted(text))
