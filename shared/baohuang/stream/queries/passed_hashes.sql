-- passed_hashes: the hashes of messages that were gone past.
select number, hash from passed where consumer = $1 and number = any ($2::bigint[])
