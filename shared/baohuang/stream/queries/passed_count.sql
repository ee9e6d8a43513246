-- passed_count: how many messages a consumer went past.
select count(*) from passed where consumer = $1
