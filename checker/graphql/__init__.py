"""GraphQL: reads schemas, writes queries, and judges responses by the types.

Code inside the package imports from the modules: `checker.graphql.loaders` opens schemas. For users, this module offers
loaders such as `checker.graphql.from_url`.
"""

from checker.core.public_names import public_names

__getattr__, __dir__ = public_names("graphql.")
