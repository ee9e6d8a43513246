-- Removes some of the rows that are older than $1 seconds.
select purge($1, $2);
