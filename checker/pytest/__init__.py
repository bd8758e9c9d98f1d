"""The plugin of pytest, and its public names, which `checker.faces` resolves: `checker.pytest.from_fixture`, `.parametrize`."""

from checker.core.public_names import public_names

__getattr__, __dir__ = public_names("pytest.")
