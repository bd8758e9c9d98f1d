"""OpenAPI 2.0 to 3.2: reads documents, and makes operations and response contracts from them.

Inside the package, import from the modules: `checker.openapi.loaders` opens documents. For users, this module offers
the loaders of schemas with an engine, such as `checker.openapi.from_url`.
"""

from checker.core.public_names import public_names

__getattr__, __dir__ = public_names("openapi.")
