"""Made of `checker.faces.PUBLIC` by `python -m tests.typed.stubs`: what type checkers see of names that are resolved on first use."""

from checker.cli.extending import EventHandler, HandlerContext, OptionGroup, add_group, handler

__all__ = [
    "EventHandler",
    "HandlerContext",
    "OptionGroup",
    "add_group",
    "handler",
]
