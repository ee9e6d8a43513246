-- find_request: what became of one accepted request.
select stream_id, version, digest, outcome from eventlog.requests where actor = $1 and request_id = $2
