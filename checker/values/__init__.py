"""Values of responses, and the parameters that may take them.

A *ring* holds the values of one field of one collection (`history.py`). The *context* of a value consists of the
resources that contain its own resource (`Above`). A *consumer* is a parameter or a place in a body, with the rings that it may take
values from. A request *names* a resource by a value in its path or its body.
"""
