"""A small booking service with planted defects, to try the tool on.

`Server` runs it on loopback, with `fixed=True` without the defects; `DEFECTS` lists the defects; `document` gives its OpenAPI 3.0 document.
"""

from checker.demo.gate import document
from checker.demo.inn import DEFECTS, Defect
from checker.demo.server import Server

__all__ = ["DEFECTS", "Defect", "Server", "document"]
