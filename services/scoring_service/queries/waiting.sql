-- waiting: the events that could not be scored, in the order of the log, locked for whoever settles them.
select number, position, hash, error, tries, since from unscored order by number for update
