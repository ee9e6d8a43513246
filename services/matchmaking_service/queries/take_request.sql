-- Takes a request id for this transaction; gives nothing if it was carried out before, having waited for it to be.
insert into requests (caller, request_id, digest) values ($1, $2, $3)
on conflict (caller, request_id) do nothing
returning true;
