"""Modules as installed packages bring them: behind an entry point."""

from pathlib import Path

from tests.e2e.runner import Command

_HERE = Path(__file__).parent


def install(command: Command, *modules: str) -> None:
    """Let the processes of a command find modules of this folder as plug-ins."""
    site = command.directory / "site"
    metadata = site / "made-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: made\nVersion: 1.0\n")
    entries = "".join(f"{name} = {name}\n" for name in modules)
    (metadata / "entry_points.txt").write_text(f"[checker.plugins]\n{entries}")
    for name in modules:
        (site / f"{name}.py").write_text((_HERE / f"{name}.py").read_text())
    command.environment["PYTHONPATH"] = f"{_HERE.parents[1]}:{site}"
