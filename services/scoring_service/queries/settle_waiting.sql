-- settle_waiting: forget that an event waits, its posting being made in the same transaction.
delete from unscored where number = $1
