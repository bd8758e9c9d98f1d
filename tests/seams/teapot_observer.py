"""Observers made with public names alone: one asked of every response, one of every third, one until it has seen enough."""

from checker.observers import Note, ObserverRow, register


class Seen:
    def __init__(self, name, enough):
        self.name, self.enough, self.count = name, enough, 0

    @property
    def is_saturated(self):
        return self.count >= self.enough

    def saw(self, flight, verdict):
        self.count += 1
        return [Note(self.name, flight.made.label, "", f"{self.count}: {verdict.case.id}")]


register(ObserverRow("teapots", lambda tools: Seen("every", 0)))
register(ObserverRow("third_teapots", lambda tools: Seen("third", 0), one_in=3))
register(ObserverRow("few_teapots", lambda tools: Seen("few", 4), until_saturated=True))
register(ObserverRow("last_teapots", lambda tools: Seen("last", 0)))
register(ObserverRow("odd_teapots", lambda tools: Seen("odd", 0), only_unusual=True))
register(ObserverRow("no_teapots", lambda tools: None))
