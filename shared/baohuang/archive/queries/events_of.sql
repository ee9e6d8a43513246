-- events_of: position and hash of each event of one stream, by version.
select version, position, hash from eventlog.events where stream_id = $1 order by version
