-- put_aside: keep a number for an event that could not be scored.
insert into unscored (number, position, hash, error) values ($1, $2, $3, $4)
