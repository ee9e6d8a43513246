"""Generated from the contract in `proto/` by `proto/generate.py`; not to be edited."""
