"""`baohuang judge`: cases of the rules in, verdicts out, one JSON line each. Needs no server.

The format is documented in `tests/conformance/cases/README.md`.
"""
