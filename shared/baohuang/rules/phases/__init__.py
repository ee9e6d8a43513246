"""The phases of a hand, one module each: what a seat may do in it, and what it brings about.

`course` moves the hand from phase to phase; `standing` is trusteeship and leaving, which cut across all of them.
"""
