-- Whether the server process $1 is there.
select exists (select from pg_stat_activity where pid = $1);
