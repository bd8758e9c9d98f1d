"""Values of responses, and the parameters that may take them.

A *ring* holds the values of one field of one collection (`history.py`). The *context* of a value is the resources that
contain the one it belongs to (`Above`). A *consumer* is a parameter or a place in a body, with the rings that it may take
values from. A request *names* a resource by a value in its path or its body.
"""
