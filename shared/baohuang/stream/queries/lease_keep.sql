-- lease_keep: keep a lease and note how far it has got; no row if it was taken by somebody.
update relays
set leased_until = clock_timestamp() + make_interval(secs => $4), number = $5
where source = $1 and holder = $2 and epoch = $3
returning epoch
