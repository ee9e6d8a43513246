-- append: settle one flush of commands, each on its own, in one transaction.
select settled, version, hash, position, stream_id, digest, outcome, refused_by
from eventlog.append_dated($1, $2, $3, $4)
