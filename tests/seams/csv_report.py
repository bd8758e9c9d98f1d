"""A report made with public names alone: a line of CSV for each request, and one for each failure."""

import csv
import io

from checker import reports


class Lines:
    """Written while the run goes on."""

    def __init__(self, context: reports.ReportContext) -> None:
        self.seed = context.seed

    def head(self) -> str:
        return self.line("what", "operation", "result")

    def event(self, event: reports.Event) -> str:
        match event:
            case reports.Interaction():
                return self.line("request", event.label, event.exchange.status)
            case reports.Finding() if event.investigation.stage == "minimised":
                return self.line("failure", event.label, event.title)
            case reports.RunFinished():
                return self.line("end", "", event.outcome)
            case _:
                return ""

    def end(self) -> str:
        return self.line("seed", "", self.seed)

    def line(self, *cells: object) -> str:
        text = io.StringIO()
        csv.writer(text).writerow(cells)
        return text.getvalue()


reports.register(reports.ReportFormat("csv", "CSV", "csv", Lines, streams=True, needs_traffic=True))
