-- set_aside_count: how much is still to be settled: events without a posting, and messages that a consumer passed over.
select (select count(*) from unscored)
       + (select count(*) from set_aside where consumer = $1 and settled_as is null)
