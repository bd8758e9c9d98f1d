"""An observer made with public names alone that raises for each response."""

from checker.observers import ObserverRow, register


class Broken:
    def saw(self, flight, verdict):
        raise RuntimeError("the pot is broken")


register(ObserverRow("broken_pots", lambda tools: Broken()))
