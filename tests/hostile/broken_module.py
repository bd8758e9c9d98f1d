"""A module that cannot be imported, as modules cannot when the compiler has no memory."""

raise ValueError("field 'target' is required for AnnAssign")
