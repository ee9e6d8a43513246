-- Commits a message that nobody reads. It is committed when all before it is where a commit has to be, on the synchronous
-- standby too: only then what was found in the log may be told to have been stored.
select pg_logical_emit_message(true, 'baohuang', 'found');
