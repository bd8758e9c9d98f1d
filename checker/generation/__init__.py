"""Requests from schemas: each schema gets one canonical form, which is compiled to a closure.

The closure draws values from a source of choices: random numbers, a record, or Hypothesis.
"""
