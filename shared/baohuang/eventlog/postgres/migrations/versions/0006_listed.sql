-- Listings look for summaries that say `listed`; those of tables that had no event since say nothing.

update eventlog.heads
set summary = summary || '{"listed": true}'
where summary ? 'players' and not summary ? 'listed';
