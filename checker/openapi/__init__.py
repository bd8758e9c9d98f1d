"""OpenAPI 2.0 to 3.1: documents read, operations and response contracts made of them.

Import from the modules: `checker.openapi.loaders` opens documents.
"""
