"""Descriptions read from where they are, with every document beside them and every name in them."""
