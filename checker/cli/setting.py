"""An option that is a key of the configuration under another name."""

from msgspec import Struct

from checker.config.table import Path


class SettingOption(Struct, frozen=True):
    """An option that sets one key of the configuration."""

    flags: tuple[str, ...]
    path: Path
    key: str
    help: str
    is_flag: bool = False
    """Takes no value: being there means true."""
    variable: str | None = None
    """Environment variable that stands in for it."""

    @property
    def name(self) -> str:
        """As Python calls it."""
        return self.flags[-1].lstrip("-").replace("-", "_")


def root_option(
    flags: str, help_: str, *, key: str = "", variable: str | None = None
) -> SettingOption:
    """An option for a key at the root; `flags` as in `-u/--url`."""
    names = tuple(flags.split("/"))
    return SettingOption(names, (), key or names[-1][2:], help_, variable=variable)


def generation_option(
    key: str, help_: str, *, flags: str = "", is_flag: bool = False
) -> SettingOption:
    """An option for a key of `[generation]`."""
    names = tuple((flags or f"--generation-{key}").split("/"))
    return SettingOption(names, ("generation",), key, help_, is_flag)
