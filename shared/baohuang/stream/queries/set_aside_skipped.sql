-- set_aside_skipped: which of these messages an operator has given up.
select number from set_aside where consumer = $1 and number = any ($2::bigint[]) and settled_as = 'skipped'
