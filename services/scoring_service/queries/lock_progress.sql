-- lock_progress: how far the ledger has got, locked until the end of the transaction.
select last_number, last_position from progress for update
