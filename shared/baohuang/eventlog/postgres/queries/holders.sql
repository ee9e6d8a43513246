-- holders: which stream holds each of many names.
select name, stream_id from eventlog.claims where name = any ($1)
