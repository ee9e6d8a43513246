"""One module a revision, beside its SQL."""
