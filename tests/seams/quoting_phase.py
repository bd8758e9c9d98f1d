"""A phase made with public names alone: every text of the path or the query once as something that ends a quotation."""

from collections.abc import Iterator

import checker
from checker import phases

_TEXTS = ("'", '"', "\\", "1' OR '1'='1")


def quotations(operation: checker.APIOperation, context: phases.ListingContext) -> Iterator[checker.Case]:
    """One case for each parameter and each text; operations that need more than one value are left alone."""
    for one in operation.parameters:
        others = [other for other in operation.parameters if other.required and other is not one]
        if others or one.location not in ("path", "query"):
            continue
        for text in _TEXTS:
            values = {one.name: text}
            if one.location == "path":
                yield operation.Case(path_parameters=values)
            else:
                yield operation.Case(query=values)


phases.register(phases.Phase("quoting", phases.CaseSource.LISTED, quotations, tries_saved=True))
