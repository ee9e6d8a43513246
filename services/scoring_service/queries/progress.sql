-- progress: how far the ledger has got.
select last_number, last_position from progress
