-- head_there: where the log ends a stream, and whether its summary is another than one.
select version, hash, summary is distinct from convert_from($2, 'UTF8')::jsonb as other_summary
from eventlog.heads
where stream_id = $1
