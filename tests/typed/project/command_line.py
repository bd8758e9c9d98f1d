"""A module of a user that extends the command line."""

from typing import Any

import checker

group: checker.cli.OptionGroup = checker.cli.add_group("Ours")
group.add_option("--team", default="nobody", help="Who wants to know.")


@checker.cli.handler()
class Counter(checker.cli.EventHandler):
    def __init__(self, *args: Any, team: str, **params: Any) -> None:
        self.team, self.count = team, 0

    def start(self, ctx: checker.cli.HandlerContext) -> None:
        ctx.add_initialization_line(f"Counting for {self.team}")

    def handle_event(self, ctx: checker.cli.HandlerContext, event: Any) -> None:
        self.count += 1

    def shutdown(self, ctx: checker.cli.HandlerContext) -> None:
        ctx.add_summary_line(f"{self.count} events, exit code {ctx.exit_code}")
        ctx.add_report("Counts", "counts.txt")


handlers: type[checker.cli.EventHandler] = Counter
