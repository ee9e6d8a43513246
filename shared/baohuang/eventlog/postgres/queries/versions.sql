-- versions: where each of many streams ends.
select stream_id, version from eventlog.heads where stream_id = any ($1)
