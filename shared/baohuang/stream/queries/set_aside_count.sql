-- set_aside_count: how many messages a consumer could not apply and are still to be settled.
select count(*) from set_aside where consumer = $1 and settled_as is null
