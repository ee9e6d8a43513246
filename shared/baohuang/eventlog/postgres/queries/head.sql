-- head: where one stream ends.
select stream_id, version, hash, summary from eventlog.heads where stream_id = $1
