"""The meaning of schemas: one canonical form for all readers.

A *facet* is one schema of the document, or one derived from it. A *conjunction* is facets that a value satisfies together.
Its *form* (`Canonical`) has their constraints, grouped by type.
"""
