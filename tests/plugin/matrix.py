"""Behaviours of the plugin with each pytest and Hypothesis that users have: `python -m tests.plugin.matrix [WORD ...]`.

Each cell has an environment of its own below `.venv-matrix`, kept for the next time. Words choose cells that have all of them:
`python -m tests.plugin.matrix pytest-8.4 xdist`.
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parent.parent.parent
HOME: Final = ROOT / ".venv-matrix"
PYTESTS: Final = {"pytest-8.4": "pytest==8.4.*", "pytest-9": "pytest>=9,<10"}
HYPOTHESES: Final = {
    "hypothesis-6.135": "hypothesis==6.135.0",
    "hypothesis-6.151": "hypothesis==6.151.0",
    "hypothesis-6": "hypothesis>=6.170,<7",
}
RUNNERS: Final = {"alone": [], "xdist": ["-n", "2"]}
BESIDE: Final = [
    "allure-python-commons>=2.16,<3", "anyio", "junitparser>=5,<6", "pytest-asyncio", "pytest-subtests",
    "pytest-timeout", "pytest-xdist", "requests",
]  # fmt: skip
"""What the tests of the plugin use."""
_SUMMARY: Final = re.compile(r"\d+ (?:passed|failed|error).* in [\d.]+s.*")


@dataclass(frozen=True, slots=True)
class Cell:
    """One pytest with one Hypothesis, and how tests are spread."""

    pytest: str
    hypothesis: str
    runner: str

    @property
    def name(self) -> str:
        """`pytest-9 hypothesis-6.151 xdist`."""
        return f"{self.pytest} {self.hypothesis} {self.runner}"

    @property
    def python(self) -> Path:
        """The interpreter of its environment, which does not depend on the runner."""
        return HOME / f"{self.pytest}-{self.hypothesis}" / "bin" / "python"

    def prepare(self) -> None:
        """Make the environment, if there is none. Raises `CalledProcessError`."""
        if not self.python.exists():
            folder = self.python.parent.parent
            subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        wanted = [PYTESTS[self.pytest], HYPOTHESES[self.hypothesis], *BESIDE]
        quiet = ["--quiet", "--disable-pip-version-check"]
        install = [str(self.python), "-m", "pip", "install", *quiet, "-e", str(ROOT), *wanted]
        subprocess.run(install, check=True)

    def run(self) -> tuple[bool, str]:
        """Whether all behaviours hold, and the last line of pytest."""
        # Where it is not said, pytest-asyncio warns, also inside of tests, and warnings are errors here.
        said = ["-o", "asyncio_default_fixture_loop_scope=function"]
        said += ["-W", "ignore:The configuration option:pytest.PytestDeprecationWarning"]
        usual = ["-q", "-p", "no:cacheprovider", *said, "tests/plugin"]
        command = [str(self.python), "-m", "pytest", *usual]
        done = subprocess.run([*command, *RUNNERS[self.runner]], cwd=ROOT, capture_output=True, text=True)
        lines = _SUMMARY.findall(done.stdout)
        if done.returncode:
            sys.stderr.write(done.stdout[-20_000:] + done.stderr[-2_000:])
        return done.returncode == 0, lines[-1] if lines else f"exit code {done.returncode}"


def cells(words: list[str]) -> Iterator[Cell]:
    """Those that have all of the words."""
    for names in product(PYTESTS, HYPOTHESES, RUNNERS):
        if set(words) <= set(names):
            yield Cell(*names)


def main() -> int:
    """Run the chosen cells one after the other."""
    failed = 0
    for cell in cells(sys.argv[1:]):
        cell.prepare()
        holds, line = cell.run()
        failed += not holds
        sys.stdout.write(f"{cell.name}: {line}\n")
        sys.stdout.flush()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
