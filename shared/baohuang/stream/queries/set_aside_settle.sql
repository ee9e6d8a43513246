-- set_aside_settle: settle messages that were set aside, and return which of them were still to be settled.
update set_aside
set settled_as = $3, settled_at = clock_timestamp()
where consumer = $1 and number = any ($2::bigint[]) and settled_as is null
returning number
