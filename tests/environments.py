"""The distribution beside what users have installed: `python -m tests.environments [WORD ...]`.

Each environment is new: what users have is installed first, the distribution after it. Then pip must find no conflict, the
demo must find a defect, and a test with the pytest plugin must fail at one. Words choose environments by name.
"""

import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parent.parent
FIRST: Final = {
    "fastapi": ["fastapi", "uvicorn", "sqlmodel"],
    "django": ["django", "djangorestframework", "drf-spectacular"],
    "flask": ["flask", "flask-smorest"],
    "strawberry": ["strawberry-graphql"],
    "graphene": ["graphene"],
    "hypothesis": ["hypothesis", "pytest"],
}
"""Current releases of what an application under test is made with, by the name of the environment."""
INTERPRETERS: Final = ("python3.12", "python3.13", "python3.14")
TEST: Final = """
import json
import checker

DOCUMENT = {
    "openapi": "3.0.3",
    "info": {"title": "Broken", "version": "1"},
    "paths": {"/broken": {"get": {"responses": {"200": {"description": ""}}}}},
}


def app(environ, start_response):
    is_document = environ["PATH_INFO"] == "/openapi.json"
    start_response("200 OK" if is_document else "500 No", [("Content-Type", "application/json")])
    return [json.dumps(DOCUMENT if is_document else {}).encode()]


schema = checker.openapi.from_wsgi("/openapi.json", app)


@schema.parametrize()
def test_api(case):
    case.call_and_validate()
"""


def oldest() -> list[str]:
    """Return each dependency at the lowest version that is allowed."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [re.sub(r"^([\w-]+)>=([\d.]+).*", r"\1==\2", line) for line in project["dependencies"]]


def runs(interpreter: str) -> bool:
    """Whether this machine has the interpreter: a shim of a version manager may exist without it."""
    try:
        return subprocess.run([interpreter, "-c", ""], capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


def fails(name: str, interpreter: str, first: list[str]) -> str:
    """Return what does not hold in this environment, or nothing."""
    with tempfile.TemporaryDirectory() as folder:
        programs = Path(folder, "venv", "bin")
        subprocess.run([interpreter, "-m", "venv", programs.parent], check=True)
        install = [str(programs / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        for wanted in (first, [str(ROOT), "pytest"]):
            if wanted:
                subprocess.run([*install, *wanted], check=True)
        found = subprocess.run([programs / "python", "-m", "pip", "check"], capture_output=True, text=True, check=False)
        if found.returncode:
            return f"pip: {found.stdout}"
        demo = subprocess.run(
            [programs / "checker", "demo", "--max-failures", "1"],
            cwd=folder, capture_output=True, text=True, check=False,
        )  # fmt: skip
        if demo.returncode != 1 or "Server error" not in demo.stdout:
            return f"demo: exit code {demo.returncode}\n{demo.stdout[-3000:]}{demo.stderr[-3000:]}"
        Path(folder, "test_api.py").write_text(TEST, encoding="utf-8")
        plugin = subprocess.run(
            [programs / "python", "-m", "pytest", "-q", "test_api.py"],
            cwd=folder, capture_output=True, text=True, check=False,
        )  # fmt: skip
        if plugin.returncode != 1 or "Server error" not in plugin.stdout:
            return f"plugin: exit code {plugin.returncode}\n{plugin.stdout[-3000:]}{plugin.stderr[-3000:]}"
    return ""


def main() -> int:
    """Try the chosen environments one after the other."""
    environments = [(name, sys.executable, first) for name, first in FIRST.items()]
    environments.append(("oldest", sys.executable, oldest()))
    environments += [(name, name, []) for name in INTERPRETERS if runs(name)]
    failed = 0
    for name, interpreter, first in environments:
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        reason = fails(name, interpreter, first)
        failed += bool(reason)
        sys.stdout.write(f"{name}: {reason or 'holds'}\n")
        sys.stdout.flush()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
